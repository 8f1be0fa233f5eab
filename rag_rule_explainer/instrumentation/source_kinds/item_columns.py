"""This module finds the fields of items that tell of other items: places in the list, shares of a sum,
running sums, and items that are made of all others, such as a row "Total".

Whatever a field of an item says, only the tool knows what it was made of. So a field is trusted, unless
its name or its values over all items say that it is made of several items.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise, permutations
from typing import Any

from ..clients.several import snake
from .item_places import places_in
from .list_data import Columns, columns_of, number_in

_PLACES = re.compile(
    r"#|i|n|idx|index|line|nr|num|number|order|ordinal|place|pos|position|rank|ranking|row|row_?num(?:ber)?|"
    r"rownum|seq|sequence|\w+_(?:rank|ranking|position|index|idx|place)|result_(?:no|nr|number)"
)
"""Names of fields that give places in the list where their numbers are small or run."""
_IDS = re.compile(r"_?id_?|uid|key|\w+_id|\w+[a-z]Id")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d|$)")
_FINDING = re.compile(r"find|lookup|quer|retriev|search", re.IGNORECASE)
"""Matches the names of tools that may number what they found."""
_QUANTITIES = re.compile(
    r"age|amount|attendees|balance|count|guests|likes|max|min|price|priority|qty|quantity|rating|score|"
    r"stars|stock|unread|views|\w+_(?:count|price|amount|score)"
)
"""Names of quantities. Of two items, they are 1 and 2 by chance."""
_OF_ALL = re.compile(r"of|out_of|(?:total|num|n)(?:_\w+)?|count|\w+_(?:total|count)")
"""Names of fields that may say in each item how many items there are."""
_RELATIVE = re.compile(
    r"(?:\w+_)?(?:share|percentile|so_far|z_?score|cumulative|ranking)|"
    r"(?:cum|cumulative|running|normali[sz]ed|relative)_\w+"
)
"""Names of fields that compare an item with the others."""
_COMPARING = (
    r"first|last|best|worst|top|highest|lowest|latest|newest|oldest|earliest|cheapest|largest|smallest|"
    r"biggest|fastest|winner|leader|duplicate|unique|outlier|median|maximum|minimum"
)
_FLAGS = re.compile(
    rf"(?:is_)?(?:{_COMPARING})(?:_\w+)?|\w+_(?:first|last)|conflicts?|overlaps?|most_\w+"
)
"""Names of truth values that compare an item with the others."""
_NEIGHBOURS = re.compile(
    r"(?:next|prev|previous|following|preceding|successor|predecessor|before|after)(?:_\w+)?|"
    r"(?:duplicate|copy|same)_(?:of|as)|(?:conflicts|overlaps)_with"
)
_LABEL = re.compile(
    r"\W*(?:(?:grand |sub-?)?totals?|sums?|averages?|avg|mean|median|overall|summary|min(?:imum)?|"
    r"max(?:imum)?|all|gesamt|summe)\W*",
    re.IGNORECASE,
)
"""Matches the label of an item that is made of the others."""
_LABELLED = re.compile(rf"(?:{_LABEL.pattern})(?:[:=|]|\*\*)", re.IGNORECASE)
_OF_OTHERS = re.compile(
    r"\W*(?:(?:open|grand|sub)[ -]?)?(?:totals?|sums?|averages?|amount)"
    r"(?: (?:amount|balance|cost|due|open|paid|price|sum|value))?"
    r"(?:\W{0,3}[A-Z]{0,3}\W{0,3}\d.*)?|\W*\d+ of (?:them|these|which)\b.*",
    re.IGNORECASE,
)
"""Matches a label with a number behind it, and how many of the others are of a kind."""
_REFERRING = re.compile(
    r"\b(?:so far|running total|cumulative(?:ly)?|ditto|(?:same )?as (?:above|before)|"
    r"see (?:also )?(?:(?:above|below)\b|(?:item|no\.|number|result|row|#)?\s?\d))|"
    rf"[\[(](?:the )?(?:{_COMPARING})[\])]",
    re.IGNORECASE,
)
"""Matches the words by which a short text refers to other items."""
_SHORT = 200
_MOST_NUMBERS, _FEW_NUMBERS, _LONG = 16, 4, 500
"""The largest number of columns of numbers that are compared with each other, in short and in long
lists."""
_BALANCES = re.compile(r"(?:\w+_)?(?:balance|saldo|remaining|rest|left)")


def columns_made_of_items(items: Sequence[Any], tool: str) -> Iterator[tuple[str, bool]]:
    """Yields the name of each field of the items that may be made of several items, and True iff it gives
    places in the list. A text that refers to other items, and an item made of the others, have the name
    "items". ``tool``: the tool's name."""
    if len(items) < 2:
        return
    columns = columns_of(items)
    is_record = _FINDING.search(tool) is None and _is_of_records(columns)
    for name, values in columns.items():
        if _gives_places(name, values, is_record=is_record):
            yield name, True
        elif _is_named_so(name, values, columns) or _is_share(values):
            yield name, False
    yield from ((name, True) for name in places_in(items, columns))
    yield from ((name, False) for name in _computed(columns))
    if _has_item_of_others(items, columns):
        yield "items", False


def sums_to(items: Sequence[Any], number: float) -> bool:
    """Returns True iff a field of the items has this sum, and is not 1 in each item."""
    columns = {name: _numbers(each) for name, each in columns_of(items).items()}
    sums = (each for name, each in columns.items() if each and not _IDS.fullmatch(_last(name)))
    return any(abs(sum(each) - number) < 0.01 and {*each} != {1.0} for each in sums)


def _last(name: str) -> str:
    last = name.rpartition(".")[2]
    return last if last == "#" else snake(last)


def _numbers(values: Sequence[Any]) -> list[float]:
    read = [number_in(each) for each in values]
    return [each for each in read if each is not None] if None not in read else []


def _is_of_records(columns: Columns) -> bool:
    """Returns True iff each item has a date, as what is stored has. Its id is then stored, too."""
    return any(
        all(isinstance(each, str) and _DATE.match(each) for each in values) for values in columns.values()
    )


def _gives_places(name: str, values: Sequence[Any], *, is_record: bool) -> bool:
    numbers, count, named = _numbers(values), len(values), _last(name)
    if not numbers or any(each % 1 for each in numbers):
        return False
    steps = {later - one for one, later in pairwise(numbers)}
    if steps == {1.0} and numbers[0] in {0, 1}:
        is_stored = is_record and _IDS.fullmatch(named)
        return not is_stored and not (count == 2 and _QUANTITIES.fullmatch(named))
    if not _PLACES.fullmatch(named):
        return False
    is_run = steps in ({1.0}, {-1.0}) and named not in {"line", "num", "nr", "number", "order"}
    return is_run or (min(numbers) in {0, 1} and max(numbers) <= count)


def _is_named_so(name: str, values: Sequence[Any], columns: Columns) -> bool:
    named, numbers = _last(name), _numbers(values)
    if numbers and ({*numbers} == {float(len(values))} and _OF_ALL.fullmatch(named)):
        return True
    if numbers and (_RELATIVE.fullmatch(named) or named in {"of", "out_of"}):
        return True
    if all(isinstance(each, bool) for each in values):
        return _FLAGS.fullmatch(named) is not None
    others = {each for other, own in columns.items() if other != name for each in own if each is not None}
    return _NEIGHBOURS.fullmatch(named) is not None and not others.isdisjoint(
        each for each in values if each is not None
    )


def _is_share(values: Sequence[Any]) -> bool:
    """Returns True iff numbers add up to 1 or to 100, as shares of a whole do."""
    numbers = _numbers(values)
    if not numbers or min(numbers) < 0 or max(numbers) in {1.0, 100.0}:
        return False
    whole = sum(numbers)
    is_parts = any(each % 1 for each in numbers) and abs(whole - 1) < 0.0006 * len(numbers)
    return is_parts or (len(numbers) > 2 and abs(whole - 100) < 0.006 * len(numbers))


def _computed(columns: Columns) -> Iterator[str]:
    """Yields the names of the columns whose numbers can be computed of another column's."""
    read = {name: _numbers(each) for name, each in columns.items()}
    known = [(name, each) for name, each in read.items() if any(each)]
    most = _MOST_NUMBERS if known and len(known[0][1]) < _LONG else _FEW_NUMBERS
    for (_, own), (name, other) in permutations(known[:most], 2):
        if own == other or len({*other}) == 1:
            continue
        is_balance = _BALANCES.fullmatch(_last(name)) is not None
        sums = any(_is_near(other, each, 1e-6) for each in _sums(own, other, is_balance=is_balance))
        if sums or any(_is_near(other, each, _rounding(other)) for each in _shares(own, other)):
            yield name
    percents = (name for name, each in columns.items() if _is_percent(each))
    yield from percents


def _is_near(numbers: Sequence[float], made: Sequence[float], rounding: float) -> bool:
    return all(
        abs(one - two) <= max(rounding, 1e-9 * abs(two)) for one, two in zip(numbers, made, strict=True)
    )


def _rounding(numbers: Sequence[float]) -> float:
    """Returns by how much numbers may differ from what they were rounded from: they have as many decimal
    places as the longest."""
    written = [f"{each:.6f}".rstrip("0").partition(".")[2] for each in numbers]
    return 0.6 * 10 ** -max(map(len, written))


def _sums(own: Sequence[float], other: Sequence[float], *, is_balance: bool) -> Iterator[Sequence[float]]:
    """Yields running sums of ``own`` in both directions, balances, and differences. ``other``: the
    numbers that are looked for; ``is_balance``: True if they are named as a balance."""
    yield [*accumulate(own)]
    yield [*accumulate(own[::-1])][::-1]
    if len(own) < 3 and not is_balance:
        return
    yield [*accumulate([other[0], *own[1:]])]
    yield [*accumulate([other[-1], *own[-2::-1]])][::-1]
    if len(own) < 3 or len({*own}) == 1:
        return
    for base in (max(own), min(own), own[0]):
        yield from ([sign * (each - base) for each in own] for sign in (1, -1))
    for sign in (1, -1):
        yield [other[0], *(sign * (later - one) for one, later in pairwise(own))]


def _shares(own: Sequence[float], other: Sequence[float]) -> Iterator[Sequence[float]]:
    """Yields the shares of ``own`` in their sum, and in the greatest of them, as fractions or in percent,
    and their distances from the mean."""
    wholes = [sum(own), *([max(own)] if len(own) > 2 else ())]
    scale = 100 if max(other) > 1 else 1 if any(each % 1 for each in other) else 0
    if scale and len({*own}) > 1:
        yield from ([scale * each / whole for each in own] for whole in wholes if whole)
    if len(own) > 2 and any(each % 1 for each in other):
        mean = sum(own) / len(own)
        yield from ([sign * (each - mean) for each in own] for sign in (1, -1))


def _is_percent(values: Sequence[Any]) -> bool:
    numbers = _numbers(values)
    written = all(isinstance(each, str) and each.rstrip().endswith("%") for each in values)
    return written and abs(sum(numbers) - 100) <= len(numbers) / 2


def _has_item_of_others(items: Sequence[Any], columns: Columns) -> bool:
    texts = [each for each in items if isinstance(each, str)]
    if any(_LABELLED.match(each) or _OF_OTHERS.fullmatch(each) for each in texts):
        return True
    if any(_is_alone(each, items) for each in (items[:1], items[-1:])):
        return True
    if any(len(each) < _SHORT and _REFERRING.search(each) for each in texts):
        return True
    percents = [re.findall(r"(\d+(?:\.\d+)?)\s?%", each) for each in texts]
    if percents and all(len(each) == 1 for each in percents):
        total = sum(float(each[0]) for each in percents)
        if abs(total - 100) <= len(percents) / 2:
            return True
    values = [each for own in columns.values() for each in own if isinstance(each, str)]
    if any(_LABEL.fullmatch(each) or _OF_OTHERS.fullmatch(each) for each in values if each.strip()):
        return True
    return any(_ends_with_sum(each, columns) for each in columns.values())


def _is_alone(one: Sequence[Any], items: Sequence[Any]) -> bool:
    """Returns True iff an item is a dict that has no key of any other item, while the others are dicts
    with keys in common, as in ``[{"item": "a", "price": 3}, {"item": "b", "price": 4}, {"sum": 7}]``."""
    others = [each for each in items if not any(each is own for own in one)]
    if len(others) < 2 or not all(isinstance(each, Mapping) for each in (*one, *others)):
        return False
    shared = set[Any](others[0]).intersection(*others[1:])
    return bool(shared) and set[Any]().union(*others).isdisjoint(*one)


def _ends_with_sum(values: Sequence[Any], columns: Columns) -> bool:
    """Returns True iff the last item has the sum of the others, and no name of its own, or there are many
    others."""
    numbers = _numbers(values)
    if len(numbers) < 3 or not any(numbers[:-1]) or abs(sum(numbers[:-1]) - numbers[-1]) > 0.01:
        return False
    lasts = [own[-1] for own in columns.values() if any(isinstance(each, str) for each in own[:-1])]
    return len(numbers) > 3 or any(not each or not str(each).strip(" -") for each in lasts)
