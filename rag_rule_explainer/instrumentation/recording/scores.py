"""This module finds scores that a search has computed from each other, such as shares of a sum.

Replays get documents with their recorded scores. A real search that found fewer documents would compute
different scores of this kind.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import isclose
from typing import Any, cast

from ...sources import Source
from .retrievals import Batch

RELATIVE_SCORES = (
    "the scores of a search seem to be computed from each other (they add up to 1, or run from 0 to 1). "
    "Replays serve what is kept with its recorded scores, so rules are about leaving out results as they "
    "were scored. If the application shows scores or goes by them, a search that found fewer would score "
    "otherwise: gate(...) what is searched before the scores are computed, so that replays compute them"
)
_LARGEST = 1e9
"""A value larger than this does not count as a score."""
_NAMES = ("score", "similarity", "relevance")


def has_relative_scores(batches: Iterable[Batch[Any]]) -> bool:
    """Returns True iff the scores of at least one search add up to 1, or have 0 as the lowest and 1 as
    the highest. Results of a single document are ignored, because one score shows nothing."""
    return any(map(_are_relative, _columns(batches)))


def _columns(batches: Iterable[Batch[Any]]) -> Iterator[list[float]]:
    """Yields, for each result and each name of a score, the scores of all documents of the result. Leaves
    out a name if some of the documents have no such score."""
    for batch in batches:
        columns = defaultdict[str, list[float]](list)
        for source, item in batch:
            for name, score in _scores_of(source, item):
                columns[name].append(score)
        yield from (each for each in columns.values() if len(each) == len(batch) > 1)


def _scores_of(source: Source, item: Any) -> Iterator[tuple[str, float]]:
    scored: Any = getattr(item, "scores", ())
    first = cast("Sequence[Any]", scored)[:1] if isinstance(scored, (tuple, list)) else ()
    own: list[tuple[str, Any]] = [("", each) for each in first]
    own.append(("node", getattr(getattr(item, "node", None), "score", None)))
    # Keys of a document's metadata may be other values than texts, so they are converted.
    entries = [(str(name), each) for name, each in source.metadata.items()]
    named = ((name, each) for name, each in entries if any(part in name for part in _NAMES))
    for name, each in (*own, *named):
        is_number = isinstance(each, (int, float)) and not isinstance(each, bool)
        if is_number and -_LARGEST < each < _LARGEST:
            yield name, float(each)


def _are_relative(scores: list[float]) -> bool:
    if isclose(sum(scores), 1.0, abs_tol=1e-6) and min(scores) >= 0 and len(set(scores)) > 1:
        return True
    return min(scores) == 0 and max(scores) == 1 and len(set(scores)) > 2
