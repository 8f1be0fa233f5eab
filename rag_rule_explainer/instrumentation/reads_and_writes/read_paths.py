"""This module handles the paths of what tools read."""

from collections.abc import Collection, Iterator, Mapping

from ..comparable import Opaque, Unreadable, comparable_value
from .file_reads import CallFiles, KnownFiles
from .inner_parts import changed_parts, keys_of_objects
from .noted_reads import ReadPath
from .outside_reads import is_outside, outside_said
from .reached import Holder, Reached, file_holder
from .written_paths import path_content

_FUNCTIONS = ("func", "coroutine", "fn", "async_fn")
"""The names by which frameworks' tools hold their functions; they say nothing to the user."""
_NONE = Reached(None, (), is_read=False)
"""This value is in place of a variable that does not exist."""


def paths_of(
    one: Mapping[ReadPath, Reached], other: Mapping[ReadPath, Reached]
) -> Iterator[tuple[ReadPath, tuple[Reached, Reached]]]:
    """Yields the paths of both, each with the values at it."""
    for path in {**one, **other}:
        yield path, (one.get(path, _NONE), other.get(path, _NONE))


def path_said(path: ReadPath) -> str:
    """Returns the path in words, for messages."""
    first, last = path[0], f"{str(path[-1])!r}"
    if is_outside(tuple(map(str, path))):
        return outside_said(path)
    if first == "the file":
        return f"the file {last}"
    if str(path[-1]) == "":
        return f"the whole of {first}"
    return last if len(path) == 1 or first in _FUNCTIONS else f"{last} of {first}"


def files_of(used: CallFiles, contents: Mapping[str, bytes]) -> dict[ReadPath, Reached]:
    """Returns the files that a call has used, as what code reaches."""
    return {
        ("the file", path): Reached(content, (file_holder(path),), path in used.read)
        for path, content in contents.items()
    }


def is_made_late(before: Reached, after: Reached) -> bool:
    """Returns True iff a value is a client that was made when it was first needed, which is no change."""
    return before.content in (None, (type(None), None)) and isinstance(after.content, Opaque)


def changed_holders(before: Reached, after: Reached) -> Collection[Holder]:
    """Returns the holders of a value if it has changed."""
    is_unknown = isinstance(before.content, Unreadable) and isinstance(after.content, Unreadable)
    is_other = before.content != after.content or before.identity != after.identity or after.has_memory
    is_changed = not is_made_late(before, after) and not is_unknown and is_other
    if not is_changed:
        return ()
    holders = (*before.holders, *after.holders)
    return {*holders, *keys_of_objects(holders), *changed_parts(before.parts, after.parts)}


def reached_variables(
    values: Mapping[str, str | None], read: Collection[str], files: KnownFiles
) -> dict[ReadPath, Reached]:
    """Returns environment variables that a tool has used, by their names. ``values``: None for one that
    is not set; ``read``: the names of those that it read; ``files``: those that the run has written."""
    found = dict[ReadPath, Reached]()
    for name, value in values.items():
        path = path_content(value, files)
        content = None if value is None else comparable_value(value) if path is None else path
        found["os.environ", name] = Reached(content, (("os.environ", name),), name in read)
    return found
