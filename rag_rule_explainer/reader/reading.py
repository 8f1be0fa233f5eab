"""From passages to one answer."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final

from rag_rule_explainer.reader.comparing import compared
from rag_rule_explainer.reader.evidence import Candidate, Reading, chained, reading
from rag_rule_explainer.reader.passages import analysed
from rag_rule_explainer.reader.questions import Question, understood

NO_ANSWER: Final = "N/A"
"""What is answered where the passages support nothing."""

_FINALISTS: Final = 8
"""Answers whose support among the passages is counted."""
_VOICED: Final = 4
"""Answers of a passage that count as said by it."""


def read(question: str, passages: Sequence[str]) -> str:
    """The best supported answer, or NO_ANSWER; the same in whatever order the passages come."""
    asked = understood(question)
    if not asked.weights:
        return NO_ANSWER
    readings = [reading(asked, analysed(text)) for text in dict.fromkeys(passages)]
    chosen = compared(asked, readings) if asked.options else None
    if chosen is None:
        chosen = _best(asked, readings)
    return chosen or NO_ANSWER


def _offers(asked: Question, readings: list[Reading]) -> Iterator[Candidate]:
    """What each passage has to offer by itself, and what it has where another one leads to it."""
    for one in readings:
        yield from one.candidates
    subjects: dict[str, list[Reading]] = {}
    for one in readings:
        subjects.setdefault(one.passage.subject_key, []).append(one)
    for one in readings:
        for name in one.passage.names & subjects.keys():
            for other in subjects[name]:
                yield from chained(asked, one, other)
                yield from chained(asked, other, one)


def _best(asked: Question, readings: list[Reading]) -> str:
    best: dict[str, Candidate] = {}
    for offer in _offers(asked, readings):
        known = best.get(offer.key)
        if known is None or offer.rank < known.rank:
            best[offer.key] = offer
    leading = sorted(best.values(), key=attrgetter("rank"))[:_FINALISTS]
    supported = (each.supported(_supporters(each, readings)) for each in leading)
    first = min(supported, key=attrgetter("rank"), default=None)
    return "" if first is None else first.text


def _supporters(candidate: Candidate, readings: list[Reading]) -> int:
    return sum(any(candidate.agrees(own) for own in one.candidates[:_VOICED]) for one in readings)
