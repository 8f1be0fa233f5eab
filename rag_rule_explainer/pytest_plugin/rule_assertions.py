"""This module defines the assertions that an explanation has a certain rule, or that it has none."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ..allowed import brief, checked_list, checked_whole
from ..errors import InvalidInput, Undecided
from ..explanation.deciding import MAX_ERROR, Decision, decide_any_rule, decide_rule
from ..explanation.explanation import Explanation
from ..explanation.judged_subsets import own_probe
from ..explanation.records import Finding, Witness, past_tense
from ..explanation.wording import joined
from ..printable import printable, shortened, with_article
from ..rules import RuleKind, as_kind
from ..sources.given import no_source

_MOST_LISTED = 10


def assert_rule(
    explanation: Explanation,
    *,
    retains: Collection[str] | None = None,
    omits: Collection[str] | None = None,
    max_error: float = MAX_ERROR,
) -> None:
    """Passes iff these sources are a valid rule of the explanation: with ``retains``, the condition holds
    whenever all of them are retained; with ``omits``, the condition of omission rules (by default the
    opposite one) holds whenever all of them are omitted. The rule need not be minimal.

    ``retains`` or ``omits``: the ids of the sources; exactly one of the two must be given. ``max_error``:
    the largest accepted chance that the result is wrong. There is such a chance if answers were voted on,
    or if rules were tested on random subsets.

    Raises AssertionError, with the subset that breaks the rule, if the sources are no valid rule. Raises
    Undecided if the explanation does not decide whether they are. Raises InvalidInput for an id that no
    source has.
    """
    __tracebackhide__ = True
    _check(explanation, max_error)
    if (retains is None) == (omits is None):
        raise InvalidInput("assert_rule needs retains= or omits=, and not both: the ids of the sources")
    kind = RuleKind.OMISSION if retains is None else RuleKind.RETENTION
    sources = _ids("omits" if retains is None else "retains", retains or omits or (), explanation)
    decision = decide_rule(explanation, kind, sources, max_error)
    if decision.holds:
        return
    said = f"whenever {joined(sources) or 'anything'} {_are(sources)} {past_tense(kind)}"
    asked = f"{said}, {_condition(explanation, kind)}"
    if decision.holds is None:
        raise Undecided(_undecided(f"whether {asked}", decision))
    raise AssertionError("\n".join([f"this is no rule: {asked}", *_against(explanation, kind, decision)]))


def assert_no_rule(
    explanation: Explanation,
    *,
    within: Collection[str] | None = None,
    max_size: int | None = None,
    kind: RuleKind | str | None = None,
    max_error: float = MAX_ERROR,
) -> None:
    """Passes iff the explanation decides that there is no valid rule, minimal or not, that names only
    sources of ``within``.

    ``within``: the ids of the sources; None for all sources. ``max_size``: only rules with at most this
    number of sources count; None for rules of any size. ``kind``: "retention" or "omission"; None for all
    kinds that the explanation searched for. ``max_error``: the largest accepted chance that the result is
    wrong. There is such a chance if answers were voted on, or if rules were tested on random subsets.

    Raises AssertionError, with the rules and the answers that show them, if there is such a rule. Raises
    Undecided if the explanation does not decide whether there is one. Raises InvalidInput for an id that
    no source has.
    """
    __tracebackhide__ = True
    _check(explanation, max_error)
    among = None if within is None else _ids("within", within, explanation)
    if max_size is not None:
        checked_whole("max_size", max_size, 0)
    kinds = tuple(explanation.predicates) if kind is None else (as_kind(kind),)
    decisions = {each: decide_any_rule(explanation, each, among, max_size, max_error) for each in kinds}
    found = [
        line for each in kinds if decisions[each].holds for line in _shown(explanation, decisions[each])
    ]
    if found:
        raise AssertionError("\n".join(["there is such a rule:", *found]))
    for each, decision in decisions.items():
        if decision.holds is None:
            raise Undecided(_undecided(_which(explanation, each, among, max_size), decision))


def _check(explanation: object, max_error: Any) -> None:
    if not isinstance(explanation, Explanation):
        raise InvalidInput(
            f"an Explanation is needed, and {brief(explanation)} was given; pass what explain() returned"
        )
    if type(max_error) not in {int, float} or not 0 <= max_error < 1:
        raise InvalidInput(
            f"max_error is {brief(max_error)}; give a share from 0 to below 1, such as 0.05"
        )


def _ids(name: str, given: Any, explanation: Explanation) -> tuple[str, ...]:
    ids = checked_list(name, given, "ids of sources")
    known = [source.id for source in explanation.sources]
    unknown = [each for each in ids if each not in known]
    if unknown:
        raise InvalidInput(f"{name} names {no_source(unknown, known)}")
    return tuple(each for each in known if each in ids)


def _condition(explanation: Explanation, kind: RuleKind) -> str:
    return shortened(printable(explanation.predicates.get(kind, "the condition holds")), 300)


def _are(sources: Collection[str]) -> str:
    return "are" if len(sources) > 1 else "is"


def _which(
    explanation: Explanation, kind: RuleKind, among: tuple[str, ...] | None, max_size: int | None
) -> str:
    size = "" if max_size is None else f" of at most {max_size} sources"
    inside = "" if among is None else f" within {joined(among) or 'no sources'}"
    rule = f"{with_article(kind.value)} rule{size}{inside}"
    return f"whether there is {rule} for: {_condition(explanation, kind)}"


def _undecided(asked: str, decision: Decision) -> str:
    could_be = f"\nperhaps: {joined(decision.open)}" if decision.open else ""
    return f"undecided {asked}{could_be}\nbecause {printable(decision.why)}"


def _against(explanation: Explanation, kind: RuleKind, decision: Decision) -> Iterator[str]:
    """Yields the lines of a message that show why the asserted sources are no rule. ``decision``: the
    explanation's decision that they are none."""
    if decision.witness is not None:
        yield _seen(decision.witness)
    yield from _chance(decision)
    rules = [rule for rule in explanation.rules if rule.kind is kind]
    yield from _listed("rules that were found:" if rules else "no rule of this kind was found", rules)


def _shown(explanation: Explanation, decision: Decision) -> Iterator[str]:
    """Yields the lines of a message that show the rules of ``decision``, each with the answer from only
    its sources (for an omission rule: without them), and then the chance that the decision is wrong."""
    for rule in decision.rules[:_MOST_LISTED]:
        yield f"  {rule}"
        if (example := own_probe(explanation, rule)) is not None:
            yield f"    {_seen(example)}"
    if len(decision.rules) > _MOST_LISTED:
        yield f"  … and {len(decision.rules) - _MOST_LISTED} more"
    if not decision.rules:
        yield "  all sources together: the condition held on every subset to which this applies"
    yield from _chance(decision)


def _listed(heading: str, rules: Iterable[Finding]) -> Iterator[str]:
    lines = [f"  {rule}" for rule in rules]
    yield heading
    yield from lines[:_MOST_LISTED]
    if len(lines) > _MOST_LISTED:
        yield f"  … and {len(lines) - _MOST_LISTED} more"


def _seen(witness: Witness) -> str:
    answer = "" if witness.answer is None else f", the answer was {shortened(witness.answer, 200)!r}"
    return f"with {joined(witness.kept) or 'no sources'} retained{answer}"


def _chance(decision: Decision) -> Iterator[str]:
    if decision.error:
        assuming = f", {decision.assuming}" if decision.assuming else ""
        wrong = f"{decision.error:.2g}"
        yield f"this is wrong with a chance of at most {wrong}{assuming}"
