"""Campaigns of libFuzzer over the project's harnesses, beside those of quagmire: its fork mode, which goes on after crashes and
slow inputs, as FuzzBench and ClusterFuzz use it."""

import json
import re
import shutil

from builds import COUNTERS, Compiler
from campaigns import digest
from common import Run


def build(name, folder):
    """A harness built for libFuzzer."""
    return Compiler("clang-19", "clang++-19", COUNTERS).harness(name, folder / "libfuzzer")


class LibFuzzerCampaign:
    """One campaign of libFuzzer."""

    def __init__(self, program, seed_folder, seed, options):
        limits = [f"-max_total_time={options.time}", f"-max_len={options.max_size}", f"-timeout={max(round(options.hang_timeout), 1)}"]
        going_on = ["-fork=1", "-ignore_crashes=1", "-ignore_timeouts=1", "-ignore_ooms=1", "-rss_limit_mb=0"]
        self.key = ["libFuzzer", digest(program, seed_folder), seed, *limits]
        self.command = [program, *limits, *going_on, f"-seed={seed}"]
        self.seeds = seed_folder

    def run(self, out):
        """Runs it into the folder `out`, with its statistics where `measured` looks for them."""
        shutil.copytree(self.seeds, out / "queue")
        (out / "artifacts").mkdir()
        run = Run([*self.command, f"-artifact_prefix={out}/artifacts/", out / "queue"], f"{out}.log")
        reports = re.findall(r"^#(\d+): cov: ", run.output, re.MULTILINE)
        if not reports:
            raise SystemExit(f"libFuzzer reports nothing: {out}.log")
        (out / "summary.json").write_text(json.dumps({"executions": int(reports[-1])}))
