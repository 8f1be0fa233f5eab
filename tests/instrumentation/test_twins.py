"""True copies, and what there is none of."""

import asyncio
import sqlite3
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field, PrivateAttr

from rag_rule_explainer.instrumentation.copies.twins import NoTwin, Twins, state_of

TWINS = Twins((), lambda: (threading.Event,))
EVERYBODYS: list[str] = []
counted = 0


@dataclass
class Line:
    said: str
    heard_by: list[str] = field(default_factory=list[str])


class Plain:
    def __init__(self) -> None:
        self.lines = [Line("hello", ["ada"])]
        self.by_name = defaultdict[str, list[Line]](list, {"first": self.lines})
        self.last = deque([1, 2], maxlen=2)
        self.numbers = [0.5, 0.25]
        self.guard = threading.Lock()
        self.awaited = asyncio.Lock()
        self.model = threading.Event()
        self.itself = self


class Model(BaseModel):
    lines: list[Line] = Field(default_factory=lambda: [Line("hello")])
    _private: list[str] = PrivateAttr(default_factory=lambda: ["hidden"])

    @property
    def hidden(self) -> list[str]:
        return self._private


class Slotted:
    __slots__ = ("__hidden", "open")

    def __init__(self) -> None:
        self.open = ["open"]
        self.__hidden = ["hidden"]

    def hidden(self) -> list[str]:
        return self.__hidden


def test_a_twin_holds_the_same_and_shares_nothing_that_can_be_changed() -> None:
    plain = Plain()
    twin = TWINS.of(plain)
    assert twin.itself is twin
    assert twin.lines == plain.lines
    assert twin.by_name["first"] is twin.lines
    twin.lines[0].heard_by.append("bob")
    twin.by_name["new"].append(Line("new"))
    twin.last.append(3)
    twin.numbers.append(1.0)
    assert (plain.lines, len(plain.by_name)) == ([Line("hello", ["ada"])], 1)
    assert (list(plain.last), plain.numbers) == ([1, 2], [0.5, 0.25])
    assert list(twin.last) == [2, 3]
    with plain.guard:
        assert twin.guard.acquire(blocking=False)
    assert twin.model is plain.model


def test_models_and_slots_are_copied_with_all_that_is_hidden_in_them() -> None:
    model, slotted = Model(), Slotted()
    model_twin, slotted_twin = TWINS.of(model), TWINS.of(slotted)
    model_twin.lines[0].said = "changed"
    model_twin.hidden.append("more")
    slotted_twin.open.append("more")
    slotted_twin.hidden().append("more")
    assert (model.lines, model.hidden) == ([Line("hello")], ["hidden"])
    assert (slotted.open, slotted.hidden()) == (["open"], ["hidden"])
    assert TWINS.described(model) == TWINS.described(TWINS.of(model)) != TWINS.described(model_twin)


class InFile:
    def __init__(self, path: str) -> None:
        self.path = path

    def write(self) -> None:
        with open(self.path, "w") as file:  # noqa: PTH123 -- as an application may
            file.write("it")


class ByPath:
    def __init__(self) -> None:
        self.path = Path("it")


class ByConnection:
    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:")


class InGlobal:
    def write(self) -> None:
        EVERYBODYS.append("it")


class SettingAGlobal:
    def write(self) -> None:
        global counted  # noqa: PLW0603 -- as an application may
        counted = 1


class OfAll:
    lines: list[str] = []  # noqa: RUF012 -- as an application may

    def write(self) -> None:
        self.lines.append("it")


class Importing:
    def write(self) -> None:
        import tempfile

        tempfile.mkdtemp()


def write() -> None:
    EVERYBODYS.append("it")


class ByAnotherFunction:
    def write(self) -> None:
        write()


class ByACallback:
    def __init__(self, callback: Callable[[str], Any]) -> None:
        self.callback = callback


def in_a_closure() -> Any:
    lines: list[str] = []

    class Closed:
        def write(self) -> None:
            lines.append("it")

    return Closed()


@pytest.mark.parametrize(
    "thing",
    [
        InFile("it"),
        ByPath(),
        ByConnection(),
        InGlobal(),
        SettingAGlobal(),
        OfAll(),
        Importing(),
        ByAnotherFunction(),
        ByACallback(EVERYBODYS.append),
        ByACallback(lambda _: write()),
        in_a_closure(),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_there_is_no_twin_of_what_may_keep_something_elsewhere(thing: object) -> None:
    with pytest.raises(NoTwin):
        TWINS.of(thing)


def test_callbacks_that_keep_nothing_are_no_hindrance() -> None:
    twin = TWINS.of(ByACallback(lambda text: text.upper()))
    assert twin.callback("it") == "IT"


def test_who_is_trusted_is_not_looked_at() -> None:
    trusting = Twins((InGlobal.__module__,), lambda: ())
    assert isinstance(trusting.of(InGlobal()), InGlobal)


def test_the_state_of_an_object_is_all_it_has_of_its_own() -> None:
    assert set(state_of(Slotted())) == {"open", "_Slotted__hidden"}
    assert state_of(Line("it")) == {"said": "it", "heard_by": []}
