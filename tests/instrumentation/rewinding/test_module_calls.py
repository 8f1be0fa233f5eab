"""Functions of modules are known by the module that they are from, under whatever name code has them."""

import os
import select as waiting
import threading
from collections.abc import Callable
from threading import enumerate as listed

import pytest

from rag_rule_explainer.instrumentation.rewinding.module_calls import functions_of_modules


def by_a_module() -> object:
    return threading.enumerate()


def by_a_module_under_another_name() -> object:
    return waiting.select([], [], [], 0)


def by_a_name_that_was_imported() -> object:
    return listed()


def by_an_import_inside() -> object:
    import select

    return select.select([], [], [], 0)


def by_an_import_of_a_name_inside() -> object:
    from threading import enumerate as inside

    return inside()


def by_an_inner_function() -> Callable[[], object]:
    return lambda: os.nice(0)


def by_a_module_in_a_module() -> object:
    return os.path.exists("")  # noqa: PTH110 -- the case at hand


def by_a_builtin_function() -> object:
    return [*enumerate("ab")]


@pytest.mark.parametrize(
    ("function", "called"),
    [
        (by_a_module, "threading.enumerate"),
        (by_a_module_under_another_name, "select.select"),
        (by_a_name_that_was_imported, "threading.enumerate"),
        (by_an_import_inside, "select.select"),
        (by_an_import_of_a_name_inside, "threading.enumerate"),
        (by_an_inner_function, "os.nice"),
        (by_a_module_in_a_module, "posixpath.exists"),
    ],
)
def test_a_function_of_a_module_is_known(function: Callable[[], object], called: str) -> None:
    assert called in functions_of_modules([function])


def test_a_function_that_an_object_holds_is_known() -> None:
    assert functions_of_modules([os.nice]) == {"os.nice"}


def test_a_builtin_function_is_none_of_a_module() -> None:
    assert "threading.enumerate" not in functions_of_modules([by_a_builtin_function])
