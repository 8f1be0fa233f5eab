"""This module reads what a caller gives as a source: a text, a dict, or a document of a framework.

No framework is imported. A LangChain document is recognised by ``page_content``, a LlamaIndex node by
``get_content``, and a node with a score by its attribute ``node``.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, cast

from .allowed import did_you_mean
from .errors import InvalidInput

_TEXT_KEYS = ("text", "page_content", "content")
ID_KEYS = ("id", "id_", "node_id", "doc_id")
"""Keys of dicts and names of attributes that hold an id. The first one that is found is used."""
NAMING_METADATA = ("source", "title", "file_name", "file_path", "url")
"""Keys of metadata whose values name a document. The first one that is found is used."""
_MADE_UP = re.compile(r"(?:lc_)?[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)


class FrameworkDocument(Protocol):
    """This protocol matches a LangChain document, and a LlamaIndex node with or without a score."""

    @property
    def metadata(self) -> Any:
        """Returns the metadata of the document."""
        ...


class Given(NamedTuple):
    """A ``Given`` holds the text, id and metadata of one source as the caller gave it. ``id``: None if
    the source has no id, or only a generated one."""

    text: Any
    id: Any
    metadata: Mapping[str, Any]


def given_parts(given: object) -> Given | None:
    """Returns the text, id and metadata of a text, a dict or a document; None for any other object."""
    if isinstance(given, str):
        return Given(given, None, {})
    if isinstance(given, Mapping):
        return _of_mapping(cast("Mapping[str, Any]", given))
    inside: object = getattr(given, "node", given)
    text = _text_of(inside)
    if text is None:
        return None
    held: object = getattr(inside, "metadata", None)
    metadata = dict(cast("Mapping[str, Any]", held)) if isinstance(held, Mapping) else {}
    return Given(text, _first(lambda key: getattr(inside, key, None), ID_KEYS), metadata)


def names(given: Sequence[Given]) -> list[Any]:
    """Returns a unique name for each source: its id; else a name from its metadata, if no other source
    has this name; else "D" and its position."""
    metadata_names = [_named_by(each.metadata) if each.id is None else None for each in given]
    used = Counter([*metadata_names, *(each.id for each in given if isinstance(each.id, str))])
    return [
        each.id if each.id is not None else name if name and used[name] == 1 else f"D{place}"
        for place, (each, name) in enumerate(zip(given, metadata_names, strict=True), start=1)
    ]


def _of_mapping(given: Mapping[str, Any]) -> Given | None:
    key = next((key for key in _TEXT_KEYS if key in given), None)
    if key is None:
        return None
    held = given.get("metadata")
    inside: Mapping[str, Any] = cast("Mapping[str, Any]", held) if isinstance(held, Mapping) else {}
    beside = {name: value for name, value in given.items() if name not in {key, "metadata", *ID_KEYS}}
    return Given(given[key], _first(given.get, ID_KEYS), {**beside, **inside})


def _text_of(document: object) -> Any:
    content = getattr(document, "page_content", None)
    if content is not None:
        return content
    get_content: object = getattr(document, "get_content", None)
    return get_content() if callable(get_content) else getattr(document, "text", None)


def _first(get: Callable[[str], Any], keys: Iterable[str]) -> Any:
    found = (get(key) for key in keys)
    return next((each for each in found if each is not None and not is_made_up(each)), None)


def is_made_up(identity: object) -> bool:
    """Returns True iff an id is a generated UUID, with or without LangChain's prefix "lc_"."""
    return isinstance(identity, str) and _MADE_UP.fullmatch(identity) is not None


def _named_by(metadata: Mapping[str, Any]) -> str | None:
    values = (metadata.get(key) for key in NAMING_METADATA)
    return next((each for each in values if isinstance(each, str) and each.strip()), None)


def no_source(names: Sequence[str], ids: Sequence[str]) -> str:
    """Returns a sentence that says that ``names`` are no ids of sources. It suggests the nearest id
    and lists up to 20 ids."""
    shown = ", ".join(map(repr, ids[:20])) + ", …" * (len(ids) > 20)
    named = ", ".join(map(repr, names))
    return f"{named}, which is no source; {did_you_mean(names[0], ids)}the sources are {shown}"


def named_ids(given: Iterable[str]) -> tuple[str, ...]:
    """Returns the ids that a rule names, as a tuple. Raises InvalidInput unless ``given`` is a
    collection of str."""
    if not isinstance(given, str) and isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
        listed = tuple(given)
        if all(isinstance(each, str) for each in listed):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            return listed
    raise InvalidInput(f"a rule names its sources by a set of ids, such as {{'D2'}}; got {given!r}")


def pinned_ids(given: Iterable[str], ids: tuple[str, ...]) -> frozenset[str]:
    """Returns the ids of the pinned sources. Raises InvalidInput for an id that is not in ``ids``, and
    if all sources are pinned."""
    if isinstance(given, str):
        raise InvalidInput(f"pinned is the string {given!r}; pass a list of ids")
    if not isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
        raise InvalidInput(f"pinned is {given!r}; pass a list of ids")
    listed = tuple(given)
    for each in listed:
        if not isinstance(each, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(f"pinned names {each!r}, a {type(each).__name__}; pass a list of ids")
    pinned = frozenset(listed)
    unknown = sorted(map(str, pinned.difference(ids)))
    if unknown:
        raise InvalidInput(f"pinned names {no_source(unknown, ids)}")
    if len(pinned) == len(ids):
        raise InvalidInput("every source is pinned, so there is nothing to explain by; pin fewer")
    return pinned
