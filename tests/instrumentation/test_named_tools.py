"""Several tools of one name: made once, or anew for each run."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel, PrivateAttr

from rag_rule_explainer.instrumentation.named_tools import NamedTools


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


def plain(function: Callable[[], object]) -> object:
    return function


@pytest.mark.parametrize("make", [returning, wrapped, bound, given, private, by_keyword])
@pytest.mark.parametrize("wrap", [Tool, plain])
class TestToolsOfOneName:
    def test_that_last_are_known_by_themselves(self, make: Any, wrap: Any) -> None:
        tools, (one, two, other) = NamedTools(), [wrap(make(Client())) for _ in range(3)]
        assert [tools.note("look", each) for each in (one, two, one)] == [0, 1, 0]
        assert tools.note("pay", two) == 0
        assert [tools.recognised("look", each) for each in (two, one, other)] == [1, 0, None]

    def test_of_which_only_one_was_called(self, make: Any, wrap: Any) -> None:
        """A replay that calls the other one first gets nothing of it."""
        tools, (one, two) = NamedTools(), [wrap(make(text)) for text in ("a", "b")]
        assert tools.note("look", one) == 0
        assert tools.recognised("look", two) is None
        assert tools.recognised("look", one) == 0

    def test_that_are_made_anew_are_known_by_what_they_are_made_of(self, make: Any, wrap: Any) -> None:
        tools = NamedTools()
        assert [tools.note("look", wrap(make(text))) for text in ("a", "b")] == [0, 1]
        assert [tools.recognised("look", wrap(make(text))) for text in ("b", "a", "c")] == [1, 0, None]

    def test_that_are_made_anew_around_a_new_client(self, make: Any, wrap: Any) -> None:
        tools = NamedTools()
        assert tools.note("look", wrap(make(Client()))) == 0
        assert tools.recognised("look", wrap(make(Client()))) == 0
        assert tools.note("look", wrap(make(Client()))) == 1
        assert tools.recognised("look", wrap(make(Client()))) is None


def test_a_tool_of_which_nothing_is_known_is_the_only_one() -> None:
    tools = NamedTools()
    assert tools.recognised("look", Client()) == 0
    assert tools.note("look", None) == 0
    assert tools.recognised("look", None) == 0


def test_functions_of_other_code_are_other_tools() -> None:
    tools = NamedTools()
    assert tools.note("look", lambda: 1) == 0
    assert tools.recognised("look", lambda: 2) is None

    def looking() -> object:
        return later

    assert tools.note("see", looking) == 0
    later = 1
    assert tools.recognised("see", looking) == 0
    assert looking() == later


def test_functions_of_the_same_text_in_two_modules_are_two_tools() -> None:
    tools, one, two = NamedTools(), in_a_module("a"), in_a_module("b")
    assert [tools.note("look", each) for each in (one, two)] == [0, 1]
    assert [tools.recognised("look", each) for each in (two, one)] == [1, 0]


def test_tools_of_classes_that_a_function_makes_are_known_by_themselves() -> None:
    tools, (one, two) = NamedTools(), [of_a_class_made_here(text) for text in ("a", "b")]
    assert [tools.note("look", each) for each in (one, two)] == [0, 1]
    assert [tools.recognised("look", each) for each in (two, one)] == [1, 0]
    assert tools.recognised("look", of_a_class_made_here("c")) is None
