"""This module finds out what a command that the application starts may read or store besides the files
that its arguments name.

It knows the usual commands, such as ``grep``, by their names. For any other program, such as a script,
this module cannot say what the program reads and stores.
"""

import ast
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path, PurePath
from shutil import which
from typing import Any, cast

from .known_commands import (
    CLOSED,
    KEYWORDS,
    OF_HISTORY,
    PURE,
    READING,
    RUNNING,
    SHELLS,
    STARTING,
    WALKING,
)
from .parsing import syntax_tree

_LARGEST = 100_000
"""The largest number of characters of a program in Python that is parsed."""
_COMPUTED = re.compile(
    r"\$\(|`|<\(|\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}|\beval\b|\bsource\b|\bread\b|(?:^|[;&|])\s*\.\s"
)
"""Matches parts of a shell command whose effect cannot be read from its text, such as ``$(...)``,
``{a,b}``, ``eval`` and ``source``."""
_SETTING, _OPTION = re.compile(r"\w+="), re.compile(r"-|\w+=|[\d.]+[smhd]?$")
"""``_SETTING`` matches a variable that is set for a command, as in ``LANG=C sort``. ``_OPTION`` matches
the words that may precede the inner command of a command such as ``timeout 5s grep``: options, variables
and durations."""
_INSTALLED = (
    *("/bin/", "/sbin/", "/usr/", "/opt/", "/snap/", "/nix/", "/System/", "/Library/"),
    *(sys.prefix, sys.base_prefix),
)
_PYTHON = re.compile(r"python[\d.]*$|pypy[\d.]*$")
_IMPURE = frozenset(
    {"open", "exec", "eval", "__import__", "compile", "getattr", "globals", "vars", "modules"}
)


@dataclass(frozen=True, slots=True)
class Reach:
    """A ``Reach`` says what a command may read besides the files that its arguments name.

    ``unknown``: the name of the first program in the command that this module does not know; empty if it
    knows all. ``folders``: folders that the command reads as a whole. ``is_closed``: True if the command
    reads no file, whatever its arguments are, such as ``uname``.
    """

    unknown: str
    folders: tuple[str, ...] = ()
    is_closed: bool = False


def reach_of(program: str, given: object, folder: str | None) -> Reach:
    """Returns a ``Reach`` that says what a command may read.

    ``program``: the name or path of the program that is started; empty for the shell of the system.
    ``given``: the text of a shell command, or the list of the program's arguments (the first is a name
    for the program). ``folder``: the working folder of the program; None for the current one.
    """
    here = folder or str(Path.cwd())
    if isinstance(given, (str, bytes)):
        text = os.fsdecode(given)
        return _joined(_of_shell(text, here)) if not program else _of_words([program], here)
    listed = cast("list[object]", given) if isinstance(given, (list, tuple)) else []
    words = [os.fsdecode(each) for each in listed if isinstance(each, (str, bytes, PurePath))]
    return _of_words([program, *words[1:]], here)


def _joined(found: Iterator[Reach]) -> Reach:
    every = [*found]
    unknown = next((each.unknown for each in every if each.unknown), "")
    folders = dict.fromkeys(folder for each in every for folder in each.folders)
    return Reach(unknown, tuple(folders), all(each.is_closed for each in every))


def _of_shell(text: str, here: str) -> Iterator[Reach]:
    """Yields a ``Reach`` for each command in a text for the shell: for ``cd`` and ``grep`` in ``cd notes;
    grep x *``. ``here``: the working folder."""
    if _COMPUTED.search(text):
        yield Reach("sh")
    try:
        reader = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars=True)
        reader.whitespace_split, reader.commenters = True, ""
        words = [*reader]
    except ValueError:  # a quote is left open
        yield Reach("sh")
        return
    command = list[str]()
    for word in [*words, ";"]:
        if not set(word) <= set("();<>|&\n"):
            command.append(word)
        elif set(word) & set("<>"):
            continue
        else:
            here = _place(here, command[1]) if command[:1] == ["cd"] and len(command) > 1 else here
            if command:
                yield _of_words(command, here)
            command = []


def _of_words(words: Sequence[str], here: str) -> Reach:
    if words and words[0] == "for":  # the words after ``for`` are no command
        return Reach("")
    words = [*dropwhile(lambda each: each in KEYWORDS or _SETTING.match(each), words)]
    if not words:
        return Reach("", is_closed=True)
    name, rest = Path(words[0]).name, words[1:]
    if name in STARTING:
        return _of_words([*dropwhile(_OPTION.match, rest)], here)
    if name in SHELLS:
        return _of_a_shell(name, rest, here)
    return _of_python(name, rest, here) if _PYTHON.match(name) else _of_a_program(words[0], rest, here)


def _of_a_program(program: str, rest: Sequence[str], here: str) -> Reach:
    name = Path(program).name
    is_others = any(each in word for each in RUNNING for word in rest)
    if is_others or not _is_of_the_system(program):
        return Reach(name)
    if name == "git":
        return _of_git(rest, here)
    if name in WALKING:
        named = [each for each in rest if not each.startswith("-") and Path(here, each).exists()]
        return Reach("", tuple(_place(here, each) for each in named) or (here,))
    if name in CLOSED | READING:
        return Reach("", is_closed=name in CLOSED)
    return Reach(name)


def _is_of_the_system(program: str) -> bool:
    """Returns True iff the name of a program tells what the program does. That is true for a program in a
    folder of the system. It is also true if no installed program has this name: the name then belongs to
    a command of the shell itself, or to a command that cannot be started."""
    found = which(program)
    return found is None or str(Path(found).absolute()).startswith(_INSTALLED)


def _of_a_shell(name: str, rest: Sequence[str], here: str) -> Reach:
    options = [each for each in rest[:3] if each.startswith("-") and "c" in each]
    if not options or rest.index(options[0]) + 1 >= len(rest):
        return Reach(_script(rest) or name)
    return _joined(_of_shell(rest[rest.index(options[0]) + 1], here))


def _of_python(name: str, rest: Sequence[str], here: str) -> Reach:
    """Returns a ``Reach`` that says what ``python`` may read. Modules that are run by ``-m`` count as
    unknown programs, and so does code that may read files or change something outside of its process.
    ``rest``: the arguments of ``python``. ``here``: the working folder."""
    words = [*rest]
    while words and words[0].startswith("-") and words[0] not in {"-c", "-m"}:
        words.pop(0)
    if words[:1] == ["-c"] and len(words) > 1:
        return Reach("", is_closed=True) if is_pure(words[1]) else Reach(name)
    if words and words[0] != "-m":
        path = Path(here, words[0])
        try:
            text = path.read_text(encoding="utf-8") if path.stat().st_size < _LARGEST else "open"
        except (OSError, UnicodeDecodeError):
            text = "open"
        return Reach("" if is_pure(text) else path.name)
    return Reach(" ".join((name, *words[:2])))


def _script(words: Sequence[str]) -> str:
    return next((Path(each).name for each in words if not each.startswith("-")), "")


def is_pure(code: str) -> bool:
    """Returns True iff Python code imports only modules in ``PURE`` and uses no name in ``_IMPURE``, such
    as ``open``. It then reads no file, and changes nothing outside of its process."""
    try:
        tree = syntax_tree(code)
    except (SyntaxError, ValueError):
        return False
    for node in ast.walk(tree):
        modules: list[Any] = []
        if isinstance(node, ast.Import):
            modules = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module if not node.level else None]
        if any(str(each).partition(".")[0] not in PURE for each in modules):
            return False
        name = getattr(node, "id", "") or getattr(node, "attr", "")
        if name in _IMPURE or (name.startswith("__") and name != "__name__"):
            return False
    return True


def _of_git(rest: Sequence[str], here: str) -> Reach:
    """Returns a ``Reach`` that says what a ``git`` command may read: the repository's history, and, for
    most commands, all files in the working folder too. ``rest``: the arguments of ``git``. ``here``: the
    working folder."""
    words = [*rest]
    while words and words[0].startswith("-") and words[0] not in OF_HISTORY:
        option = words.pop(0)
        if option == "-C" and words:
            here = _place(here, words.pop(0))
        elif option == "-c" and words:
            words.pop(0)
    top = next(
        (each for each in (Path(here), *Path(here).parents) if (each / ".git").exists()), Path(here)
    )
    known = bool(words) and words[0] in OF_HISTORY
    inside = _repository(top / ".git") if known and (top / ".git").exists() else top
    return Reach("", (str(inside),), is_closed=known)


def _repository(path: Path) -> Path:
    """Returns the folder that holds the history of a Git repository. ``path``: the ``.git`` of a working
    folder. Usually, this is the searched folder itself; in a worktree, it is a file that contains the
    folder's path."""
    try:
        named = "" if path.is_dir() else path.read_text(encoding="utf-8").partition("gitdir:")[2].strip()
    except (OSError, UnicodeDecodeError):
        return path
    # A worktree's own folder is inside the repository's ``.git``. The history, which all worktrees share,
    # is in ``.git`` itself.
    found = Path(path.parent, named) if named else path
    return next((each for each in found.parents if each.name == ".git"), found)


def _place(here: str, word: str) -> str:
    return str(Path(here, word).expanduser())
