"""This module streams the records of a trace file: the smallest objects that a tracer writes.

A record is a span, a run, an observation or an event. Files hold them as lines, as a list, or inside the
objects of an export. However large a file is, one record at a time is in memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, TypeAlias, cast

from ..errors import InvalidInput
from ..printable import with_article
from .bounds import DEEPEST, LONGEST_RECORD, MOST_VALUES, decoded_json

CONTAINERS = frozenset(
    {"resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans", "traces", "runs"}
    | {"observations", "child_runs"}
)
"""The keys whose lists hold records. The other fields of an object with such a key are together a record
of their own."""
_OUTERMOST = frozenset({"data", "items"})
"""Further keys of lists of records. A list under one of them holds records only in the outermost object;
inside a record, such a key means something else."""
_SIGNS = {
    b"\x1f\x8b": "it is compressed with gzip; unpack it first",
    b"PK\x03\x04": "it is a zip file; unpack it first",
    b"\x28\xb5\x2f\xfd": "it is compressed with zstd; unpack it first",
    b"PAR1": "it is a Parquet file; export the traces as JSON",
    b"SQLite format 3": "it is a database of a tracing tool; export the traces as JSON",
    b"\xff\xfe": "it is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "it is UTF-16 text; save it as UTF-8",
}
_LONGEST_LINE = 1 << 20
Event: TypeAlias = tuple[str, Any]
Record: TypeAlias = "tuple[str, dict[str, Any]]"
"""A record, with the place that it was read from, such as "a.json, record 3"."""


def records_in(file: Path) -> Iterator[Record]:
    """Yields the records of a trace file, each with its place.

    Raises InvalidInput if the file cannot be read, is not JSON or JSON lines, or has a record that is too
    large or nested too deeply.
    """
    for count, record in enumerate(_objects_in(file), start=1):
        yield f"{file}, record {count}", record


def _objects_in(file: Path) -> Iterator[dict[str, Any]]:
    # Imported late, so that the package is imported fast.
    import ijson  # pyright: ignore[reportMissingTypeStubs] -- the package has no stubs

    try:
        with file.open("rb") as opened:
            _check_kind(opened, file)
            yield from _whole_lines(opened)
            if not opened.peek(1):
                return
            watched = _Watched(opened, file)
            events: Iterator[Event] = ijson.basic_parse(watched, use_float=True, multiple_values=True)
            yield from _Reading(events, watched, file).outermost()
    except (ijson.JSONError, UnicodeDecodeError) as error:
        said = " ".join(str(error).split())[:200]
        raise InvalidInput(f"{file} is not valid JSON: {said}; give the export of a tracer") from error
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror or error}") from error


def _whole_lines(opened: BufferedReader) -> Iterator[dict[str, Any]]:
    """Yields the JSON objects on the lines of a file, up to the first line that is no object, or that has
    more than ``_LONGEST_LINE`` bytes. The position in the file is then before this line, so that the
    general parser can go on there. JSON lines are read twenty times faster in this way."""
    while True:
        at = opened.tell()
        line = opened.readline(_LONGEST_LINE)
        if not line:
            return
        try:
            found: Any = decoded_json(line) if line.strip() else {}
        except ValueError:
            found = None
        if not isinstance(found, dict) or len(line) == _LONGEST_LINE:
            opened.seek(at)
            return
        yield from _inside(cast("dict[str, Any]", found), outermost=True)


def _inside(found: dict[str, Any], *, outermost: bool) -> Iterator[dict[str, Any]]:
    """Yields the records in an object, and then its other fields as one more record, if there are any.
    ``outermost``: True if no other object contains it. Then records may also be under the keys
    ``_OUTERMOST``."""
    own = dict[str, Any]()
    for key, value in found.items():
        is_container = key in CONTAINERS or (outermost and key in _OUTERMOST)
        if is_container and isinstance(value, list) and _are_objects(cast("list[Any]", value)):
            for each in cast("list[dict[str, Any]]", value):
                yield from _inside(each, outermost=False)
        elif outermost and key in _OUTERMOST and isinstance(value, dict):
            yield from _inside(cast("dict[str, Any]", value), outermost=False)
        else:
            own[key] = value
    if own:
        yield own


def _are_objects(items: list[Any]) -> bool:
    return all(isinstance(each, dict) for each in items)


def _check_kind(opened: BufferedReader, file: Path) -> None:
    begun = opened.read(16)
    for sign, what in _SIGNS.items():
        if begun.startswith(sign):
            raise InvalidInput(f"{file} cannot be read as a trace: {what}")
    opened.seek(3 if begun.startswith(b"\xef\xbb\xbf") else 0)
    if not begun.strip():
        rest = opened.read(1 << 16)
        if not rest.strip():
            raise InvalidInput(f"{file} is empty; give the export of a tracer")
        opened.seek(0)


@dataclass(slots=True)
class _Watched:
    """A ``_Watched`` is a file that raises an error if a single text in it would fill the memory."""

    opened: BufferedReader
    file: Path
    unread: int = 0

    def read(self, size: int = -1) -> bytes:
        got = self.opened.read(size)
        self.unread += len(got)
        if self.unread > LONGEST_RECORD:
            raise _too_large(self.file)
        return got


def _too_large(file: Path) -> InvalidInput:
    return InvalidInput(
        f"{file} has a record of more than {LONGEST_RECORD >> 20} million characters or "
        f"{MOST_VALUES:,} values; export this trace without it"
    )


class _Reading:
    """A ``_Reading`` makes records of the events of a JSON parser. No recursion is deeper than
    ``DEEPEST``."""

    def __init__(self, events: Iterator[Event], watched: _Watched, file: Path) -> None:
        self._events, self._watched, self._file, self._values = events, watched, file, 0

    def outermost(self) -> Iterator[dict[str, Any]]:
        """Yields the records in the file. The file may hold objects one after another, or lists of
        objects."""
        for kind, _ in self._events:
            if kind == "start_map":
                yield from self._object(1, outermost=True)
            elif kind == "start_array":
                yield from self._list(1, outermost=True)
            else:
                raise self._no_record(kind)

    def _list(self, depth: int, *, outermost: bool = False) -> Iterator[dict[str, Any]]:
        self._check(depth)
        for kind, _ in self._events:
            if kind == "end_array":
                return
            if kind == "start_array":
                yield from self._list(depth + 1, outermost=outermost)
            elif kind == "start_map":
                yield from self._object(depth + 1, outermost=outermost)
            elif kind != "null":
                raise self._no_record(kind)

    def _object(self, depth: int, *, outermost: bool) -> Iterator[dict[str, Any]]:
        """Yields the records in an object, and then its other fields as one more record, if there are
        any. ``depth``: the number of lists and objects that contain it. ``outermost``: True if no other
        object contains it; then records may also be under the keys ``_OUTERMOST``."""
        self._check(depth)
        own = dict[str, Any]()
        for kind, key in self._events:
            if kind == "end_map":
                break
            kind, value = next(self._events)  # noqa: PLW2901 -- now the kind of the value under ``key``
            is_container = key in CONTAINERS or (outermost and key in _OUTERMOST)
            if kind == "start_array" and is_container:
                yield from self._list(depth + 1)
            elif kind == "start_map" and outermost and key in _OUTERMOST:
                yield from self._object(depth + 1, outermost=False)
            else:
                own[key] = self._value(kind, value, depth + 1)
        # The limits on size hold for each record, so counting begins anew.
        self._values = self._watched.unread = 0
        if own:
            yield own

    def _value(self, kind: str, value: Any, depth: int) -> Any:
        if kind == "start_map":
            self._check(depth)
            made = dict[str, Any]()
            for kind, key in self._events:  # noqa: PLR1704 -- ``kind`` is no longer needed
                if kind == "end_map":
                    return made
                made[key] = self._value(*next(self._events), depth + 1)
                self._count()
        if kind == "start_array":
            self._check(depth)
            items = list[Any]()
            for kind, value in self._events:  # noqa: PLR1704 -- ``kind`` and ``value`` are no longer needed
                if kind == "end_array":
                    return items
                items.append(self._value(kind, value, depth + 1))
                self._count()
        return value

    def _count(self) -> None:
        self._values += 1
        if self._values > MOST_VALUES:
            raise _too_large(self._file)

    def _check(self, depth: int) -> None:
        if depth > DEEPEST:
            raise InvalidInput(
                f"{self._file} is nested more than {DEEPEST} levels deep; no tracer writes that"
            )

    def _no_record(self, kind: str) -> InvalidInput:
        return InvalidInput(
            f"{self._file} has {with_article(kind)} where a span was to be; give the export of a tracer: "
            "an object, a list of objects, or an object on each line"
        )
