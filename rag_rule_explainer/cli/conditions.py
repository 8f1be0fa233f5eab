"""This module parses predicates in the form in which users write them on the command line."""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from ..allowed import did_you_mean
from ..errors import InvalidInput
from ..predicates import (
    Judge,
    Predicate,
    calls_tool,
    cites,
    consistent_with,
    contains,
    equals,
    json_path,
    judged,
    matches,
    mentions_source,
    negated,
    next_call,
    one_of,
    refuses,
    same_answer,
)
from .call_conditions import SYNTAX_OF_CALLS, call_conditions

SYNTAX = (
    "[not:]contains:TEXT | equals:TEXT | matches:REGEX | one-of:TEXT|TEXT | consistent-with:TEXT | "
    "judged:TEXT | same-answer[:OVERLAP] | refuses | cites[:ID] | mentions:ID | "
    f"json-path:PATH[=JSON or TEXT] | {SYNTAX_OF_CALLS}"
)

_JUDGEABLE = ("judged", "consistent-with", "same-answer")


@dataclass(frozen=True, slots=True)
class JudgedConditions:
    """A ``JudgedConditions`` makes predicates that a judge decides. It holds the judge and its options.

    ``reference``: the text that a criterion refers to, read from a file; None if there is none.
    ``samples``: how often the judge judges each answer. ``batch``: the number of answers in one request.
    """

    judge: Judge
    reference: str | None = None
    samples: int = 1
    batch: int = 1

    def predicate(self, name: str, text: str) -> Predicate:
        """Returns the predicate with this name, which the judge decides. ``text``: the argument that
        the user wrote after the name; empty if there is none."""
        samples, batch = self.samples, self.batch
        if name == "judged":
            return judged(text, self.judge, self.reference, judge_samples=samples, batch=batch)
        if name == "consistent-with":
            return consistent_with(text, judge=self.judge, judge_samples=samples, batch=batch)
        overlap = _overlap(text) if text else None
        return same_answer(overlap=overlap, judge=self.judge, judge_samples=samples, batch=batch)


def needs_judge(written: str | None) -> bool:
    """Returns True for ``judged:TEXT`` and ``not:judged:TEXT``, which only a judge can decide. Returns
    False for other conditions, and for None."""
    return written is not None and _named(written) == "judged"


def may_be_judged(written: str | None) -> bool:
    """Returns True for the conditions that can use a judge: "judged", "consistent-with" and
    "same-answer", each also after "not:". Returns False for other conditions, and for None."""
    return written is not None and _named(written) in _JUDGEABLE


def _named(written: str) -> str:
    return written.removeprefix("not:").partition(":")[0]


def _same_answer(overlap: str) -> Predicate:
    return same_answer(overlap=_overlap(overlap))


def _overlap(overlap: str) -> float:
    try:
        share = float(overlap)
        same_answer(overlap=share)
    except ValueError as error:  # ``InvalidInput``, which ``same_answer`` raises, is a ValueError too
        raise InvalidInput(
            f"the overlap {overlap!r} is no share of words, such as 0.8; write {SYNTAX}"
        ) from error
    return share


def _one_of(texts: str) -> Predicate:
    given = [text.strip() for text in texts.split("|")]
    if not all(given):
        raise InvalidInput(
            f"'one-of:{texts}' has an empty text; write one-of:TEXT|TEXT, such as one-of:yes|no"
        )
    return one_of(given)


def _json_path(written: str) -> Predicate:
    """Returns the predicate for a text of the form PATH or PATH=VALUE.

    A path may itself contain "=". So the text is split at the first "=" before which there is a valid
    path.
    """
    for place, character in enumerate(written):
        if character == "=" and _is_path(written[:place]):
            return json_path(written[:place], equals=_value(written[place + 1 :]))
    return json_path(written)


def _is_path(written: str) -> bool:
    try:
        json_path(written)
    except InvalidInput:
        return False
    return True


def _value(written: str) -> object:
    from pydantic_core import from_json

    try:
        return from_json(written, allow_inf_nan=False)
    except ValueError:
        return written


_ALONE: dict[str, Callable[[], Predicate]] = {
    "calls": calls_tool,
    "cites": cites,
    "next-call": next_call,
    "refuses": refuses,
    "same-answer": same_answer,
}
_WITH_TEXT: dict[str, Callable[[str], Predicate]] = {
    "cites": cites,
    "consistent-with": consistent_with,
    "contains": contains,
    "equals": equals,
    "json-path": _json_path,
    "matches": matches,
    "mentions": mentions_source,
    "one-of": _one_of,
    "same-answer": _same_answer,
    **call_conditions(_value),
}


_QUOTES = "'\""


def _near(written: str, name: str) -> str:
    """Returns a question such as "did you mean 'contains:TEXT'? " about the wrong text ``written``; an
    empty text if no predicate is similar. ``name``: the name of the predicate in this text."""
    named, _, text = re.sub(r"\s*[=:\s]\s*:?", "=", written, count=1).partition("=")
    if named in _WITH_TEXT or named == "judged":
        return f"did you mean '{named}:{text.strip(_QUOTES) or 'TEXT'}'? "
    return did_you_mean(name, {*_ALONE, *_WITH_TEXT, "judged", "not"})


def option_for(name: str, text: str) -> str:
    """Returns the option that stands for the predicate with this name, such as ``--predicate refuses``.

    Returns an empty text if there is no such predicate. ``text``: the user's text after the name; empty
    if there is none.
    """
    if name in _ALONE and (not text or name not in _WITH_TEXT):
        return f"--predicate {name}"
    if name in _WITH_TEXT or name == "judged":
        return f"--predicate {shlex.quote(f'{name}:{text}') if text else f'{name}:TEXT'}"
    return ""


def parsed(written: str, judged_conditions: JudgedConditions | None = None) -> Predicate:
    """Returns the predicate that the user wrote, such as ``not:contains:25``.

    ``judged_conditions``: the judge for predicates that a judge can decide; None if there is no judge.
    Raises InvalidInput, with the correct syntax, if the text cannot be parsed.
    """
    if written.startswith("not:"):
        return negated(parsed(written.removeprefix("not:"), judged_conditions))
    name, colon, text = written.partition(":")
    if colon and not text and name in {*_WITH_TEXT, "judged"}:
        raise InvalidInput(f"{written!r} has no text after the colon; write {SYNTAX}")
    if judged_conditions is not None and name in _JUDGEABLE and (colon or name == "same-answer"):
        return judged_conditions.predicate(name, text)
    if written in _ALONE:
        return _ALONE[written]()
    if name == "judged" and colon:
        raise InvalidInput(f"{written!r} needs a judge; name a model with --judge-model")
    if not colon or name not in _WITH_TEXT:
        raise InvalidInput(f"{written!r} is not a predicate; {_near(written, name)}write {SYNTAX}")
    return _WITH_TEXT[name](text)
