"""This module matches the sources of one explanation with the sources of the other explanation."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ..errors import InvalidInput
from ..explanation.records import SourceRecord
from ..explanation.wording import joined
from .records import Letter, MatchedSource

IdOf: TypeAlias = Callable[[SourceRecord], str]
SourceKey: TypeAlias = Callable[[SourceRecord, int], object]
"""A function that is called with a source and its position. It returns a value that identifies the
source; None if this function cannot identify it."""

_WAY_OUT = "give id_of= (--id-of) something that tells them apart"


@dataclass(frozen=True, slots=True)
class Matching:
    """A ``Matching`` holds the sources of both explanations: first the sources of A, then the sources
    that only B has. ``names``: for each explanation, a mapping from its source ids to the names that the
    comparison uses."""

    sources: tuple[MatchedSource, ...]
    names: Mapping[Letter, Mapping[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        names = {
            "A": {each.a: each.name for each in self.sources if each.a is not None},
            "B": {each.b: each.name for each in self.sources if each.b is not None},
        }
        object.__setattr__(self, "names", names)


def matched(a: Sequence[SourceRecord], b: Sequence[SourceRecord], id_of: IdOf | None) -> Matching:
    """Returns the sources of both explanations; a source that both have occurs once.

    Two sources are the same if ``id_of`` gives the same for both. If ``id_of`` is None, sources are
    matched first by id and text, then by id, and then by text. An id that is only the source's position
    (such as D1) and an empty text match nothing by themselves. Raises InvalidInput if two sources of one
    explanation have the same identity, so that the match is not unique.
    """
    if id_of is None:
        pairs = _paired(a, b)
    else:
        keys = _keys_of("A", a, id_of), _keys_of("B", b, id_of)
        pairs = {own: keys[1][key] for key, own in keys[0].items() if key in keys[1]}
    return Matching(tuple(_named(a, b, pairs)))


def _named(
    a: Sequence[SourceRecord], b: Sequence[SourceRecord], pairs: Mapping[int, int]
) -> Iterator[MatchedSource]:
    for place, source in enumerate(a):
        other = b[pairs[place]] if place in pairs else None
        edited = other is not None and other.text != source.text
        yield MatchedSource(source.id, source.id, other and other.id, edited)
    taken, paired = {source.id for source in a}, set(pairs.values())
    for place, source in enumerate(b):
        if place not in paired:
            name = source.id
            while name in taken:
                name = f"{name} (B)"
            taken.add(name)
            yield MatchedSource(name, None, source.id)


def _paired(a: Sequence[SourceRecord], b: Sequence[SourceRecord]) -> dict[int, int]:
    pairs: dict[int, int] = {}
    for key in (_id_and_text, _lasting_id, _text):
        left_of_a = [place for place in range(len(a)) if place not in pairs]
        paired = set(pairs.values())
        left_of_b = [place for place in range(len(b)) if place not in paired]
        known = _grouped(b, left_of_b, key)
        for identity, places in _grouped(a, left_of_a, key).items():
            others = known.get(identity, [])
            for letter, sources, alike in (("A", a, places), ("B", b, others)):
                if others and len(alike) > 1:
                    ids = joined(sources[place].id for place in alike)
                    raise InvalidInput(f"the sources {ids} of {letter} have one text; {_WAY_OUT}")
            pairs.update(zip(places, others, strict=False))
    return pairs


def _grouped(
    sources: Sequence[SourceRecord], places: Iterable[int], key: SourceKey
) -> dict[object, list[int]]:
    groups: dict[object, list[int]] = {}
    for place in places:
        identity = key(sources[place], place)
        if identity is not None:
            groups.setdefault(identity, []).append(place)
    return groups


def _id_and_text(source: SourceRecord, _place: int) -> object:
    return source.id, source.text


def _lasting_id(source: SourceRecord, place: int) -> object:
    return None if source.id == f"D{place + 1}" else source.id


def _text(source: SourceRecord, _place: int) -> object:
    return source.text if source.text.strip() else None


def _keys_of(letter: Letter, sources: Sequence[SourceRecord], id_of: IdOf) -> dict[str, int]:
    keys = [_key_of(letter, source, id_of) for source in sources]
    for key, count in Counter(keys).items():
        if count > 1:
            ids = joined(source.id for source, other in zip(sources, keys, strict=True) if other == key)
            raise InvalidInput(f"the sources {ids} of {letter} have one identity, {key!r}; {_WAY_OUT}")
    return {key: place for place, key in enumerate(keys)}


def _key_of(letter: Letter, source: SourceRecord, id_of: IdOf) -> str:
    try:
        key = id_of(source)
    except InvalidInput:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise InvalidInput(f"id_of fails on source {source.id!r} of {letter}: {reason}") from error
    if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- a user's function may return another type
        raise InvalidInput(f"id_of gives {key!r} for source {source.id!r} of {letter}; give a str")
    return key
