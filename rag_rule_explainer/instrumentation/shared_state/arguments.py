"""This module finds the files that are named in the arguments of a process that the application starts.
The arguments may contain a shell command, such as ``sort notes.txt > sorted.txt``."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, cast

from .known_commands import SHELLS

_BETWEEN_WORDS = re.compile(r"[\s'\"`|<>;&(),=]+")
_WRITTEN = re.compile(r"\d?(>>?)\s*(\"[^\"]*\"|'[^']*'|[^\s;|&'\"]+)")
"""Matches the part ``> out.txt`` or ``>> out.txt`` of a shell command, which writes the command's output
to a file. Such a file is not read by the command."""
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_PATTERN = re.compile(r"[*?\[]")
_MOST_WORDS, _LONGEST = 500, 1000


def files_named_in(given: object, folder: str | None, environment: object) -> Iterator[str]:
    """Yields paths that the process may read: its arguments, and the words in them, that may be names of
    files or folders. For a pattern, such as ``notes/*``, the path of its folder is yielded.

    ``given``: the list of the process's arguments, or the text of a shell command. ``folder``: the
    working folder of the process; None for the current one. ``environment``: the environment variables of
    the process, with which ``$NAME`` in an argument is replaced; None for those of this process.
    """
    known = _variables(environment)
    seen = set[str]()
    every = _arguments(given)
    is_shell = isinstance(given, (str, bytes)) or bool(every and Path(every[0]).name in SHELLS)
    for each in every:
        text = _VARIABLE.sub(lambda found: known.get(found[1], found[0]), _WRITTEN.sub(" ", each))
        for word in (each, *_BETWEEN_WORDS.split(text)[:_MOST_WORDS]):
            if word not in seen:
                yield from _path_of(word, folder, is_shell=is_shell)
            seen.add(word)


def files_written_in(
    given: object, folder: str | None, environment: object
) -> Iterator[tuple[str, bool]]:
    """Yields each file to which a shell command in the arguments of a process writes its output, such as
    ``out.txt`` in ``sort a.txt > out.txt``. Each yielded pair is the path, and True iff the output is
    appended, as by ``>>``. For the parameters, see ``files_named_in``."""
    known = _variables(environment)
    for each in _arguments(given):
        for how, target in _WRITTEN.findall(each):
            word = _VARIABLE.sub(lambda found: known.get(found[1], found[0]), target).strip("'\"")
            yield from ((path, how == ">>") for path in _path_of(word, folder))


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


def _path_of(word: str, folder: str | None, *, is_shell: bool = True) -> Iterator[str]:
    """Yields the path that a word of a command may name; nothing for an option or a text that cannot be a
    path. For a pattern, such as ``notes/*``, this is the path of the folder.

    ``is_shell``: True if a shell reads the word. A pattern without a folder, such as ``*``, then counts
    too.
    """
    if not word or word.startswith("-") or len(word) > _LONGEST or "\n" in word or "\0" in word:
        return
    start = _PATTERN.search(word)
    if start is None:
        yield str(Path(folder or "", word).expanduser())
    elif os.sep in word[: start.start()] or (is_shell and not start.start()):
        yield str(Path(folder or "", word[: start.start()].rpartition(os.sep)[0] or ".").expanduser())
