"""PerfFuzz's feedback in quagmire: maxima of each edge's count, and AFL's mutations alone. Not PerfFuzz itself, whose code is of
LLVM 4 and does not build here."""

from fuzzers.quagmire import build

NAME = "PerfFuzz's feedback"

__all__ = ["NAME", "build"]
