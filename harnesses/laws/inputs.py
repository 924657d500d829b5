"""Inputs of the cases in programs.tsv that are judged from an input, as campaigns leave them: units with no pattern, junk around
them, units that were replaced, ends that were cut. An input is an expression over `n`, the number of units, and what this module
defines; it is a text of the bytes 0 to 255. Equal for equal `n` and seed."""

import random
import string
import zlib

chance = random.Random()


def make(expression, n, seed):
    """The bytes of an input with `n` units."""
    chance.seed(seed)
    return eval(expression, {**globals(), "n": n}).encode("latin-1")


# units


def word(low=2, high=9, letters=string.ascii_letters):
    """Letters without a pattern, from `low` to `high` of them."""
    return "".join(chance.choices(letters, k=chance.randint(low, high)))


def different(make_one, n):
    """`n` units that `make_one` makes, none of them twice."""
    seen = {}
    while len(seen) < n:
        seen[make_one()] = None
    return list(seen)


def words(n, low=2, high=9, letters=string.ascii_letters):
    """`n` different words."""
    return different(lambda: word(low, high, letters), n)


def records(n, size=8):
    """`n` records of random bytes."""
    return different(lambda: junk(size), n)


def keys(n):
    """Keys of four bytes, in order, with gaps of random width."""
    key, made = 0, []
    for _ in range(n):
        key += chance.randint(1, 1000)
        made.append(be(key, 4))
    return made


def numbered(n, form):
    """Units by a form: `{i}` is their number, `{w}` a word, `{d}` a number of up to two digits."""
    return [form.format(i=i, w=word(), d=chance.randint(0, 99)) for i in range(n)]


def named(n, form, low=2, high=9):
    """Units by a form with different words for `{w}`."""
    return [form.format(w=one, v=word(1, 6), d=chance.randint(0, 99)) for one in words(n, low, high)]


def of_sum(n, total=1000):
    """Different words of nine letters that all have the sum `total`."""

    def one():
        while True:
            made = [chance.randint(97, 122) for _ in range(8)]
            if 97 <= total - sum(made) <= 122:
                return "".join(map(chr, [*made, total - sum(made)]))

    return different(one, n)


def catalogue(n):
    """Different words whose letters have a sum that is a multiple of seven."""

    def one():
        while True:
            made = word()
            if sum(map(ord, made)) % 7 == 0:
                return made

    return different(one, n)


def every_second(n):
    """Words of 17 letters that differ in every second letter only."""
    return different(lambda: "k" + "".join(word(1, 1, string.ascii_lowercase) + "k" for _ in range(8)), n)


# as campaigns leave them


def junk(size, letters=None):
    """Bytes without a meaning; of `letters` if given."""
    return "".join(chance.choices(letters or [chr(i) for i in range(256)], k=size))


def text(size):
    """Printable junk with lines and blanks."""
    return junk(size, string.ascii_letters + string.digits + "  .,:-\n")


def mutated(units, one_in=20, letters=string.ascii_letters):
    """Some units replaced by others of the same length."""
    return [junk(len(unit), letters) if chance.randrange(one_in) == 0 else unit for unit in units]


def nudged(units, one_in=20, letters=string.ascii_letters + string.digits):
    """One byte of some units replaced."""
    for i, unit in enumerate(units):
        if unit and chance.randrange(one_in) == 0:
            at = chance.randrange(len(unit))
            units[i] = unit[:at] + chance.choice(letters) + unit[at + 1 :]
    return units


def shuffled(units):
    """In another order."""
    chance.shuffle(units)
    return units


def repeated(units, one_in=10):
    """Some units twice, the second time anywhere behind the first."""
    for unit in [unit for unit in units if chance.randrange(one_in) == 0]:
        units.insert(chance.randint(units.index(unit) + 1, len(units)), unit)
    return units


def split(units, middle):
    """Something in the middle of the units."""
    return "".join(units[: len(units) // 2]) + middle + "".join(units[len(units) // 2 :])


def cut(made, size):
    """Without the last bytes."""
    return made[:-size]


def all_of(units, between=""):
    """The units as one text."""
    return between.join(units)


# formats


def be(number, size):
    """The highest byte first."""
    return number.to_bytes(size, "big").decode("latin-1")


def le(number, size):
    """The lowest byte first."""
    return number.to_bytes(size, "little").decode("latin-1")


def riff(body):
    """Behind a length of four bytes."""
    return "RIFF" + le(len(body), 4) + body


def chunk(name, body):
    """Of RIFF."""
    return name + le(len(body), 4) + body + "\0" * (len(body) & 1)


def der(tag, body):
    """An element; the long form of the length where it is needed."""
    size = len(body)
    if size < 128:
        return chr(tag) + chr(size) + body
    used = (size.bit_length() + 7) // 8
    return chr(tag) + chr(0x80 | used) + be(size, used) + body


def deep_der(n):
    """`n` sequences, each in the one before."""
    made = ""
    for _ in range(n):
        made = der(0x30, made)
    return made


def varint(number):
    """Seven bits a byte."""
    made = ""
    while number > 127:
        made, number = made + chr(number & 127 | 128), number >> 7
    return made + chr(number)


def field(body):
    """A text of protocol buffers."""
    return "\n" + varint(len(body)) + body


def message(body):
    """Behind its length as a varint."""
    return varint(len(body)) + body


def box(name, body):
    """Behind a length that tells of the header, too."""
    return be(len(body) + 8, 4) + name + body


def adler(body):
    """The checksum that lengths.c computes."""
    return be(zlib.adler32(body.encode("latin-1")), 4)


def png(chunks):
    """A picture of one pixel with further chunks."""
    header = png_chunk("IHDR", be(1, 4) * 2 + "\x08\0\0\0\0")
    return "\x89PNG\r\n\x1a\n" + header + chunks + png_chunk("IDAT", "x\x9cc\0\0\0\x02\0\x01") + png_chunk("IEND", "")


def png_chunk(name, body):
    """With its checksum."""
    return be(len(body), 4) + name + body + be(zlib.crc32((name + body).encode("latin-1")), 4)


def zip_entry(name, body):
    """A local header with what it tells of."""
    sizes = le(zlib.crc32(body.encode("latin-1")), 4) + le(len(body), 4) * 2
    return "PK\3\4" + le(20, 2) + "\0" * 8 + sizes + le(len(name), 2) + "\0\0" + name + body


def zip_directory(names):
    """Empty entries and their directory."""
    entries = "".join("PK\1\2" + "\x14\0" * 2 + "\0" * 20 + le(len(name), 2) + "\0" * 16 + name for name in names)
    front = zip_entry("first", "body")
    return front + entries + "PK\5\6\0\0\0\0" + le(len(names), 2) * 2 + le(len(entries), 4) + le(len(front), 4) + "\0\0"


def offsets(units):
    """A table of where each text is."""
    at, table = 4 + 4 * len(units), ""
    for unit in units:
        table, at = table + be(at, 4), at + len(unit) + 1
    return "T." + be(len(units), 2) + table + "".join(unit + "\0" for unit in units)


def image(n, width):
    """Rows of an image."""
    return "IMG\0" + be(width, 2) + "\0\0" + junk(n * width)


def literal(body):
    """Of the packed texts of formats.c; up to 128 bytes."""
    return chr(len(body) - 1) + body


def copies(n, length=128, distance=8):
    """`n` copies of what was just unpacked."""
    return [chr(127 + length) + be(distance - 1, 2) for _ in range(n)]


def nested(n, opening, middle, closing):
    """`n` levels."""
    return opening * n + middle + closing * n


def elements(names):
    """Each in the one before."""
    return "".join(f"<{name}>" for name in names) + "text" + "".join(f"</{name}>" for name in reversed(names))


def chain(names):
    """Edges from each name to the next: the first one, then all others from the last on."""
    edges = [f"{a} {b};" for a, b in zip(names, names[1:])]
    return edges[:1] + edges[:0:-1]


def doublings(n):
    """Entities, each twice the one before."""
    return "e0 text\n" + "".join(f"e{i} &e{i - 1};&e{i - 1};\n" for i in range(1, n))


def stairs(n):
    """Lines, each indented by one more."""
    return [" " * i + word() + "\n" for i in range(n)]
