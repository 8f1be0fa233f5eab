"""This module writes the headings and remarks of the first screen of the HTML report.

A heading only asks the question that the list below it answers. So it is true for every kind of claim,
and never says more than the search showed.
"""

from collections.abc import Sequence

from markupsafe import Markup

from ...explanation.explanation import Explanation
from ...explanation.records import Finding
from ...explanation.wording import named_units
from ...printable import printable, shortened
from ...rules import RuleKind
from ..changes import FlippingChanges
from ..subsets import has_pinned, kinds_by_condition, probe_state, state_of_all

_RETAINED = "Which documents decide by being there"
_OMITTED = "Which documents decide by being left out"
_ALWAYS = "None decides: it is so whatever is left out. Look at the model and the prompt."
_ALWAYS_PINNED = (
    "None of the others decides while the pinned documents stay. Without those it was not tried."
)
_ALWAYS_TOGETHER = (
    "None decides while near-duplicates stay together. What happens without some of them was not tried."
)
_START = (
    "It is enough while all other documents are there. If others are missing too, this may come back."
)
_SAFE = "An omission rule says what is enough, whatever else is missing."


def about_one(explanation: Explanation) -> bool:
    """Returns True iff both kinds of rules are about one condition that the answer meets. Retention rules
    then say when the condition holds, and omission rules, if there are any, when it does not."""
    if RuleKind.RETENTION not in explanation.predicates:
        return False
    (kinds, *others) = kinds_by_condition(explanation)
    return not others and state_of_all(explanation, kinds) != "breaks"


def rules_heading(explanation: Explanation, kind: RuleKind) -> Markup:
    """Returns the heading of a list of rules: the question that these rules answer, in plain words, and
    then the name of their kind."""
    if kind is RuleKind.RETENTION:
        asked = "Which documents bring this about" if about_one(explanation) else _RETAINED
    else:
        asked = "Which documents end this by being left out" if about_one(explanation) else _OMITTED
    return Markup("<h2>{} <small>{} rules</small></h2>").format(asked, kind.value.capitalize())


def said_of_all(explanation: Explanation, kind: RuleKind, rules: Sequence[Finding]) -> str:
    """Returns a sentence that says what the listed rules mean together, such as that each of them is
    enough. Returns an empty text if no such sentence is needed, as for a single rule with one source, or
    if rules may break on some subsets."""
    if explanation.min_confidence < 1:
        return ""  # a rule that may break on some subsets is not always enough
    about_this = about_one(explanation)
    always = _ALWAYS_TOGETHER if explanation.ties else _ALWAYS
    always = _ALWAYS_PINNED if has_pinned(explanation) else always
    said = _enough(explanation, rules, always if about_this and kind is RuleKind.RETENTION else "")
    # If a rule is not proved, the sentence must not sound certain. So it refers the reader to the claim
    # below the rule.
    if not said or all(rule.proved for rule in rules):
        return said
    return f"{said} {'Each rule says' if len(rules) > 1 else 'The rule says'} how sure it is."


def said_of_none(explanation: Explanation, kind: RuleKind) -> str:
    """Returns a sentence to show in place of omission rules, if there can be none because the condition
    holds even without any document. Otherwise, and for retention rules, returns an empty text."""
    (kinds, *_) = kinds_by_condition(explanation)
    nothing = next((each for each in explanation.probes if not each.kept), None)
    if kind is RuleKind.RETENTION or nothing is None or not (explanation.complete and len(kinds) > 1):
        return ""
    holds = about_one(explanation) and probe_state(nothing, kinds) == "holds"
    return "None: it is so even with no documents at all." if holds else ""


def _enough(explanation: Explanation, rules: Sequence[Finding], always: str) -> str:
    if len(rules) > 1:
        beside = " while the pinned documents stay" if has_pinned(explanation) else ""
        return f"Each of these rules is enough by itself{beside}."
    (rule,) = rules
    if not rule.sources and not rule.with_others:
        # If a search left some documents in place or ended early, it does not show that no document has
        # an influence.
        return "" if rule.claim in {"relative", "unverified"} else always
    units = _units(rule)
    return "" if units < 2 else "Both together." if units == 2 else "All of these together."


def _units(rule: Finding) -> int:
    return len(named_units(rule.sources, rule.tied)) + rule.with_others


def changes_heading(explanation: Explanation, count: int, *, smallest: bool) -> str:
    """Returns the heading of the list of documents to take out so that the outcome flips: whether the
    answer meets the condition. ``count``: the number of changes in the list. ``smallest``: True iff it is
    known that no part of a change flips the outcome by itself."""
    one = count < 2
    changes = f"{'Smallest change' if smallest else 'Change'}{'' if one else 's'}"
    if about_one(explanation):
        return f"{changes} that {'undoes' if one else 'undo'} this"
    return f"{changes} that {'flips' if one else 'flip'} the outcome"


def additions_summary(explanation: Explanation) -> str:
    """Returns the heading of the list of documents that flip the outcome (whether the answer meets the
    condition) when the application gets them alone instead of no documents."""
    return f"Which documents {'are enough' if about_one(explanation) else 'flip the outcome'} alone"


def how_seen(explanation: Explanation, changes: FlippingChanges) -> str:
    """Returns a sentence that says that each listed change was tried, starting from all documents; empty
    if there are no changes.

    In some explanations, the retention rules say when a condition holds, and the omission rules when the
    same condition does not hold. If then a listed change is not itself an omission rule, the change and
    the rules could seem to contradict each other. So the sentence adds why both can be true.
    """
    if not changes.removals:
        return ""
    one = len({each.sources for each in changes.removals}) == 1
    seen = (
        "This was tried; the application gave this answer."
        if one
        else "Each of these was tried; the application gave these answers."
    )
    seen += " As answers vary, it may come out otherwise." if explanation.voted else ""
    rules = {frozenset(rule.sources) for rule in explanation.omission_rules}
    no_rules = any(frozenset(each.sources) not in rules for each in changes.removals)
    says_so = RuleKind.OMISSION in explanation.predicates and about_one(explanation) and no_rules
    safe = f" {_SAFE}" * bool(rules)
    return f"{seen} {_START}{safe}" if says_so else seen


def condition_of_changes(explanation: Explanation) -> str:
    """Returns a sentence with the condition that holds after a change, such as "Afterwards, the answer
    no longer contains '25'."; empty if the two kinds of rules have different conditions."""
    if not about_one(explanation):
        return ""
    if RuleKind.OMISSION in explanation.predicates:
        return f"Afterwards, {shortened(printable(explanation.predicates[RuleKind.OMISSION]), 200)}."
    condition = shortened(printable(explanation.predicates[RuleKind.RETENTION]), 200)
    return f"Afterwards, this no longer holds: “{condition}”."
