"""What a shape of application is: how to build one, and what is known to be true of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from rag_rule_explainer import Explanation, RagRuleError
from rag_rule_explainer.predicates import PredicateLike
from tests.integrations.known import BAD, Rules, nothing_more, sets
from tests.integrations.llama_index.engines import Counting

Mode = Literal["sync", "async", "streamed"]
MODES: tuple[Mode, ...] = ("sync", "async", "streamed")
QUESTION = "why?"


@dataclass(frozen=True)
class Built:
    """An application, an input that asks ``QUESTION``, and how often it has really retrieved so far.

    ``memory``: what is to be as it was after an explanation.
    """

    application: Any
    live: Callable[[], int]
    given: Any = QUESTION
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    memory: Callable[[], Any] = lambda: None


@dataclass(frozen=True)
class Shape:
    """A shape, and what is true of it: its rules, or the error that refuses it.

    ``says``: what stands in that error. ``live``: real retrievals of one explanation, all made by the
    baseline; None where every replay asks in words of its own, and so retrieves again. ``streams``:
    builds the same, streaming, where that exists. ``by``: whether the sources are what a query engine
    handed to its synthesizer, or what the gate saw. ``more``: what else is true of its explanation.
    """

    name: str
    build: Callable[[], Built]
    retention: Rules = field(default_factory=lambda: sets("bd"))
    omission: Rules = field(default_factory=lambda: sets("b", "d"))
    predicate: PredicateLike = BAD
    refusal: type[RagRuleError] | None = None
    says: str = ""
    complete: bool = True
    live: int | None = 1
    streams: Callable[[], Built] | None = None
    by: Literal["engine", "gate"] = "engine"
    scope: str = "seen"
    more: Callable[[Explanation], None] = nothing_more


def asked(*retrievers: Counting) -> Callable[[], int]:
    """How often these were really asked."""
    return lambda: sum(len(each.live) for each in retrievers)
