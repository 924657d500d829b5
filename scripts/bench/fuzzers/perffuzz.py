"""PerfFuzz's feedback in quagmire: maxima of each edge's count, and AFL's mutations alone. Not PerfFuzz itself, whose code is of
LLVM 4 and does not build here."""

from fuzzers import quagmire

NAME = "PerfFuzz's feedback"
FURTHER = ["--rules", "havoc,splice,deterministic", "--no-mask", "--focus", "cost"]

build = quagmire.build


def run(program, seeds, out, seconds, seed, size):
    quagmire.FURTHER = FURTHER
    try:
        return quagmire.run(program, seeds, out, seconds, seed, size)
    finally:
        quagmire.FURTHER = []
