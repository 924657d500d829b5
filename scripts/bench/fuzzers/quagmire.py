"""quagmire by its defaults, without what it does after the search."""

from builds import quagmire

NAME = "quagmire"


def build(harness, folder):
    return quagmire().harness(harness, folder / "quagmire")
