"""This module finds the order in which a request shows the sources to a model. Answers that cite sources
by number use this order."""

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from ...sources import Source
from ..requests.source_recognition import Reading, Request, Sight, reading_of, readings, words_of

_FEWEST_WORDS = 2
"""A text with fewer words may be in a request by chance."""


class OrdersShown(NamedTuple):
    """An ``OrdersShown`` holds the orders in which requests show sources. ``orders``: two orders of ids
    for each request, because a request may show a source several times: by the first positions of the
    sources, and by their last positions. ``alike``: the ids of the sources with equal texts.
    ``is_repeated``: True if a request contains an earlier reply of a model, which may repeat a source in
    other words."""

    orders: Sequence[tuple[str, ...]]
    alike: frozenset[str] = frozenset()
    is_repeated: bool = False

    @classmethod
    def of(
        cls, requests: Iterable[Request], units: Sequence[Source], sight: Sight, known: Set[str]
    ) -> "OrdersShown":
        """Returns the orders in which these requests show the sources. Each request is read unchanged,
        and also with the escapes of JSON or HTML replaced. ``known``: the ids of the sources that
        ``sight`` recognises in every request that shows them. Other sources are searched for by their
        whole text."""
        orders, alike, is_repeated = list[tuple[str, ...]](), set[str](), False
        for request in requests:
            before = [reading_of(text) for text in request.written_before]
            for text in readings(request.text):
                placed, same = _other_places(text, before, units, known)
                for found in sight.places_in(text, before):
                    places = {**found, **placed}
                    orders.append(tuple(sorted(places, key=places.__getitem__)))
                alike |= same
                line = reading_of(text).line if before else ""
                is_repeated |= any(each.is_distinctive and each.line in line for each in before)
        return cls(orders, frozenset(alike), is_repeated)


def shown_order(units: Sequence[str], shown: OrdersShown, known: Set[str]) -> tuple[str, ...]:
    """Returns the ids of the sources that a model was shown, in the order in which it was shown them.
    Returns an empty tuple if these are all ``units`` in their order.

    If the position of a source is unknown, its id is repeated. All positions are unknown if two requests
    show the sources in different orders, or if a source is not recognised in the requests. Sources with
    equal texts have unknown positions too. Two orders count as equal if one is the beginning of the
    other. ``known``: the ids of the sources that are recognised in every request that shows them.
    """
    if not shown.orders:
        return ()
    found = _answering([each for each in shown.orders if each])
    longest = max(found, key=len, default=())
    if any(longest[: len(each)] != each for each in found):
        return tuple(identity for each in found for identity in each) * 2
    sure = frozenset[str]() if shown.is_repeated else known
    if not longest or any(each not in sure and each not in longest for each in units):
        return (*units, *units)
    twice = tuple(each for each in longest if each in shown.alike)
    return () if longest == tuple(units) and not twice else (*longest, *twice)


def _other_places(
    text: str, before: Sequence[Reading], units: Sequence[Source], known: Set[str]
) -> tuple[dict[str, int], frozenset[str]]:
    """Returns the positions in ``text`` of the sources that are not in ``known``, by id. A position is
    the number of words before the source. Also returns the ids of those sources with a position whose
    text is equal to the text of another source.

    Leaves out a source if its whole text is not in ``text``, or only inside a longer source. Also leaves
    out a source if the number of its occurrences in ``text`` is not the number of sources with its text.
    """
    texts = {unit.id: f" {' '.join(words_of(unit.text))} " for unit in units}
    line, places, alike = f" {' '.join(words_of(text))} ", dict[str, int](), set[str]()
    for own in dict.fromkeys(said for identity, said in texts.items() if identity not in known):
        same = [identity for identity, said in texts.items() if said == own]
        longer = {said for said in texts.values() if own in said and said != own}
        within = [(at, at + len(said)) for said in longer for at in _places(said, line)]
        found = [at for at in _places(own, line) if not any(a <= at < b - 1 for a, b in within)]
        is_known = any(own in each.line for each in before)
        if len(own.split()) < _FEWEST_WORDS or len(found) != len(same) or is_known:
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
    """Returns the orders without those of requests that only asked a model to grade one source each. Such
    requests are recognised by their position: they show one source each, and come before the first
    request that shows several sources."""
    together = next((place for place, each in enumerate(orders) if len(each) > 1), 0)
    alone = {each[0] for each in orders[:together]}
    is_graded = len(alone) > 1 and alone.issuperset(orders[together])
    return orders[together:] if is_graded else orders
