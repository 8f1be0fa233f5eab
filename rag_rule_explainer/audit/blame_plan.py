"""This module plans the replays that decide which documents are to blame, so that the number of replays
is known before the first of them."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..allowed import brief, checked_whole
from ..errors import InvalidInput
from .randomization import repetitions_for, smallest_threshold

MOST_PAIRS: Final = 3
"""The largest number of questions in which one document is tested."""
_ERROR, _POWER = 0.1, 0.9


@dataclass(frozen=True, slots=True)
class PivotPair:
    """A ``PivotPair`` is two subsets of the documents of one question that differ by one document.

    ``document``: the name of this document in the log. ``question``: the question's id. ``kept``: the
    ids of the larger subset, in the order in which they are shown. ``removed``: the ids under which the
    document is in the larger subset and not in the smaller one; there are several if the question shows
    copies.

    The search saw the bad outcome on the larger subset, perhaps with near-duplicates of the document,
    and not on the smaller one. That may be an accident, so the test does not count it.
    """

    document: str
    question: str
    kept: tuple[str, ...]
    removed: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.removed or not set(self.removed) <= set(self.kept):
            raise InvalidInput(f"{self.removed} cannot be left out of {self.kept}")

    @property
    def without(self) -> tuple[str, ...]:
        """Returns the ids of the smaller subset."""
        return tuple(each for each in self.kept if each not in self.removed)


@dataclass(frozen=True, slots=True)
class Suspect:
    """A ``Suspect`` is a document that a rule of the bad outcome names.

    ``shown``: the number of questions with a bad answer for which the document was shown.
    ``implicated``: the ids of those questions in which a rule names it. ``proved``: the ids of those in
    which a proved rule names it. ``pairs``: the pairs of subsets on which it is tested, at most one for
    each question, the best first.
    """

    document: str
    shown: int
    implicated: tuple[str, ...]
    proved: tuple[str, ...] = ()
    pairs: tuple[PivotPair, ...] = ()


@dataclass(frozen=True, slots=True)
class Trial:
    """A ``Trial`` is one fresh replay on one of the two subsets of a ``PivotPair``: the larger one if
    ``with_document`` is True. ``number``: a number that distinguishes it from the other replays of the
    pair."""

    pair: PivotPair
    number: int
    with_document: bool

    @property
    def kept(self) -> tuple[str, ...]:
        """Returns the ids of the documents of this replay, in the order in which the application shows
        them."""
        return self.pair.kept if self.with_document else self.pair.without


@dataclass(frozen=True, slots=True)
class BlamePlan:
    """A ``BlamePlan`` says which documents are tested for being to blame, and by how many replays.

    A document is tested on one or more pairs of subsets. The two subsets of a pair differ only by this
    document, and both are replayed equally often.

    ``fdr``: the false discovery rate. Among the documents that the test finds to blame, at most this
    share is innocent, on average. ``proved``: documents of a deterministic application that a proved rule
    names. They need no test. ``tested``: each document that is tested, with the number of replays of each
    subset in its pairs. ``left_out``: documents that stay untested, because the limit of replays is too
    low for them, or because no pair of subsets is known for them. ``seed``: the seed of the random draw
    in ``trials``.
    """

    fdr: float
    proved: tuple[Suspect, ...] = ()
    tested: tuple[tuple[Suspect, int], ...] = ()
    left_out: tuple[Suspect, ...] = ()
    seed: int = 0

    @property
    def replays(self) -> int:
        """Returns the number of replays of the whole plan. Retries of failed replays are not counted."""
        return _replays(self.tested)

    @property
    def questions(self) -> tuple[str, ...]:
        """Returns the ids of the questions that are asked again."""
        pairs = (pair for suspect, _ in self.tested for pair in suspect.pairs)
        return tuple(dict.fromkeys(pair.question for pair in pairs))

    def trials(self) -> Iterator[Trial]:
        """Yields the replays in the order in which they are to be started.

        Half of the replays of each pair are made with the document. For each pair, an independent random
        draw decides which of its replays these are. The test is valid because of this draw alone.
        """
        rounds: list[list[Trial]] = []
        for suspect, count in self.tested:
            for pair in suspect.pairs:
                named = f"{self.seed} {pair.question} {pair.document}"
                draw = random.Random(named)  # noqa: S311 -- the draw must be reproducible, and is no secret
                chosen = set(draw.sample(range(2 * count), count))
                rounds.append([Trial(pair, number, number in chosen) for number in range(2 * count)])
        for number in range(max(map(len, rounds), default=0)):
            yield from (each[number] for each in rounds if number < len(each))

    def __str__(self) -> str:
        said = list[str]()
        if self.proved:
            said.append(f"{_counted_of(len(self.proved), 'document')} proved, with no test needed")
        if self.tested:
            replays = _counted_of(self.replays, "fresh replay")
            cost = f"{replays} of {_counted_of(len(self.questions), 'question')}"
            said.append(f"{_counted_of(len(self.tested), 'document')} to test, with {cost}")
        if self.left_out:
            said.append(f"{_counted_of(len(self.left_out), 'document')} left untested")
        return "; ".join(said) or "no rule names a document to blame"


def plan_blame(
    suspects: Iterable[Suspect],
    fdr: float,
    *,
    deterministic: bool = False,
    most_replays: int | None = None,
    seed: int = 0,
) -> BlamePlan:
    """Returns the plan by which the documents to blame are found.

    ``suspects``: the documents that a rule of the bad outcome names. ``fdr``: the false discovery rate,
    above 0 and below 1: on average, at most this share of the documents that are found to blame is
    innocent. ``seed``: the seed of the random draw in ``BlamePlan.trials``.

    ``deterministic``: True if it is known that the application always gives the same answer to a question
    with the same documents. A document that a proved rule names then needs no test. If False, this
    document is tested too: the rule is called proved because the application was asked once on each
    subset, but the same subset may have another answer next time.

    ``most_replays``: the maximum number of replays; None for no limit. If it is too low, the documents
    that rules name in the fewest questions are left out. What is left out does not depend on the results
    of the planned replays, so the false discovery rate still holds for the documents that are tested.

    Raises InvalidInput if ``fdr`` or ``most_replays`` has a value that is not allowed.
    """
    check_rate(fdr)
    if most_replays is not None:
        checked_whole("most_replays", most_replays, 0)
    ordered = sorted(suspects, key=lambda each: (-len(each.implicated), each.document))
    proved = tuple(each for each in ordered if each.proved and deterministic)
    open_ones = [each for each in ordered if not (each.proved and deterministic)]
    with_pairs = [_with_fewer_pairs(each) for each in open_ones if each.pairs]
    tested = _affordable(with_pairs, fdr, most_replays)
    known = {each.document for each, _ in tested}
    left_out = tuple(each for each in open_ones if each.document not in known)
    return BlamePlan(fdr, proved, tested, left_out, seed)


def check_rate(fdr: float) -> None:
    """Raises InvalidInput unless ``fdr`` is a float above 0 and below 1."""
    if not (type(fdr) is float and 0 < fdr < 1):
        raise InvalidInput(f"fdr is {brief(fdr)}; give a share above 0 and below 1, such as 0.05")


def _with_fewer_pairs(suspect: Suspect) -> Suspect:
    by_question = {each.question: each for each in reversed(suspect.pairs)}
    kept = tuple(each for each in suspect.pairs if by_question[each.question] is each)[:MOST_PAIRS]
    return Suspect(suspect.document, suspect.shown, suspect.implicated, suspect.proved, kept)


def _affordable(
    suspects: Sequence[Suspect], fdr: float, most: int | None
) -> tuple[tuple[Suspect, int], ...]:
    """Returns the suspects that can be tested with at most ``most`` replays (None: no limit), each with
    the number of replays on each subset of its pairs. If not all can be tested, the last ones are left
    out. The fewer are tested, the fewer replays each of them needs."""
    whole = _counted(suspects, fdr)
    if most is None or _replays(whole) <= most:
        return whole
    low, high = 0, len(suspects)  # ``low`` of them are affordable, ``high`` are not
    while high - low > 1:
        middle = (low + high) // 2
        if _replays(_counted(suspects[:middle], fdr)) <= most:
            low = middle
        else:
            high = middle
    return _counted(suspects[:low], fdr)


def _counted(suspects: Sequence[Suspect], fdr: float) -> tuple[tuple[Suspect, int], ...]:
    bound = smallest_threshold(len(suspects), fdr)
    counts = {
        pairs: repetitions_for(bound, pairs, _ERROR, _POWER)
        for pairs in {len(each.pairs) for each in suspects}
    }
    return tuple((each, counts[len(each.pairs)]) for each in suspects)


def _replays(tested: Iterable[tuple[Suspect, int]]) -> int:
    return sum(2 * count * len(suspect.pairs) for suspect, count in tested)


def _counted_of(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
