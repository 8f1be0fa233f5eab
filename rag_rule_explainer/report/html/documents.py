"""This module writes the sources as HTML, with the rules that name each source and with its importance.

If there are too many sources to draw a diagram of all subsets, a table shows which rule names which
source.
"""

from collections.abc import Iterator

from markupsafe import Markup

from ...explanation.explanation import Explanation
from ...explanation.records import Finding, SourceRecord
from ...printable import plain_id
from ...rules import RuleKind
from ..importance_section import without_importance
from ..short_names import short_ids, short_names, title_of
from ..subsets import MOST_DRAWN
from .markup import as_one, joined_markup, literals, multiline
from .naming import shown_places

_OPEN_UP_TO = 1500
"""Texts with at most this number of characters are visible at once. The reader must open longer texts."""
_MOST_ROWS, _MOST_COLUMNS = 200, 60
_MOST_BADGES = 6
"""The badge of a rule is its label, such as "R1". If at most twice this number of rules name a source,
the badges of all these rules are shown beside the source. If more rules name it, at most this number of
badges of retention rules are shown, and at most this number of badges of omission rules."""
_MARKS = {RuleKind.RETENTION: ("●", "retained"), RuleKind.OMISSION: ("○", "omitted")}


def labels_of(explanation: Explanation) -> dict[str, list[tuple[str, Finding]]]:
    """Returns the rules that name each source, by the id of the source. Each rule comes after its label,
    such as "R1" for the first retention rule. Sources that no rule names are left out."""
    named: dict[str, list[tuple[str, Finding]]] = {}
    for label, rule in _labelled(explanation):
        for identity in rule.sources:
            named.setdefault(identity, []).append((label, rule))
    return named


def _labelled(explanation: Explanation) -> Iterator[tuple[str, Finding]]:
    for letter, rules in (("R", explanation.retention_rules), ("O", explanation.omission_rules)):
        yield from ((f"{letter}{number}", rule) for number, rule in enumerate(rules, 1))


def source_list(explanation: Explanation) -> Markup:
    """Returns the sources in their order. The text of a source is visible at once if it is short and a
    rule names the source."""
    marked = literals(next(iter(explanation.predicates.values()), ""), whole_numbers=True)
    labelled = labels_of(explanation)
    tied = {each: tie.sources[0] for tie in explanation.ties for each in tie.sources[1:]}
    # A rule may name thousands of sources, and its badge stands beside each of them. So each badge is
    # made only once.
    badges = {label: _badge(label, rule) for label, rule in _labelled(explanation)}
    ids = short_ids([source.id for source in explanation.sources])
    entries: list[Markup] = []
    for place in shown_places(explanation):
        source = explanation.sources[place - 1]
        named = labelled.get(source.id, [])
        remark = "always retained" if source.pinned else ""
        remark = f"near-duplicate of {ids[tied[source.id]]}" if source.id in tied else remark
        entries.append(
            Markup(
                '<li id="source-{}" value="{}"><details{}>'
                "<summary><b>{}</b> <code>{}</code> {}{}</summary>"
                '<div class="text" dir="auto">{}</div></details></li>'
            ).format(
                place,
                place,
                Markup(" open") if named and len(source.text) <= _OPEN_UP_TO else "",
                as_one(title_of(source) or ids[source.id]),
                as_one(ids[source.id]) if title_of(source) else "",
                _badges([label for label, _ in named], badges),
                Markup(" <small>{}</small>").format(remark) if remark else "",
                multiline(source.text, marked),
            )
        )
    beyond = len(explanation.sources) - len(entries)
    more = Markup('<p class="aside">… and {:,} more</p>').format(beyond) if beyond else Markup()
    return Markup('<ol class="sources">{}</ol>').format(joined_markup(entries)) + more


def importance_table(explanation: Explanation) -> Markup:
    """Returns a table with a bar for each source whose importance is above 0, and below it a remark on
    kinds of rules for which no importance is given; empty if no rule names a source."""
    names = short_names(explanation, 60)
    rows = [
        Markup("<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.3f}</td><td>{:.3f}{}</td></tr>").format(
            as_one(names[each.source]),
            each.kind.value,
            _bar(each.banzhaf),
            each.banzhaf,
            each.shapley,
            f" (estimated, ± {each.error:.2g})" if each.error else "",
        )
        for each in explanation.importance
        if each.banzhaf
    ]
    left_out = without_importance(explanation)
    remark = Markup('<p class="aside">{}</p>').format(left_out) if left_out else Markup()
    if not rows:
        return remark
    proved = all(finding.proved for finding in explanation.rules)
    caveat = "" if proved else "These figures are as certain as the rules are."
    return (
        Markup(
            '<p class="aside">{}</p>'
            '<div class="scrolled" tabindex="0" role="group" aria-label="Importance"><table><thead>'
            "<tr><th>Document</th><th>In rules of</th><th>Share</th><th>Banzhaf</th><th>Shapley</th></tr>"
            "</thead><tbody>{}</tbody></table></div>"
        ).format(caveat, joined_markup(rows))
        + remark
    )


def rule_matrix(explanation: Explanation) -> Markup:
    """Returns a table with a row for each rule and a column for each source. This table is used if there
    are too many sources to draw a diagram of all subsets. Otherwise, or without rules, the result is
    empty."""
    named = list(labels_of(explanation))
    rules = [*explanation.rules][:_MOST_ROWS]
    if len(explanation.units) <= MOST_DRAWN or not named:
        return Markup()
    order = [source for source in explanation.sources if source.id in set(named)][:_MOST_COLUMNS]
    ids = short_ids([source.id for source in explanation.sources], 40)
    heads = joined_markup(Markup("<th><span>{}</span></th>").format(ids[each.id]) for each in order)
    body = joined_markup(_matrix_rows(rules, order))
    return Markup(
        '<p class="aside">{:,} documents have too many subsets to draw. '
        "● stands for retained, ○ for omitted. {:,} documents that no rule names are left out.</p>"
        '<div class="scrolled" tabindex="0" role="group" aria-label="Rules by documents">'
        '<table class="matrix"><thead><tr><th>Rule</th>{}</tr></thead><tbody>{}</tbody></table></div>'
    ).format(len(explanation.sources), len(explanation.sources) - len(named), heads, body)


def _matrix_rows(rules: list[Finding], order: list[SourceRecord]) -> Iterator[Markup]:
    counts = dict.fromkeys(RuleKind, 0)
    for rule in rules:
        counts[rule.kind] += 1
        mark, said = _MARKS[rule.kind]
        cell = Markup('<td><span aria-hidden="true">{}</span><span class="unseen">{}</span></td>').format(
            mark, said
        )
        among = set(rule.sources)
        cells = joined_markup(cell if each.id in among else Markup("<td></td>") for each in order)
        label = f"{rule.kind.value[0].upper()}{counts[rule.kind]}"
        yield Markup('<tr><th scope="row">{} <small>{}</small></th>{}</tr>').format(
            label, rule.claim, cells
        )


def _badges(labels: list[str], badges: dict[str, Markup]) -> Markup:
    """Returns the badges that are shown beside a source: one for each rule that names the source, such as
    "R1". If there are more than ``2 * _MOST_BADGES`` of them, only the first ``_MOST_BADGES`` of each
    kind of rule are shown, and the other badges are counted. ``badges``: the HTML of each badge by its
    label."""
    if len(labels) <= 2 * _MOST_BADGES:
        return joined_markup(badges[label] for label in labels)
    shown: list[str] = []
    for letter in ("R", "O"):
        shown += [label for label in labels if label.startswith(letter)][:_MOST_BADGES]
    more = Markup(" <small>+{:,} more</small>").format(len(labels) - len(shown))
    return joined_markup(badges[label] for label in shown) + more


def _badge(label: str, rule: Finding) -> Markup:
    return Markup('<span class="badge {}" title="{}">{}</span>').format(
        rule.claim, rule.antecedent_naming(plain_id, 250), label
    )


def _bar(share: float) -> Markup:
    return Markup(
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<rect width="100" height="10"/><rect class="full" width="{:.1f}" height="10"/></svg>'
    ).format(min(1.0, max(0.0, share)) * 100)
