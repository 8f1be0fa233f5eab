"""This module writes results as HTML for a notebook. The HTML is a fragment without scripts and without
ids, and its styles apply only to itself. So the output of one cell never changes the output of another
cell."""

from collections.abc import Iterator

from markupsafe import Markup

from ...explanation.explanation import Explanation
from ...explanation.records import Finding
from ...explanation.verification import Verification
from ...printable import printable, shortened
from ..changes import flipping_changes
from ..plain_words import SIGNS, change_in_words, guarantee_of
from ..short_names import short_names
from ..subsets import subset_views
from ..view import caveats, no_rules, rule_rows
from .markup import as_one, isolated, joined_markup, literals, multiline
from .naming import SourceNames
from .still import still_lattice

_BLOCK = Markup('<div style="max-width:62em;line-height:1.4">{}</div>')
_FOLDED = Markup(
    '<details style="margin:.3em 0"><summary style="cursor:pointer">{}</summary>{}</details>'
)
_UNFOLDED = Markup(
    '<details open style="margin:.3em 0"><summary style="cursor:pointer">{}</summary>{}</details>'
)
_SMALL = Markup('<div style="font-size:.875em;opacity:.8">{}</div>')
_BOLD = Markup('<div style="margin-top:.4em"><b>{}</b></div>')
_ITEM = Markup('<div style="margin:.15em 0 .15em 1em">{}</div>')
_ANSWER = Markup('<div dir="auto" style="margin:.15em 0 .15em 1em">{}</div>')
_WARNING = Markup('<div style="border-left:4px solid #c0392b;padding-left:.5em"><b>{}</b></div>')
_MOST_ITEMS = 10
_LONGEST_ANSWER = 1000


def notebook_html(shown: object) -> str:
    """Returns a result as a fragment of HTML. An explanation, a rule and a verification have a layout of
    their own. Every other result is shown as text: its first line is always visible, and the rest can be
    opened."""
    # The result is a plain str, not a ``Markup``, because ``Markup`` would escape what callers add to it.
    return "".join([_BLOCK.format(_laid_out(shown))])


def _laid_out(shown: object) -> Markup:
    if isinstance(shown, Explanation):
        return joined_markup(_explanation(shown))
    if isinstance(shown, Finding):
        return _finding(shown)
    if isinstance(shown, Verification):
        return joined_markup(_verification(shown))
    return _text(shown)


def _explanation(explanation: Explanation) -> Iterator[Markup]:
    names = SourceNames(explanation, linked=False)
    conditions = list(explanation.predicates.values())
    marked = literals(conditions[0]) if conditions else None
    *warnings, ending = caveats(explanation)
    yield Markup("<div><b>{}</b></div>").format(as_one(shortened(printable(explanation.question), 300)))
    yield _ANSWER.format(multiline(shortened(explanation.baseline.shown, _LONGEST_ANSWER), marked))
    yield from (_WARNING.format(warning.text) for warning in warnings)
    for kind in explanation.predicates:
        rules = [
            _rule(rule, row.support, names)
            for rule, row in zip(explanation.rules, rule_rows(explanation), strict=True)
            if rule.kind is kind
        ]
        yield _BOLD.format(f"{kind.value.capitalize()} rules")
        yield from _items(rules) if rules else [_ITEM.format(no_rules(explanation, kind))]
    changes = flipping_changes(explanation)
    said = (names.sentence(change_in_words(each, names.placeholder)) for each in changes.removals)
    if items := list(dict.fromkeys(said)):
        yield _BOLD.format(
            f"{'Smallest changes' if changes.smallest else 'Changes'} that flip the outcome"
        )
        yield from _items(items)
        if changes.untried:
            yield _ITEM.format(_SMALL.format(changes.untried))
    elif changes.is_open:
        yield _BOLD.format("Smallest changes that flip the outcome")
        yield _ITEM.format(_SMALL.format(changes.remark))
    yield from _lattices(explanation)
    yield _SMALL.format(f"{ending.text}. explanation.save('report.html') writes all of it.")


def _rule(rule: Finding, support: str, names: SourceNames) -> Markup:
    condition = shortened(printable(rule.condition), 400)
    sentence = names.sentence(f"{rule.antecedent_naming(names.placeholder)}, {condition}")
    said = f"{SIGNS[rule.claim]} {shortened(support, 1000)}"
    return Markup("{}{}").format(sentence, _SMALL.format(said))


def _items(items: list[Markup]) -> Iterator[Markup]:
    yield from (_ITEM.format(item) for item in items[:_MOST_ITEMS])
    if rest := items[_MOST_ITEMS:]:
        listed = joined_markup(_ITEM.format(item) for item in rest[:200])
        yield _FOLDED.format(f"… and {len(rest):,} more", listed)


def _lattices(explanation: Explanation) -> Iterator[Markup]:
    names = short_names(explanation, 60)
    for view in subset_views(explanation):
        drawn = Markup('<div style="overflow-x:auto">{}</div>').format(
            still_lattice(explanation, view, names)
        )
        yield _FOLDED.format(
            f"All {1 << len(view.units):,} subsets: {shortened(printable(view.condition), 300)}", drawn
        )


def _finding(finding: Finding) -> Markup:
    said = f"{SIGNS[finding.claim]} {printable(finding.evidence)}. {guarantee_of(finding)}"
    sentence = finding.brief(1000)
    return Markup("<div>{}</div>{}").format(isolated(sentence), _SMALL.format(shortened(said, 1000)))


def _verification(verification: Verification) -> Iterator[Markup]:
    outcome, _, why = str(verification).partition(": ")
    yield Markup("<div><b>{}</b>: {}</div>").format(outcome, printable(why))
    yield from (_WARNING.format(printable(warning)) for warning in verification.explanation.warnings)
    yield from _lattices(verification.explanation)


def _text(shown: object) -> Markup:
    first, _, rest = str(shown).partition("\n")
    heading = Markup("<b>{}</b>: {}").format(type(shown).__name__, printable(first))
    if not rest:
        return heading
    text = Markup('<pre style="white-space:pre-wrap;margin:.2em 0">{}</pre>').format(multiline(rest))
    return _UNFOLDED.format(heading, text)
