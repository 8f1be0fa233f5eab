"""Rules of a scripted agent by trying everything: which parts of what its tools returned make it act."""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from rag_rule_explainer import ToolCall
from tests.agents.gullible import Script, key_of, words_of

_MOST = 8
"""With so many parts, all subsets are tried; with more, those of the parts that hold any of the texts
that the agent looks for, and random subsets of the others."""
_DRAWN = 100


class TooMany(Exception):
    """So many parts have texts that matter that their subsets cannot be tried."""


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


def converse(script: Script, run: Callable[[ToolCall], Any]) -> list[Turn]:
    """The turns of a run: each call, made by ``run``, and what it returned."""
    turns = list[Turn]()
    while True:
        texts = [each.text for each in parts_of_turns(turns)]
        action = script.next_call([each.call for each in turns], texts)
        if isinstance(action, str):
            return turns
        turns.append(Turn(action, run(action)))


def next_action(script: Script, turns: Sequence[Turn], kept: Collection[Part]) -> ToolCall | str:
    """Returns what the agent does next if only these parts of all results are there."""
    return script.next_call([each.call for each in turns], [each.text for each in kept])


def makes(script: Script, turns: Sequence[Turn], kept: Collection[Part], wanted: ToolCall) -> bool:
    """Whether a whole run makes the call where of all results these parts are there."""
    made, texts = list[ToolCall](), list[str]()
    keys = [key_of(each.call) for each in turns]
    while True:
        action = script.next_call(made, texts)
        if isinstance(action, str):
            return False
        if key_of(action) == key_of(wanted):
            return True
        same = [place for place, key in enumerate(keys) if key == key_of(action)]
        turn = same[[key_of(each) for each in made].count(key_of(action))]
        texts += [each.text for each in kept if each.turn == turn]
        made.append(action)


def rules_of_next_action(script: Script, turns: Sequence[Turn], wanted: ToolCall) -> Tried:
    """The rules of ``wanted`` being the agent's next action, given these turns."""

    def acts(kept: Collection[Part]) -> bool:
        action = next_action(script, turns, kept)
        return isinstance(action, ToolCall) and key_of(action) == key_of(wanted)

    return _tried(list(parts_of_turns(turns)), script.looked_for([each.call for each in turns]), acts)


def rules_of_run(script: Script, turns: Sequence[Turn], wanted: ToolCall) -> Tried:
    """The rules of a whole run making the call ``wanted``. ``turns``: all of its turns."""
    looked_for = set(script.looked_for(())).union(*script.taken)
    parts = list(parts_of_turns(turns))
    return _tried(parts, looked_for, lambda kept: makes(script, turns, kept, wanted))


def named_without_one(script: Script, turns: Sequence[Turn], wanted: ToolCall) -> set[str]:
    """The parts that leaving out one at a time names: without which the next action is another one."""
    parts = list(parts_of_turns(turns))
    found = set[str]()
    for part in parts:
        action = next_action(script, turns, [each for each in parts if each != part])
        if isinstance(action, str) or key_of(action) != key_of(wanted):
            found.add(part.name)
    return found


def _tried(
    parts: Sequence[Part], looked_for: Collection[str], acts: Callable[[Collection[Part]], bool]
) -> Tried:
    told = [each for each in parts if any(text in words_of(each.text) for text in looked_for)]
    free = parts if len(parts) <= _MOST else told
    if len(free) > 2 * _MOST:
        raise TooMany(len(free))
    others = [each for each in parts if each not in free]
    names = [each.name for each in free]

    def holds(mask: int, some: Collection[Part]) -> bool:
        chosen = {each for place, each in enumerate(free) if mask >> place & 1}.union(some)
        return acts([each for each in parts if each in chosen])

    table = [holds(mask, others) for mask in range(1 << len(free))]
    draw = Random(0)
    for _ in range(_DRAWN if others else 0):
        mask = draw.getrandbits(len(free)) if free else 0
        some = [each for each in others if draw.random() < 0.5]
        assert holds(mask, some) == table[mask], "parts that should not matter do"
    everything = (1 << len(free)) - 1
    absent = [not table[everything & ~mask] for mask in range(1 << len(free))]
    return Tried(_minimal(table, names), _minimal(absent, names))


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
