"""Hash functions of other libraries, of 32 bits, and names that collide in tables that use them."""

import functools
import itertools

MASK = 0xFFFFFFFF


def rotated(x, by):
    return (x << by | x >> (32 - by)) & MASK


def times(factor, start):
    def hashed(name):
        value = start
        for byte in name:
            value = (value * factor + byte) & MASK
        return value

    return hashed


def fnv_1a(name):
    value = 2166136261
    for byte in name:
        value = (value ^ byte) * 16777619 & MASK
    return value


def fnv_1(name):
    value = 2166136261
    for byte in name:
        value = value * 16777619 & MASK ^ byte
    return value


def murmur_3(name):
    word = lambda part: rotated(int.from_bytes(part, "little") * 0xCC9E2D51 & MASK, 15) * 0x1B873593 & MASK
    value, whole = 0x432A9843, len(name) // 4 * 4
    for at in range(0, whole, 4):
        value = (rotated(value ^ word(name[at : at + 4]), 13) * 5 + 0xE6546B64) & MASK
    value ^= word(name[whole:]) ^ len(name)
    value = (value ^ value >> 16) * 0x85EBCA6B & MASK
    value = (value ^ value >> 13) * 0xC2B2AE35 & MASK
    return value ^ value >> 16


def lookup_3(name, seed=0):
    a = b = c = (0xDEADBEEF + len(name) + seed) & MASK
    words = lambda part: [int.from_bytes(part[at : at + 4], "little") for at in (0, 4, 8)]
    while len(name) > 12:
        one, two, three = words(name)
        a, b, c = (a + one) & MASK, (b + two) & MASK, (c + three) & MASK
        for by in (4, 6, 8, 16, 19, 4):
            a = (a - c & MASK) ^ rotated(c, by)
            c = (c + b) & MASK
            a, b, c = b, c, a
        name = name[12:]
    one, two, three = words(name)
    a, b, c = (a + one) & MASK, (b + two) & MASK, (c + three) & MASK
    for by in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - rotated(b, by)) & MASK
        a, b, c = b, c, a
    # seven steps: what is changed last stands first
    return b


@functools.cache
def colliding(hashed, buckets, count):
    """Names of eight characters that are in bucket 0 of so many."""
    names = map(bytes, itertools.product(b"etaoinshrdlu", repeat=8))
    return list(itertools.islice((name for name in names if hashed(name) % buckets == 0), count))
