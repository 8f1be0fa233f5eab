"""Rules of a scripted agent by trying everything: which parts of what its tools returned make it act."""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from rag_rule_explainer import ToolCall
from tests.agents.gullible import Script, key_of, words_of

_MOST = 8
"""With so many parts, all subsets are tried; with more, those of the parts that hold any of the texts
that the agent looks for, and random subsets of the others."""
_DRAWN = 100


@dataclass(frozen=True)
class Part:
    """A result of a tool, or an item of one that is a list. ``turn``: the number of the call."""

    name: str
    turn: int
    text: str


@dataclass(frozen=True)
class Turn:
    """A call that was made, and what it returned, as JSON data."""

    call: ToolCall
    result: Any


@dataclass(frozen=True)
class Tried:
    """The minimal sets of parts: whenever all of one are there, the agent makes the call (``retention``);
    whenever none of one is there, it does not (``omission``)."""

    retention: frozenset[frozenset[str]]
    omission: frozenset[frozenset[str]]

    @property
    def named(self) -> frozenset[str]:
        return frozenset().union(*self.retention, *self.omission)


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def parts_of_turns(turns: Sequence[Turn]) -> Iterator[Part]:
    """The parts, with the names that people read: the tool, the number of its call, the item."""
    for place, turn in enumerate(turns):
        number = sum(each.call.name == turn.call.name for each in turns[: place + 1])
        name = f"{turn.call.name} #{number}"
        if not isinstance(turn.result, list):
            yield Part(name, place, text_of(turn.result))
            continue
        for item, each in enumerate(turn.result, start=1):
            yield Part(f"{name}, item {item}", place, text_of(each))


def next_action(script: Script, turns: Sequence[Turn], kept: Collection[Part]) -> ToolCall | str:
    """What the agent does next where of all results these parts are there."""
    return script.next_call([each.call for each in turns], [each.text for each in kept])


def tried(script: Script, turns: Sequence[Turn], wanted: ToolCall) -> Tried:
    """The rules of ``wanted`` being the agent's next action, given these turns."""
    parts = list(parts_of_turns(turns))
    looked_for = script.looked_for([each.call for each in turns])
    told = [each for each in parts if any(text in words_of(each.text) for text in looked_for)]
    free = parts if len(parts) <= _MOST else told
    assert len(free) <= 2 * _MOST

    def acts(kept: Collection[Part]) -> bool:
        action = next_action(script, turns, sorted(kept, key=parts.index))
        return isinstance(action, ToolCall) and key_of(action) == key_of(wanted)

    others = [each for each in parts if each not in free]
    names = [each.name for each in free]
    table = [acts([*_chosen(free, mask), *others]) for mask in range(1 << len(free))]
    draw = Random(0)
    for _ in range(_DRAWN if others else 0):
        mask = draw.getrandbits(len(free)) if free else 0
        some = [each for each in others if draw.random() < 0.5]
        assert acts([*_chosen(free, mask), *some]) == table[mask], "parts that should not matter do"
    everything = (1 << len(free)) - 1
    absent = [not table[everything & ~mask] for mask in range(1 << len(free))]
    return Tried(_minimal(table, names), _minimal(absent, names))


def _chosen(parts: Sequence[Part], mask: int) -> list[Part]:
    return [each for place, each in enumerate(parts) if mask >> place & 1]


def _minimal(holds: Sequence[bool], names: Sequence[str]) -> frozenset[frozenset[str]]:
    """The smallest sets of which every superset holds."""
    always = list(holds)
    bits = [1 << place for place in range(len(names))]
    for mask in reversed(range(len(always))):
        always[mask] = always[mask] and all(always[mask | bit] for bit in bits if not mask & bit)
    return frozenset(
        frozenset(name for name, bit in zip(names, bits, strict=True) if mask & bit)
        for mask in range(len(always))
        if always[mask] and not any(always[mask ^ bit] for bit in bits if mask & bit)
    )
