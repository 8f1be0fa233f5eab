"""This module makes sources of the errors that tools raised, where the application went on and a model
was shown the text of the error. If such a source is omitted, a replay gets the error without its text."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from typing import Any

from ..executed_calls import NotedResult

_MOST_WORDS = 2
"""An error without its texts may still say this many words of three letters or more."""


def shown_failures(failed: Sequence[NotedResult], requests: Iterable[str]) -> Iterator[NotedResult]:
    """Yields the failed calls whose error has a text that a model was shown. If a call was tried again
    and failed in the same way, a model was shown only the last of these errors. ``requests``: the texts
    of the requests to models."""
    sent = list(requests)
    for place, each in enumerate(failed):
        text = str(each.result).strip()
        later = sum(str(one.result).strip() == text for one in failed[place + 1 :])
        forms = {text, json.dumps(text)[1:-1], repr(text)[1:-1]} if text else ()
        if any(request.count(form) > later for request in sent for form in forms):
            yield each


def emptied_error(error: Exception) -> Exception | None:
    """Returns an error of the same class with empty texts. Returns None if the class allows no such copy,
    or if the copy still has a text."""
    arguments = tuple("" if isinstance(each, str) else each for each in error.args)
    for make in (_copied, _made_anew):
        left = None
        with suppress(Exception):  # a user's class may raise any error when it is copied or read
            made = make(error, arguments)
            left = None if type(made) is not type(error) or _has_text_of(made, error) else made
        if left is not None:
            return left
    return None


def _copied(error: Exception, arguments: tuple[Any, ...]) -> Exception:
    left, text = copy(error), str(error)
    left.args = arguments
    held: dict[str, Any] = vars(left)
    held.pop("__notes__", None)
    held.update({name: "" for name, each in held.items() if isinstance(each, str) and each in text})
    return left


def _made_anew(error: Exception, arguments: tuple[Any, ...]) -> Exception:
    return type(error)(*arguments)


def _has_text_of(left: Exception, error: Exception) -> bool:
    """Returns True iff a copy of an error has a word of the error's texts, or says more than its kind, as
    "[Errno 2]" does."""
    words = {word for each in error.args if isinstance(each, str) for word in _words(each)}
    said = {*_words(str(left)), *_words(repr(left)), *_words(repr(vars(left)))}
    return bool(words & (said - {*_words(type(error).__name__)})) or len(_words(str(left))) > _MOST_WORDS


def _words(text: str) -> list[str]:
    return [each for each in re.findall(r"\w+", text) if len(each) > 2]
