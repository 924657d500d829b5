"""libFuzzer: its corpus, and the inputs that it reports as slow units."""

from builds import Compiler

NAME = "libFuzzer"


def build(harness, folder):
    return Compiler("clang-19", "clang++-19", ["-fsanitize=fuzzer-no-link"]).harness(harness, folder / "libfuzzer")
