"""Several tools of one name: made once, or anew for each run."""

import sqlite3
from collections import deque
from collections.abc import Callable
from datetime import date
from functools import partial
from threading import RLock, Thread
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import BaseModel, PrivateAttr

from rag_rule_explainer.instrumentation.made_tools import MadeTools
from rag_rule_explainer.instrumentation.named_tools import NamedTools, Recognised


class Client:
    """Has nothing by which another one could be told from it."""


class Tool:
    def __init__(self, function: Callable[[], object], **more: Any) -> None:
        self.name, self.tags, self.function = "look", ["a"], function
        self.__dict__ |= more


def returning(value: object) -> Callable[[], object]:
    return lambda: value


def wrapped(value: object) -> Callable[[], object]:
    inner = returning(value)
    return lambda: inner()


def bound(value: object) -> Callable[[], object]:
    return Tool(returning(value)).function


class Secret(BaseModel):
    """Keeps its value where no attribute of pydantic's shows it."""

    _value: object = PrivateAttr()

    def __call__(self) -> object:
        return self._value


def private(value: object) -> Callable[[], object]:
    made = Secret()
    made._value = value  # pyright: ignore[reportPrivateUsage] -- as the class itself would set it
    return made


def by_keyword(value: object) -> Callable[[], object]:
    def look(*, _value: object = value) -> object:
        return _value

    return look


def of_a_class_made_here(value: object) -> Callable[[], object]:
    class Look:
        def __call__(self) -> object:
            return value

    return Look()


def in_a_module(value: object) -> Callable[[], object]:
    """This function makes a function of the same text in a module of its own."""
    space: dict[str, Any] = {"VALUE": value, "__name__": "tools_of_a_test"}
    exec("def look():\n    return VALUE", space)  # noqa: S102 -- a text of our own
    return space["look"]


def given(value: object) -> Callable[[], object]:
    return partial(returning, value)


def number_of(tools: NamedTools, name: str, tool: object) -> int | None:
    """The number of a tool of a replay that made none itself."""
    return tools.recognised(name, tool, MadeTools()).number


def plain(function: Callable[[], object]) -> object:
    return function


@pytest.mark.parametrize("make", [returning, wrapped, bound, given, private, by_keyword])
@pytest.mark.parametrize("wrap", [Tool, plain])
class TestToolsOfOneName:
    def test_that_last_are_known_by_themselves(self, make: Any, wrap: Any) -> None:
        tools, (one, two, other) = NamedTools(), [wrap(make(Client())) for _ in range(3)]
        assert [tools.note("look", each) for each in (one, two, one)] == [0, 1, 0]
        assert tools.note("pay", two) == 0
        assert [number_of(tools, "look", each) for each in (two, one, other)] == [1, 0, None]

    def test_of_which_only_one_was_called(self, make: Any, wrap: Any) -> None:
        """A replay that calls the other one first gets nothing of it."""
        tools, (one, two) = NamedTools(), [wrap(make(text)) for text in ("a", "b")]
        assert tools.note("look", one) == 0
        assert number_of(tools, "look", two) is None
        assert number_of(tools, "look", one) == 0

    def test_that_are_made_anew_are_known_by_what_they_are_made_of(self, make: Any, wrap: Any) -> None:
        tools = NamedTools()
        assert [tools.note("look", wrap(make(text))) for text in ("a", "b")] == [0, 1]
        assert [number_of(tools, "look", wrap(make(text))) for text in ("b", "a", "c")] == [1, 0, None]

    def test_around_a_new_client_are_known_by_their_order(self, make: Any, wrap: Any) -> None:
        tools, runs = NamedTools(), [[wrap(make(Client())) for _ in range(3)] for _ in range(2)]
        for made, those in zip((tools.made, one := MadeTools()), runs, strict=True):
            for each in those:
                made.note("look", each, is_early=True)
        assert [tools.note("look", each) for each in runs[0][1:]] == [0, 1]
        assert [tools.recognised("look", each, one) for each in runs[1]] == [
            Recognised(None),
            Recognised(0),
            Recognised(1),
        ]

    def test_around_a_new_client_that_come_late_are_not_sure(self, make: Any, wrap: Any) -> None:
        tools, replay = NamedTools(), MadeTools()
        first, second, other = [wrap(make(Client())) for _ in range(3)]
        tools.made.note("look", first, is_early=False)
        assert tools.note("look", first) == 0
        assert number_of(tools, "look", second) is None  # made before the run
        replay.note("look", second, is_early=False)
        assert tools.recognised("look", second, replay) == Recognised(0, is_sure=False)
        replay.note("look", other, is_early=False)
        assert tools.recognised("look", second, replay) == Recognised(None)


def test_a_tool_of_which_nothing_is_known_is_the_only_one() -> None:
    tools = NamedTools()
    assert number_of(tools, "look", Client()) == 0
    assert tools.note("look", None) == 0
    assert number_of(tools, "look", None) == 0


def test_functions_of_other_code_are_other_tools() -> None:
    tools = NamedTools()
    assert tools.note("look", lambda: 1) == 0
    assert number_of(tools, "look", lambda: 2) is None

    def looking() -> object:
        return later

    assert tools.note("see", looking) == 0
    later = 1
    assert number_of(tools, "see", looking) == 0
    assert looking() == later


def test_functions_of_the_same_text_in_two_modules_are_two_tools() -> None:
    tools, one, two = NamedTools(), in_a_module("a"), in_a_module("b")
    assert [tools.note("look", each) for each in (one, two)] == [0, 1]
    assert [number_of(tools, "look", each) for each in (two, one)] == [1, 0]


def test_tools_of_classes_that_a_function_makes_are_known_by_themselves() -> None:
    tools, (one, two) = NamedTools(), [of_a_class_made_here(text) for text in ("a", "b")]
    assert [tools.note("look", each) for each in (one, two)] == [0, 1]
    assert [number_of(tools, "look", each) for each in (two, one)] == [1, 0]
    assert number_of(tools, "look", of_a_class_made_here("c")) is None
    assert number_of(tools, "look", of_a_class_made_here("b")) == 1


@pytest.mark.waits
def test_the_order_of_tools_that_several_threads_made_is_chance() -> None:
    made = MadeTools()
    made.note("look", one := Client(), is_early=True)
    assert made.early("look") == [one]
    thread = Thread(target=lambda: made.note("look", Client(), is_early=True))
    thread.start()
    thread.join()
    assert not made.early("look")
    assert len(made.named("look")) == 2


class Many:
    __slots__ = ("_lock", "values")

    def __init__(self, *values: object) -> None:
        self._lock, self.values = RLock(), values


class Rows(sqlite3.Connection):
    """Keeps what counts where no attribute shows it."""


def held_by_a_circle(text: str) -> list[object]:
    circle: list[object] = [text]
    circle.append(circle)
    return circle


HOLDERS: list[Callable[[str], object]] = [
    lambda text: {"url": text},
    lambda text: [1, (text,), {2, text}],
    lambda text: deque([text]),
    lambda text: Many(text, UUID(int=3), date(2026, 1, 1)),
    lambda text: Tool(returning(text)),
    held_by_a_circle,
]


@pytest.mark.parametrize("value", HOLDERS)
def test_tools_that_hold_equal_values_do_the_same(value: Callable[[str], object]) -> None:
    tools = NamedTools()
    assert tools.note("look", returning(value("a"))) == 0
    assert number_of(tools, "look", returning(value("a"))) == 0
    assert number_of(tools, "look", returning(value("b"))) is None


@pytest.mark.parametrize(
    "value", [object, Client, lambda: iter([1]), lambda: Rows(":memory:"), lambda: list(range(9_999))]
)
def test_tools_that_hold_what_cannot_be_compared_are_others(value: Callable[[], object]) -> None:
    tools, held = NamedTools(), value()
    assert tools.note("look", returning(held)) == 0
    assert number_of(tools, "look", returning(held)) == 0
    assert number_of(tools, "look", returning(value())) is None


def test_values_are_compared_as_they_are_at_the_call() -> None:
    tools, texts = NamedTools(), list[str]()
    assert tools.note("look", returning(texts)) == 0
    texts.append("later")
    assert number_of(tools, "look", returning(list[str]())) == 0
    assert number_of(tools, "look", returning(["later"])) is None


class Session:
    def __init__(self, text: str) -> None:
        self.text, self.session = text, uuid4()


def listed(text: str) -> list[str]:
    return [text]


def a_session(_: str) -> Session:
    return Session("a")


def a_client(_: str) -> Client:
    return Client()


def a_list(_: str) -> list[object]:
    return ["a", 1]


def of_runs(first: object, second: object) -> tuple[NamedTools, MadeTools]:
    """The tools of a baseline and of a replay, which starts without a part of the conversation. Each of
    them has made one."""
    tools, made = NamedTools(MadeTools(keeps_parts=True)), MadeTools(keeps_parts=True)
    for some, each in ((tools.made, first), (made, second)):
        some.note("look", each, is_early=True)
        some.settle()
    made.begins_otherwise = True
    assert tools.note("look", first) == 0
    return tools, made


@pytest.mark.parametrize("make", [returning, wrapped, bound, given, private, by_keyword])
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (str, Recognised(None)),
        (listed, Recognised(None)),
        (Session, Recognised(None)),
        (a_session, Recognised(0, is_sure=False)),
        (a_client, Recognised(0, is_sure=False)),
        (a_list, Recognised(0)),
    ],
    ids=["text", "list", "session", "new session", "new client", "the same"],
)
def test_tools_that_a_replay_makes_without_a_turn_are_compared(
    make: Any, value: Any, expected: Recognised
) -> None:
    tool = make(value("b"))
    tools, made = of_runs(make(value("a")), tool)
    assert tools.recognised("look", tool, made) == expected
    made.begins_otherwise = False
    assert tools.recognised("look", tool, made) == Recognised(0)


def test_what_a_tool_has_written_by_then_is_not_compared() -> None:
    ran, others = list[str](), list[str]()
    tool, other = returning(ran), returning(others)
    tools, made = of_runs(tool, other)
    ran.append("look")
    assert tools.recognised("look", other, made) == Recognised(0)
