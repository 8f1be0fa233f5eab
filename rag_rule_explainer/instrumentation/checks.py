"""This module re-exports, for the integrations, the checks of settings and other values, and ``showing``.
The decorator ``showing`` lists the options that a function takes as ``**fields`` in its signature."""

from ..allowed import (
    CALLED_ELSEWHERE,
    brief,
    called_as,
    check_no_others,
    checked_flag,
    checked_function,
    checked_list,
    checked_whole,
    keywords_of,
    showing,
)
from ..printable import type_said, with_article

__all__ = [
    "CALLED_ELSEWHERE",
    "brief",
    "called_as",
    "check_no_others",
    "checked_flag",
    "checked_function",
    "checked_list",
    "checked_whole",
    "keywords_of",
    "showing",
    "type_said",
    "with_article",
]
