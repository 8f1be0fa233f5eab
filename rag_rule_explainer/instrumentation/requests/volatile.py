"""This module finds volatile parts of texts: parts that differ from run to run, although the application
passes no state from run to run.

Dates, times, UUIDs, ids of calls, and addresses of objects are volatile. A counter ("turn 3") is not
volatile, because it is state that an application passes from one run to the next.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ...allowed import brief, checked_list
from ...errors import InvalidInput
from ...late_patterns import compiled_late

_MONTHS = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_DAYS = r"(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?\.?"
_ZONE = r"(?:\s?(?:Z\b|UTC\b|GMT\b|[+-]\d\d:?\d\d\b))?"
_CLOCK = rf"\d{{1,2}}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?[AaPp]\.?[Mm]\b\.?)?{_ZONE}"
_DATE = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}"
    rf"|{_MONTHS}\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}}|\d{{1,2}}(?:st|nd|rd|th)?\.?\s{_MONTHS},?\s\d{{4}})"
)
_STEADY: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (compiled_late(pattern), mark)
    for pattern, mark in (
        (
            # A prefix before the UUID is allowed, as in LangChain's ``lc_<uuid>``.
            r"(?<![^\W_])[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}\b",
            "<uuid>",
        ),
        (
            r"\b(?:call|toolu|tooluse|chatcmpl|resp|msg|run|fc|rs|req|lc_run)[-_]+(?=\w*\d)[A-Za-z0-9]{8,}\b",
            "<call>",
        ),
        (r"\b0x[0-9a-fA-F]{6,}\b", "<address>"),
        (rf"(?:\b{_DAYS},?\s)?\b{_DATE}(?:(?:[T,]|,?\s(?:at\s)?)\s?{_CLOCK})?", "<time>"),
        (rf"\b{_DAYS}\s{_MONTHS}\s+\d{{1,2}}\s{_CLOCK}\s\d{{4}}\b", "<time>"),
        (r"(?<![\d.])1[5-9]\d{8}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?(?!\d)", "<time>"),
        (rf"(?<![\d:])\b{_CLOCK}(?![\d:])", "<time>"),
    )
)


_LONGEST_REMEMBERED = 10_000
"""The maximum number of characters of a text for which the result of ``Steady`` is cached."""
_YEAR = compiled_late(r"(?<!\d)(?:19|20)\d\d(?!\d)")


_SUCH_AS = r"such as [r'request no\. \d+']"


class Steady:
    """A ``Steady`` replaces the volatile parts of texts, such as dates and ids, by placeholders.

    ``ignore``: the user's patterns of further parts that have no meaning. Raises InvalidInput if
    ``ignore`` is no list of patterns.
    """

    def __init__(self, ignore: Sequence[str | re.Pattern[str]] = ()) -> None:
        self._ignored = tuple(map(_compiled, checked_list("ignore", ignore, f"patterns, {_SUCH_AS}")))

    @property
    def ignored(self) -> tuple[str, ...]:
        """Returns the user's ``ignore`` patterns, as texts."""
        return tuple(pattern.pattern for pattern in self._ignored)

    def without_ignored(self, text: str) -> str:
        """Returns the text with a placeholder for each part that matches the user's ``ignore`` patterns.
        Other volatile parts stay."""
        for pattern in self._ignored:
            text = pattern.sub("<ignored>", text)
        return text

    def is_ignored(self, text: str) -> bool:
        """Returns True iff one of the user's ``ignore`` patterns matches a part of the text."""
        return any(pattern.search(text) for pattern in self._ignored)

    def volatile_in(self, text: str) -> list[str]:
        """Returns the volatile parts of the text, except those that the user's ``ignore`` patterns
        match."""
        text, found = self.without_ignored(text), list[str]()
        for pattern, mark in _STEADY:
            found += [each.group() for each in pattern.finditer(text)]
            # The digits of an id may look like a time.
            text = pattern.sub(mark, text)
        return found

    def __call__(self, text: str) -> str:
        """Returns the text with a placeholder for each volatile or ignored part."""
        text = self.without_ignored(text)
        return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else _without_volatile(text)


def _without_volatile(text: str) -> str:
    for pattern, mark in _STEADY:
        text = pattern.sub(mark, text)
    return text


# The results are cached, because the prompts of one explanation have most of their texts in common.
_remembered = lru_cache(maxsize=256)(_without_volatile)


def _compiled(given: Any) -> re.Pattern[str]:
    pattern: Any = given
    if isinstance(given, str):
        try:
            pattern = re.compile(given)
        except (re.error, OverflowError, RecursionError) as error:
            raise InvalidInput(
                f"ignore has a pattern that cannot be read, {brief(given)}: {error}; write one {_SUCH_AS}"
            ) from error
    if not isinstance(getattr(pattern, "pattern", None), str):
        raise InvalidInput(f"ignore has {brief(given)}; give regular expressions, {_SUCH_AS}")
    if pattern.search("") is not None:
        raise InvalidInput(
            f"ignore has {brief(pattern.pattern)}, which is found in every text, so that no difference "
            f"would count; write one that matches something, {_SUCH_AS}"
        )
    return pattern


def years_in(times: Sequence[str]) -> list[str]:
    """Returns the years (1900 to 2099) in ``times``, in order. ``times``: volatile parts of a text, as
    ``Steady.volatile_in`` returns them. Ids and addresses among them are ignored."""
    ids = [pattern for pattern, mark in _STEADY if mark in {"<uuid>", "<call>", "<address>"}]
    dates = [time for time in times if not any(each.fullmatch(time) for each in ids)]
    return [year for time in dates for year in _YEAR.findall(time)]
