"""This module makes the error for a reply of a judge that is no verdict."""

from collections.abc import Mapping

from ..probing.budget import summed
from ..probing.prices import TokensByModel
from ..probing.replaying import UnusableReply
from ..probing.wholeness import AT_LENGTH, CUT_OFF


def no_opinions(
    fault: str, models: TokensByModel, usage: Mapping[str, int] | None = None
) -> UnusableReply:
    """Returns the error for a judge's reply that is incomplete, so that it is no verdict. ``fault``: what
    is wrong with the reply, in words. ``models``, ``usage``: the tokens that the judge spent, which the
    error holds."""
    reason = f"the judge's reply cannot count: {AT_LENGTH if fault == CUT_OFF else fault}"
    return UnusableReply(reason, summed(models) or usage, models or None, passing=False)
