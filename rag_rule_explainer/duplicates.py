"""This module finds groups of texts that say nearly the same.

A text is normalised (NFKC), case folded and split into words. In scripts without spaces, each character
is a word. Every three consecutive words are a *shingle*. The similarity of two texts is the Jaccard index
of their sets of shingles.

Two texts belong to one group, a *tie*, if a chain of pairs connects them and each pair is at least as
similar as the threshold. The ties do not depend on the order of the texts. A chain can connect texts that
are less similar than the threshold, so a ``Tie`` also states the similarity of its two least similar
texts.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations, repeat
from math import ceil, floor
from unicodedata import normalize

SIMILARITY = 0.9
"""The default similarity from which two texts count as duplicates. In a text of about 60 words, one word
may then differ."""

_SHINGLE = 3
_WORD = r"[^\W\u2e80-\U0010ffff]+|[^\W\u0000-\u2e7f]"
# Floating-point products such as 0.7 * 10 can be slightly above or below the exact whole number. So this
# difference is ignored when they are rounded up or down.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Tie:
    """A ``Tie`` holds the ids of near-duplicates, in the order of the sources. These sources are retained
    or omitted together.

    ``similarity``: the similarity of the two least similar texts, from 0 to 1.
    """

    sources: tuple[str, ...]
    similarity: float

    def __post_init__(self) -> None:
        if len(self.sources) < 2 or len(set(self.sources)) != len(self.sources):
            raise ValueError("a tie is of two different sources at least")
        if not 0 <= self.similarity <= 1:
            raise ValueError("the similarity of a tie is a share, from 0 to 1")

    @property
    def shared(self) -> str:
        """Returns the similarity as a text, rounded down: 0.999 becomes "at least 99 %", and only 1
        becomes "all"."""
        return "all" if self.similarity == 1 else f"at least {floor(self.similarity * 100 + _ROUNDING)} %"


def near_duplicates(texts: Mapping[str, str], threshold: float) -> tuple[Tie, ...]:
    """Returns the ties among the texts, in the order of their first ids. ``texts``: the texts by id.
    ``threshold``: the similarity, from 0 to 1, from which two texts are tied.

    Identical texts are always tied. The result is exact: a pair is skipped only if it cannot reach
    ``threshold``.
    """
    same = defaultdict[frozenset[tuple[str, ...]], list[str]](list)
    for identity, text in texts.items():
        same[_shingles(text)].append(identity)
    counts = Counter(shingle for shingles in same for shingle in shingles)
    rank = {shingle: place for place, shingle in enumerate(sorted(counts, key=counts.__getitem__))}
    distinct = [frozenset(map(rank.__getitem__, shingles)) for shingles in same]
    named, place = list(same.values()), {identity: n for n, identity in enumerate(texts)}
    ties = list[Tie]()
    for group in _groups(distinct, threshold):
        ids = sorted((identity for n in group for identity in named[n]), key=place.__getitem__)
        if len(ids) > 1:
            ties.append(Tie(tuple(ids), _lowest([distinct[n] for n in group])))
    return tuple(sorted(ties, key=lambda tie: place[tie.sources[0]]))


class Tied:
    """A ``Tied`` maps sources to units. A unit is a tie, or a source that is in no tie. Each unit is
    named by the id of its first source.

    ``first_of``: for each tied source, its unit. ``by_first``: the ids of each tie, by its unit.
    """

    def __init__(self, ties: Iterable[Tie]) -> None:
        self.first_of, self.by_first = dict[str, str](), dict[str, tuple[str, ...]]()
        # There may be one tie of thousands of sources, or thousands of ties. So the work for each source
        # is done by functions that are written in C.
        for tie in ties:
            self.first_of.update(dict.fromkeys(tie.sources, tie.sources[0]))
            self.by_first[tie.sources[0]] = tie.sources
        self._sizes = {first: len(tied) for first, tied in self.by_first.items()}

    def units_of(self, ids: Sequence[str]) -> frozenset[str]:
        """Returns the units (ties, or sources in no tie) that contain at least one of these sources, each
        by the id of its first source."""
        if not self.first_of:
            return frozenset(ids)
        if ids and self.by_first.get(ids[0]) == ids:
            # One tie may have thousands of ids. Comparing ``ids`` with the whole tie is much faster than
            # looking up each id.
            return frozenset(ids[:1])
        return frozenset(map(self.first_of.get, ids, ids))

    def size_of(self, units: Collection[str]) -> int:
        """Returns the number of sources in these units (ties, or sources in no tie)."""
        return sum(map(self._sizes.get, units, repeat(1))) if self._sizes else len(units)

    def splits(self, ids: Iterable[str]) -> bool:
        """Returns True iff ``ids`` contains some, but not all, sources of a tie."""
        different = tuple(dict.fromkeys(ids))
        return self.size_of(self.units_of(different)) != len(different)


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = re.findall(_WORD, normalize("NFKC", text).casefold())
    if not words:
        return frozenset({(" ".join(text.split()),)})
    last = max(1, len(words) - _SHINGLE + 1)
    return frozenset(tuple(words[start : start + _SHINGLE]) for start in range(last))


def _groups(sets: Sequence[frozenset[int]], threshold: float) -> list[list[int]]:
    """Returns the groups of sets that chains of similar pairs connect, as lists of positions in ``sets``.

    Only pairs that share a rare shingle are compared. Two sets whose similarity reaches the threshold
    must share one of their k rarest shingles, where k is one more than the number of shingles that may
    differ.
    """
    group = list(range(len(sets)))
    members = [[n] for n in group]
    having = defaultdict[int, set[int]](set)
    for n, shingles in enumerate(sets):
        least = ceil(threshold * len(shingles) - _ROUNDING)
        rarest = sorted(shingles)[: len(shingles) - least + 1]
        near = set[int]().union(*(having[each] for each in rarest))
        for other in near:
            if group[n] != group[other] and _alike(shingles, sets[other]) >= threshold:
                small, large = sorted((group[n], group[other]), key=lambda each: len(members[each]))
                for moved in members[small]:
                    group[moved] = large
                members[large] += members[small]
                members[small] = []
        for each in rarest:
            having[each].add(n)
    return [sorted(each) for each in members if each]


def _alike(one: Set[int], other: Set[int]) -> float:
    common = len(one & other)
    return common / (len(one) + len(other) - common)


def _lowest(sets: Sequence[frozenset[int]]) -> float:
    """Returns the similarity of the two least similar sets."""
    bit = {shingle: place for place, shingle in enumerate(frozenset[int]().union(*sets))}
    # The sets are turned into integers, which are compared faster: a thousand variants of one text make
    # half a million pairs.
    masks = [sum(1 << bit[shingle] for shingle in shingles) for shingles in sets]
    pairs = combinations(masks, 2)
    return min(((a & b).bit_count() / (a | b).bit_count() for a, b in pairs), default=1.0)
