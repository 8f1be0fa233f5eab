"""This module says which reasoning effort is the least that a model accepts.

The paper sets the least effort for every model. Models that do not reason refuse the parameter, so it is
only sent to models whose name is in the table.
"""

import re
from collections.abc import Sequence
from typing import Final

UNSENT: Final = "unsent"
"""The value that a user gives so that no reasoning effort is sent."""

LEAST_EFFORTS: Final[Sequence[tuple[str, str]]] = (
    (r"gpt-5(\.\d+)?-chat.*", ""),
    (r"gpt-5\.\d+(-mini|-nano)?", "none"),
    (r"gpt-5(-mini|-nano)?", "minimal"),
    (r"o1-(mini|preview)", ""),
    (r"o1|o3(-mini)?|o4-mini", "low"),
    (r"gpt-oss(-.*)?", "low"),
    (r"gemini-2\.5-flash(-lite)?", "none"),
    (r"gemini-(2\.5|3)-pro(-preview)?", "low"),
)
"""Pairs of a pattern for model names and the least effort, which is empty if these models accept none. A
name is compared without the provider before it and the date after it. The first pattern that fits
decides."""

_PROVIDER = re.compile(r"^.*/")
_DATE = re.compile(r"-\d{4}-\d{2}-\d{2}$|:[\w.-]+$")


def least_effort(name: str) -> str | None:
    """Returns the least reasoning effort for a model; None if nothing should be sent to it."""
    plain = _DATE.sub("", _PROVIDER.sub("", name.strip().lower()))
    for pattern, effort in LEAST_EFFORTS:
        if re.fullmatch(pattern, plain):
            return effort or None
    return None
