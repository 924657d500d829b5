"""Counts the edges that a queue reaches, on a build that belongs to no fuzzer: clang's own edge coverage. Benchmarks that
do so share their builds and results: a campaign that two of them ask for runs once."""

import subprocess

from builds import Compiler
from campaigns import digest, perform_all, queue, summary
from common import DRIVERS, WORK

# harnesses of XML, and what FairFuzz's paper looks for in their queues
XML = ("libxml2", "keyword-nest", "nested-xml")
SEQUENCES = ["<!A", "<!AT", "<!ATT", "<!ATTLIST"]


def kept(folder):
    """The inputs in a queue."""
    return sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))


def edges(judge, files):
    """How many edges these inputs reach, of how many."""
    *_, last = judged(judge, files)
    found, all_edges, _ = last.split()
    return int(found), int(all_edges)


def judged(judge, files):
    """What the judge prints: a line for each file, and one for all."""
    paths = "".join(f"{file}\n" for file in files)
    run = subprocess.run([judge], input=paths, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True)
    return run.stdout.splitlines()


def growth(out, judge):
    """[seconds, edges] of quagmire's queue, each time that the edges had grown by a hundredth."""
    entries = queue(out)
    found = map(int, judged(judge, [entry["file"] for entry in entries])[:-1])
    points = [[0.0, 0]]
    for entry, reached in zip(entries, found):
        if reached > 1.01 * points[-1][1]:
            points.append([entry["seconds"], reached])
    return points


def judge_compiler(folder):
    """Clang's edge coverage, every edge counted, and the driver that runs a corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    driver = folder / "edge_union.o"
    subprocess.run(["clang-19", "-O2", "-c", DRIVERS / "edge_union.c", "-o", driver], check=True)
    instrument = ["-fsanitize-coverage=trace-pc-guard,no-prune"]
    return Compiler("clang-19", "clang++-19", instrument, link=[driver])


def build_judge(name, folder):
    """The harness NAME, built so."""
    return judge_compiler(folder).harness(name, folder)


def build_folder(name):
    """Where the builds of a harness are."""
    return WORK / "coverage-builds" / name


def measured(out, judge, _digest, sequences):
    """Edges, executions, the largest cost ratio, kept inputs, which sequences any of them contains, and, of quagmire, how the edges
    grew."""
    files = kept(out / "queue")
    contents = [file.read_bytes() for file in files]
    numbers = summary(out)
    return {
        "growth": growth(out, judge) if "worst" in numbers else None,
        "edges": edges(judge, files)[0],
        "executions": numbers["executions"],
        # afl-fuzz knows of none
        "cost": (numbers["worst"] or {}).get("instructions_ratio") or 1.0 if "worst" in numbers else None,
        "kept": len(files),
        "sequences": [any(sequence.encode() in content for content in contents) for sequence in sequences],
    }


def perform_on(name, arguments, campaigns, judge, sequences, options):
    """Runs the campaigns on a harness, all with these arguments: see `perform_all` and `measured`."""
    settings = "-".join(str(argument).lstrip("-") for argument in arguments)
    return perform_all(f"coverage/{name}/{settings}", campaigns, measured, [judge, digest(judge), sequences], options)


def add_sequences(parser):
    """--sequences."""
    text = f"to look for in the queues [default for XML: {' '.join(SEQUENCES)}]"
    parser.add_argument("--sequences", nargs="*", help=text)


def sequences_of(options):
    """What to look for in the queues of a harness."""
    return options.sequences if options.sequences is not None else SEQUENCES if options.name in XML else []


def with_sequences(runs, sequences):
    """In how many runs' queues each sequence is, as cells of a table."""
    return [f"{sum(run['sequences'][place] for run in runs)} of {len(runs)}" for place in range(len(sequences))]
