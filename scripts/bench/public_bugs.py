"""Public bugs of performance: for each one ordinary seed, and the pattern that is known to be slow."""

import dataclasses
import functools
import typing

from hashes import colliding, fnv_1, lookup_3, murmur_3, times


@dataclasses.dataclass
class Bug:
    """`pattern` makes the known slow input of n parts; `size` is the smallest n of a witness, where lower terms no longer
    hide the law; `power` is the least exponent of a law that tells the bug. Several bugs may be of one program."""

    pattern: typing.Callable
    size: int
    program: str
    power: int = 2


def der(tag, *parts):
    """A value in DER."""
    content = b"".join(parts)
    length = len(content).to_bytes((len(content).bit_length() + 7) // 8 or 1, "big")
    return bytes([tag]) + (length if len(content) < 128 else bytes([128 + len(length)]) + length) + content


def names(count, numbers=3):
    """A list of libtasn1's driver."""
    name = der(0x30, der(6, b"\x55\x04\x03"), der(12, b"Ada"))
    return der(0x30, der(2, b"\1"), der(0x30, *[name] * count), der(0x31, *[der(2, bytes([n % 128])) for n in range(numbers)]))


def jpeg(segments, of=255):
    """A small image whose ICC profile is in so many segments; it is whole, and looked at, if there are as many as they say."""
    segment = lambda marker, content: b"\xff" + bytes([marker]) + (len(content) + 2).to_bytes(2, "big") + content
    profile = (36 * of).to_bytes(4, "big") + bytes(32)
    number = lambda i: min(i, of - (of != segments))
    parts = [segment(0xE2, b"ICC_PROFILE\0" + bytes([number(i), of]) + profile) for i in range(1, segments + 1)]
    ends = [segment(0xC0, b"\x08\0\1\0\1\1\1\x11\0"), segment(0xDA, b"\1\1\0\0\x3f\0"), b"\x3f\xff\xd9"]
    return b"\xff\xd8" + b"".join([segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0"), *parts, *ends])


def hosts(count):
    return " or ".join(f"host 10.0.{n >> 8}.{n & 255}" for n in range(count)).encode()


def table(columns):
    return b"|a" * columns + b"|\n" + b"|-" * columns + b"|\n" + b"|\n" * columns


def names_of_json(hashed):
    """Different names of an object that are in one bucket, of tables with up to 4,096."""
    return lambda n: b"{" + b",".join(b'"' + name + b'":1' for name in colliding(hashed, 4096, n)) + b"}"


text = lambda start, part, end="": lambda n: (start + part * n + end).encode()

MARKDOWN = b"""# Title

Some *text* with a [link](to.html "here") and `code`, written by ada@example.org:

- one
- "two"

| a | b |
|---|---|
| 1 | 2 |

> quoted
"""
JSON = b'{"name": "Ada", "born": 1815}'
# name -> the one seed
SEEDS = {
    "hoedown": MARKDOWN,
    # its harness reads options from four bytes: collect comments, as is the default
    "jsoncpp": b'\0\2\0\0{\n  "name": "Ada", // of a person\n  "born": [1815, 12, 10], /* or so */\n  "known": true\n}\n',
    "harfbuzz": "Ordinary text, cafe\u0301 and nai\u0308ve.\n".encode(),
    "libpcap": b"tcp port 80 and (host 10.0.0.1 or host 10.0.0.2)",
    "libtasn1": names(3),
    "exiv2": jpeg(2, 2),
    "comrak": MARKDOWN,
    "glob-match": b"src/**/{main,lib}*.rs\nsrc/bin/tools/main.rs",
    "jq": JSON,
    "jansson": JSON,
    "json-c": JSON,
    "wapcaplet": b"width\nheight\ncolor\n",
    "quick-xml": b'<list kind="plain" size="2">\n  <item id="1">one</item>\n  <item id="2" new="yes"/>\n</list>\n',
}
CRATES = ("comrak", "glob-match", "quick-xml")
BUGS = {
    "hoedown brackets": Bug(text("", "["), 1000, "hoedown"),
    # behind a comment with a newline each further one is searched for
    "jsoncpp comments": Bug(lambda n: b"\0\2\0\0[0/*" + b"x" * n + b"\n*/" + b"/**/" * n, 500, "jsoncpp"),
    "harfbuzz marks": Bug(text("a", "\u0301"), 1000, "harfbuzz"),
    "libpcap hosts": Bug(hosts, 25, "libpcap", 3),
    "libtasn1 elements": Bug(names, 1000, "libtasn1"),
    "exiv2 segments": Bug(jpeg, 500, "exiv2"),
    "comrak addresses": Bug(text("", "a@"), 500, "comrak"),
    "comrak quotes": Bug(text("", "'"), 1000, "comrak"),
    "comrak tables": Bug(table, 4000, "comrak"),
    "comrak tags": Bug(text("", "<"), 500, "comrak"),
    "glob-match stars": Bug(lambda n: b"*{*{*{b}}}\n" + b"a" * n, 20, "glob-match", 3),
    # hash functions without a key: MurmurHash3, lookup3, one like DJB2, and FNV-1
    "jq names": Bug(names_of_json(murmur_3), 200, "jq"),
    "jansson names": Bug(names_of_json(functools.partial(lookup_3, seed=1)), 200, "jansson"),
    "json-c names": Bug(names_of_json(times(33, 1)), 200, "json-c"),
    "wapcaplet words": Bug(lambda n: b"".join(name + b"\n" for name in colliding(fnv_1, 4091, n)), 200, "wapcaplet"),
    "quick-xml attributes": Bug(lambda n: b"<a " + b"".join(b'a%d="" ' % i for i in range(n)) + b"/>", 200, "quick-xml"),
}
