"""This module finds out in which order a model was shown the sources, by which an answer numbers them."""

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from ...sources import Source
from ..requests.source_recognition import Reading, Request, Sight, reading_of, readings, words_of

_FEWEST_WORDS = 2
"""A text of fewer words may stand in a request by chance."""


class OrdersShown(NamedTuple):
    """An ``OrdersShown`` says in which orders requests show sources. ``orders``: the ids, for each
    request by the first and by the last place of each source. ``alike``: the ids of those that have the
    same text. ``is_retold``: True if a request holds what a model wrote before, which may be a source in
    other words."""

    orders: Sequence[tuple[str, ...]]
    alike: frozenset[str] = frozenset()
    is_retold: bool = False

    @classmethod
    def of(
        cls, requests: Iterable[Request], units: Sequence[Source], sight: Sight, known: Set[str]
    ) -> "OrdersShown":
        """Returns the orders in which these requests show the sources, as they are and with the escapes
        of JSON or HTML replaced. ``known``: the ids of the sources that ``sight`` recognises in every
        request that shows them; others are looked for by their whole text."""
        orders, alike, is_retold = list[tuple[str, ...]](), set[str](), False
        for request in requests:
            before = [reading_of(text) for text in request.written_before]
            for text in readings(request.text):
                placed, same = _other_places(text, before, units, known)
                for found in sight.places_in(text, before):
                    places = {**found, **placed}
                    orders.append(tuple(sorted(places, key=places.__getitem__)))
                alike |= same
                line = reading_of(text).line if before else ""
                is_retold |= any(each.is_telling and each.line in line for each in before)
        return cls(orders, frozenset(alike), is_retold)


def shown_order(units: Sequence[str], shown: OrdersShown, known: Set[str]) -> tuple[str, ...]:
    """Returns the ids of the sources that a model was shown, in their order, if these are not all of
    ``units`` in their order.

    Ids whose place is not known are there twice or more: all ids if requests do not agree on the order,
    or if one source is not recognised in them. Of sources with the same text, it is not known which is
    which. Two requests agree if one shows the first of what the other one shows. ``known``: the ids of
    the sources of which it is known that a request in which they are not recognised does not show them.
    """
    if not shown.orders:
        return ()
    found = _answering([each for each in shown.orders if each])
    longest = max(found, key=len, default=())
    if any(longest[: len(each)] != each for each in found):
        return tuple(identity for each in found for identity in each) * 2
    sure = frozenset[str]() if shown.is_retold else known
    if not longest or any(each not in sure and each not in longest for each in units):
        return (*units, *units)
    twice = tuple(each for each in longest if each in shown.alike)
    return () if longest == tuple(units) and not twice else (*longest, *twice)


def _other_places(
    text: str, before: Sequence[Reading], units: Sequence[Source], known: Set[str]
) -> tuple[dict[str, int], frozenset[str]]:
    """Returns the places of the sources that are not ``known``, by the number of words before them, and
    the ids of those with the same text. A source has a place if its whole text is there as often as there
    are sources with this text, and not only within another source."""
    texts = {unit.id: f" {' '.join(words_of(unit.text))} " for unit in units}
    line, places, alike = f" {' '.join(words_of(text))} ", dict[str, int](), set[str]()
    for own in dict.fromkeys(said for identity, said in texts.items() if identity not in known):
        same = [identity for identity, said in texts.items() if said == own]
        longer = {said for said in texts.values() if own in said and said != own}
        within = [(at, at + len(said)) for said in longer for at in _places(said, line)]
        found = [at for at in _places(own, line) if not any(a <= at < b - 1 for a, b in within)]
        is_told = any(own in each.line for each in before)
        if len(own.split()) < _FEWEST_WORDS or len(found) != len(same) or is_told:
            continue
        places |= {each: line[:at].count(" ") for each, at in zip(same, found, strict=True)}
        alike.update(same if len(same) > 1 else ())
    return places, frozenset(alike)


def _places(words: str, line: str) -> Iterator[int]:
    place = line.find(words)
    while place >= 0:
        yield place
        place = line.find(words, place + len(words) - 1)


def _answering(orders: Sequence[tuple[str, ...]]) -> Sequence[tuple[str, ...]]:
    """Returns the orders without those of the requests that only graded the sources, each of them alone,
    before they were shown together."""
    together = next((place for place, each in enumerate(orders) if len(each) > 1), 0)
    alone = {each[0] for each in orders[:together]}
    is_graded = len(alone) > 1 and alone.issuperset(orders[together])
    return orders[together:] if is_graded else orders
