"""This module converts the tables of an explanation to data frames of pandas or polars."""

import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, TypeAlias, get_args

from ..errors import InvalidInput, MissingExtra
from ..explanation.explanation import Explanation
from ..explanation.laid_out import FrameLibrary, TableName
from ..explanation.records import ProbeRecord
from ..rules import RuleKind
from .subsets import probe_votes

_Row: TypeAlias = dict[str, Any]
_LARGEST = 2**63
"""The smallest number that does not fit into a column of 64-bit integers. In the data frame, this
number and larger ones are missing values."""


def as_dataframe(explanation: Explanation, table: TableName, library: FrameLibrary | None = None) -> Any:
    """Returns a table of the explanation as a data frame, with all columns even if there are no rows.

    ``library``: the library to use. None for the one that the program has already imported. If it has
    imported both or none, None means pandas, or polars if pandas is not installed. Raises MissingExtra if
    the library is not installed.
    """
    if table not in _TABLES:
        raise InvalidInput(f"{table!r} is not a table; give one of {', '.join(_TABLES)}")
    if library is not None and library not in get_args(FrameLibrary):
        raise InvalidInput(f"library is {library!r}; give 'pandas' or 'polars', or leave it out")
    columns, rows = _TABLES[table]
    listed = list(rows(explanation))
    content = {name: [row[name] for row in listed] for name in columns}
    for name in (library,) if library else _in_order():
        try:
            return import_module(name).DataFrame(content)
        except ImportError:
            continue
    raise MissingExtra.naming("dataframe", f"a data frame of {library or 'pandas or polars'}")


def _in_order() -> list[str]:
    return sorted(get_args(FrameLibrary), key=lambda name: name not in sys.modules)


def _rules(explanation: Explanation) -> Iterator[_Row]:
    for rule in explanation.rules:
        yield {
            "kind": rule.kind.value,
            "sources": list(rule.sources),
            "size": len(rule.sources),
            "rule": rule.rule,
            "claim": rule.claim,
            "evidence": rule.evidence,
            "observed": _count(rule.observed),
            "broken": _count(rule.broken),
            "applicable": _count(rule.applicable),
            "minimal": rule.minimal,
            "relation": rule.relation,
        }


def _probes(explanation: Explanation) -> Iterator[_Row]:
    everything = [source.id for source in explanation.sources]
    for probe in explanation.probes:
        kept = {*probe.kept}
        judged = {kind: probe.verdicts.get(kind) for kind in RuleKind}
        retention, omission = judged[RuleKind.RETENTION], judged[RuleKind.OMISSION]
        yield {
            "kept": list(probe.kept),
            "omitted": [identity for identity in everything if identity not in kept],
            "size": len(probe.kept),
            "answer": probe.answers[0].shown if probe.answers else None,
            "samples": len(probe.answers),
            "retention_votes": _votes(probe, RuleKind.RETENTION),
            "omission_votes": _votes(probe, RuleKind.OMISSION),
            "retention": retention and retention.verdict.value,
            "retention_reason": retention and retention.reason,
            "omission": omission and omission.verdict.value,
            "omission_reason": omission and omission.reason,
            "latency": probe.latency,
            "error": probe.error,
        }


def _votes(probe: ProbeRecord, kind: RuleKind) -> str | None:
    return probe_votes(probe, (kind,)) or None


def _importance(explanation: Explanation) -> Iterator[_Row]:
    for index in explanation.importance:
        yield {
            "source": index.source,
            "kind": index.kind.value,
            "banzhaf": index.banzhaf,
            "shapley": index.shapley,
            "error": index.error,
            "tied": list(index.tied),
        }


def _count(number: int) -> int | None:
    return number if number < _LARGEST else None


_Rows: TypeAlias = Callable[[Explanation], Iterator[_Row]]
_TABLES: Mapping[str, tuple[tuple[str, ...], _Rows]] = {
    "rules": (
        (
            *("kind", "sources", "size", "rule", "claim", "evidence"),
            *("observed", "broken", "applicable", "minimal", "relation"),
        ),
        _rules,
    ),
    "probes": (
        (
            *("kept", "omitted", "size", "answer", "samples", "retention", "retention_reason"),
            *("retention_votes", "omission", "omission_reason", "omission_votes", "latency", "error"),
        ),
        _probes,
    ),
    "importance": (("source", "kind", "banzhaf", "shapley", "error", "tied"), _importance),
}
"""The tables by name. Each has the names of its columns, and the function that yields its rows."""
