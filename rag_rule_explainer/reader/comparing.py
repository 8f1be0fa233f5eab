"""Questions that compare two named things: which of the two, or whether something holds of both."""

import re
from collections.abc import Iterable
from typing import Final

from rag_rule_explainer.reader.evidence import Reading
from rag_rule_explainer.reader.passages import Passage
from rag_rule_explainer.reader.questions import Order, Question
from rag_rule_explainer.reader.spans import SpanKind
from rag_rule_explainer.reader.words import content_key, terms

_YEAR: Final = re.compile(r"\d{4}")


def compared(question: Question, readings: list[Reading]) -> str | None:
    """The option chosen, yes or no; empty if the passages do not speak of both things compared.

    None if they speak of neither and no names are compared: then `or` only joined two words.
    """
    passages = [each.passage for each in readings]
    found = [_about(option, passages) for option in question.options]
    named = any(option[0].isupper() or option[0].isdigit() for option in question.options)
    if not named and not any(found):
        return None
    if any(each is None for each in found):
        return ""
    about = [each for each in found if each is not None]
    if question.polar:
        return "yes" if _holds_of_all(question, about) else "no"
    if question.order is not None:
        return _by_time(question, question.order, about)
    return _by_support(question, about)


def _about(option: str, passages: Iterable[Passage]) -> Passage | None:
    key, named = content_key(option), terms(option)
    exact = [each for each in passages if each.subject_key == key]
    near = [each for each in passages if named and named <= each.subject_terms]
    return min(exact or near, key=lambda each: each.key, default=None)


def _rest(question: Question) -> frozenset[str]:
    options = frozenset[str]().union(*(terms(option) for option in question.options))
    return frozenset(question.weights) - options


def _holds_of_all(question: Question, about: list[Passage]) -> bool:
    if "same" in question.key.split():
        shared = frozenset[str].intersection(*(_described(each) for each in about))
        return bool(shared)
    rest = _rest(question)
    return all(2 * question.weight(rest & each.terms) >= question.weight(rest) for each in about)


def _described(passage: Passage) -> frozenset[str]:
    """Names in the sentence that says what the passage's subject is."""
    first = passage.sentences[:1]
    return (
        frozenset(
            word.stem
            for sentence in first
            for span in sentence.spans
            if span.kind is SpanKind.NAME
            for word in sentence.words[span.first : span.last + 1]
        )
        - passage.subject_terms
    )


def _by_time(question: Question, order: Order, about: list[Passage]) -> str:
    years = [_first_year(each) for each in about]
    if not all(years) or years[0] == years[1]:
        return ""
    pick = min if order is Order.EARLIER else max
    return pick(zip(years, question.options, strict=True))[1]


def _first_year(passage: Passage) -> str:
    for sentence in passage.sentences:
        if year := _YEAR.search(sentence.text):
            return year.group()
    return ""


def _by_support(question: Question, about: list[Passage]) -> str:
    rest = _rest(question)
    scores = [question.weight(rest & each.terms) for each in about]
    if scores[0] == scores[1]:
        return ""
    return max(zip(scores, question.options, strict=True))[1]
