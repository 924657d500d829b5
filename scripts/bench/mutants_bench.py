"""`quagmire mutants bench` over a harness of the project, with the fuzzers of scripts/bench/fuzzers."""

import importlib
import json
import subprocess
import sys

from builds import quagmire
from common import binaries, seeds

# those that can fuzz every harness
FUZZERS = ["afl", "libfuzzer", "perffuzz", "quagmire"]


def load(names):
    """The fuzzers of these names."""
    return {name: importlib.import_module(f"fuzzers.{name}") for name in names}


def build(harness, fuzzers, folder):
    """Builds a harness for each fuzzer: options of `mutants bench`."""
    options = []
    for name, fuzzer in fuzzers.items():
        option = "--script" if getattr(fuzzer, "SCRIPT", False) else "--fuzzer"
        options += [option, f"{name}={fuzzer.build(harness, folder)}"]
    return options


def bench(harness, options, kind, folder, time, runs, size):
    """The result of campaigns of so many seconds; `kind` is a value of QUAGMIRE_MUTANTS, and `options` are those of `build`."""
    program = quagmire(QUAGMIRE_MUTANTS=kind).harness(harness, folder / f"mutants-{kind}")
    out = folder / f"bench-{kind}-{time}"
    command = [binaries() / "quagmire", "mutants", "bench", "--json", "--resume", "-i", seeds(harness), "-o", out, "--time", f"{time}s"]
    command += ["--runs", runs, "--max-size", size, *options, "--", program]
    run = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {run.returncode}")
    return json.loads(run.stdout)
