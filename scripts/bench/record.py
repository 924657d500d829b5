"""Records of measurements. With QUAGMIRE_RECORD=1 in the environment, whatever a benchmark prints and remembers is written to
docs/benchmarks/DATE/NAME.md when it ends, and all of it to target/bench/records/DATE-NAME.json; another value than 1 is added to the name: QUAGMIRE_RECORD=idle."""

import atexit
import datetime
import json
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WANTED = os.environ.get("QUAGMIRE_RECORD")
remembered = {}


def remember(kind, value):
    """Adds a value (plain data) to what is recorded under `kind`: `tables`, `bars`, `campaigns`, or a name of one's own."""
    if WANTED:
        remembered.setdefault(kind, []).append(value)


def said(*command):
    """What a command prints, without blanks at its end; empty if it cannot be had."""
    try:
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.rstrip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def processor():
    """The model of the processor."""
    try:
        found = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def system():
    """Name and version of the system and its kernel."""
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = platform.system()
    return f"{name}, Linux {platform.release()}"


def command():
    """The command line, with what matters of the environment, as the root folder of the project takes it."""
    settings = [f"{name}={shlex.quote(os.environ[name])}" for name in ("QUAGMIRE_PROFILE", "QUAGMIRE_RECORD") if name in os.environ]
    script = pathlib.Path(sys.argv[0]).resolve()
    script = script.relative_to(ROOT) if script.is_relative_to(ROOT) else script.name
    return " ".join([*settings, str(script), *map(shlex.quote, sys.argv[1:])])


class Copy:
    """Standard output that remembers what is written to it."""

    def __init__(self, stream):
        self.stream, self.text = stream, []

    def write(self, text):
        """To both."""
        self.text.append(text)
        return self.stream.write(text)

    def __getattr__(self, name):
        return getattr(self.stream, name)


class Record:
    """What is known of a measurement from its start on."""

    def __init__(self):
        self.process, self.started, self.load = os.getpid(), time.time(), os.getloadavg()[0]
        # as it was measured: the tree may change meanwhile
        self.commit = said("git", "rev-parse", "HEAD")
        self.changed = [line[3:] for line in said("git", "status", "--porcelain", "--untracked-files=no").splitlines()]
        self.output = sys.stdout = Copy(sys.stdout)

    def about(self):
        """Everything but the results."""
        import common  # which imports this module

        quagmire = said(str(common.binaries() / "quagmire"), "--version")
        started = datetime.datetime.fromtimestamp(self.started, datetime.timezone.utc)
        cores = len(os.sched_getaffinity(0))
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return {
            "name": name(),
            "started": started.isoformat(timespec="seconds"),
            "seconds": round(time.time() - self.started),
            "command": command(),
            "commit": self.commit,
            "changed": self.changed,
            "quagmire": quagmire,
            "machine": {"processor": processor(), "cores": cores, "memory": memory, "system": system(), "load": round(self.load, 2)},
        }

    def write(self):
        """Writes both files. A benchmark that measured nothing, or was interrupted before its first table, leaves none."""
        if os.getpid() != self.process or not (remembered.get("tables") or remembered.get("bars")):
            return
        about = self.about()
        folder = ROOT / "docs" / "benchmarks" / about["started"][:10]
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{about['name']}.md"
        raw = ROOT / "target" / "bench" / "records" / f"{folder.name}-{about['name']}.json"
        raw.parent.mkdir(parents=True, exist_ok=True)
        # paths of this machine are of no use to others
        shown = lambda text: text.replace(f"{ROOT}/", "")
        raw.write_text(shown(json.dumps({**about, **remembered}, indent=2, default=str)) + "\n")
        path.write_text(page(about, shown("".join(self.output.text)).strip("\n")))
        print(f"recorded in {path.relative_to(ROOT)} and {raw.relative_to(ROOT)}", file=sys.stderr)


def name():
    """Of the record: the script, its first argument if that is a name, and what QUAGMIRE_RECORD adds."""
    parts = [pathlib.Path(sys.argv[0]).name, *sys.argv[1:2], "" if WANTED == "1" else WANTED]
    return "-".join(part for part in parts if part and re.fullmatch(r"\w[\w.-]*", part))


def page(about, output):
    """A record for people."""
    machine, changed = about["machine"], f", with {len(about['changed'])} files changed" if about["changed"] else ""
    return f"""# {about["name"]}, {about["started"][:10]}

    {about["command"]}

| | |
|---|---|
| commit | {about["commit"][:12] or "not known"}{changed} |
| quagmire | {about["quagmire"]} |
| machine | {machine["processor"]}, {machine["cores"]} cores, {machine["memory"] / 1e9:.0f} GB, {machine["system"]} |
| load before | {machine["load"]} |
| started, took | {about["started"]}, {about["seconds"]} s |

```text
{output}
```
"""


if WANTED:
    atexit.register(Record().write)
