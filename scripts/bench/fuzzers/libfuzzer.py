"""libFuzzer: its corpus, and the inputs that it reports as slow units."""

from builds import Compiler
from common import Run

NAME = "libFuzzer"


def build(harness, folder):
    return Compiler("clang-19", "clang++-19", ["-fsanitize=fuzzer-no-link"]).harness(harness, folder / "libfuzzer")


def run(program, seeds, out, seconds, seed, size):
    corpus, slow = out / "corpus", out / "slow"
    for folder in (corpus, slow):
        folder.mkdir(parents=True)
    options = [f"-max_total_time={seconds}", f"-seed={seed}", f"-max_len={size}", f"-artifact_prefix={slow}/", "-report_slow_units=1"]
    # it ends at the first input that crashes or exceeds its limit of time
    Run([program, *options, "-timeout=60", "-ignore_timeouts=1", corpus, seeds], out / "log")
    return [corpus, slow]
