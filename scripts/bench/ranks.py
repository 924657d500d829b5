"""Comparing two samples without assuming how they are distributed."""

import itertools
import math
import statistics

# as many ways to divide the values into two samples are gone through one by one
EXACT = 20_000


def mann_whitney(one, other):
    """Two-sided p of the Mann-Whitney U test: how likely samples that differ at least so much are if nothing differs. Exact
    for small samples, otherwise by the normal approximation, with corrections for ties and continuity."""
    n, m = len(one), len(other)
    if n == 0 or m == 0:
        return 1.0
    ranks = midranks([*one, *other])
    middle = n * (n + m + 1) / 2
    off = abs(sum(ranks[:n]) - middle)
    if math.comb(n + m, n) <= EXACT:
        sums = [sum(chosen) for chosen in itertools.combinations(ranks, n)]
        return sum(abs(total - middle) >= off - 1e-9 for total in sums) / len(sums)
    ties = sum(count**3 - count for count in (ranks.count(rank) for rank in set(ranks)))
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    if variance == 0:
        return 1.0
    return math.erfc(max(off - 0.5, 0) / math.sqrt(2 * variance))


def a12(one, other):
    """Vargha and Delaney's effect size: how likely a value of `one` is larger than one of `other`, equal ones half; 0.5 if
    nothing differs."""
    if not one or not other:
        return 0.5
    return (sum(midranks([*one, *other])[: len(one)]) / len(one) - (len(one) + 1) / 2) / len(other)


def geometric_mean(values):
    """The geometric mean of positive values; 0 if one is not positive."""
    return statistics.geometric_mean(values) if all(value > 0 for value in values) else 0.0


def midranks(values):
    """The rank of each value from 1; equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    for _, group in itertools.groupby(range(len(order)), key=lambda place: values[order[place]]):
        places = list(group)
        for place in places:
            ranks[order[place]] = (places[0] + places[-1]) / 2 + 1
    return ranks


def median(values):
    """The median. Infinite values are runs that never got there: then the higher of the two in the middle."""
    return statistics.median_high(values) if math.inf in values else statistics.median(values)


def spearman(one, other):
    """Spearman's rank correlation of pairs: 1 for the same order."""
    one, other = midranks(one), midranks(other)
    mean_one, mean_other = statistics.fmean(one), statistics.fmean(other)
    product = sum((x - mean_one) * (y - mean_other) for x, y in zip(one, other))
    spread = sum((x - mean_one) ** 2 for x in one) * sum((y - mean_other) ** 2 for y in other)
    return product / spread**0.5 if spread else 0.0
