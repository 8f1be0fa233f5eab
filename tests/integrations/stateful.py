"""Applications that remember, derive or loop: what is true of one, how explaining it may end."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from rag_rule_explainer import Explanation, RagRuleError
from tests.integrations.known import Rules, omission, retention, sets, shown_in

QUESTION = "why?"
Outcome = Explanation | Exception
Came = Literal["right", "in part", "refused", "wrong", "error"]

SHARED = frozenset({"StateShared"})
"""Refused because one run reads what another wrote, where nobody can keep them apart."""
CACHED = SHARED | {"ReplayMissedGate"}
"""Refused because a run was answered from what another one kept, without retrieving."""


def nothing() -> None:
    """For applications that keep nothing which would have to stay as it was."""


@dataclass(frozen=True)
class Made:
    """An application as its users have it, and an input that asks ``QUESTION``.

    ``keywords``: what a run of it is given by name. ``memory``: what is to be as it was after an
    explanation. ``requests``: how often models were asked. ``after``: clears away what it left.
    """

    application: Any
    given: Any = QUESTION
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    config: dict[str, Any] = field(default_factory=dict[str, Any])
    keywords: dict[str, Any] = field(default_factory=dict[str, Any])
    memory: Callable[[], Any] = nothing
    requests: Callable[[], int] = lambda: 0
    after: Callable[[], None] = nothing


@contextmanager
def built(build: Callable[[], Any]) -> Generator[Any, None, None]:
    """An application, and the end of what it leaves."""
    made = build()
    try:
        yield made
    finally:
        getattr(made, "after", nothing)()


@dataclass(frozen=True)
class Stateful:
    """A shape, and what is true of it.

    ``may``: the refusals that are right as well, by name; without any it has to be explained as it is.
    ``in_part``: an explanation that leaves something open is right as well, as long as what it says is
    true. ``way_out``: the same application after the advice of the refusal was followed, which always has
    to be explained. ``by_text``: the sources are known by their texts, not by their ids. ``most``: so
    many requests to models are enough for one explanation.
    """

    name: str
    build: Callable[[], Made]
    may: frozenset[str] = frozenset()
    way_out: Callable[[], Made] | None = None
    in_part: bool = False
    retention: Rules = field(default_factory=lambda: sets("bd"))
    omission: Rules = field(default_factory=lambda: sets("b", "d"))
    by_text: bool = False
    most: int = 1000

    @property
    def as_it_is(self) -> bool:
        """Whether nothing but an explanation will do."""
        return not self.may and not self.in_part


def came(
    outcome: Outcome,
    retained: Rules,
    omitted: Rules,
    may: frozenset[str] | None = None,
    *,
    by_text: bool = False,
) -> Came:
    """How an explanation came out, where these are the rules; ``may``: refusals by name, None for any."""
    if isinstance(outcome, RagRuleError) and (may is None or type(outcome).__name__ in may):
        return "refused"
    if isinstance(outcome, Exception):
        return "error"
    found = retention(outcome), omission(outcome)
    if by_text:
        names = {source.id: shown_in(source.text) for source in outcome.sources}
        found = renamed(found[0], names), renamed(found[1], names)
    if found == (retained, omitted) and outcome.complete:
        return "right"
    true = follows(found[0], retained) and follows(found[1], omitted)
    return "in part" if true and not outcome.complete else "wrong"


def renamed(rules: Rules, names: dict[str, str]) -> Rules:
    return {frozenset(names[each] for each in rule) for rule in rules}


def follows(found: Rules, known: Rules) -> bool:
    """True iff each of these rules is true where all of those are, and no others."""
    return all(any(each <= rule for each in known) for rule in found)


def told(outcome: Outcome) -> str:
    """An outcome in one line, for whoever reads why a test failed."""
    if isinstance(outcome, Exception):
        return f"{type(outcome).__name__}: {outcome}"
    rules = (
        sorted("".join(sorted(each)) or "always" for each in kind)
        for kind in (retention(outcome), omission(outcome))
    )
    retained, omitted = (", ".join(each) or "none" for each in rules)
    rest = "" if outcome.complete else f"; not complete: {outcome.stop_reason or outcome.unresolved}"
    return f"retention {retained}; omission {omitted}{rest}"


def check(shape: Stateful, made: Made, outcome: Outcome, before: Any, *, way_out: bool = False) -> None:
    """What is asked of every outcome."""
    may: frozenset[str] = frozenset() if way_out else shape.may
    found = came(outcome, shape.retention, shape.omission, may, by_text=shape.by_text)
    right = {
        "right",
        *(["refused"] if may else []),
        *(["in part"] if shape.in_part and not way_out else []),
    }
    assert found in right, f"{found}: {told(outcome)}"
    if found != "refused":
        assert made.memory() == before, "the real memory was written to"
    assert made.requests() <= shape.most


def check_explained(
    build: Callable[[], Made],
    outcome: Callable[[Made], Outcome],
    shape: Stateful,
    *,
    way_out: bool = False,
) -> None:
    """Builds an application, and checks what came out of explaining it."""
    made = build()
    try:
        before = made.memory()
        check(shape, made, outcome(made), before, way_out=way_out)
    finally:
        made.after()


def check_enough(shapes: Sequence[Stateful]) -> None:
    """There are many shapes, each has a way out, and most are explained as they are."""
    assert len({shape.name for shape in shapes}) == len(shapes) >= 24
    assert all(shape.way_out for shape in shapes if not shape.as_it_is)
    assert sum(shape.as_it_is for shape in shapes) >= 0.7 * len(shapes)
