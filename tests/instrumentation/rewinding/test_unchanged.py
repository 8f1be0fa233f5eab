"""These tests check that a snapshot finds each change in place, though it skips unchanged parts."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rag_rule_explainer.instrumentation.rewinding.snapshot import Snapshot


class Tagged(dict[str, Any]):
    pass


class Bot:
    def __init__(self) -> None:
        self.count, self.mode, self.flag = 1, "calm", 1
        self.list: list[Any] = ["one", ["two"], 1]
        self.dict: dict[Any, Any] = {"k": "v", "inner": {"x": 1}, ("t", 1): [7]}
        self.ordered = OrderedDict[str, int]({"a": 1, "b": 2})
        self.tagged = Tagged(a=[1])
        self.other = Other()


class Other:
    held = ("x",)


class Another(Other):
    pass


def anew(name: str) -> Callable[[Bot], Any]:
    return lambda bot: vars(bot).update({name: vars(bot).pop(name)})


CHANGES: dict[str, Callable[[Bot], Any]] = {
    "nothing": lambda bot: None,
    "a number": lambda bot: setattr(bot, "count", 2),
    "True for 1": lambda bot: setattr(bot, "flag", True),
    "an equal text": lambda bot: setattr(bot, "mode", "".join(["ca", "lm"])),
    "a new attribute": lambda bot: setattr(bot, "seen", []),
    "an attribute less": lambda bot: delattr(bot, "count"),
    "an attribute for another": lambda bot: (delattr(bot, "count"), setattr(bot, "number", 1)),
    "an order of attributes": anew("count"),
    "a member": lambda bot: bot.list.append("more"),
    "a member in place of another": lambda bot: bot.list.__setitem__(0, "two"),
    "a member of a member": lambda bot: bot.list[1].append("deep"),
    "an order of members": lambda bot: bot.list.reverse(),
    "True for 1 in a list": lambda bot: bot.list.__setitem__(2, True),
    "an entry": lambda bot: bot.dict.update(new=1),
    "a value": lambda bot: bot.dict.update(k="w"),
    "another key": lambda bot: bot.dict.update(j=bot.dict.pop("k")),
    "an order of entries": lambda bot: bot.dict.update(k=bot.dict.pop("k")),
    "a value in a value": lambda bot: bot.dict["inner"].update(x=2),
    "an equal key": lambda bot: bot.dict.update({("t", 1): bot.dict.pop(("t", 1))}),
    "an order of an OrderedDict": lambda bot: bot.ordered.move_to_end("a"),
    "an entry of a subclass": lambda bot: bot.tagged.update(b=1),
    "an attribute of a subclass": lambda bot: setattr(bot.tagged, "mode", "loud"),
    "a class": lambda bot: setattr(bot.other, "__class__", Another),
}


HARMLESS = {"nothing", "an equal text", "an equal key", "an order of attributes"}
"""These changes mean nothing to code. Python itself changes the order of attributes."""


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_found_as_if_all_was_read_again(name: str) -> None:
    bot = Bot()
    kept = Snapshot([bot]).kept
    CHANGES[name](bot)
    found = [each.changed() for each in kept]
    whole = [replace(each, part=replace(each.part, is_unchanged=None)) for each in kept]
    assert found == [each.changed() for each in whole]
    assert any(found) is (name not in HARMLESS)
    assert sum(each.part.is_unchanged is not None for each in kept) > len(kept) / 3
