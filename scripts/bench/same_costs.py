#!/usr/bin/env python3
"""Replays corpora on builds with shared counters and with one in every block, and compares all that a run shows. Inputs
whose runs do not repeat themselves on one build are left out and counted: those of libxml2 vary by a few instructions, for
a reason that is not known."""

import json
import pathlib
import random
import subprocess
import sys

COSTS = ["instructions", "edges", "hottest_edge", "edges_hit", "status", "lines", "functions", "lines_left_out",
         "instructions_range"]
REPLAYS = 4
CORPORA = {"zlib": "libxml2", "libxml2": "libxml2", "keyword-nest": "keyword-nest", "nested-xml": "nested-xml",
           "regex-trim": "regex-trim"}


def inputs(name, folder):
    """Copies of the corpus's files, and of each some that are changed in a few bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    paths = []
    for number, source in enumerate(sorted(p for p in pathlib.Path("corpus", name).rglob("*") if p.is_file())):
        original = source.read_bytes()[:20000]
        for variant in range(20):
            data = bytearray(original)
            for _ in range(variant):
                if data:
                    data[draw.randrange(len(data))] = draw.randrange(256)
            path = folder / f"{number:03}-{variant:02}"
            path.write_bytes(data)
            paths.append(path)
    return paths


def shown(quagmire, program, paths):
    command = [quagmire, "replay", "--json", "-n", "1", "--hang-timeout", "60s", *map(str, paths), "--", str(program)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # debug information names the folder that a library was built in
    report = json.loads(text.replace(program.parent.name, "build"))
    return [{cost: run[cost] for cost in COSTS} for run in report["inputs"]]


def repeated(quagmire, program, paths):
    """What each input shows in all of a few replays; None if these differ."""
    replays = [shown(quagmire, program, paths) for _ in range(REPLAYS)]
    return [runs[0] if all(run == runs[0] for run in runs) else None for runs in zip(*replays)]


def main():
    quagmire, work, llvms = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3].split(",")
    failed = False
    for name, corpus in CORPORA.items():
        paths = inputs(corpus, work / "inputs" / name)
        for llvm in llvms:
            shared, every = (repeated(quagmire, work / f"{llvm}-{counting}" / f"{name}.run", paths)
                             for counting in ("shared", "every-block"))
            pairs = [(path, a, b) for path, a, b in zip(paths, shared, every) if a and b]
            different = [str(path) for path, a, b in pairs if a != b]
            failed |= bool(different) or not pairs
            ran = sum(a["instructions"] for _, a, _ in pairs)
            left_out = f", {len(paths) - len(pairs)} vary and are left out" if len(pairs) < len(paths) else ""
            print(f"{'DIFFERENT' if different else 'same':<10} {name:<13} LLVM {llvm}: {len(pairs)} inputs, "
                  f"{ran:,} instructions{left_out} {' '.join(different[:3])}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
