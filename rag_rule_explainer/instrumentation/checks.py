"""This module re-exports the checks of settings and other values, and the decorator that shows the
fields of a function, for the integrations."""

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
