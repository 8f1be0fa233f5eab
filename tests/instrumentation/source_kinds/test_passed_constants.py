"""Values that functions enclose, some of which the code has where it makes the functions."""

from collections.abc import Callable
from typing import Any

import pytest

from rag_rule_explainer.instrumentation.source_kinds.passed_constants import is_passed_constant


def made(word: Any, other: Any = "by default") -> Callable[[], Any]:
    return lambda: (word, other)


def with_a_variable() -> Callable[[], Any]:
    word = "of a variable"
    return lambda: word


def with_a_text(word: Any) -> Callable[[], Any]:
    assert "in a call".isascii()
    return lambda: word


class Maker:
    def of_a_method(self, word: Any) -> Callable[[], Any]:
        def answer() -> Any:
            return word

        return answer


def enclosed(function: Any) -> list[Any]:
    return [each.cell_contents for each in function.__closure__]


@pytest.mark.parametrize(
    "function",
    [
        made("passed"),
        made(word=4711),
        made(["a", "list"]),
        made(-1, other="named"),
        with_a_variable(),
        Maker().of_a_method("to a method"),
    ],
)
def test_what_the_code_passes_is_a_constant(function: Any) -> None:
    assert [is_passed_constant(function, each) for each in enclosed(function)] == [True] * len(
        enclosed(function)
    )


UNTOLD = ["".join(("com", "puted")), "a variable of the module", 12 * 12, True]


@pytest.mark.parametrize("value", UNTOLD)
def test_what_was_computed_or_stands_elsewhere_is_none(value: Any) -> None:
    assert not is_passed_constant(made(value), value)


def test_a_text_in_a_call_of_another_function_is_none() -> None:
    said = "in a call"
    assert not is_passed_constant(with_a_text(said), said)


def test_a_constant_has_the_same_type() -> None:
    number = 4711.0
    assert not is_passed_constant(made(number), number)


def test_a_function_without_a_source_has_none() -> None:
    names: dict[str, Any] = {}
    exec("def made(word):\n    return lambda: word", names)  # noqa: S102 -- code without a file
    assert not is_passed_constant(names["made"]("passed"), "passed")
