"""This module reads the numbers of tokens that OpenAI's protocols report with a reply."""

from collections.abc import Mapping
from typing import Any, cast

_COUNTS = {
    "input_tokens": ("prompt_tokens", "input_tokens"),
    "output_tokens": ("completion_tokens", "output_tokens"),
    "total_tokens": ("total_tokens",),
}
_DETAILS = ("prompt_tokens_details", "input_tokens_details")


def tokens_in(usage: Any) -> dict[str, int]:
    """Returns the numbers of tokens that a reply cost, by kind; empty if it reports none."""
    counts = _entries(usage)
    spent = {
        kind: next((counts[name] for name in names if counts.get(name)), 0)
        for kind, names in _COUNTS.items()
    }
    details = (_entries(counts.get(name)) for name in _DETAILS)
    cached = next((each["cached_tokens"] for each in details if each.get("cached_tokens")), 0)
    spent |= {"cached_input_tokens": cached} if cached else {}
    return spent if any(spent.values()) else {}


def _entries(given: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else {}
