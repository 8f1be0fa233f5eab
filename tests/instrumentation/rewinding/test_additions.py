"""What runs add to modules that are not the user's is put back for a while, where code reads it."""

import importlib
import string
import sys
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import langchain_core
import pytest

from rag_rule_explainer.instrumentation.rewinding.rewinding import Rewinding

NAME = "first_source"


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    for each in (string, sys, langchain_core, threading.main_thread()):
        for name in (NAME, "_lazy"):
            vars(each).pop(name, None)


def in_the_standard_library(first: str) -> str:
    return string.__dict__.setdefault("first_source", first)


def as_an_attribute(first: str) -> str:
    module: Any = string
    module.first_source = getattr(string, "first_source", first)
    return module.first_source


def on_the_interpreter(first: str) -> str:
    module: Any = sys
    if not hasattr(module, "first_source"):
        module.first_source = first
    return module.first_source


def in_a_framework(first: str) -> str:
    import langchain_core

    return langchain_core.__dict__.setdefault("first_source", first)


def by_a_text(first: str) -> str:
    return importlib.import_module("string").__dict__.setdefault("first_source", first)


def on_the_main_thread(first: str) -> str:
    return threading.main_thread().__dict__.setdefault("first_source", first)


KEEPING = [
    in_the_standard_library,
    as_an_attribute,
    on_the_interpreter,
    in_a_framework,
    by_a_text,
    on_the_main_thread,
]


@pytest.mark.parametrize("keep", KEEPING)
def test_what_a_run_adds_is_away_for_a_while(keep: Callable[[str], str]) -> None:
    kept = Rewinding(keep, lambda _: False, tuple)
    assert keep("a") == keep("b") == "a"
    assert kept.is_useful()
    with kept.earlier():
        assert keep("b") == "b"
    assert keep("c") == "a"


def test_what_stays_there_is_remembered_by_a_later_explanation() -> None:
    earlier = Rewinding(as_an_attribute, lambda _: False, tuple)
    as_an_attribute("a")
    earlier.remember("", None)
    later = Rewinding(as_an_attribute, lambda _: False, tuple)
    left = later.left()
    assert left is not None
    assert left.place == f"string.{NAME}"
    del string.first_source  # pyright: ignore[reportAttributeAccessIssue] -- what the run has added
    assert Rewinding(as_an_attribute, lambda _: False, tuple).left() is None


@pytest.mark.parametrize("added", [ModuleType("_lazy"), threading.Lock(), str.upper, threading.Thread])
def test_what_libraries_add_to_themselves_is_left_alone(added: Any) -> None:
    # Here code reads the whole module; so every name in it may matter.
    kept = Rewinding(in_the_standard_library, lambda _: False, tuple)
    string.__dict__["_lazy"] = added
    assert not kept.is_useful()


def test_a_name_that_no_code_reads_is_left_alone() -> None:
    kept = Rewinding(lambda: string.capwords("a b"), lambda _: False, tuple)
    string.__dict__["_lazy"] = "a text"
    assert not kept.is_useful()
