"""Inputs that are known to be slow, made for a size: what campaigns are held against."""

import itertools

# of the word frequency harnesses: see harnesses/common/word_frequency.h
BUCKETS = 12289
NOT_BLANK = [byte for byte in range(1, 256) if byte not in b" \t\n\v\f\r"]


def blanks(size):
    """regex-trim: a line of blanks that does not end in one."""
    return b"x" + b" " * (size - 2) + b"x"


def attributes(size):
    """nested-xml: a tag with as many attributes of different names as fit."""
    letters = [bytes([letter]) for letter in range(ord("a"), ord("z") + 1)]
    names = itertools.chain.from_iterable(itertools.product(letters, repeat=length) for length in (1, 2, 3))
    tag = b"<a"
    for name in names:
        attribute = b" " + b"".join(name) + b'=""'
        if len(tag) + len(attribute) + 2 > size:
            break
        tag += attribute
    return tag + b"/>"


def colliding_words(size, start, factor):
    """wordfreq: different words of three bytes in one bucket, for the hash that starts with `start` and for each byte is
    multiplied by `factor` before the byte is added."""
    words = []
    for one, two in itertools.product(NOT_BLANK, repeat=2):
        three = -(((start * factor + one) * factor + two) * factor) % BUCKETS
        if three in NOT_BLANK:
            words.append(bytes([one, two, three]))
    return b" ".join(words[: (size + 1) // 4])


MAKERS = {
    "regex-trim": blanks,
    "nested-xml": attributes,
    "wordfreq-java": lambda size: colliding_words(size, 0, 37),
    "wordfreq-djb": lambda size: colliding_words(size, 5381, 33),
}
