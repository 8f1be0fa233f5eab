"""This module writes a comparison as text. Each change has a line, with its reasons in the lines below.
All texts from outside of this package pass through ``printable``, which escapes control characters."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..explanation.records import Finding
from ..explanation.wording import few_of
from ..printable import plain_id, printable, shortened
from .records import Broken, Change, MatchedSource

if TYPE_CHECKING:
    from .comparison import Comparison

_MOST_SHOWN = 50
"""The maximum number of changes of each kind that are listed. If there are more, only their number is
given."""

_MOST_OTHERS = 3
"""The maximum number of rules that are listed as replacements of one rule. If there are more, only their
number is given."""

_ORDER = ("lost", "weakened", "changed", "strengthened", "gained", "perhaps lost", "perhaps gained")


def comparison_lines(comparison: "Comparison") -> Iterator[str]:
    """Yields the lines of a comparison: first the reasons why it allows no conclusion, if there are any,
    and the warnings; then the changes, and then the uncertain changes. No line ends in a space."""
    yield from (line.rstrip() for line in _lines(comparison))


def _lines(comparison: "Comparison") -> Iterator[str]:
    for reason in comparison.undecided:
        yield _line("UNDECIDED", reason)
    for warning in comparison.warnings:
        yield _line("WARNING", warning)
    if comparison.answers[0] != comparison.answers[1]:
        first, second = (repr(shortened(answer, 200)) for answer in comparison.answers)
        yield _line("answer", f"{first} in A, {second} in B")
    yield from map(printable, _sources(comparison.sources))
    yield _summary(comparison)
    for what in _ORDER:
        changes = [change for change in comparison.changes if change.what == what]
        for change in changes[:_MOST_SHOWN]:
            yield from _lines_of(change)
        if len(changes) > _MOST_SHOWN:
            yield f"{what}: … and {len(changes) - _MOST_SHOWN} more"
    for kind, why in comparison.not_compared.items():
        yield _line("not compared", f"{kind.value} rules: {why}")
    for each in comparison.unsettled:
        yield _line("inconclusive", f"{each.side} may have more {each.kind.value} rules: {each.why}")


def _line(label: str, text: str) -> str:
    return f"{label}: {shortened(printable(text), 1200)}"


def _summary(comparison: "Comparison") -> str:
    counts = Counter(change.what for change in comparison.changes)
    counted = [f"{counts[what]} {what}" for what in _ORDER if counts[what]]
    unchanged = f"{comparison.unchanged} unchanged"
    return ", ".join([*counted, unchanged]) if counted else f"no rule differs, {unchanged}"


def _sources(sources: Sequence[MatchedSource]) -> Iterator[str]:
    only_a = [plain_id(source.name) for source in sources if source.b is None]
    only_b = [plain_id(source.name) for source in sources if source.a is None]
    renamed = [
        f"{plain_id(each.a)} is {plain_id(each.b)} in B"
        for each in sources
        if each.a and each.b and each.a != each.b
    ]
    edited = [plain_id(source.name) for source in sources if source.edited]
    for label, names in (
        ("only in A", only_a),
        ("only in B", only_b),
        ("renamed", renamed),
        ("with another text in B", edited),
    ):
        if names:
            more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
            yield f"sources {label}: {', '.join(names[:_MOST_SHOWN])}{more}"


def _lines_of(change: Change) -> Iterator[str]:
    if change.what in {"strengthened", "gained", "perhaps gained"}:
        (rule,), others, side = change.after, change.before, "A"
    else:
        (rule,), others, side = change.before, change.after, "B"
    yield _line(change.what, rule.brief_with_evidence(600))
    yield from (f"  {shortened(printable(each), 1200)}" for each in _why(change, rule, others, side))


def _why(change: Change, rule: Finding, others: Sequence[Finding], side: str) -> Iterator[str]:
    yield from change.why
    if change.broken:
        yield f"in {side} {_shown(change.broken)}"
    elif not (others or change.why):
        yield f"{side} is complete without it"
    if others:
        rules = " and ".join(_other(each, rule) for each in others[:_MOST_OTHERS])
        more = f" and {len(others) - _MOST_OTHERS} more" if len(others) > _MOST_OTHERS else ""
        yield f"{side} has instead: {rules}{more}"


def _other(other: Finding, rule: Finding) -> str:
    """Returns the words for ``other``, the rule that replaces ``rule``: the whole rule if it names other
    sources, else only its evidence."""
    if other.sources == rule.sources:
        return f"[{other.evidence}]"
    if not other.sources:
        return f"always [{other.evidence}]"
    return f"{other.antecedent_naming(plain_id, 240)} [{other.evidence}]"


def _shown(broken: Broken) -> str:
    kept = few_of(broken.kept) or "no sources"
    said = "it is not so" if broken.answer is None else f"the answer is {shortened(broken.answer, 80)!r}"
    return f"with {kept} retained, {said}"
