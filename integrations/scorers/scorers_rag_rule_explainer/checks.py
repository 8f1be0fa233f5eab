"""This module makes the scorers. Each of them checks one thing about the rules of an answer."""

import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Literal, cast

from rag_rule_explainer import CitationClass, CitedAnswer, Explanation, InvalidInput, Limits, Sampled
from rag_rule_explainer.instrumentation.application_files import load_object
from rag_rule_explainer.instrumentation.checks import brief, checked_list, checked_whole
from rag_rule_explainer.instrumentation.explainer_options import most_replays
from rag_rule_explainer.instrumentation.integration import Integration
from rag_rule_explainer.predicates import PredicateLike
from rag_rule_explainer.pytest_plugin import (
    Undecided,
    assert_citations_decisive,
    assert_no_rule,
    assert_rule,
    assert_stable,
)

from .scoring import RuleScorer

_MOST_REPLAYS = 300


def no_forbidden_rule(
    application: Any,
    forbidden: PredicateLike,
    *,
    max_size: int | None = None,
    kind: Literal["retention", "omission"] = "retention",
    limits: Limits | int | None = None,
    **settings: Any,
) -> RuleScorer:
    """Returns a scorer. An answer passes iff there is no rule by which documents make it meet the
    forbidden condition.

    ``application``: the application, or "module:object". ``forbidden``: the condition that no answer may
    meet. ``max_size``: only rules with at most this number of documents count; None for any number.
    ``kind``: "retention" if answers fail because of documents that are retained, "omission" if they fail
    because documents are omitted. ``limits``: the limits on the spending for one score, such as a number
    of replays; if None, 300 replays, or 120 where an agent is explained (``source_kinds``,
    ``replay_of``). ``settings``: keywords of ``RuleExplainer``.

    Raises InvalidInput for an application or for settings that cannot be used.
    """
    if max_size is not None:
        checked_whole("max_size", max_size, 0)
    searched = {"miner": Sampled(jointly=True, if_many=True), "rules": kind, **settings}
    # Omission rules must be about the forbidden condition, too. By default they would be about its
    # negation.
    explainer = _explainer(application, forbidden, limits, {"omission_predicate": forbidden, **searched})

    def check(explanation: Explanation, _expected: Any) -> str:
        assert_no_rule(explanation, max_size=max_size, kind=kind)
        return f"no such rule: {explanation.predicates[next(iter(explanation.predicates))]}"

    return RuleScorer("no_forbidden_rule", None, _explaining(explainer), check)


def right_documents_decide(
    application: Any,
    condition: PredicateLike | None = None,
    *,
    limits: Limits | int | None = None,
    **settings: Any,
) -> RuleScorer:
    """Returns a scorer. An answer passes iff it depends on the right documents: the condition is met
    whenever all of them are retained, and never if all are omitted.

    The record of an answer in the data set has the ids of its right documents under "documents": a list,
    or one id. Documents that the application did not show its model are ignored; if it showed none of
    them, the answer fails. ``condition``: by default, that the answer stays the same. ``limits``,
    ``settings`` and the errors are those of ``no_forbidden_rule``.
    """
    explainer = _explainer(application, condition, limits, settings)

    def check(explanation: Explanation, expected: list[str]) -> str:
        right = _shown(explanation, expected)
        _check_each(
            lambda: assert_rule(explanation, retains=right), lambda: assert_rule(explanation, omits=right)
        )
        return f"{', '.join(right)}: always with them, and never without"

    return RuleScorer("right_documents_decide", "documents", _explaining(explainer), check, _right)


def citations_decisive(
    application: Any,
    *,
    allow: Collection[str] = (),
    cited: bool = True,
    cite: Mapping[str, Any] | None = None,
    limits: Limits | int | None = None,
    **settings: Any,
) -> RuleScorer:
    """Returns a scorer. An answer passes iff each of its citations is decisive: without the cited
    document, the answer never makes the cited claim.

    ``allow``: classes of citations that pass too, such as "one of several". ``cited``: False if an answer
    without citations passes as well. ``cite``: keywords of ``RuleExplainer.cite``; None for none.
    ``limits``, ``settings`` and the errors are those of ``no_forbidden_rule``.
    """
    classes = [each.value for each in CitationClass]
    for each in checked_list("allow", allow, "classes"):
        if each not in classes:
            raise InvalidInput(f"allow names {brief(each)}; the classes are {brief(classes)}")
    explainer, options = _explainer(application, None, limits, settings), dict(cite or {})

    def ask(given: Any, answer: Any) -> CitedAnswer:
        return explainer.cite(given, baseline=answer, **options)

    def check(found: CitedAnswer, _expected: Any) -> str:
        assert_citations_decisive(found, allow=allow, cited=cited)
        return str(found)

    return RuleScorer("citations_decisive", None, ask, check)


def stable_rules(
    application: Any,
    condition: PredicateLike | None = None,
    *,
    limits: Limits | int | None = None,
    **settings: Any,
) -> RuleScorer:
    """Returns a scorer. An answer passes iff it has the same rules as in its golden file, an explanation
    that was saved earlier.

    A record of the data set has the path of its golden file under "golden"; a relative path starts at the
    current folder. If there is no such file, the answer is undecided. ``condition``: the condition with
    which the golden file was made. ``limits``, ``settings`` and the errors are those of
    ``no_forbidden_rule``.
    """
    explainer = _explainer(application, condition, limits, settings)

    def check(explanation: Explanation, golden: Path) -> str:
        assert_stable(explanation, golden)
        return f"the same rules as in {golden.name}"

    return RuleScorer("stable_rules", "golden", _explaining(explainer), check, _golden)


def _explainer(
    application: Any,
    condition: PredicateLike | None,
    limits: Limits | int | None,
    settings: Mapping[str, Any],
) -> Any:
    name = application if isinstance(application, str) else type(application).__name__
    loaded = load_object(name, "application") if isinstance(application, str) else application
    given = dict(settings)
    integration = Integration.of(loaded, given.pop("framework", None))
    if limits is None:
        kinds = given.get("source_kinds", ("documents",))
        limits = most_replays(kinds, given.get("replay_of"), _MOST_REPLAYS)
    return integration.explainer(loaded, name, predicate=condition, limits=Limits.of(limits), **given)


def _explaining(explainer: Any) -> Callable[[Any, Any], Explanation]:
    return lambda given, answer: explainer.explain(given, baseline=answer)


def _golden(expected: Any) -> Path:
    if not isinstance(expected, (str, os.PathLike)):
        raise InvalidInput("the record names no golden file; give its path under 'golden'")
    golden = Path(os.fspath(cast("str | os.PathLike[str]", expected))).absolute()
    if not golden.exists():
        raise Undecided(f"there is no golden file {golden.name}; save an explanation there")
    return golden


def _right(expected: Any) -> list[str]:
    named = [expected] if isinstance(expected, str) else expected
    right = list(checked_list("documents", [] if named is None else named, "ids of documents"))
    if not right:
        raise InvalidInput("the record names no right documents; give their ids under 'documents'")
    wrong = [each for each in right if not isinstance(each, str) or not each.strip()]
    if wrong:
        raise InvalidInput(f"'documents' names {brief(wrong[0])}; ids are texts, such as 'D1'")
    return right


def _shown(explanation: Explanation, right: list[str]) -> list[str]:
    """Returns those documents of ``right`` (the ids of the documents that ought to decide the answer)
    that the model was shown. Raises AssertionError if it was shown none of them, and Undecided if it may
    have been shown one of them in other words."""
    shown = {each.id for each in explanation.sources}
    retrieved = {each.id for each in explanation.held_out}
    found = [each for each in right if each in shown]
    if not found and retrieved.intersection(right):
        raise Undecided("the right documents were retrieved, but not recognised in what the model read")
    if not found:
        raise AssertionError(f"the model was shown none of the right documents: {brief(right)}")
    return found


def _check_each(*checks: Callable[[], None]) -> None:
    """Runs all checks. Raises AssertionError if one fails, and Undecided if none fails but one is
    undecided."""
    undecided = list[Undecided]()
    for check in checks:
        try:
            check()
        except Undecided as error:
            undecided.append(error)
    for error in undecided:
        raise error
