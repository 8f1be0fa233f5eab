"""This module defines the answers of an application, and the verdicts of predicates about answers."""

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, cast

from .errors import InvalidInput
from .printable import brief, encodable, plain_text
from .sources import Source
from .sources.given import where_the_text_is
from .tool_calls import ToolCall, calls_given, calls_said


class Verdict(str, Enum):
    """A ``Verdict`` is one of three truth values, as in Kleene's logic. UNKNOWN neither proves nor
    refutes a rule."""

    HOLDS = "holds"
    BREAKS = "breaks"
    UNKNOWN = "unknown"

    @classmethod
    def of(cls, truth: bool) -> "Verdict":
        """Returns HOLDS for True, BREAKS for False."""
        return cls.HOLDS if truth else cls.BREAKS

    def __invert__(self) -> "Verdict":
        if self is Verdict.UNKNOWN:
            return self
        return Verdict.BREAKS if self is Verdict.HOLDS else Verdict.HOLDS

    # ``Enum.__hash__`` is slow, because it runs Python code. Verdicts are used as keys several times for
    # each probe, so they have the faster hash of ``str``.
    __hash__ = str.__hash__


@dataclass(frozen=True, slots=True)
class Judgement:
    """A ``Judgement`` holds a verdict and its reason. ``reason``: the reason in words; may be empty."""

    verdict: Verdict
    reason: str = ""

    def __invert__(self) -> "Judgement":
        return Judgement(~self.verdict, self.reason)


@dataclass(frozen=True, slots=True)
class Answer:
    """An ``Answer`` holds one answer of the application.

    An answer is compared with a str by its text: ``answer == "20 days"``, ``"20" in answer``, ``answer in
    {"20 days"}`` and ``str(answer)``. Two answers are equal iff their texts and values are equal. Tokens,
    notes and ids of sources are not compared, because they differ from run to run.

    ``text``: the text that predicates judge. ``value``: the structured output, or None. ``usage``: token
    counts by kind, such as ``{"input_tokens": 812, "output_tokens": 9}``. ``models``: by each model's
    name, token counts by kind; or None. ``finish_reason``: the word with which the model says why it
    stopped; if the word means that the answer is incomplete, the answer is not judged. ``note``: a
    remark for readers of the probe.

    ``delivered``: the ids of the sources that the retriever returned to the application. ``seen``: the
    ids of the sources whose text was found in the request to the model; in the baseline, they are in the
    order of the request (an id is repeated if the position of its source is not certain), or None if
    this is the order of the sources. Both are None if the run was not recorded, or if a run without
    sources sent only requests that runs with sources send too.

    ``unread``: the names of those entries of the application's output that were not read, because only
    one entry is the answer. ``calls``: the tool calls of the run, in order; None if they were not
    recorded, which is not the same as no call.
    """

    text: str
    value: Any = None
    usage: Mapping[str, int] | None = None
    finish_reason: str | None = None
    note: str = ""
    delivered: tuple[str, ...] | None = None
    seen: tuple[str, ...] | None = None
    models: Mapping[str, Mapping[str, int]] | None = None
    unread: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] | None = None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.text == other
        if not isinstance(other, Answer):
            return _not_its_text(self, other)
        return self.text == other.text and self.value == other.value

    # An answer is equal to its text, so ``answer in {"20 days"}`` must find it. For this, an answer has
    # the same hash as its text.
    def __hash__(self) -> int:
        return hash(self.text)

    def __contains__(self, text: object) -> bool:
        if not isinstance(text, str):
            raise TypeError(f"an answer is searched for a str, not {type(text).__name__}")
        return text in self.text

    def __str__(self) -> str:
        return self.text

    @property
    def shown(self) -> str:
        """Returns the text that reports show: that of the answer, or, if it is blank, its tool calls."""
        return self.text if self.text.strip() or not self.calls else calls_said(self.calls)

    @classmethod
    def of(cls, given: "Answer | str") -> "Answer":
        """Returns an Answer unchanged, and a str as an Answer. Raises InvalidInput for anything else.

        A subclass of str, such as LangChain's, becomes a plain str, because a store could not keep the
        additional data of the subclass.
        """
        if isinstance(given, str):
            return cls(plain_text(given))
        if not isinstance(given, Answer):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
            name = "None" if given is None else type(given).__name__
            raise InvalidInput(f"an answer is {name}; give a str or an Answer{where_the_text_is(given)}")
        if not isinstance(given.text, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
            raise InvalidInput(f"the text of an Answer is {type(given.text).__name__}; give a str")
        for name in ("usage", "models"):
            counts: object = getattr(given, name)
            if counts is not None and not isinstance(counts, Mapping):
                raise InvalidInput(
                    f"the {name} of an Answer is {brief(counts)}; give a dict of counts, or None"
                )
        if type(given.text) is not str:
            given = replace(given, text=plain_text(given.text))
        if given.note or not (given.delivered is given.seen is given.calls is None):
            given = replace(_with_ids(given), calls=calls_given(given.calls))
        if given.models is not None:
            models = {model: counts_in(usage) for model, usage in given.models.items()}
            return replace(given, usage=counts_in(given.usage) or None, models=models)
        if given.usage and counts_in(given.usage) != given.usage:
            return replace(given, usage=counts_in(given.usage) or None)
        return given


def _with_ids(given: Answer) -> Answer:
    """Returns the answer with its collections of ids turned into tuples. Raises InvalidInput for a note
    or an id that is no str."""
    if not isinstance(given.note, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
        raise InvalidInput(f"the note of an Answer is {brief(given.note)}; give a str")
    listed: dict[str, Any] = {}
    for name in ("delivered", "seen"):
        ids: Any = getattr(given, name)
        if ids is None:
            continue
        is_list = isinstance(ids, (list, tuple, set, frozenset))
        held = tuple(cast("Iterable[object]", ids)) if is_list else (None,)
        if not all(isinstance(each, str) for each in held):
            raise InvalidInput(f"{name} of an Answer is {brief(ids)}; give a tuple of ids, or None")
        listed[name] = held
    return replace(given, **listed)


def logged_answer(given: Answer | str) -> Answer:
    """Returns an answer from a log as an Answer. Raises InvalidInput if it has neither text nor value."""
    answer = Answer.of(given)
    if not answer.text.strip() and answer.value is None:
        raise InvalidInput("the baseline is empty; give the text of the logged answer, or leave it out")
    return answer


def counts_in(usage: Mapping[str, Any] | None) -> dict[str, int]:
    """Returns only the counts that are ints of at least 0, by names that can be written as JSON. Some
    clients add nested details or None, which are left out."""
    known: object = usage  # a user's function may report anything
    if not isinstance(known, Mapping):
        return {}
    counts = cast("Mapping[Any, Any]", known).items()
    return {encodable(str(kind)): n for kind, n in counts if type(n) is int and n >= 0}


@dataclass(frozen=True, slots=True)
class Case:
    """A ``Case`` holds the data that a predicate judges: an answer, the baseline's answer, and the
    retained sources.

    ``kept``: the sources that were shown, in order. ``sources``: all sources from which ``kept`` was
    selected; empty if unknown. A case compares with a str by the text of its answer: ``case == "20
    days"``, ``"20" in case``, ``case in {"20 days"}`` and ``str(case)``.
    """

    question: str
    baseline: Answer
    answer: Answer
    kept: tuple[Source, ...]
    sources: tuple[Source, ...] = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (str, Answer)):
            return self.answer == other
        if not isinstance(other, Case):
            return _not_its_text(self, other)
        return _parts(self) == _parts(other)

    def __hash__(self) -> int:
        return hash(self.answer)

    def __contains__(self, text: object) -> bool:
        return text in self.answer

    def __str__(self) -> str:
        return self.answer.text

    # A condition such as ``"days" in repr(case)`` is about the answer, and not about the baseline, whose
    # text is the same in every replay.
    def __repr__(self) -> str:
        return f"Case({self.answer.text!r})"


class Kept(tuple[Source, ...]):
    """A ``Kept`` is the tuple of retained sources that a condition reads. Comparing a ``Kept`` with a
    list, a set or a str raises TypeError: a tuple equals none of them, so the result would always be the
    same."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (str, list, set, frozenset)):
            kind = type(cast("object", other)).__name__
            raise TypeError(
                f"the retained sources are a tuple, which equals no {kind}; write "
                "[source.id for source in case.kept] == [...]"
            )
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()


def _parts(case: Case) -> tuple[object, ...]:
    return case.question, case.baseline, case.answer, case.kept, case.sources


_in_condition: ContextVar[bool] = ContextVar("rag_rule_explainer_in_condition", default=False)
_COLLECTED = (dict, list, tuple, set, frozenset)
_OF_RECORDS = ("__pydantic_fields__", "__dataclass_fields__")
_TEXT = "write case.answer.text == '...', or case.answer.value == ... for a structured output"


@contextmanager
def called_as_condition() -> Generator[None]:
    """Makes the comparison of an answer with None raise TypeError in the block, because a condition that
    makes such a comparison is a mistake.

    Everywhere else, the comparison is False: other code may have an answer or None, and a check such as
    ``if answer == None`` is right there.
    """
    token = _in_condition.set(True)
    try:
        yield
    finally:
        _in_condition.reset(token)


def _not_its_text(answer: object, other: object) -> bool:
    """Returns the result of comparing an answer with ``other``, which is no str and no answer.

    Usually, the result is NotImplemented, after which Python treats the two as unequal. If the class of
    ``other`` defines the comparison, its result is returned. Raises TypeError for an object that no
    answer can equal, such as a number, a dict or a dataclass object: a condition that compares an answer
    with it would always be False.
    """
    if isinstance(other, (int, float, bytes, Source)):
        raise TypeError(_compared_with(other))
    kind = type(other)
    if issubclass(kind, _COLLECTED) or any(hasattr(kind, name) for name in _OF_RECORDS):
        # A class that the user wrote may define in ``__eq__`` that its objects equal some answers, so
        # its ``__eq__`` decides first.
        said: Any = cast("Any", type(other)).__eq__(other, answer)
        if said is NotImplemented:
            raise TypeError(f"{_compared_with(other)}; for JSON, json.loads(case.answer.text) == ...")
        return said
    if other is None and _in_condition.get():
        raise TypeError(
            "an answer is never None, so it is not compared with None; write case.answer.text == '', or "
            "case.answer.value is None for a structured output"
        )
    return NotImplemented


def _compared_with(other: object) -> str:
    return f"an answer is compared with a str, not with {type(other).__name__}; {_TEXT}"
