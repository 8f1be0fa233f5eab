"""This module defines the assertion that the citations of an answer are real."""

from collections.abc import Collection, Iterator

from ..allowed import brief
from ..citations import CitationCheck, CitationClass, CitationVerdict, CitedAnswer
from ..citations.records import SURE_CLAIMS
from ..errors import InvalidInput, Undecided
from ..explanation.explanation import Explanation

_DECISIVE = frozenset({CitationClass.DECISIVE})
_MOST_SHOWN = 20


def assert_citations_decisive(
    checked: CitedAnswer | CitationCheck | Explanation,
    *,
    allow: Collection[CitationClass | str] = (),
    cited: bool = True,
) -> None:
    """Passes iff every citation is decisive, which means that the answer never makes the claim without
    the cited source.

    ``checked``: what ``cite`` or ``check_citations`` returned, or an explanation, whose citations are
    then checked. ``allow``: a list of further classes that pass, such as "one of several". ``cited``:
    False if an answer that cites nothing passes too. A statement without citations passes if other
    statements have citations, unless ``cite`` was called with ``every_statement=True``.

    Raises AssertionError with the citations of other classes, and if nothing is cited. Raises Undecided
    if no citation fails, but one of them is undecided, or decided only relative to some sources. Also
    raises Undecided for an answer that consists only of citations. Raises InvalidInput if ``checked`` is
    another object, or ``allow`` names an unknown class.
    """
    __tracebackhide__ = True
    checks = tuple(_checks(checked))
    if isinstance(allow, str):
        raise InvalidInput(f"allow is {brief(allow)}; give a list of classes, such as [{allow!r}]")
    allowed = _DECISIVE | {_class(each) for each in allow}
    verdicts = [(check, verdict) for check in checks for verdict in check.verdicts]
    failed = [pair for pair in verdicts if _fails(pair[1], allowed)]
    if failed:
        raise AssertionError("\n".join(["these citations are not decisive:", *_shown(failed)]))
    if isinstance(checked, CitedAnswer) and checked.unstated:
        raise Undecided(f"{checked}, so nothing rests on these citations")
    if cited and (not verdicts or any(not check.verdicts for check in checks)):
        raise AssertionError("nothing is cited; pass cited=False if an answer may do without")
    unsure = [pair for pair in verdicts if not _is_sure(pair[1], allowed)]
    if unsure:
        raise Undecided("\n".join(["whether these citations are decisive:", *_shown(unsure)]))


def _checks(checked: object) -> Iterator[CitationCheck]:
    if isinstance(checked, CitedAnswer):
        yield from checked.checks
    elif isinstance(checked, CitationCheck):
        yield checked
    elif isinstance(checked, Explanation):
        yield checked.citations()
    else:
        raise InvalidInput(
            f"a check of citations is needed, and {brief(checked)} was given; pass what cite() returned, "
            "or an explanation"
        )


def _class(given: object) -> CitationClass:
    try:
        return CitationClass(given)
    except ValueError as error:
        known = ", ".join(repr(each.value) for each in CitationClass)
        raise InvalidInput(f"allow names {brief(given)}; the classes are {known}") from error


def _fails(verdict: CitationVerdict, allowed: Collection[CitationClass]) -> bool:
    """Returns True iff a citation is certainly of a class that is not allowed. A verdict that depends on
    uncertain rules, or on no rules at all, is not certain."""
    found = verdict.citation_class
    if found is CitationClass.UNDECIDED or found in allowed:
        return False
    if found is CitationClass.UNRESOLVABLE:
        return verdict.faithful is False
    if found is CitationClass.DECISIVE_IN_FULL_CONTEXT and verdict.why:
        # The explanation does not decide whether the citation is decisive. The citation may be decisive,
        # so it does not certainly fail.
        return False
    return verdict.claim in SURE_CLAIMS


def _is_sure(verdict: CitationVerdict, allowed: Collection[CitationClass]) -> bool:
    found = verdict.citation_class
    return found in allowed and (verdict.claim in SURE_CLAIMS or found is CitationClass.UNRESOLVABLE)


def _shown(pairs: Collection[tuple[CitationCheck, CitationVerdict]]) -> Iterator[str]:
    shown = list(pairs)[:_MOST_SHOWN]
    for check, verdict in shown:
        yield f"  {verdict}"
        yield f"    in: {str(check).splitlines()[0]}"
    if len(pairs) > len(shown):
        yield f"  … and {len(pairs) - len(shown)} more"
