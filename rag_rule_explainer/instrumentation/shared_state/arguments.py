"""This module finds the files that are named in the arguments of a process that the application starts.
The arguments may contain a shell command, such as ``sort notes.txt > sorted.txt``."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, cast

from .known_commands import SHELLS

_BETWEEN_WORDS = re.compile(r"[\s'\"`|<>;&(),=]+")
_WRITTEN = re.compile(r"\d?(>>?)\s*(\"[^\"]*\"|'[^']*'|[^\s;|&'\"]+)")
"""Matches the part ``> out.txt`` or ``>> out.txt`` of a shell command, which writes the command's output
to a file. The command does not read this file."""
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_SET = re.compile(r"(?:^|[\s;&|(])(\w+)=('[^']*'|\"[^\"]*\"|[^\s;&|)]+)")
"""Matches the part of a shell command that sets a variable, such as ``NAME=notes.txt``."""
_PATTERN = re.compile(r"[*?\[]")
_TIMES = re.compile(
    r"\b(?:stat|date|make|ninja|rsync)\b|\bls\b.* -\w*[lstuc]"
    r"| -(?:newer\w*|[acm](?:min|time)|nt|ot|printf|ls)\b| --(?:full-time|time|sort|update|verbose)\b"
)
"""Matches commands and options whose effect may depend on the times at which files were changed, such as
``make`` and ``ls -t``."""
_MOST_WORDS, _LONGEST, _MOST_FOLDERS = 500, 1000, 8


def files_named_in(given: object, folder: str | None, environment: object) -> Iterator[str]:
    """Yields paths that the process may read: every argument, and every word in an argument, that can be
    the name of a file or folder. If another word names a folder, as in ``cd app``, the path inside that
    folder is yielded too. For a pattern such as ``notes/*``, yields the path of its folder; for a pattern
    without a folder, such as ``part-*.md``, yields the pattern itself.

    ``given``: the list of the process's arguments, or the text of a shell command. ``folder``: the
    working folder of the process; None for the current one. ``environment``: the environment variables of
    the process, with which ``$NAME`` in an argument is replaced; None for those of this process.
    """
    every = _arguments(given)
    is_shell = _is_of_a_shell(given, every)
    known = _variables(environment) | {
        name: value.strip("'\"") for each in every if is_shell for name, value in _SET.findall(each)
    }
    texts = [
        _VARIABLE.sub(lambda found: known.get(found[1], found[0]), _WRITTEN.sub(" ", each))
        for each in every
    ]
    words = dict.fromkeys(
        word
        for each, text in zip(every, texts, strict=True)
        for word in (each, *_BETWEEN_WORDS.split(text)[:_MOST_WORDS], *_quoted(text))
    )
    seen = set[str]()
    for place in _folders_among(words, folder):
        for word in words:
            for path in _path_of(word, place, is_shell=is_shell):
                if path not in seen:
                    seen.add(path)
                    yield path


def _quoted(text: str) -> list[str]:
    """Returns the words of a shell command that contain spaces, such as ``'my notes.txt'``. Quotes or
    backslashes make such a text one word. Returns an empty list if a quote is not closed."""
    if not {"'", '"', "\\"} & set(text):
        return []
    try:
        return [each for each in shlex.split(text)[:_MOST_WORDS] if " " in each]
    except ValueError:  # a quote is left open
        return []


def _folders_among(words: Iterable[str], folder: str | None) -> list[str]:
    """Returns the folders in which the named files may be: the working folder of the process
    (``folder``), and the existing folders that ``words`` name. A word may also name a folder inside
    another of these folders. Returns at most ``_MOST_FOLDERS`` folders."""
    found = [folder or ""]
    for word in words:
        for place in [*found] if 0 < len(word) <= _LONGEST and "\0" not in word else ():
            inner = str(Path(place, word).expanduser())
            if inner not in {*found, os.sep} and len(found) < _MOST_FOLDERS and Path(inner).is_dir():
                found.append(inner)
    return found


def goes_by_times(given: object) -> bool:
    """Returns True iff the effect of a command may depend on the times at which files were changed.
    ``given``: the list of a process's arguments, or the text of a shell command."""
    return _TIMES.search(" ".join(_arguments(given))) is not None


def matches_names(given: object) -> bool:
    """Returns True iff a shell may replace a pattern in a command by names of files. ``given``: the list
    of a process's arguments, or the text of a shell command."""
    every = _arguments(given)
    return _is_of_a_shell(given, every) and any(map(_PATTERN.search, every))


def _is_of_a_shell(given: object, every: list[str]) -> bool:
    return isinstance(given, (str, bytes)) or bool(every and Path(every[0]).name in SHELLS)


def files_written_in(
    given: object, folder: str | None, environment: object
) -> Iterator[tuple[str, bool]]:
    """Yields each file to which a shell command in the arguments of a process writes its output, such as
    ``out.txt`` in ``sort a.txt > out.txt``. Each yielded pair is the path, and True iff the output is
    appended, as by ``>>``. ``given``: the list of the process's arguments, or the text of a shell
    command. ``folder``: the working folder of the process; None for the current one. ``environment``:
    the environment variables of the process; None for those of this process."""
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
        path = str(Path(folder or "", word).expanduser())
        yield os.path.normpath(path) if os.pardir in path else path
    elif os.sep in word[: start.start()] or (is_shell and not start.start()):
        yield str(Path(folder or "", word[: start.start()].rpartition(os.sep)[0] or ".").expanduser())
    elif is_shell:
        yield str(Path(folder or "", word))
