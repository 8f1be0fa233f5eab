"""This module finds the places at which the texts of sources occur in a request to a model, so that they
can be cut out.

If it is not certain which places are to be cut out, the request is refused. For example, a text may
occur more often than the application wrote it, within another text, or in another form.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import NotInTrace
from ..printable import plain_id
from ..sources import Source
from .messages import turn_begins_at
from .remains import Remains
from .spans import TracedMessage

_SHORTEST = 12
"""The minimum number of characters of a text that is cut out. A shorter text may occur in a request by
chance."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A ``Cut`` is a place in a message that has the text of a source.

    ``message``: the index of the message, from 0. ``begin`` and ``end``: the place in the message's text.
    This place includes the source's metadata, if they are right before the source's text. ``source``: the
    id of the source.
    """

    message: int
    begin: int
    end: int
    source: str


class _Place(NamedTuple):
    message: int
    begin: int
    end: int
    text: str


def cuts_of(
    messages: Sequence[TracedMessage], sources: Sequence[Source], question: str, times: Mapping[str, int]
) -> tuple[Cut, ...]:
    """Returns the places of the sources in a request, in their order. ``question``: the user's question,
    which the request may also contain. ``times``: how often each source was retrieved, by its id; a
    source whose id is missing there was retrieved once.

    Raises NotInTrace if it is not certain which places are to be cut out.
    """
    alike = dict[str, list[Source]]()
    for source in sources:
        alike.setdefault(source.text.strip(), []).append(source)
    alike.pop("", None)
    _check_distinctive(alike, messages, question)
    free = _free(alike, messages)
    begun = turn_begins_at(messages)
    placed = list[tuple[_Place, Source]]()
    for text, several in alike.items():
        found = free.get(text, [])
        _check_now(found, several[0], messages, begun)
        placed.extend(zip(found, _owners(found, several, times), strict=True))
    placed.sort(key=lambda each: each[0])
    if any(len(free.get(text, ())) and len(several) > 1 for text, several in alike.items()):
        _check_order([source for _, source in placed], sources)
    cuts = tuple(_with_metadata(placed, messages))
    _check_left(cuts, messages, begun, sources, question)
    return cuts


def _named(source: Source) -> str:
    return plain_id(source.id)


def _check_distinctive(
    alike: Mapping[str, list[Source]], messages: Sequence[TracedMessage], question: str
) -> None:
    for text, (source, *_) in alike.items():
        if len(text) < _SHORTEST and any(text in said for role, said in messages if role != "assistant"):
            raise NotInTrace(f"the text of {_named(source)} is too short to be told from the rest of it")
        if len(text) >= _SHORTEST and text in question:
            raise NotInTrace(f"the question itself has the text of {_named(source)}")


def _free(
    alike: Mapping[str, list[Source]], messages: Sequence[TracedMessage]
) -> dict[str, list[_Place]]:
    """Returns, for each text of a source, the places at which it occurs in the messages. Places within a
    longer text of another source are left out. ``alike``: the sources by their texts."""
    found = sorted(
        (
            _Place(number, at, at + len(text), text)
            for number, (role, said) in enumerate(messages)
            if role != "assistant"
            for text in alike
            if len(text) >= _SHORTEST
            for at in _places(said, text)
        ),
        key=lambda each: (each.message, each.begin, -each.end),
    )
    free, inside = defaultdict[str, list[_Place]](list), dict[str, str]()
    last: _Place | None = None
    for each in found:
        if last is not None and each.message == last.message and each.begin < last.end:
            if each.end > last.end:
                both = f"{_named(alike[last.text][0])} and {_named(alike[each.text][0])}"
                raise NotInTrace(f"the texts of {both} overlap in it")
            inside[each.text] = last.text
            continue
        free[each.text].append(each)
        last = each
    for text, around in inside.items():
        if text not in free:
            own, other = _named(alike[text][0]), _named(alike[around][0])
            raise NotInTrace(f"the text of {own} stands in it inside of that of {other} alone")
    return free


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + len(part))


def _check_now(
    found: Sequence[_Place], source: Source, messages: Sequence[TracedMessage], begun: int
) -> None:
    if any(each.message < begun and messages[each.message][0] != "system" for each in found):
        raise NotInTrace(f"the text of {_named(source)} stands in an earlier message of the conversation")


def _owners(
    found: Sequence[_Place], several: Sequence[Source], times: Mapping[str, int]
) -> Sequence[Source]:
    """Returns, for each of the places ``found`` of one text, the source to which the place belongs.

    ``several``: the sources with this text. ``times``: how often each source was retrieved, by its id;
    once if its id is missing. Raises NotInTrace if the number of places is not the number of times that
    the text was retrieved.
    """
    count, retrieved = len(found), sum(times.get(each.id, 1) for each in several)
    if not found or (len(several) == 1 and count <= retrieved):
        return [several[0]] * count
    if count == retrieved == len(several):
        return several
    names = " and ".join(map(_named, several[:2]))
    often = [f"{each} time{'s' * (each != 1)}" for each in (count, retrieved)]
    raise NotInTrace(f"the text of {names} stands in it {often[0]}, and was retrieved {often[1]}")


def _check_order(placed: Sequence[Source], sources: Sequence[Source]) -> None:
    rank = {source.id: place for place, source in enumerate(sources)}
    order = [rank[each.id] for each in placed]
    if order != sorted(order):
        raise NotInTrace("documents with the same text stand in it in another order than was retrieved")


def _check_left(
    cuts: Sequence[Cut],
    messages: Sequence[TracedMessage],
    begun: int,
    sources: Sequence[Source],
    question: str,
) -> None:
    """Raises NotInTrace if the rest of the request, after the cuts, contains a part of a source's text,
    or the text in another form. Sources that are cut out elsewhere are checked too.

    Earlier messages of the conversation are not checked. The system's messages before them are checked,
    because an application writes them anew for each question. ``begun``: the index of the first message
    after the earlier ones.
    """
    left = Remains(
        piece
        for number, (role, said) in enumerate(messages)
        if number >= begun or role == "system"
        for rest in _left(said, [each for each in cuts if each.message == number])
        for piece in (rest.split(question.strip()) if question.strip() else [rest])
    )
    for each in sources:
        if left.have_part_of(each.text):
            raise NotInTrace(f"the text of {_named(each)} stands in it in another form, or in part")


def _left(text: str, cuts: Sequence[Cut]) -> Iterator[str]:
    at = 0
    for each in cuts:
        yield text[at : each.begin]
        at = each.end
    yield text[at:]


def _with_metadata(
    placed: Sequence[tuple[_Place, Source]], messages: Sequence[TracedMessage]
) -> Iterator[Cut]:
    """Yields a cut for each place of a source in a message. If the source's metadata are right before
    its text, as lines "key: value", which LlamaIndex writes, the cut begins with these lines."""
    message, end = -1, 0
    for place, source in _with_spaces(placed, messages):
        floor = end if place.message == message else 0
        text = messages[place.message][1]
        lines = {f"{key}: {value}" for key, value in source.metadata.items() if key != "score"}
        begin = place.begin
        while lines:
            before = text[floor:begin].rstrip("\n")
            start = before.rfind("\n") + 1
            if before[start:] not in lines:
                break
            lines.discard(before[start:])
            begin = floor + start
        yield Cut(place.message, begin, place.end, source.id)
        message, end = place.message, place.end


def _with_spaces(
    placed: Sequence[tuple[_Place, Source]], messages: Sequence[TracedMessage]
) -> Sequence[tuple[_Place, Source]]:
    """Returns the places, extended by the white space at the ends of each source's text, unless the
    application has removed this white space."""
    wider = list[tuple[_Place, Source]]()
    for place, source in placed:
        before, _, after = source.text.partition(place.text)
        found = place._replace(begin=place.begin - len(before), end=place.end + len(after))
        if found.begin < 0 or messages[place.message][1][found.begin : found.end] != source.text:
            return placed
        wider.append((found, source))
    return wider
