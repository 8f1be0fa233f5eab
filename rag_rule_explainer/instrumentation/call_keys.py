"""This module makes the keys by which a tool call of a replay is found among those of the baseline."""

import datetime
import decimal
import fractions
import json
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from hashlib import blake2b
from itertools import count
from pathlib import PurePath
from typing import Any, cast
from zoneinfo import ZoneInfo

SAID: tuple[type, ...] = (
    *(bool, int, float, complex, bytes, range, slice, uuid.UUID, decimal.Decimal, fractions.Fraction),
    *(datetime.date, datetime.timedelta, datetime.timezone),
)
"""The types whose ``repr`` shows the whole value of an object."""
_TIMES = (datetime.datetime, datetime.time)
_MANY: tuple[type, ...] = (list, tuple, set, frozenset)
_PLAIN: dict[type, Callable[[Any], object]] = {
    str: str.__str__,
    bytes: bytes.__repr__,
    int: int.__repr__,
    float: float.__repr__,
}
"""The types of which libraries make subclasses, such as LangChain's of str, each with what its values
are."""
_OF_MODELS = ("__dict__", "__pydantic_extra__", "__pydantic_private__")
"""The attributes that make up an instance of a pydantic model."""
_unique = count()


@dataclass(slots=True, eq=False)
class CallKeys:
    """A ``CallKeys`` makes a key for each tool call. Two calls have the same key only if their tools and
    arguments are equal.

    Arguments are compared as they are: numbers of any size, dates, dataclasses and pydantic models by
    their values. The order of keys in a dict does not matter. Any other object equals only itself; it is
    kept alive, so that no later object gets its ``id()``. A call whose arguments cannot be read equals no
    call.
    """

    _kept: dict[int, Any] = field(default_factory=dict[int, Any])

    def of(self, name: str, arguments: object) -> str:
        """Returns the key of a call of the tool ``name``."""
        try:
            key = json.dumps([name, self._exact(arguments)])
        except Exception:  # the arguments contain themselves, or their code raises an error
            return f"equals no other: {next(_unique)}"
        return blake2b(key.encode("ascii"), digest_size=32).hexdigest()

    def _exact(self, value: Any) -> Any:
        kind = cast("Any", type(value))
        if value is None or kind is str:
            return value
        if kind in SAID:
            return [kind.__name__, repr(value)]
        if kind in _TIMES:
            plain = value.replace(tzinfo=None)
            return [kind.__name__, repr(plain), value.fold, self._exact(value.tzinfo)]
        return [self._itself(kind), self._content(value)]

    def _content(self, value: Any) -> Any:
        if isinstance(value, Enum):
            return value.name or self._itself(value)
        if isinstance(value, (PurePath, ZoneInfo)):
            return str(value)
        if isinstance(value, (dict, *_MANY)) and not getattr(value, "__dict__", None):
            return self._inside(value)
        for plain, content in _PLAIN.items():
            if isinstance(value, plain) and not _has_more(value):
                return content(value)
        return self._attributes(value)

    def _inside(self, value: Any) -> list[Any]:
        if isinstance(value, dict):
            entries = cast("dict[Any, Any]", value).items()
            return _sorted([self._exact(key), self._exact(each)] for key, each in entries)
        items = map(self._exact, value)
        return _sorted(items) if isinstance(value, (set, frozenset)) else list(items)

    def _attributes(self, value: Any) -> Any:
        """Returns the fields of a pydantic model or a dataclass, for comparison; the ``id()`` of any
        other object."""
        if hasattr(cast("Any", type(value)), "model_fields"):
            return [self._exact(getattr(value, each, None)) for each in _OF_MODELS]
        if is_dataclass(value) and not isinstance(value, type):
            names = [each.name for each in fields(value)]
            if set(getattr(value, "__dict__", ())) <= set(names):
                return [[name, self._exact(getattr(value, name, None))] for name in names]
        return self._itself(value)

    def _itself(self, value: Any) -> int:
        self._kept[id(value)] = value
        return id(value)


def _has_more(value: object) -> bool:
    """Returns True iff an object of a subclass holds more than the value of its base class."""
    slots = [each for kind in type(value).__mro__ for each in vars(kind).get("__slots__", ())]
    return bool(slots or getattr(value, "__dict__", None))


def _sorted(each: Iterable[Any]) -> list[Any]:
    return sorted(each, key=json.dumps)
