"""AFL++ in persistent mode, by its defaults."""

from builds import afl

NAME = "AFL++"


def build(harness, folder):
    return afl().harness(harness, folder / "afl")
