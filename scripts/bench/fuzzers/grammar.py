"""quagmire with a grammar of the inputs, for harnesses that corpus/grammars has one for; what it does after the search is off, as
`mutants bench` has it for quagmire."""

import sys

from builds import quagmire
from common import ROOT, binaries

NAME = "quagmire, grammar"
SCRIPT = True

# harness -> file of corpus/grammars
GRAMMARS = {"duktape": "javascript", "jansson": "json", "libxml2": "xml", "lua": "lua", "pcre2": "pcre", "pugixml": "xml", "sqlite3": "sql"}

RUN = """#!/bin/sh
# seeds, folder to write to, seconds, seed, largest size
"{quagmire}" fuzz -i "$1" -o "$2/out" --time "$3s" --seed "$4" --max-size "$5" --grammar "{grammar}" --quiet --no-confirm \\
  --no-plotting -- "{program}" >&2
for kind in queue degradations hangs faults; do
  [ ! -d "$2/out/$kind" ] || echo "out/$kind"
done
sed -n 's/^  "executions": \\([0-9]*\\),*$/executions: \\1/p' "$2/out/summary.json" | head -n 1
"""


def build(harness, folder):
    """The script that runs it."""
    if harness not in GRAMMARS:
        sys.exit(f"no grammar in corpus/grammars for {harness}")
    program = quagmire().harness(harness, folder / "grammar")
    script = folder / "grammar.sh"
    grammar = ROOT / "corpus" / "grammars" / f"{GRAMMARS[harness]}.json"
    script.write_text(RUN.format(quagmire=binaries() / "quagmire", grammar=grammar, program=program))
    script.chmod(0o755)
    return script
