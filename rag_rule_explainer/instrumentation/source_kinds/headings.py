"""This module judges the line before the items of a list in a tool's text: whether it may be made of the
items, as "Open sum: 350 EUR" and "Status: RED" are.

A heading is independent of the items if it only introduces them, as "Here are your mails:" and "Results
for 'tea':" do. It then consists of words that introduce lists, words of the tool's name and of names of
arguments, and arguments of the call.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, cast

from ..clients.fields import is_listed, mapping_in
from ..requests.volatile import Steady
from .counting_lines import WORDS_OF_COUNTS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_INTRODUCING = (WORDS_OF_COUNTS - _words("all none most only total")) | _words(
    """about account an and as below can containing contains current currently details each
    following for from got has here i it its match my on or our out output past query
    requested returned search searched so than their them they this to top under we were
    what which with within you your"""
)
"""The words that introduce a list."""
_NOUNS = _words(
    """account address agenda album answer appointment article attachment author balance
    basket block book booking bookmark branch calendar car card cart category channel
    chapter chunk city client comment commit company contact content contract conversation
    country course customer database date day device directory doc doctor document email
    employee entry event expense faq feature feed file film flight folder forecast function
    game group guest guide headline hit hotel image inbox invoice issue item job key lead
    lesson line link list listing location log mail mailbox match medication meeting member
    memo memory menu message movie name news note notification offer option order outbox
    page paper passage patient payment people person phone photo place player point policy
    post prescription product profile project property question rate recipe record reminder
    repo repository request reservation restaurant result review room row rule schedule
    schema section sentence server service session shop shopping show slot snippet song
    source staff statement step story student subject supplier table tag task team thread
    ticket title todo tool topic train transaction trip unit update url user value vehicle
    vendor version video warehouse web website wiki"""
)
"""Things that tools list, in the singular."""
_ADJECTIVES = _words(
    """active all available completed current daily existing incoming last latest matching
    nearby new next open outgoing past pending recent registered related relevant saved
    scheduled sent shared similar some stored top unread upcoming"""
)
"""Words that say which items were asked for. Before a noun they belong to a title, as in "Unread mails";
after a verb they say something about the items, as in "All mails are new"."""
_AFTER_COLON = WORDS_OF_COUNTS - _words("a all are at by have in is most none only out that the there")
"""The words that may follow a colon, as in "Found: 3 mails". A name such as "A" is a finding there."""
_NAMED_NUMBER = re.compile(
    r"\b(?:apartment|building|chapter|flight|floor|gate|level|month|page|part|quarter|room|season|section|"
    r"step|table|team|tier|unit|version|volume|week|year|"
    r"january|february|march|april|may|june|july|august|september|october|november|december)\s+\d{1,4}\b|"
    r"\b(?:last|next|past|top|first)\s+\d{1,4}(?:\s+(?:days?|hours?|minutes?|months?|weeks?|years?))?\b|"
    r"\bfor\s+\d{1,3}\s+(?:adults?|guests?|nights?|people|persons?)\b",
    re.IGNORECASE,
)
"""Matches a number that names one thing or a span of time, and no sum of items."""
_SIGN = re.compile(r"[^\w\s.,:;()\[\]{}*#'\"’`/&>|=~!?–—…-]|\d")
"""Matches a number, and a sign that may say something, such as "%" or a picture."""
_QUOTED = re.compile(r"\"([^\"]*)\"|“([^”]*)”|`([^`]*)`|(?<!\w)'([^']*)'(?!\w)")
_VERBS = re.compile(r"\b(?:are|is|were|was|have|has|be)\b")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


def is_independent(
    heading: str, items: Sequence[Any], tool: str, arguments: object, steady: Steady
) -> bool:
    """Returns True iff a heading only introduces the items. ``heading``: the line, without numbers that
    count the items. ``tool``, ``arguments``: of the call. ``steady``: recognises times."""
    if any(1 <= sum(_has(heading, each) for each in some) < len(some) for some in choices_in(arguments)):
        return False
    text = _QUOTED.sub(lambda found: f" {next(filter(None, found.groups()), '')} ", heading)
    for each in sorted(_texts_of(arguments), key=len, reverse=True):
        text = _place_of(each).sub(" _ ", text)
    for time in steady.volatile_in(text):
        if not any(time in str(item) for item in items):
            text = text.replace(time, " _ ")
    text = _NAMED_NUMBER.sub(" _ ", text)
    if _SIGN.search(text):
        return False
    known = " ".join([tool, *map(str, mapping_in(arguments))])
    named = frozenset(each.lower() for each in _PARTS.findall(known))
    title, _, after = text.strip().rstrip(":*").partition(":")
    return _is_plain(title, named) and _AFTER_COLON.issuperset(_WORD.findall(after.lower()))


def choices_in(arguments: object) -> Iterator[Sequence[str]]:
    """Yields the texts of each list with several elements in the arguments. One of them alone, such as
    "RED" of ``["RED", "GREEN"]``, says which of them the items have."""
    if isinstance(arguments, Mapping):
        for each in cast("Mapping[Any, Any]", arguments).values():
            yield from choices_in(each)
    elif is_listed(arguments):
        found = [*dict.fromkeys(_texts_of(arguments))]
        yield from [found] if len(found) > 1 else []


def _place_of(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)


def _has(heading: str, text: str) -> bool:
    return _place_of(text).search(heading) is not None


def _is_plain(text: str, named: frozenset[str]) -> bool:
    """Returns True iff a text has only words that introduce a list. ``named``: the words of names of
    the tool and its arguments."""
    words = _WORD.findall(text.lower())
    has_verb = _VERBS.search(text.lower()) is not None
    return all(
        each in _INTRODUCING
        or _is_thing(each, named)
        or (each in _ADJECTIVES and _is_in_title(each, after, named, has_verb=has_verb))
        for each, after in zip_longest(words, words[1:], fillvalue="")
    )


def _is_in_title(word: str, after: str, named: frozenset[str], *, has_verb: bool) -> bool:
    """Returns True iff an adjective belongs to a title. ``after``: the next word."""
    is_before_noun = _is_thing(after, named) and (word != "all" or not has_verb)
    return is_before_noun or (after in _ADJECTIVES and not has_verb)


def _is_thing(word: str, named: frozenset[str]) -> bool:
    word = word.removesuffix("'s").removesuffix("’s")
    forms = {word, word.removesuffix("s"), word.removesuffix("es"), re.sub("ies$", "y", word)}
    return not forms.isdisjoint(_NOUNS | (named - _ADJECTIVES)) or word in named


def _texts_of(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for each in cast("Mapping[Any, Any]", value).values():
            yield from _texts_of(each)
    elif is_listed(value):
        for each in cast("Sequence[Any]", value):
            yield from _texts_of(each)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool) and str(value).strip():
        yield str(value)
