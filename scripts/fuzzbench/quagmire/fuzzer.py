"""quagmire as a fuzzer of FuzzBench: harnesses with clang's SanitizerCoverage, and the engine in libFuzzer's place."""

import os
import subprocess

from fuzzers import utils

# builder.Dockerfile puts it there
ENGINE = '/usr/lib/libquagmire_engine.a'


def build():
    """Builds a benchmark."""
    for flags in ('CFLAGS', 'CXXFLAGS'):
        utils.append_flags(flags, ['-fsanitize=fuzzer-no-link'])
    os.environ['CC'] = 'clang'
    os.environ['CXX'] = 'clang++'
    os.environ['FUZZER_LIB'] = ENGINE
    utils.build_benchmark()


def fuzz(input_corpus, output_corpus, target_binary):
    """Fuzzes until it is killed. Everything below output_corpus counts, and is written at once."""
    corpus = os.path.join(output_corpus, 'corpus')
    crashes = os.path.join(output_corpus, 'crashes')
    for folder in (corpus, crashes):
        os.makedirs(folder, exist_ok=True)
    command = [
        target_binary,
        '-print_final_stats=1',
        # of what the target prints, nobody reads anything
        '-close_fd_mask=3',
        # goes on after whatever is found
        '-fork=1',
        '-ignore_ooms=1',
        '-ignore_timeouts=1',
        '-ignore_crashes=1',
        '-detect_leaks=0',
        f'-artifact_prefix={crashes}/',
    ]
    command += os.environ.get('ADDITIONAL_ARGS', '').split()
    dictionary = utils.get_dictionary_path(target_binary)
    if dictionary:
        command.append(f'-dict={dictionary}')
    command += [corpus, input_corpus]
    print('[fuzz] ' + ' '.join(command))
    subprocess.check_call(command)
