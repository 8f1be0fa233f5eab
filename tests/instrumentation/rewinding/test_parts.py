"""Each kind of object is read as a whole, and written so that it holds again what was read."""

import io
import random
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from pydantic import BaseModel, PrivateAttr

from rag_rule_explainer.instrumentation.rewinding.class_part import CLASS
from rag_rule_explainer.instrumentation.rewinding.parts import parts_of
from rag_rule_explainer.instrumentation.rewinding.values import is_same


class Slotted:
    __slots__ = ("filled", "unfilled")

    def __init__(self) -> None:
        self.filled = 1


class Private(BaseModel):
    shown: int = 1
    _hidden: list[int] = PrivateAttr(default_factory=lambda: [1])


class Others(Private):
    pass


def _slots(thing: Any) -> None:
    thing.unfilled = 2
    del thing.filled


def _model(thing: Any) -> None:
    thing.shown = 2
    thing._hidden = [2]
    object.__setattr__(thing, "__class__", Others)


def _default(thing: Any) -> None:
    thing.__defaults__ = (2,)
    thing.noted = True


def _function() -> Any:
    def function(number: int = 1) -> int:
        return number

    return function


def _cell() -> Any:
    held = 1
    closure: Any = (lambda: held).__closure__
    return closure[0]


CHANGES: tuple[tuple[str, Callable[[], Any], Callable[[Any], Any]], ...] = (
    ("a dict", lambda: {"a": 1, "b": 2}, lambda thing: (thing.pop("a"), thing.update(c=3))),
    (
        "the order of a dict",
        lambda: OrderedDict[str, int](a=1, b=2),
        lambda thing: thing.move_to_end("a"),
    ),
    ("a list", lambda: [1, 2], lambda thing: thing.reverse()),
    ("a set", lambda: {1, 2}, lambda thing: thing.clear()),
    ("a deque", lambda: deque([1, 2], maxlen=2), lambda thing: thing.append(3)),
    ("an object", lambda: SimpleNamespace(a=1), lambda thing: thing.__dict__.update(a=2, b=3)),
    ("slots", Slotted, _slots),
    ("a pydantic model", Private, _model),
    ("a function", _function, _default),
    ("a cell", _cell, lambda thing: setattr(thing, "cell_contents", 2)),
    ("an array", lambda: array("i", [1, 2]), lambda thing: thing.__setitem__(0, 9)),
    ("bytes", lambda: bytearray(b"ab"), lambda thing: thing.extend(b"c")),
    ("a stream", lambda: io.StringIO("ab"), lambda thing: thing.write("cde")),
    ("an array that grows", lambda: array("i", [1]), lambda thing: thing.append(2)),
    ("numbers", lambda: numpy.zeros(3), lambda thing: thing.__setitem__(0, 9)),
    ("times", lambda: numpy.zeros(3, dtype="timedelta64[s]"), lambda thing: thing.__setitem__(0, 9)),
    ("a generator of numbers", lambda: random.Random(1), lambda thing: thing.random()),
)


def ordered(thing: Any) -> list[Any]:
    contents: list[Any] = [part.read(thing) for part in parts_of(thing)]
    return [list(each.items()) if hasattr(each, "items") else each for each in contents]


@pytest.mark.parametrize(
    ("make", "change"), [each[1:] for each in CHANGES], ids=[each[0] for each in CHANGES]
)
def test_what_was_read_is_put_back(make: Callable[[], Any], change: Callable[[Any], Any]) -> None:
    thing = make()
    before = [(part, part.read(thing)) for part in parts_of(thing)]
    told = ordered(thing)
    change(thing)
    assert ordered(thing) != told
    for part, content in before:
        part.write(thing, content)
    assert ordered(thing) == told


def test_a_class_is_put_back_in_place() -> None:
    class Bot:
        mode = "calm"

    before = CLASS.read(Bot)
    Bot.mode, Bot.added = "warn", True  # type: ignore[attr-defined] -- a new attribute, on purpose
    CLASS.write(Bot, before)
    assert Bot.mode == "calm"
    assert not hasattr(Bot, "added")


def test_equal_texts_and_numbers_are_the_same_and_equal_lists_are_not() -> None:
    assert is_same((1, "a"), (1, "a" + ""))
    assert not is_same(1, True)
    assert not is_same([1], [1])
