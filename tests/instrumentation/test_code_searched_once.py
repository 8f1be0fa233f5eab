"""Code is searched in fewer steps than before, with the results that the plain search has."""

import argparse
import dis
import json
import random
import textwrap
from collections import UserDict, deque
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakSet, proxy

import pytest

from rag_rule_explainer.instrumentation.rewinding.owners import Node
from rag_rule_explainer.instrumentation.shared_state.instructions import instructions_of
from rag_rule_explainer.instrumentation.shared_state.mentions import Mentions
from rag_rule_explainer.instrumentation.shared_state.name_reads import is_in_texts, reads

MODULES = (argparse, json, random, textwrap)


class Seen:
    turn = 0

    def reads_it(self) -> int:
        return self.turn if self.turn else len(self.kept)

    def only_adds(self) -> None:
        self.turn += 1

    def shows_it(self) -> str:
        template = "{self.hidden} and {other.inside}"
        return f"{self.turn}" + template.format(self=self, other=self)

    def __init__(self) -> None:
        self.kept, self.hidden, self.inside = [0], 1, 2
        self.limit = 3
        if self.turn > self.limit:
            raise ValueError

    def by_text(self) -> object:
        return getattr(self, "kept", None)

    def by_variable(self) -> Any:
        enclosed = self.hidden
        return lambda: enclosed


def functions() -> Iterator[CodeType]:
    for module in MODULES:
        yield from (each.__code__ for each in vars(module).values() if isinstance(each, FunctionType))
    for kind in (Seen, random.Random, argparse.ArgumentParser):
        yield from (each.__code__ for each in vars(kind).values() if isinstance(each, FunctionType))


CODES = tuple(functions())
NAMES = frozenset(
    name for code in CODES for name in (*code.co_names, *code.co_varnames, *code.co_freevars)
)
OWN = ("turn", "kept", "hidden", "inside", "limit", "enclosed", "len(kept)", "", "no_such_name")


@pytest.mark.parametrize("keywords", [{"as_attribute": True}, {"in_texts": True}, {"as_limit": True}, {}])
def test_names_are_read_where_any_of_the_code_reads_them(keywords: dict[str, bool]) -> None:
    few = [code for code in CODES if code.co_filename == __file__]
    for codes in (few, CODES):
        mentions = Mentions(codes)
        for name in (*OWN, *sorted(NAMES)[::12]):
            plainly = any(reads(code, name, **keywords) or is_in_texts(code, name) for code in codes)
            assert mentions.is_read(name, **keywords) == plainly, name


def test_the_application_itself_has_names_that_are_read_and_names_that_are_not() -> None:
    codes = [each.__code__ for each in vars(Seen).values() if isinstance(each, FunctionType)]
    answers = {name: Mentions(codes).is_read(name) for name in OWN[:5]}
    assert answers == {"turn": True, "kept": True, "hidden": True, "inside": True, "limit": False}


@pytest.mark.parametrize("names", [("STORE_ATTR", "DELETE_ATTR"), ("STORE_GLOBAL",), ("RETURN_VALUE",)])
def test_instructions_are_those_that_disassembling_all_code_finds(names: tuple[str, ...]) -> None:
    many = dict.fromkeys(names, 0)
    for code in CODES:
        found = [(each.opname, each.offset) for each in instructions_of(code, *names)]
        assert found == [
            (each.opname, each.offset) for each in dis.get_instructions(code) if each.opname in names
        ]
        for name, _ in found:
            many[name] += 1
    assert sum(many.values()) or names == ("STORE_GLOBAL",)


class Pretending:
    """An object whose ``__class__`` is a dict's, as that of a proxy for a dict is."""

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride] -- nobody sets it
        return dict


class Unreadable:
    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride] -- nobody sets it
        raise AttributeError


class Mine(UserDict[str, int]):
    pass


@pytest.mark.parametrize(
    ("thing", "is_one"),
    [
        *(({}, True), ([], True), ((), True), (deque[int](), True), (WeakSet[Any](), True)),
        *((Mine(), True), (Pretending(), True), (Unreadable(), False), (Seen(), False), ("text", False)),
        *((json.dumps, True), (len, False), (Seen, False), (None, False)),
    ],
    ids=lambda value: value if isinstance(value, bool) else type(value).__name__,
)
def test_messages_pass_by_collections_and_wrappers(thing: object, is_one: bool) -> None:
    assert Node(thing).is_passed_by is is_one


def test_messages_pass_by_a_proxy_of_a_collection() -> None:
    whole = Mine()
    assert Node(proxy(whole)).is_passed_by
