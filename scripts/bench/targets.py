"""Real programs without a harness: the script in scripts/targets that builds each, the program in its folder, arguments."""

import os
import subprocess

from common import ROOT, binaries

PROGRAMS = {
    "xmllint": ("xmllint", "xmllint", ["--noout", "@@"]),
    "readelf": ("binutils", "readelf", ["-a", "@@"]),
    "nm": ("binutils", "nm", ["-C", "@@"]),
    "objdump": ("binutils", "objdump", ["-d", "@@"]),
    "c++filt": ("binutils", "c++filt", []),
    "tcpdump": ("tcpdump", "tcpdump", ["-nevvvr", "@@"]),
    "djpeg": ("djpeg", "djpeg", ["-outfile", "/dev/null", "@@"]),
    "readpng": ("readpng", "readpng", []),
    "mutool": ("mutool", "mutool", ["draw", "-F", "png", "-o", "/dev/null", "@@"]),
    "serdi": ("serdi", "serdi", ["-i", "turtle", "@@"]),
}


def build_program(name, folder=None, **environment):
    """Builds a program with quagmire-cc, into a folder below `folder` (target/targets unless given), unless it is there. Its
    command line."""
    script, program, arguments = PROGRAMS[name]
    out = (folder or ROOT / "target" / "targets") / script
    compilers = {"CC": str(binaries() / "quagmire-cc"), "CXX": str(binaries() / "quagmire-c++")}
    subprocess.run([ROOT / "scripts/targets" / script, out], check=True, env={**os.environ, **compilers, **environment})
    return [out / program, *arguments]
