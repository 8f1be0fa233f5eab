"""Which texts say nearly the same: by the share of their word shingles that they have in common.

A text becomes words (compatibility forms and case made one; a character of a script without spaces is a
word), words become shingles of three in a row, and two texts are alike by the Jaccard index of the sets.
Texts are tied where a chain of pairs leads from one to the other, each pair at least as alike as asked
for: these groups are the only ones that depend neither on the order of texts nor on which came first.
What a chain costs is told: how alike the two are that are least so.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from math import ceil, floor
from unicodedata import normalize

SIMILARITY = 0.9
"""From which on texts are tied if nothing else is asked for: one word in sixty may differ."""

_SHINGLE = 3
_WORD = re.compile(r"[^\W\u2e80-\U0010ffff]+|[^\W\u0000-\u2e7f]")
# A product such as 0.7 * 10 may come out a little above the whole number that it is.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Tie:
    """Near-duplicates, which are retained or left out together: their ids, in order.

    ``similarity``: of the two that are least alike; 1 where all have the same shingles.
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
        """Returns the similarity as text, rounded down: 0.999 is not all."""
        return "all" if self.similarity == 1 else f"at least {floor(self.similarity * 100 + _ROUNDING)} %"


def near_duplicates(texts: Mapping[str, str], threshold: float) -> tuple[Tie, ...]:
    """Returns the ties among texts by id, those of identical ones included, in the order of their first
    ids.

    Exact: a pair is only left out of the comparison where it cannot be alike enough.
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


def by_source(ties: Iterable[Tie]) -> dict[str, Tie]:
    """Returns the tie of each source that has one."""
    return {identity: tie for tie in ties for identity in tie.sources}


def splits(tied: Mapping[str, Tie], ids: Iterable[str]) -> bool:
    """Returns whether these are some, but not all, of the sources of a tie."""
    counts = Counter(tied[identity].sources for identity in set(ids) if identity in tied)
    return any(count < len(sources) for sources, count in counts.items())


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(normalize("NFKC", text).casefold())
    if not words:
        return frozenset({(" ".join(text.split()),)})
    last = max(1, len(words) - _SHINGLE + 1)
    return frozenset(tuple(words[start : start + _SHINGLE]) for start in range(last))


def _groups(sets: Sequence[frozenset[int]], threshold: float) -> list[list[int]]:
    """Returns the connected parts of the graph of those that are alike enough, as places.

    Two such sets share one of the rarest in each, of which there are as many as may differ and one more.
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
    """Returns the similarity of the two that are least alike."""
    bit = {shingle: place for place, shingle in enumerate(frozenset[int]().union(*sets))}
    # As integers: a thousand variants of one text are half a million pairs.
    masks = [sum(1 << bit[shingle] for shingle in shingles) for shingles in sets]
    pairs = combinations(masks, 2)
    return min(((a & b).bit_count() / (a | b).bit_count() for a, b in pairs), default=1.0)
