"""What a search of the user's own found, item by item, whatever an item is."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from ..errors import InvalidInput
from .copying import copied
from .identity import Retrieved

TextOf = Callable[[Any], str]
"""Reads the text of an item of a kind that is not known."""

_TEXT_KEYS = ("page_content", "text", "content", "snippet", "body")


def items_in(result: Any) -> Iterable[Any]:
    """The items of a result, which may be one alone, or None for nothing."""
    if result is None:
        return ()
    one: tuple[Any, ...] = (result,)
    return cast("Iterable[Any]", result) if isinstance(result, (list, tuple)) else one


def read(item: Any, text_of: TextOf | None = None) -> Retrieved:
    """A string, a dict or an object with a text, else what ``text_of`` makes of it.

    Raises InvalidInput, naming ``text_of``, where no text can be read.
    """
    text = text_of(item) if text_of else _text(item)
    if not isinstance(text, str):
        raise InvalidInput(
            f"a search returned a {type(cast('object', item)).__name__} without a text; pass "
            "gate(search, text_of=...), a function from such an item to its text"
        )
    said: dict[str, Any] = dict(cast("Mapping[str, Any]", item)) if isinstance(item, Mapping) else {}
    identity = said.pop("id", None)
    metadata = {key: value for key, value in said.items() if value is not text}
    return Retrieved(text, str(identity) if isinstance(identity, (str, int)) else None, copied(metadata))


def form_of(result: Any) -> object:
    """How a result came, without what was in it: as a text, several in a list, or one alone."""
    if isinstance(result, str):
        return ""
    return () if result is None or isinstance(result, (list, tuple)) else ONE


ONE = object()


def result_like(items: list[Any], like: object) -> Any:
    """The items as a result of that form: one text for all, a list, or the first alone (else None)."""
    form = like if like is ONE else form_of(like)
    if form == "":
        return "\n\n".join(items)
    if form is ONE:
        return items[0] if items else None
    return items


def text_in(item: Any) -> str | None:
    """Returns the text of an item, if it has one that is found without being told how."""
    text = _text(item)
    return text if isinstance(text, str) else None


def _text(item: Any) -> Any:
    if isinstance(item, str):
        return item
    for key in _TEXT_KEYS:
        value = (
            cast("Mapping[str, Any]", item).get(key)
            if isinstance(item, Mapping)
            else getattr(item, key, None)
        )
        if isinstance(value, str):
            return value
    return None
