"""Many campaigns: one core each, results kept so that a benchmark that was stopped goes on where it was."""

import hashlib
import json
import multiprocessing
import os
import pathlib
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor

import record
from builds import offered
from common import WORK, Run, binaries


def add_options(parser, runs, time=None, execs=None):
    """The options that these benchmarks share, with their defaults."""
    parser.add_argument("--runs", type=int, default=runs, help=f"campaigns of each kind, --seed 1 to N [default: {runs}]")
    if time:
        parser.add_argument("--time", type=int, default=time, help=f"seconds of each campaign [default: {time}]")
    if execs:
        parser.add_argument("--execs", type=int, default=execs, help=f"executions of each campaign [default: {execs}]")
    parser.add_argument("--jobs", type=int, default=1, help="campaigns at a time, each on its core [default: 1]")
    parser.add_argument("--only", help="of the kinds of campaigns, those whose names are given, with commas")
    parser.add_argument("--fresh", action="store_true", help="forget the results of an earlier call")


def chosen(kinds, only, needs):
    """Of `kinds` (a dictionary), those that --only names, without those that need an option (`needs`: name -> option) that
    this quagmire does not have."""
    unknown = set((only or "").split(",")) - set(kinds) - {""}
    if unknown:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: --only knows {', '.join(kinds)}, not {', '.join(sorted(unknown))}")
    left = {}
    for name, kind in kinds.items():
        missing = [option for option in needs.get(name, []) if option not in offered()]
        if missing:
            print(f"left out: {name}: this quagmire has no {', '.join(missing)}", file=sys.stderr)
        elif not only or name in only.split(","):
            left[name] = kind
    return left


def limits(options):
    """--time and --execs as quagmire fuzz takes them. Without --time, the executions alone end a campaign."""
    time = getattr(options, "time", None)
    execs = getattr(options, "execs", None)
    return ["--time", f"{time}s" if time else "24h", *(["--execs", execs] if execs else [])]


def digest(*files):
    """Of the contents of files and of the files in folders: results are of these."""
    sums = hashlib.sha256()
    for path in map(pathlib.Path, files):
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            sums.update(file.name.encode() + b"\0")
            sums.update(file.read_bytes())
    return sums.hexdigest()[:16]


# what a fuzzer that only searches does not do either
SEARCH_ONLY = ["--no-confirm", "--no-plotting"]


class Campaign:
    """One campaign of quagmire: `arguments` are options of quagmire fuzz, `words` those of the program. It only searches, unless
    it is as a user gets it. `tools`: the folder of its binaries, if they are not those of all."""

    def __init__(self, program, seeds, seed, arguments, as_users_get_it=False, words=(), tools=None):
        quagmire = (tools or binaries()) / "quagmire"
        # the engine of a harness is in the harness, that of a program is quagmire itself
        self.key = ["quagmire", digest(quagmire, program, seeds), seed, *map(str, arguments), *["as users get it"] * as_users_get_it, *words]
        self.further = [] if as_users_get_it else SEARCH_ONLY
        self.command = [quagmire, "fuzz", "-i", seeds, "--seed", seed, *arguments]
        self.program = [program, *words]

    def run(self, out):
        """Runs it into the folder `out`."""
        Run([*self.command, "-o", out, "--quiet", *self.further, "--", *self.program], f"{out}.log").or_exit()


def summary(out):
    """The campaign in numbers."""
    return json.loads((out / "summary.json").read_text())


def queue(out):
    """What was kept, in order: a dictionary for each entry, with `executions`, `seconds`, `file` (a path) and its costs, None
    for those that were not measured."""
    lines = (out / "logs" / "queue_data.txt").read_text().splitlines()
    names = lines[0].lstrip("# ").split("\t")
    rows = [dict(zip(names, line.split("\t"))) for line in lines[1:]]
    number = lambda name, value: None if value == "-" else float(value) if name == "seconds" else int(value)
    numbers = lambda row: {name: number(name, value) for name, value in row.items()}
    return [{**numbers({k: v for k, v in row.items() if k != "file"}), "file": out / "queue" / row["file"]} for row in rows]


def perform(out, campaign, measure, arguments):
    """The measured result of a campaign: from the file beside its folder if it is of the same, otherwise run anew."""
    kept = pathlib.Path(f"{out}.json")
    key = [*campaign.key, measure.__name__, *map(str, arguments)]
    if kept.exists():
        earlier = json.loads(kept.read_text())
        if earlier["key"] == key:
            return earlier["result"]
    shutil.rmtree(out, ignore_errors=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    campaign.run(out)
    result = measure(out, *arguments)
    unfinished = kept.with_suffix(".unfinished")
    unfinished.write_text(json.dumps({"key": key, "result": result}))
    unfinished.rename(kept)
    return result


def pin(cores):
    """Puts a worker and all that it starts on a core of its own."""
    os.sched_setaffinity(0, {cores.get()})


def perform_all(folder, campaigns, measure, arguments, options):
    """Runs `campaigns` ((kind, seed) -> Campaign), --jobs at a time, and returns (kind, seed) -> what `measure` (a function
    of this module's caller, called with the campaign's folder and `arguments`) made of it."""
    folder = WORK / folder
    if options.fresh:
        shutil.rmtree(folder, ignore_errors=True)
    cores = sorted(os.sched_getaffinity(0), reverse=True)
    jobs = min(options.jobs, len(cores))
    free = multiprocessing.Queue()
    for core in cores[:jobs]:
        free.put(core)
    done = {}
    with ProcessPoolExecutor(jobs, initializer=pin, initargs=(free,)) as pool:
        waiting = {
            case: pool.submit(perform, folder / f"{case[0].replace(' ', '-')}-{case[1]}", campaign, measure, arguments)
            for case, campaign in campaigns.items()
        }
        for case, result in waiting.items():
            done[case] = result.result()
            record.remember("campaigns", {"kind": case[0], "seed": case[1], "result": done[case]})
            print(f"{case[0]}, seed {case[1]}: {len(done)} of {len(campaigns)} done", file=sys.stderr)
    return done


def of_kind(results, kind):
    """The results of one kind, by seed."""
    return [result for (name, _), result in sorted(results.items()) if name == kind]
