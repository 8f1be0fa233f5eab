"""This module writes all probes of an explanation as an HTML table. The scripts of the page can sort and
filter the table."""

from collections.abc import Iterable, Iterator, Mapping

from markupsafe import Markup

from ...explanation.explanation import Explanation
from ...explanation.records import ProbeRecord
from ...printable import printable, shortened
from ...rules import RuleKind
from ..subsets import SubsetState, kinds_by_condition, probe_state, probe_votes
from .markup import as_one, raw
from .naming import SourceNames

_LONGEST_ANSWER, _LONGEST_REASON = 120, 160
_MOST_ROWS = 10_000
_WORDS: Mapping[SubsetState, str] = {
    "holds": "holds",
    "breaks": "does not hold",
    "unknown": "no verdict",
    "unasked": "not asked",
}
_COLUMNS = ("No.", "Retained", "How many", "Verdict", "Answer", "Reason", "Seconds")
_VOTES_AT = 4
"""The index (from 0) of the column "Votes" in a table of probes that were voted on."""


def probe_table(explanation: Explanation, names: SourceNames) -> Markup:
    """Returns the table with one row for each probe."""
    probes = explanation.probes[:_MOST_ROWS]
    if not probes:
        return Markup('<p class="aside">No probes are kept.</p>')
    conditions = kinds_by_condition(explanation)
    voted = any(probe.votes for probe in probes)
    rows = "".join(_rows(probes, conditions, names, voted=voted))
    columns = [*_COLUMNS[:_VOTES_AT], "Votes", *_COLUMNS[_VOTES_AT:]] if voted else _COLUMNS
    heads = Markup("").join(Markup("<th>{}</th>").format(name) for name in columns)
    beyond = len(explanation.probes) - len(probes)
    more = Markup('<p class="aside">… and {:,} more</p>').format(beyond) if beyond else Markup()
    return Markup(
        '<p class="filter" hidden><label>Filter <input type="search" autocomplete="off"></label> '
        '<span role="status"></span></p>'
        '<div class="scrolled tall" tabindex="0" role="group" aria-label="Probes">'
        '<table class="probes{}">'
        "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>{}"
    ).format(" with-votes" if voted else "", heads, raw(rows), more)


def _rows(
    probes: tuple[ProbeRecord, ...],
    conditions: tuple[tuple[RuleKind, ...], ...],
    names: SourceNames,
    *,
    voted: bool,
) -> Iterator[str]:
    for number, probe in enumerate(probes, 1):
        states: list[SubsetState] = [probe_state(probe, kinds) for kinds in conditions]
        state = _first_known(states)
        if len(states) == 1:
            verdict = _WORDS[state]
        else:
            paired = zip(conditions, states, strict=True)
            verdict = ", ".join(f"{kinds[0].value}: {_WORDS[each]}" for kinds, each in paired)
        judged = next(iter(probe.verdicts.values()), None)
        reason = probe.error or (judged.reason if judged else "")
        answer = probe.answers[0].shown if probe.answers else ""
        votes = f"<td>{_votes(probe, conditions)}</td>" if voted else ""
        seconds = "" if probe.latency is None else f"{probe.latency:.2f}"
        yield (
            f'<tr class="{state}"><td>{number}</td><td>{names.ids(probe.kept)}</td>'
            f"<td>{len(probe.kept)}</td>"
            f"<td>{verdict}</td>{votes}<td>{_short(answer, _LONGEST_ANSWER)}</td>"
            f"<td>{_short(reason, _LONGEST_REASON)}</td><td>{seconds}</td></tr>"
        )


def _votes(probe: ProbeRecord, conditions: tuple[tuple[RuleKind, ...], ...]) -> str:
    said = [probe_votes(probe, kinds) for kinds in conditions]
    if len(said) == 1:
        return said[0]
    paired = zip(conditions, said, strict=True)
    return ", ".join(f"{kinds[0].value}: {each}" for kinds, each in paired if each)


def _first_known(states: Iterable[SubsetState]) -> SubsetState:
    for state in states:
        if state != "unasked":
            return state
    return "unknown"


def _short(text: str, limit: int) -> Markup:
    return as_one(shortened(printable(text[: limit + 1]), limit))
