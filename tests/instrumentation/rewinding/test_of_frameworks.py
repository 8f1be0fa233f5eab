"""The user's changes of a framework's object are put back; those of the framework itself are not."""

from collections.abc import Callable
from typing import Any

import pytest

from rag_rule_explainer.instrumentation.rewinding.rewinding import Rewinding


class Metaclass(type):
    pass


class Parent:
    def __init__(self) -> None:
        self.kept, self.quiet = "", ""

    def keep(self, text: str) -> None:
        self.kept = text

    def unasked(self, text: str) -> None:
        self.quiet = text

    @property
    def mode(self) -> str:
        return self.kept

    @mode.setter
    def mode(self, text: str) -> None:
        self.kept = text


class Selector(Parent, metaclass=Metaclass):
    pass


class Overriding(Selector):
    def keep(self, text: str) -> None:
        """It keeps nothing."""


for each in (Metaclass, Parent, Selector, Overriding):
    each.__module__ = "langchain_core.selecting"


def by_a_method(selector: Any) -> Callable[[str], None]:
    return lambda text: selector.keep(text)


def by_a_property(selector: Any) -> Callable[[str], None]:
    def set_it(text: str) -> None:
        selector.mode = text

    return set_it


def by_an_attribute(selector: Any) -> Callable[[str], None]:
    def set_it(text: str) -> None:
        selector.kept = text

    return set_it


@pytest.mark.parametrize("by", [by_a_method, by_a_property, by_an_attribute])
@pytest.mark.parametrize("kind", [Parent, Selector])
def test_what_the_users_code_asks_to_change_is_put_back(kind: type[Parent], by: Any) -> None:
    selector = kind()
    run = by(selector)
    kept = Rewinding(run, lambda _: False, tuple)
    run("a")
    assert kept.is_useful()
    with kept.earlier():
        assert selector.kept == ""
    assert selector.kept == "a"


def test_what_no_code_of_the_users_asks_for_is_left_alone() -> None:
    selector = Selector()
    kept = Rewinding(by_a_method(selector), lambda _: False, tuple)
    selector.unasked("a")
    assert not kept.is_useful()


def test_a_method_is_the_one_that_the_class_has_and_not_the_one_of_its_base() -> None:
    selector = Overriding()
    kept = Rewinding(by_a_method(selector), lambda _: False, tuple)
    selector.kept = "a"
    assert not kept.is_useful()
