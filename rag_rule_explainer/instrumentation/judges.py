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
    is wrong with the reply, in words. ``models``: the tokens that the judge spent, by model; the error
    contains them. ``usage``: the sum of these tokens, for a judge whose model is unknown (``models`` is
    then empty)."""
    reason = f"the judge's reply cannot count: {AT_LENGTH if fault == CUT_OFF else fault}"
    return UnusableReply(reason, summed(models) or usage, models or None, passing=False)
