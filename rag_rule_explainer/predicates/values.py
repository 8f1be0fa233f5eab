"""This module makes structured answers comparable with the user's own classes.

If an application returns a pydantic model or a dataclass object, ``Answer.value`` has its fields as a
dict: a store can keep a dict, but no object of the user's class.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict, is_dataclass
from typing import Any, NoReturn, cast

from typing_extensions import override

from ..errors import InvalidInput


class Fields(dict[Any, Any]):
    """A ``Fields`` is a dict that equals each pydantic model and each dataclass object with the same
    fields. Reading a field as an attribute raises AttributeError, whose message says how to read the
    field."""

    __slots__ = ()
    __hash__ = None  # pyright: ignore[reportAssignmentType] -- not hashable, like a dict

    @override
    def __eq__(self, other: object) -> bool:
        return any(dict[Any, Any].__eq__(self, fields) is True for fields in _forms_of(other))

    @override
    def __ne__(self, other: object) -> bool:
        return not self == other

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"the value of a structured answer is a dict, which has no attribute {name!r}; write "
            f"case.answer.value[{name!r}]"
            if name in self
            else f"the value of a structured answer is a dict without {name!r}; it has "
            f"{', '.join(map(repr, self)) or 'nothing'}"
        )


class NotRead:
    """A ``NotRead`` stands for the value of an answer, if the application's output has further entries
    that were not read. Any use of it raises InvalidInput, whose message says how to read these entries.
    """

    def __init__(self, entries: Sequence[str]) -> None:
        self.entries = tuple(entries)

    def __getattr__(self, name: str) -> Any:
        _refuse(self)


def _refuse(value: NotRead, *_: object) -> NoReturn:
    raise InvalidInput(not_read(value.entries))


_USES = ("bool", "contains", "eq", "getitem", "iter", "len", "lt", "gt", "ne")
for _use in _USES:
    setattr(NotRead, f"__{_use}__", _refuse)


def not_read(entries: Sequence[str]) -> str:
    """Returns an error message for a condition about entries of an output that were not read."""
    named = ", ".join(map(repr, entries[:5]))
    return (
        f"the output of the application has more than the answer ({named}), and only the answer was "
        "read; to ask about the rest, pass answer_of=lambda output: Answer(output['answer'], "
        "value=output), with the entry that is the answer"
    )


def own_value(value: Any) -> Any:
    """Returns a copy of a value in which each dict is a ``Fields``."""
    if isinstance(value, dict):
        return Fields({key: own_value(each) for key, each in cast("dict[Any, Any]", value).items()})
    if type(value) is list:
        return [own_value(each) for each in cast("list[Any]", value)]
    return deepcopy(cast("object", value))


def _forms_of(other: Any) -> Iterator[object]:
    """Yields the dicts that ``Answer.value`` may be if the application returned ``other``: for a pydantic
    model, its fields as Python objects and as JSON; for a dataclass object, its fields. Yields any other
    object unchanged."""
    if hasattr(cast("object", type(other)), "__pydantic_fields__"):
        yield other.model_dump()
        yield other.model_dump(mode="json")
    elif is_dataclass(other) and not isinstance(other, type):
        yield asdict(cast("Any", other))
    else:
        yield other
