"""This module makes the error for a reply of a judge that is no verdict."""

from collections.abc import Mapping

from ..probing.budget import summed
from ..probing.prices import TokensByModel
from ..probing.replaying import UnusableReply
from ..probing.wholeness import AT_LENGTH, CUT_OFF


def no_opinions(
    fault: str, models: TokensByModel, usage: Mapping[str, int] | None = None
) -> UnusableReply:
    """Returns the error for an incomplete reply of a judge, which is therefore no verdict. It holds the
    tokens that the judge spent."""
    reason = f"the judge's reply cannot count: {AT_LENGTH if fault == CUT_OFF else fault}"
    return UnusableReply(reason, summed(models) or usage, models or None, passing=False)
