"""Counts the edges that a queue reaches, on a build that belongs to no fuzzer: clang's own edge coverage."""

import subprocess

from builds import Compiler
from common import DRIVERS


def kept(folder):
    """The inputs in a queue."""
    return sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))


def edges(judge, files):
    """How many edges these inputs reach, of how many."""
    paths = "".join(f"{file}\n" for file in files)
    run = subprocess.run([judge], input=paths, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True)
    found, all_edges, _ = run.stdout.splitlines()[-1].split()
    return int(found), int(all_edges)


def build_judge(name, folder):
    """The harness with clang's edge coverage, every edge counted, and the driver that runs a corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    driver = folder / "edge_union.o"
    subprocess.run(["clang-19", "-O2", "-c", DRIVERS / "edge_union.c", "-o", driver], check=True)
    instrument = ["-fsanitize-coverage=trace-pc-guard,no-prune"]
    return Compiler("clang-19", "clang++-19", instrument, link=[driver]).harness(name, folder)
