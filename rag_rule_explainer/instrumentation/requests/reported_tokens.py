"""This module reads the numbers of tokens that a provider reports with a reply."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..clients.fields import mapping_in


def reported_tokens(
    usage: Any, names: Mapping[str, Sequence[str]], details: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """Returns the numbers of tokens that a reply cost, by kind, such as "input"; empty if it reports
    none.

    ``names``: for each kind, the fields that may have its number, such as "details.cached". The first
    number that is not 0 counts, or 0 if there is none. ``details``: the fields of further kinds. Such a
    kind is left out of the result if no field has a number other than 0.
    """
    spent = {kind: _first(usage, own) for kind, own in names.items()}
    more = {kind: count for kind, own in details.items() if (count := _first(usage, own))}
    return spent | more if more or any(spent.values()) else {}


def _first(usage: Any, paths: Sequence[str]) -> int:
    return next((count for each in paths if (count := _at(usage, each))), 0)


def _at(given: Any, path: str) -> Any:
    for name in path.split("."):
        given = mapping_in(given).get(name)
    return given
