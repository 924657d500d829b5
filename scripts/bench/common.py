"""What the benchmarks share: where things are, running with the CPU time of all descendants, tables and verdicts, and the
record of all that (QUAGMIRE_RECORD, see docs/benchmarks/README.md)."""

import ctypes
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import record

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "bench"
DRIVERS = ROOT / "scripts" / "bench" / "drivers"


def binaries():
    """The folder with quagmire and its compilers: QUAGMIRE_BIN, or that of QUAGMIRE_PROFILE, or the fastest built."""
    named = os.environ.get("QUAGMIRE_BIN")
    profile = os.environ.get("QUAGMIRE_PROFILE")
    profiles = [profile] if profile else ["dist", "release"]
    for folder in [pathlib.Path(named).resolve()] if named else [ROOT / "target" / p for p in profiles]:
        if (folder / "quagmire-c++").exists() and (folder / "quagmire").exists():
            return folder
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: quagmire is not built: run scripts/build first")


def build_harnesses(names):
    """Builds the harnesses `names` of the project (or all that need no library) and returns name -> program."""
    environment = dict(os.environ, QUAGMIRE_BIN=str(binaries()))
    subprocess.run([ROOT / "scripts" / "harness", *(names or ["--all"])], check=True, env=environment)
    if not names:
        every = sorted(source.parent.name for source in (ROOT / "harnesses").glob("*/harness.*"))
        names = [name for name in every if not needs_library(name)]
    return {name: ROOT / "target" / "harnesses" / name for name in names}


def needs_library(name):
    """Whether a harness is linked to what the script of its name in scripts/targets builds."""
    return os.access(ROOT / "scripts" / "targets" / name, os.X_OK)


def seeds(name):
    """The folder of a harness's seeds."""
    folder = ROOT / "corpus" / name
    if not folder.is_dir():
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: no seeds in corpus/{name}")
    return folder


def fresh(path):
    """`path` as an empty folder."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


class Run:
    """A finished command: exit code, wall and CPU seconds of it and all its descendants, its output (both streams)."""

    def __init__(self, command, log, environment=None, core=None, limit=None):
        # `limit`: seconds after which it is killed, because its own end is what is in doubt
        # orphans (a fork server's child, for one) become ours, so that their CPU time is counted as well
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        if core is not None:
            command = ["taskset", "-c", str(core), *command]
        before, start = os.times(), time.monotonic()
        with open(log, "wb") as sink:
            child = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
            )
            try:
                self.code = child.wait(limit)
            except subprocess.TimeoutExpired:
                child.kill()
                self.code = child.wait()
        self.wall = time.monotonic() - start
        reap_orphans()
        after = os.times()
        self.cpu = after.children_user - before.children_user + after.children_system - before.children_system
        self.output = pathlib.Path(log).read_text(errors="replace")
        self.command = " ".join(str(part) for part in command)
        self.log = log

    def or_exit(self):
        """This run, if it succeeded; otherwise the end of its output, and the end of the benchmark."""
        if self.code != 0:
            print("\n".join(self.output.splitlines()[-15:]), file=sys.stderr)
            sys.exit(f"{self.command}: exit code {self.code} (all output: {self.log})")
        return self


def findings(out):
    """The findings of the campaign in the folder `out`."""
    command = [binaries() / "quagmire", "report", out, "--format", "jsonl"]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def power(law):
    """The exponent of a law's class; more than any for exponential ones, 1 for those below a power."""
    fitted = re.match(r"n\^([\d.]+)", law["class"])
    return float(fitted[1]) if fitted else {"quadratic": 2, "cubic": 3, "exponential": math.inf}.get(law["class"].split()[0], 1)


def worse_than_linear(program, *arguments):
    """The JSON of `growth` with these arguments on a program, if that has a law of at least n^1.3 that is not told with low
    confidence; None otherwise."""
    command = [binaries() / "quagmire", "growth", "--json", "--budget", "5s", *arguments, "--", program]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    told = json.loads(done.stdout) if done.returncode == 0 else {"law": None}
    law = told["law"]
    return told if law and law["confidence"] != "low" and power(law) >= 1.3 else None


def reap_orphans(patience=5.0):
    """Waits for what a finished command left behind, but not for ever."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)
        except ChildProcessError:
            return
    print("a process of the last run is still alive: its CPU time is not counted", file=sys.stderr)


def last_core():
    """One core for everything that is compared: the last that this process may use."""
    return max(os.sched_getaffinity(0))


def table(rows):
    """Prints rows of text, the first column to the left and the others to the right."""
    record.remember("tables", rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip(), flush=True)


class Bars:
    """Collects what is asked for and whether it was reached."""

    def __init__(self):
        self.missed = False

    def check(self, reached, text):
        """Prints one verdict."""
        self.missed |= not reached
        record.remember("bars", {"reached": bool(reached), "text": text})
        print(("ok    " if reached else "MISS  ") + text, flush=True)

    def exit(self):
        """Ends the benchmark: 1 if any bar was missed."""
        sys.exit(1 if self.missed else 0)
