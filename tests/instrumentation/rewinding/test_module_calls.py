"""Functions of modules are known by the module that they are from, under whatever name code has them."""

import os
import select as waiting
import threading
from collections.abc import Callable
from threading import enumerate as listed
from typing import Any

import pytest

from rag_rule_explainer.instrumentation.rewinding.module_calls import functions_of_modules
from rag_rule_explainer.instrumentation.rewinding.owners import is_of_library
from rag_rule_explainer.instrumentation.rewinding.rewinding import Rewinding
from rag_rule_explainer.instrumentation.rewinding.system_settings import names_of_builtins


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


def clause_of(application: Callable[[], object]) -> str:
    left = Rewinding(application, lambda _: False, tuple).left()
    return "" if left is None else left.clause


def test_what_a_thread_has_of_its_own_leaves_a_doubt() -> None:
    """The priority is set on one thread, and another one compares it."""
    assert "os.nice()" in clause_of(by_an_inner_function)
    assert not clause_of(lambda: os.getpriority(os.PRIO_PROCESS, 0))


def test_a_method_that_is_called_as_a_function_of_a_module_leaves_none() -> None:
    class Sounds:
        def nice(self) -> bool:
            return True

    sounds = Sounds()
    assert not clause_of(lambda: sounds.nice())


def test_what_raises_when_it_is_read_does_no_harm() -> None:
    class Unlike:
        def __getattr__(self, name: str) -> object:
            raise ValueError(name)

    assert not [*names_of_builtins([Unlike()])]


class Unreadable:
    """An object that raises an error when it is read, as a proxy outside of its request does."""

    def __getattr__(self, name: str) -> object:
        raise LookupError(name)

    def __call__(self) -> object:
        return None


UNREADABLE = Unreadable()


def by_an_object_that_cannot_be_read() -> object:
    return UNREADABLE()


def test_an_object_that_cannot_be_read_is_passed_over() -> None:
    assert not functions_of_modules([by_an_object_that_cannot_be_read])


class OfC:
    """Its class has a descriptor in place of its module's name, as some classes of C code have."""

    __module__: Any = property(lambda _: "of C code")


def test_a_class_without_a_name_of_its_module_is_one_of_a_library() -> None:
    assert is_of_library(OfC())
