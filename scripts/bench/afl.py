"""Campaigns of afl-fuzz over the project's harnesses, beside those of quagmire."""

import json
import re
import sys

from builds import afl, afl_environment
from campaigns import digest
from common import Run


class AflBuild:
    """A harness built by AFL++, with options of afl-fuzz that go with it."""

    def __init__(self, name, folder, at_its_best):
        self.options, self.arguments = [], []
        if not at_its_best:
            self.program = afl().harness(name, folder / "afl")
            self.files = [self.program]
            return
        words = folder / "afl-words"
        words.unlink(missing_ok=True)
        self.program = afl(AFL_LLVM_DICT2FILE=str(words)).harness(name, folder / "afl-best")
        comparisons = afl(AFL_LLVM_CMPLOG="1").harness(name, folder / "afl-cmplog")
        self.options = ["-c", comparisons]
        self.files = [self.program, comparisons]
        if words.exists() and words.stat().st_size > 0:
            self.options += ["-x", words]
            self.files.append(words)
        else:
            print(f"afl-clang-fast has found no word for a dictionary in {name}", file=sys.stderr)


class AflCampaign:
    """One campaign of afl-fuzz."""

    def __init__(self, build, seed_folder, seed, options):
        limits = ["-V", options.time, "-G", options.max_size, "-t", round(options.hang_timeout * 1000)]
        self.key = ["AFL++", digest(*build.files, seed_folder), seed, *map(str, limits)]
        self.command = ["afl-fuzz", "-i", seed_folder, "-s", seed, *limits, *build.options]
        self.program = [build.program, *build.arguments]

    def run(self, out):
        """Runs it into the folder `out`, with its statistics where `measured` looks for them."""
        Run([*self.command, "-o", out, "--", *self.program], f"{out}.log", afl_environment()).or_exit()
        stats = (out / "default" / "fuzzer_stats").read_text()
        executions = int(re.search(r"execs_done *: *(\d+)", stats)[1])
        (out / "summary.json").write_text(json.dumps({"executions": executions}))
        (out / "queue").symlink_to("default/queue")
