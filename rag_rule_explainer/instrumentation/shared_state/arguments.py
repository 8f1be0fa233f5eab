"""This module finds the files that the arguments of a process name, also inside the text of a command for
a shell."""

import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, cast

_BETWEEN_WORDS = re.compile(r"[\s'\"`|<>;&(),=]+")
_WRITTEN = re.compile(r"\d?(>>?)\s*(\"[^\"]*\"|'[^']*'|[^\s;|&'\"]+)")
"""Matches a file into which a shell writes the output of a command. The command does not read it."""
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_PATTERN = re.compile(r"[*?\[]")
_MOST_WORDS, _MOST_FILES, _LONGEST = 500, 100, 1000


def files_named_in(given: object, folder: str | None, environment: object) -> Iterator[tuple[str, bool]]:
    """Yields the arguments of a process, and the words in them that may be names of files. Each comes
    with True iff it is a whole argument.

    ``given``: the list of arguments, or the text of a command. ``folder``: the folder in which the
    process begins; None for the present one. ``environment``: the variables that it is given; None for
    those of this process.
    """
    known = _variables(environment)
    seen = set[str]()
    for each in _arguments(given):
        text = _VARIABLE.sub(lambda found: known.get(found[1], found[0]), _WRITTEN.sub(" ", each))
        words = _BETWEEN_WORDS.split(text)[:_MOST_WORDS]
        for word in (each, *words):
            for path in _matching(word, folder) if word not in seen else ():
                yield path, word == each
            seen.add(word)


def files_written_in(
    given: object, folder: str | None, environment: object
) -> Iterator[tuple[str, bool]]:
    """Yields the files into which the commands for a shell among the arguments write. Each comes with
    True iff the command only adds to it. The parameters are those of ``files_named_in``."""
    known = _variables(environment)
    for each in _arguments(given):
        for how, target in _WRITTEN.findall(each):
            word = _VARIABLE.sub(lambda found: known.get(found[1], found[0]), target).strip("'\"")
            yield from ((path, how == ">>") for path in _matching(word, folder))


def _arguments(given: object) -> list[str]:
    if isinstance(given, (str, bytes)):
        return [os.fsdecode(given)]
    listed = cast("list[object]", given) if isinstance(given, (list, tuple)) else []
    return [os.fsdecode(each) for each in listed if isinstance(each, (str, bytes, PurePath))]


def _variables(environment: object) -> dict[str, str]:
    if not isinstance(environment, Mapping):
        return {**os.environ}
    given = cast("Mapping[Any, Any]", environment)
    return {os.fsdecode(name): os.fsdecode(value) for name, value in given.items()}


def _matching(word: str, folder: str | None) -> list[str]:
    """Returns the files that a word stands for: itself, or those that match it as a pattern."""
    if not word or word.startswith("-") or len(word) > _LONGEST or "\n" in word or "\0" in word:
        return []
    path = Path(folder or "", word).expanduser()
    found = path.parent.glob(path.name) if _PATTERN.search(path.name) else (path,)
    return [str(each) for each in islice(found, _MOST_FILES)]
