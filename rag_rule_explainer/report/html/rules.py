"""This module writes the first screen of the page as HTML: the question, the answer, the rules and the
smallest changes that flip the outcome."""

import re
from collections.abc import Iterable

from markupsafe import Markup

from ...explanation.explanation import Explanation
from ...explanation.records import Counterfactual, Finding
from ...explanation.wording import named_units
from ...printable import printable, shortened
from ...rules import RuleKind
from ..changes import flipping_changes
from ..lasting_fixes import fixes_in_words
from ..plain_words import change_in_words
from ..subsets import has_pinned, kinds_by_condition, region_of
from ..view import caveats, no_rules, rule_rows
from .headings import (
    additions_summary,
    changes_heading,
    condition_of_changes,
    how_seen,
    rules_heading,
    said_of_all,
    said_of_none,
)
from .markup import as_one, joined_markup, literals, multiline
from .naming import SourceNames
from .sureness import claim_of, looked_at

_ASIDE = Markup('<p class="aside">{}</p>')
_AT_ONCE = 3
"""The number of rules of one kind, and also of changes, that are visible at once. The reader must open a
list to see the others."""
_MOST_RULES = 1000
"""The maximum number of rules of one kind in the page."""
_LONGEST_QUESTION = 300
_ANSWER_AT_ONCE = 500
"""The number of characters of an answer that the first screen shows."""


def opening(explanation: Explanation) -> Markup:
    """Returns the question, the answer and the warnings. In the answer, the texts that the condition
    quotes are highlighted."""
    explained = [explanation.predicates[kinds[0]] for kinds in kinds_by_condition(explanation)]
    marked = literals(" ".join(explained))
    *warnings, _ = caveats(explanation)
    said = joined_markup(
        Markup('<p class="warning" role="note">{}</p>').format(warning.text) for warning in warnings
    )
    looked_at = Markup(" and ").join(
        Markup("<q>{}</q>").format(shortened(printable(each), 300)) for each in explained
    )
    return Markup(
        '<h1 class="question"><span>Question</span> {question}</h1>{whole}'
        '<div class="answer"><h2>Answer</h2>{answer}'
        '<p class="aside">What is explained: {condition}</p></div>'
        "{warnings}"
    ).format(
        question=as_one(shortened(printable(explanation.question), _LONGEST_QUESTION)),
        whole=_rest_of(explanation.question),
        answer=_answer(explanation.baseline.shown, marked),
        condition=looked_at,
        warnings=said,
    )


def rule_lists(explanation: Explanation, names: SourceNames) -> Markup:
    """Returns the rules of each kind as sentences. Each rule says what its claim guarantees. If the
    explanation is complete, a sentence after the rules says that there are no others."""
    rows = [row.support for row in rule_rows(explanation)]
    supports = dict(zip(map(id, explanation.rules), rows, strict=True))
    lists = [_of_kind(explanation, kind, names, supports) for kind in explanation.predicates]
    return joined_markup([*lists, _all_there_are(explanation)])


def missing_rules(explanation: Explanation, names: SourceNames) -> Markup:
    """Returns a sentence that says why rules may be missing; empty if the explanation is complete."""
    if explanation.complete:
        return Markup()
    *_, ending = caveats(explanation)
    # If the search ended by itself, this package wrote the whole sentence. Otherwise the sentence may
    # quote an error message, and no word of a quotation may be replaced.
    text = ending.text.replace("sources", "documents") if explanation.ended else ending.text
    near = looked_at(explanation, names)
    ended = Markup("<small>{}</small>").format(text) if near else Markup("{}").format(text)
    return Markup('<p class="ending {}">{}{}</p>').format(ending.tone, near, ended)


def smallest_changes(explanation: Explanation, names: SourceNames) -> Markup:
    """Returns the smallest changes that flip the outcome (whether the answer meets the condition): first
    the removals from all documents, then the additions to none."""
    changes = flipping_changes(explanation)
    # A change that was found for both kinds of rules is shown only once.
    removals, additions = (
        dict.fromkeys(_change(explanation, each, names, smallest=changes.smallest) for each in found)
        for found in (changes.removals, changes.additions)
    )
    parts = [
        Markup("<h2>{}</h2>").format(
            changes_heading(explanation, len(removals), smallest=changes.smallest)
        )
    ]
    wanted = condition_of_changes(explanation) if removals else ""
    if remark := " ".join(filter(None, (changes.remark, wanted))):
        parts.append(_ASIDE.format(remark))
    if removals:
        parts += [_list_of(removals, "changes"), _ASIDE.format(how_seen(explanation, changes))]
        if lasting := fixes_in_words(explanation, names.placeholder):
            parts.append(_ASIDE.format(names.sentence(lasting)))
    if additions:
        folded = Markup("<details><summary>{}</summary>{}</details>")
        parts.append(folded.format(additions_summary(explanation), _list_of(additions, "changes")))
    return joined_markup(parts)


def _change(
    explanation: Explanation, found: Counterfactual, names: SourceNames, *, smallest: bool
) -> Markup:
    said = change_in_words(found, names.placeholder, has_pinned=has_pinned(explanation))
    sentence = names.sentence(said)
    units, documents = len(named_units(found.sources, found.tied)), len(found.sources)
    if documents < 2 or found.change != "removal" or not smallest:
        return sentence
    # The search did not try whether it is enough to remove only one of several near-duplicates. So for
    # near-duplicates, the text does not say that all of them must go.
    verb = "must go" if units == documents else "were left out"
    both = "Both" if documents == 2 else "All of them"
    return sentence + Markup("<br><small>{} {}.</small>").format(both, verb)


def _rest_of(question: str) -> Markup:
    if len(question) <= _LONGEST_QUESTION:
        return Markup()
    whole = Markup(
        '<details><summary>Whole question</summary><div class="text" dir="auto">{}</div></details>'
    )
    return whole.format(multiline(question))


def _answer(text: str, marked: re.Pattern[str] | None) -> Markup:
    if not text.strip():
        return Markup('<p class="aside">The answer is empty.</p>')
    if len(text) <= _ANSWER_AT_ONCE + 100:
        return Markup('<div class="text" dir="auto">{}</div>').format(multiline(text, marked))
    first = marked.search(text) if marked else None
    begin = max(0, first.start() - 200) if first and first.end() > _ANSWER_AT_ONCE else 0
    part = text[begin : begin + _ANSWER_AT_ONCE]
    return Markup(
        '<div class="text" dir="auto">{}{} …</div><details><summary>Whole answer</summary>'
        '<div class="text" dir="auto">{}</div></details>'
    ).format("… " if begin else "", multiline(part, marked), multiline(text, marked))


def _of_kind(
    explanation: Explanation, kind: RuleKind, names: SourceNames, supports: dict[int, str]
) -> Markup:
    retained = kind is RuleKind.RETENTION
    rules = explanation.retention_rules if retained else explanation.omission_rules
    heading = rules_heading(explanation, kind)
    if not rules:
        said = said_of_none(explanation, kind) or no_rules(explanation, kind)
        return heading + _ASIDE.format(said[:1].upper() + said[1:])
    letter = kind.value[0].upper()
    items = [
        _rule(f"{letter}{number}", rule, explanation, names, supports[id(rule)])
        for number, rule in enumerate(rules[:_MOST_RULES], 1)
    ]
    beyond = len(rules) - len(items)
    more = Markup('<p class="aside">… and {:,} more</p>').format(beyond) if beyond else Markup()
    together = said_of_all(explanation, kind, rules)
    said = _ASIDE.format(together) if together else Markup()
    return heading + said + _list_of(items, "rules") + more


def _all_there_are(explanation: Explanation) -> Markup:
    if not explanation.complete:
        return Markup()
    *_, ending = caveats(explanation)
    said = ending.text.removeprefix("complete: ")
    return Markup('<p class="ending {}">{}.</p>').format(ending.tone, said)


def _rule(
    label: str, rule: Finding, explanation: Explanation, names: SourceNames, support: str
) -> Markup:
    need, avoid = region_of(rule, explanation.units) if len(explanation.units) <= 10 else (0, 0)
    condition, plain = shortened(printable(rule.condition), 400), rule.brief(1000)
    antecedent = rule.antecedent_naming(names.placeholder)
    if rule.with_others:
        antecedent = antecedent.replace("all sources of other batches", "all documents of other batches")
    sentence = names.sentence(f"{antecedent}, {condition}")
    return Markup(
        '<span class="label">{}</span><span class="sentence" data-rule="{}" data-need="{}" '
        'data-avoid="{}">{}</span>{}'
    ).format(label, plain, need, avoid, sentence, claim_of(explanation, rule, support))


def _list_of(items: Iterable[Markup], name: str) -> Markup:
    entries = [Markup("<li>{}</li>").format(item) for item in items]
    shown_first = Markup('<ul class="{}">{}</ul>').format(name, joined_markup(entries[:_AT_ONCE]))
    rest = entries[_AT_ONCE:]
    if not rest:
        return shown_first
    return shown_first + Markup(
        '<details><summary>{:,} more</summary><ul class="{}">{}</ul></details>'
    ).format(len(rest), name, joined_markup(rest))
