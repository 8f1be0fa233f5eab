"""This module finds out in which order a model was shown the sources, by which an answer numbers them."""

from collections.abc import Sequence, Set


def shown_order(
    units: Sequence[str], orders: Sequence[tuple[str, ...]], recognisable: Set[str]
) -> tuple[str, ...]:
    """Returns the ids of the sources that a model was shown, in their order, if these are not all of
    ``units`` in their order. Returns each id twice or more if the order is not known, and nothing if no
    source was recognised.

    ``orders``: the ids in the order in which each request shows them. Two requests agree if one shows the
    first of what the other one shows. ``recognisable``: the ids of the sources that are recognised in a
    request that shows them. If there are others, all count as shown in the order of ``units``, unless
    these ones are not.
    """
    found = _answering([each for each in orders if each])
    longest = max(found, key=len, default=())
    if any(longest[: len(each)] != each for each in found):
        return tuple(identity for each in found for identity in each) * 2
    known = tuple(each for each in units if each in recognisable)
    return () if longest == known else longest if len(known) == len(units) else longest * 2


def _answering(orders: Sequence[tuple[str, ...]]) -> Sequence[tuple[str, ...]]:
    """Returns the orders without those of the requests that only graded the sources, each of them alone,
    before they were shown together."""
    together = next((place for place, each in enumerate(orders) if len(each) > 1), 0)
    alone = {each[0] for each in orders[:together]}
    is_graded = len(alone) > 1 and alone.issuperset(orders[together])
    return orders[together:] if is_graded else orders
