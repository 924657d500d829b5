"""AFL++ in persistent mode, by its defaults."""

from builds import AFL, afl
from common import Run

NAME = "AFL++"


def build(harness, folder):
    return afl().harness(harness, folder / "afl")


def run(program, seeds, out, seconds, seed, size):
    command = ["afl-fuzz", "-i", seeds, "-o", out / "out", "-s", seed, "-V", seconds, "-G", size, "-m", "none"]
    Run([*command, "--", program], out / "log", AFL).or_exit()
    return [out / "out" / "default" / name for name in ("queue", "hangs", "crashes")]
