"""This module writes the importance of the sources as a section of a report, and says for which kind of
rules no importance is given."""

from collections.abc import Iterator

from ..explanation.explanation import Explanation
from ..explanation.wording import joined, phrase
from ..printable import plain_id, printable_within
from .section import ReportEntry, Section, Statement


def importance_section(explanation: Explanation) -> Iterator[Section]:
    """Yields the section with the importance of the sources. If no importance is given, the section only
    says why. Yields no section if there is neither an importance nor a reason."""
    entries: list[ReportEntry] = []
    for index in explanation.importance:
        if not index.banzhaf:
            continue
        estimated = f"  (estimated, +- {index.error:.2g})" if index.error else ""
        tied = f"  (with {joined(index.tied)})" if index.tied else ""
        shapley = f"{index.shapley:.3f}{estimated}{tied}"
        cells = (plain_id(index.source), index.kind.value, f"{index.banzhaf:.3f}", shapley)
        entries.append(ReportEntry(tuple(map(Statement, cells))))
    remark = without_importance(explanation)
    if entries or remark:
        proved = all(finding.proved for finding in explanation.rules)
        caveat = "" if proved else ", as far as these rules are so"
        columns = ("Source", "Rules", "Banzhaf", "Shapley")
        heading = f"Importance from 0 to 1 (Banzhaf, Shapley{caveat})" if entries else "Importance"
        yield Section(heading, tuple(entries), columns=columns, remark=remark)


def without_importance(explanation: Explanation) -> str:
    """Returns a sentence about the kinds of rules for which no importance is given, although their rules
    name sources. The sentence also says why. If there is no such kind, returns an empty text."""
    given = {index.kind for index in explanation.importance}
    naming = (rule.kind for rule in explanation.rules if rule.sources and rule.kind not in given)
    kinds = list(dict.fromkeys(naming))
    if not kinds or explanation.miner.name == "verify":
        return ""  # a user who asks about one rule does not ask for importance
    said = f"Not given for {phrase([kind.value for kind in kinds])} rules:"
    if explanation.min_confidence < 1:
        return f"{said} it is not defined for rules that may break on some subsets."
    if explanation.miner.name == "partitioned":
        return f"{said} rules over several batches are not looked for, and they would change it."
    if not explanation.ended:
        why = printable_within(explanation.why_incomplete, 300)
        return f"{said} more of them may exist ({why}), and they would change it."
    return f"{said} more of them may exist, and they would change it."
