"""This module finds the sections of instructions in a request to a model. It also finds sections whose
texts have changed since the first request."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..requests.source_recognition import words_of
from .marked_sections import marked_sections
from .own_ids import OwnIds, readable_name

_SYSTEM = ("system", "developer")
_ALIKE = 0.5
"""If a section and a known section have at least this share of words in common, the section counts as the
known section with a changed text. The share is the number of words in both sections, divided by the
number of words in at least one of them."""

SectionPlace = tuple[int, int, int]
"""A place of a text in a request: the index of the message, the start and the end."""


class PromptMessage(NamedTuple):
    """A ``PromptMessage`` is a message of a request. ``role``: the role of its writer, such as "user" or
    "system", as the framework calls it."""

    role: str
    text: str


class PromptSection(NamedTuple):
    """A ``PromptSection`` is a section of the instructions, below a heading or in a tag. ``id``: unique
    in the request. ``at``: the place of the section."""

    id: str
    text: str
    at: SectionPlace


def is_system(message: PromptMessage) -> bool:
    """Returns True iff a message contains instructions: its role is "system" or "developer"."""
    return message.role in _SYSTEM


def sections_in(messages: Sequence[PromptMessage]) -> Iterator[PromptSection]:
    """Yields the sections of the instructions in these messages, in order."""
    ids = OwnIds()
    for place, message in enumerate(messages):
        for mark, start, end in marked_sections(message.text) if is_system(message) else ():
            name = f"instructions: {readable_name(mark)}" if mark else "instructions"
            yield PromptSection(ids.of(name), message.text[start:end], (place, start, end))


def placed(
    sections: Mapping[str, str], messages: Sequence[PromptMessage]
) -> dict[str, list[SectionPlace]]:
    """Returns the places of each section in a request, by id; a section that is not in the request has no
    entry. If several sections have the same text, the first place belongs to the first section, and so
    on; the last section gets all remaining places. A section whose text has changed is found by its
    heading or tag, or by its words. ``sections``: the ids and texts."""
    owners, found = dict[str, list[str]](), dict[str, list[SectionPlace]]()
    for identity, text in sections.items():
        owners.setdefault(text, []).append(identity)
    here = list(sections_in(messages))
    for each in here:
        if each.text in owners:
            found.setdefault(each.text, []).append(each.at)
    # The application may have joined a section with another text, so that the section is no section of
    # this request. So the section's text is searched for everywhere, except in the sections that were
    # found already.
    for text in sorted(owners, key=len, reverse=True):
        if len(found.get(text, ())) < len(owners[text]):
            taken = [at for each in found.values() for at in each]
            found.setdefault(text, []).extend(list(_occurrences(text, messages, taken)))
    places = dict[str, list[SectionPlace]]()
    for text, ids in owners.items():
        for number, at in enumerate(sorted(found[text])):
            places.setdefault(ids[min(number, len(ids) - 1)], []).append(at)
    _place_changed(sections, here, places)
    return places


def _place_changed(
    sections: Mapping[str, str], here: Sequence[PromptSection], places: dict[str, list[SectionPlace]]
) -> None:
    """Adds the places of the sections whose texts have changed since the first request. An example is a
    section that contains the time. ``sections``: the ids and texts; ``here``: the sections of this
    request; ``places``: the places that are known so far."""
    taken = [at for each in places.values() for at in each]
    changed = [each for each in here if not any(_overlap(each.at, at) for at in taken)]
    # If a message has an unchanged section, it counts as the message of the first request that had this
    # section. If a changed section in such a message has the id of a section of the first request, it
    # counts as that section. In other messages, the words of both sections must be similar too.
    known = {place for place, _, _ in taken}
    for identity, text in sections.items():
        if identity in places or not changed:
            continue
        same = [each for each in changed if each.id == identity and each.at[0] in known]
        best = same[0] if same else max(changed, key=lambda each: _likeness(each.text, text))
        if same or _likeness(best.text, text) >= _ALIKE:
            places[identity] = [best.at]
            changed.remove(best)


def _likeness(text: str, other: str) -> float:
    one, two = set(words_of(text)), set(words_of(other))
    return len(one & two) / max(1, len(one | two))


def _overlap(one: SectionPlace, two: SectionPlace) -> bool:
    return one[0] == two[0] and one[1] < two[2] and two[1] < one[2]


def _occurrences(
    text: str, messages: Sequence[PromptMessage], taken: Sequence[SectionPlace]
) -> Iterator[SectionPlace]:
    for place, message in enumerate(messages):
        for found in re.finditer(re.escape(text), message.text) if is_system(message) else ():
            at = (place, *found.span())
            if not any(_overlap(at, each) for each in taken):
                yield at
