"""quagmire by its defaults, without what it does after the search."""

from builds import quagmire
from campaigns import SEARCH_ONLY
from common import Run, binaries

NAME = "quagmire"
FURTHER = []


def build(harness, folder):
    return quagmire().harness(harness, folder / "quagmire")


def run(program, seeds, out, seconds, seed, size):
    command = [binaries() / "quagmire", "fuzz", "-i", seeds, "-o", out / "out", "--seed", seed, "--time", f"{seconds}s"]
    limits = ["--max-size", size, "--quiet", *SEARCH_ONLY, *FURTHER]
    Run([*command, *limits, "--", program], out / "log").or_exit()
    return [out / "out" / name for name in ("queue", "degradations", "hangs")]
