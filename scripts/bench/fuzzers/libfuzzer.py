"""libFuzzer: its corpus, and the inputs that it reports as slow units."""

from libfuzzer import build

__all__ = ["NAME", "build"]

NAME = "libFuzzer"
