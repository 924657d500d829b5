"""The project's harnesses, and the libraries that they read with, built by any compiler: the same code for all."""

import functools
import os
import subprocess

from common import ROOT, binaries, needs_library

FLAGS = ["-O2", "-g"]
# afl-clang-fast defines it whatever one says, and libxml2 asks for it
CODE = ["-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION=1"]
# for afl-fuzz and its compilers; AFL_DONT_OPTIMIZE: they take the -O2 that they are given
AFL_SETTINGS = {
    "AFL_DONT_OPTIMIZE": "1",
    "AFL_QUIET": "1",
    "AFL_NO_UI": "1",
    "AFL_NO_AFFINITY": "1",
    "AFL_SKIP_CPUFREQ": "1",
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
}


class Compiler:
    """A pair of compilers, the flags that only instrument, those that link what calls a harness, and the environment."""

    def __init__(self, c, cxx, instrument=(), link=("-fsanitize=fuzzer",), environment=None):
        self.c = str(c)
        self.cxx = str(cxx)
        self.instrument = list(instrument)
        self.link = list(link)
        self.environment = {**os.environ, **(environment or {})}

    def build(self, source, folder, library=None, further=()):
        """Compiles `source` to a program in `folder`, with a library if one is named as a script of scripts/targets and its
        arguments, and with `further` arguments."""
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / source.parent.name if source.stem == "harness" else folder / source.stem
        flags = [*FLAGS, *CODE, *self.instrument]
        libraries = []
        if library:
            place = folder / "library"
            environment = {**self.environment, "CC": self.c, "CXX": self.cxx, "CFLAGS": " ".join(flags)}
            script, *arguments = library.split()
            subprocess.run([ROOT / "scripts" / "targets" / script, *arguments, place], env=environment, check=True)
            libraries = [f"-I{place}/include", *sorted(place.glob("*.[ao]")), "-lm"]
        compiler = self.cxx if source.suffix == ".cc" else self.c
        command = [compiler, *flags, *further, source, *self.link, *libraries, "-o", program]
        subprocess.run(command, env=self.environment, check=True)
        return program

    def harness(self, name, folder, further=()):
        """Builds harnesses/NAME, with its library if it has one, and with `further` arguments."""
        source = next((ROOT / "harnesses" / name).glob("harness.c*"))
        return self.build(source, folder, name if needs_library(name) else None, further)


def quagmire(tools=None, **environment):
    """quagmire-cc and quagmire-c++, those of the folder `tools` if they are not those of all."""
    tools = tools or binaries()
    # some builds ask for it, and it changes nothing
    instrument = ["-fsanitize=fuzzer-no-link"]
    return Compiler(tools / "quagmire-cc", tools / "quagmire-c++", instrument, environment=environment)


GUARDS = ["-fsanitize-coverage=trace-pc-guard,pc-table"]
# what libFuzzer's users compile their libraries with
COUNTERS = ["-fsanitize=fuzzer-no-link"]


def sancov(instrument):
    """Plain clang with SanitizerCoverage, and quagmire's engine in the place of clang's fuzzer runtime."""
    engine = [binaries() / "libquagmire_engine.a", "-lstdc++", "-lm"]
    return Compiler("clang-19", "clang++-19", instrument, engine)


@functools.cache
def afl_environment():
    """Variables for the programs of AFL++, with the version of scripts/afl in front."""
    built = subprocess.run([ROOT / "scripts" / "afl"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return {**AFL_SETTINGS, "PATH": f"{built}:{os.environ['PATH']}"}


def afl(**environment):
    """AFL++'s compilers: persistent mode."""
    return Compiler("afl-clang-fast", "afl-clang-fast++", environment={**afl_environment(), **environment})


@functools.cache
def offered():
    """What `quagmire fuzz --help` says: which options there are."""
    return subprocess.run([binaries() / "quagmire", "fuzz", "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
