"""What comes back from a replay, and what a predicate says about it."""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any, cast

from .allowed import told
from .errors import InvalidInput
from .sources import Source


class Verdict(str, Enum):
    """Kleene's three values. UNKNOWN neither proves a rule nor rules one out."""

    HOLDS = "holds"
    BREAKS = "breaks"
    UNKNOWN = "unknown"

    @classmethod
    def of(cls, truth: bool) -> "Verdict":
        """HOLDS for True, BREAKS for False."""
        return cls.HOLDS if truth else cls.BREAKS

    def __invert__(self) -> "Verdict":
        if self is Verdict.UNKNOWN:
            return self
        return Verdict.BREAKS if self is Verdict.HOLDS else Verdict.HOLDS

    # Enum hashes by name in Python code; verdicts are looked up a few times per probe.
    __hash__ = str.__hash__


@dataclass(frozen=True, slots=True)
class Judgement:
    """This class represents a verdict and, where one was given, its reason in words."""

    verdict: Verdict
    reason: str = ""

    def __invert__(self) -> "Judgement":
        return Judgement(~self.verdict, self.reason)


@dataclass(frozen=True, slots=True)
class Answer:
    """This class holds what the application answered.

    Compared with a str it is its text: ``answer == "20 days"``, ``"20" in answer``,
    ``answer in {"20 days"}`` and ``str(answer)``.

    ``text`` is judged; ``value`` is its structured output where it has one; ``usage`` counts tokens by
    kind, e.g. ``{"input_tokens": 812, "output_tokens": 9}``; ``finish_reason`` is the model's own word
    for why it stopped, and an answer whose word means that it is not whole is not judged; ``note`` says
    what a reader of the probe should know about how it came about.
    ``models``: the same counts by the model's name, where more is known than their sum.
    ``delivered``: ids of the sources that retrieval handed to the application for it. ``seen``: ids of
    those whose text was recognised in what the model was sent. Both None where nobody watched.
    """

    text: str
    value: Any = None
    usage: Mapping[str, int] | None = None
    finish_reason: str | None = None
    note: str = ""
    delivered: tuple[str, ...] | None = None
    seen: tuple[str, ...] | None = None
    models: Mapping[str, Mapping[str, int]] | None = None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.text == other
        if not isinstance(other, Answer):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _FIELDS_OF_AN_ANSWER)

    # A text that is equal to it has the same hash, so that it is found in a set of texts.
    def __hash__(self) -> int:
        return hash(self.text)

    def __contains__(self, text: object) -> bool:
        if not isinstance(text, str):
            raise TypeError(f"an answer is searched for a str, not {type(text).__name__}")
        return text in self.text

    def __str__(self) -> str:
        return self.text

    @classmethod
    def of(cls, given: "Answer | str") -> "Answer":
        """Returns an Answer as it is, a plain string as one. Raises InvalidInput for anything else.

        The text is a str and nothing more: of a subclass, such as LangChain's messages have, no store
        could tell what it adds.
        """
        if isinstance(given, str):
            return cls(plain_text(given))
        if not isinstance(given, Answer):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            name = "None" if given is None else type(given).__name__
            raise InvalidInput(f"an answer is {name}; give a str or an Answer{_where_it_may_be(given)}")
        if not isinstance(given.text, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(f"the text of an Answer is {type(given.text).__name__}; give a str")
        for name in ("usage", "models"):
            counts: object = getattr(given, name)
            if counts is not None and not isinstance(counts, Mapping):
                raise InvalidInput(
                    f"the {name} of an Answer is {told(counts)}; give a dict of counts, or None"
                )
        if type(given.text) is not str:
            given = replace(given, text=plain_text(given.text))
        if given.models is not None:
            models = {model: counts_in(usage) for model, usage in given.models.items()}
            return replace(given, usage=counts_in(given.usage) or None, models=models)
        if given.usage and not all(type(count) is int for count in given.usage.values()):
            return replace(given, usage=counts_in(given.usage) or None)
        return given


def logged_answer(given: Answer | str) -> Answer:
    """Returns a logged answer. Raises InvalidInput for one without a text: nothing says what it was."""
    answer = Answer.of(given)
    if not answer.text.strip() and answer.value is None:
        raise InvalidInput("the baseline is empty; give the text of the logged answer, or leave it out")
    return answer


_FIELDS_OF_AN_ANSWER = tuple(each.name for each in fields(Answer))


_OF_TEXT = ("content", "text", "response", "answer", "output", "result")
"""Under which names frameworks and people keep the text of an answer."""


def _where_it_may_be(given: Any) -> str:
    """Returns what to give in place of what is no answer, where that can be told."""
    if given is None:
        return ": there is a branch without a return"
    if isinstance(given, (Iterator, AsyncIterator)):
        return ": its pieces, joined"
    if isinstance(given, Mapping):
        keys = cast("Mapping[object, object]", given)
        return next((f": what is in it under {name!r}" for name in _OF_TEXT if name in keys), "")
    named = (name for name in _OF_TEXT if isinstance(getattr(given, name, None), str))
    return next((f": its .{name}" for name in named), "")


def plain_text(text: str) -> str:
    """Returns the text as a str, whatever its subclass adds. Runs no code of the subclass."""
    return str.__str__(text)


def counts_in(usage: Mapping[str, Any] | None) -> dict[str, int]:
    """The counts, without what some clients report beside them: details, nested or absent."""
    return {kind: count for kind, count in (usage or {}).items() if type(count) is int}


@dataclass(frozen=True, slots=True)
class Case:
    """This class holds what a predicate judges: an answer, the baseline's, and the sources it was given.

    ``kept`` are the sources shown, in order; ``sources`` all of which they are a choice, empty where
    nobody says. Compared with a str, a case is the text of its answer: ``case == "20 days"``,
    ``"20" in case``, ``case in {"20 days"}`` and ``str(case)``.
    """

    question: str
    baseline: Answer
    answer: Answer
    kept: tuple[Source, ...]
    sources: tuple[Source, ...] = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.answer == other
        if not isinstance(other, Case):
            return NotImplemented
        return _parts(self) == _parts(other)

    def __hash__(self) -> int:
        return hash(self.answer)

    def __contains__(self, text: object) -> bool:
        return text in self.answer

    def __str__(self) -> str:
        return self.answer.text


def _parts(case: Case) -> tuple[object, ...]:
    return case.question, case.baseline, case.answer, case.kept, case.sources
