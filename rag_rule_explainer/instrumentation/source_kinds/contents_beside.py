"""This module searches an input or a memory for all texts, except the text of the conversation's messages
themselves. It yields each text with the name of the field in which it was found."""

import pickle
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, is_dataclass
from functools import partial
from types import FunctionType, MethodType
from typing import Any, NamedTuple, cast

from ..rewinding.companies import is_own
from ..shared_state.per_class import per_class
from .listed_messages import TEXTS, listed_text, spoken_in
from .readable_forms import read_as

_LEVELS = 16
_MOST = 20_000
"""The maximum number of values that are visited in one search."""
_FEWEST_SIGNS = 2
"""The smallest number of integers in a list that is read as a text, with each integer as the code of a
character."""
_OWN_PARTS = frozenset(
    {*TEXTS, *("role", "type", "parts", "tool_calls", "invalid_tool_calls", "function_call")}
    | {*("arguments", "artifact", "reasoning", "reasoning_content", "thinking", "summary")}
)
"""The fields of a message that are the message itself: what is said in it, and how it was found."""
_OF_MODELS = frozenset({"parts", "artifact", "reasoning", "reasoning_content", "thinking", "summary"})
"""The fields in ``_OWN_PARTS`` that only the messages of models have."""
_SHOWN = frozenset({"BaseMedia", "BaseNode", "NodeWithScore", "PromptValue", "Generation", "BaseMessage"})
"""The names of the frameworks' classes whose attributes are searched for texts. Objects of other
framework classes are memories, models or tools, and are not searched here."""
_DATA = frozenset({*sys.stdlib_module_names, "numpy", "pandas", "polars"})
"""The packages whose objects are data. Such an object is read in the form in which Python stores it
(``pickle``)."""
_LARGEST = 1_000_000
"""The maximum size in bytes of an object that is read in its stored form. Larger objects are ignored."""
_UNREAD = (int, float, complex, type(None), type)


class Text(NamedTuple):
    """A ``Text`` is a text, or bytes, that was found in an input or a memory. ``path``: the name of the
    field. ``gone``: the ids of omitted turns of which this text is certainly no copy. ``is_field``: True
    if the text is the value or the name of a field; False if it is one of several texts in a list.
    ``is_prompt``: True if the text is a message with instructions, or is JSON."""

    path: str
    value: str | bytes
    gone: Set[str] = frozenset()
    is_field: bool = True
    is_prompt: bool = False


@dataclass(slots=True, eq=False)
class ContentsBeside:
    """A ``ContentsBeside`` searches an input or a memory for texts. ``gone_from``: returns the ids of the
    turns that were removed from a list; the messages that are still in the list belong to other turns.
    ``says_only_messages``: returns True iff all of the given texts are messages of the conversation."""

    gone_from: Callable[[object], Set[str]]
    says_only_messages: Callable[[Sequence[str]], bool]
    _visited: int = 0

    def texts_in(self, content: Any, path: str) -> Iterator[Text]:
        """Yields the texts in ``content``. ``path``: the name under which the content was found."""
        self._visited = 0
        yield from self._walk(content, path, frozenset(), is_field=True)

    def _walk(self, content: Any, path: str, above: frozenset[int], *, is_field: bool) -> Iterator[Text]:
        self._visited += 1
        if isinstance(content, (bytearray, memoryview)):
            content = bytes(cast("bytes", content))
        if isinstance(content, (str, bytes)):
            yield from self._of_text(content, path, above, is_field=is_field)
        elif (
            not isinstance(content, _UNREAD)
            and len(above) <= _LEVELS
            and id(content) not in above
            and self._visited < _MOST
        ):
            yield from self._inside(content, path, above | {id(content)}, is_field=is_field)

    def _of_text(
        self, text: str | bytes, path: str, above: frozenset[int], *, is_field: bool
    ) -> Iterator[Text]:
        parsed = read_as(text).parsed if len(above) <= _LEVELS else ()
        for each in parsed:
            yield from self._walk(each, path, above | {id(parsed)}, is_field=is_field)
        # A text that is JSON is marked like a prompt, because only long messages are searched for in the
        # whole JSON text.
        yield Text(path, text, is_field=is_field, is_prompt=bool(parsed))

    def _inside(
        self, content: Any, path: str, above: frozenset[int], *, is_field: bool
    ) -> Iterator[Text]:
        if is_message(content):
            yield from self._beside_message(content, path, above)
        elif isinstance(content, Mapping):
            for name, each in cast("Mapping[Any, Any]", content).items():
                yield from self._walk(name, path, above, is_field=True)
                inner = f"{path}.{name}" if isinstance(name, str) and name.isidentifier() else path
                yield from self._walk(each, inner, above, is_field=True)
        elif isinstance(content, (list, tuple, set, frozenset, deque)):
            yield from self._listed(cast("Collection[Any]", content), path, above, is_field=is_field)
        else:
            for name, each in values_in(content):
                yield from self._walk(each, f"{path}.{name}" if name else path, above, is_field=True)

    def _listed(
        self, listed: Collection[Any], path: str, above: frozenset[int], *, is_field: bool
    ) -> Iterator[Text]:
        gone = self.gone_from(listed)
        texts = [each for each in listed if isinstance(each, str)]
        if gone:
            yield from self._of_conversation(listed, path, above, gone)
            return
        alone = is_field and len(listed) == 1
        for each in listed:
            is_name = isinstance(each, str) and not self.says_only_messages(texts)
            yield from self._walk(each, path, above, is_field=alone or (is_name and each.isalnum()))
        signs = [each for each in listed if isinstance(each, int) and 8 < each <= sys.maxunicode]
        if len(texts) == len(listed) > 1:
            yield Text(path, " ".join(texts), is_field=False)
        elif len(signs) == len(listed) >= _FEWEST_SIGNS:
            yield Text(path, "".join(map(chr, signs)), is_field=False)

    def _of_conversation(
        self, listed: Collection[Any], path: str, above: frozenset[int], gone: Set[str]
    ) -> Iterator[Text]:
        """Yields the texts in a list from which turns were removed. The messages in the list are no
        copies of the removed turns, unless they are instructions."""
        for each in listed:
            said = spoken_in(each)
            if is_message(each):
                yield from self._beside_message(each, path, above, gone)
            elif said:
                texts = [each] if isinstance(each, str) else _values_of(each)
                yield from (Text(path, text, gone, is_field=False) for text in texts)
            else:
                yield from self._walk(each, path, above, is_field=False)

    def _beside_message(
        self, message: Any, path: str, above: frozenset[int], gone: Set[str] = frozenset()
    ) -> Iterator[Text]:
        """Yields the text of a message, and the texts in its other fields."""
        said = spoken_in(message)[0]
        text, is_prompt = listed_text(message), said.role == "system"
        yield Text(path, text, frozenset() if is_prompt else gone, is_field=True, is_prompt=is_prompt)
        for name, each in own_fields(message):
            is_said = isinstance(each, str) and each == text
            if each is not message and not is_said:
                yield from self._walk(each, f"{path}.{name}", above | {id(message)}, is_field=True)


def is_message(element: Any) -> bool:
    """Returns True iff an element of a list is one message in the form of an object or a dict, and not a
    plain text or a pair."""
    if isinstance(element, (str, tuple, list)):
        return False
    has_role = isinstance(element, Mapping) and not {"role", "type"}.isdisjoint(
        cast("Mapping[Any, Any]", element)
    )
    return (has_role or not isinstance(element, Mapping)) and len(spoken_in(element)) == 1


def _values_of(pair: Any) -> list[str]:
    values = cast("Mapping[Any, Any]", pair).values() if isinstance(pair, Mapping) else pair
    return [each for each in cast("Collection[Any]", values) if isinstance(each, str)]


def _fields_of(thing: Any) -> Iterator[tuple[str, Any]]:
    """Yields the names and values of the fields of a message, or of the attributes of an object."""
    if isinstance(thing, Mapping):
        entries = cast("Mapping[Any, Any]", thing).items()
        yield from ((str(name), each) for name, each in entries)
        return
    yield from cast("dict[str, Any]", getattr(thing, "__dict__", {})).items()
    for name in [name for each in type(thing).__mro__ for name in getattr(each, "__slots__", ())]:
        if not name.startswith("__") and hasattr(thing, name):
            yield name, getattr(thing, name)


def own_fields(message: Any) -> Iterator[tuple[str, Any]]:
    """Yields the names and values of the fields of a message that are not the message itself. What a user
    wrote has no reasoning or summary of a model: such a field is the message if its text is in it."""
    said = spoken_in(message)
    text = listed_text(message) if said and said[0].role == "user" else None
    for name, each in _fields_of(message):
        if name == "additional_kwargs" and isinstance(each, Mapping):
            yield from own_fields(each)
        elif name not in _OWN_PARTS or (
            text is not None and name in _OF_MODELS and text not in str(each)
        ):
            yield name, each


def values_in(thing: Any) -> Iterator[tuple[str, Any]]:
    """Yields what an object holds: the values of its attributes, what a function encloses, or the form in
    which data of a library are stored."""
    kind: type = type(cast("object", thing))
    if isinstance(thing, (FunctionType, MethodType, partial)):
        yield from (("", each) for each in _enclosed(thing))
    elif _is_looked_into(kind) or not hasattr(thing, "__dict__"):
        yield from _fields_of(thing)
    if kind.__module__.partition(".")[0] in _DATA and not isinstance(thing, FunctionType):
        yield "", _stored(thing)


def _enclosed(function: Any) -> Iterator[Any]:
    if isinstance(function, MethodType):
        yield function.__self__
    elif isinstance(function, partial):
        whole = cast("partial[Any]", function)
        yield from (whole.func, whole.args, whole.keywords)
    elif is_own(str(function.__globals__.get("__name__", ""))):
        yield from (each.cell_contents for each in function.__closure__ or () if _is_filled(each))
        yield from function.__defaults__ or ()


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # the enclosed variable has no value yet
        return False


@per_class
def _is_looked_into(kind: type) -> bool:
    module = kind.__module__
    if any(each.__name__ in _SHOWN for each in kind.__mro__):
        return True
    return is_own(module) or module == "types" or (is_dataclass(kind) and module in _DATA)


def _stored(thing: Any) -> Any:
    """Returns the elements of an array, or the stored form (``pickle``) of another object. Returns None
    if the object cannot be stored, or is too large."""
    try:
        if max(sys.getsizeof(thing), int(getattr(thing, "nbytes", 0))) > _LARGEST:
            return None
        return thing.tolist() if hasattr(thing, "tolist") else pickle.dumps(thing, 4)
    except Exception:  # an object may raise any error when it is stored
        return None
