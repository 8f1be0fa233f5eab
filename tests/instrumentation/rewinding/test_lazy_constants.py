"""Attributes that a class computes once, of nothing that a run gave: no memory of one."""

from threading import Lock
from typing import Any

import pytest

from rag_rule_explainer.instrumentation.rewinding.lazy_constants import is_lazy_constant, is_made_once


def computed() -> str:
    return "Linux"


class Client:
    """A client as a library has it."""

    def __init__(self) -> None:
        self.platform = self.awaited = self.flag = self.last = self.own = self.always = None
        self.platform: Any
        self.awaited: Any

    def ask(self, question: str) -> None:
        if self.platform is None:
            self.platform = computed()
        if self.flag is None:
            self.flag = True
        if self.last is None:
            self.last = str(question)
        if self.own is None:
            self.own = self.made()
        self.always = computed()

    async def aask(self) -> None:
        if not self.awaited:
            self.awaited = await self.acomputed()()

    @staticmethod
    def acomputed() -> Any:
        async def compute() -> str:
            return computed()

        return compute

    def made(self) -> str:
        return "own"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(("platform", True), ("flag", False), ("last", False), ("own", False), ("always", False)),
        *(("awaited", False), ("missing", False)),
    ],
)
def test_a_lazy_constant_is_made_of_nothing(name: str, expected: bool) -> None:
    assert is_lazy_constant(Client, name) is expected


def test_only_what_was_missing_is_made_once() -> None:
    client = Client()
    for was, now, is_librarys, expected in (
        (None, "Linux", True, True),
        (None, "Linux", False, False),
        ("Windows", "Linux", True, False),
        (None, Lock(), False, True),
    ):
        assert is_made_once(client, "platform", was, now, is_librarys=is_librarys) is expected
