"""What the agents of the zoo do, whatever they are built with, and their rules by trying every subset."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

from rag_rule_explainer import ToolCall
from tests.integrations.known import TEXTS, Rules

Way = Literal["whole_run", "next_action"]
WAYS: tuple[Way, ...] = ("whole_run", "next_action")
DONE = "All of it is done."
SEARCH, LOOK, PAY = (
    ToolCall("search_inbox", {"of": "today"}),
    ToolCall("calendar"),
    ToolCall("pay", {"to": "evil"}),
)


@dataclass(frozen=True)
class Step:
    """Calls that a model makes in one reply, if it is shown all facts of one of ``needs``."""

    calls: tuple[ToolCall, ...]
    needs: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class Script:
    """What a model does: the first step of which it has made no call, or nothing more if it is not shown
    what this step needs. ``quotes``: its last words have all facts that it is
    shown."""

    steps: tuple[Step, ...]
    quotes: bool = False

    def next(self, shown: Collection[str], made: Collection[str]) -> tuple[ToolCall, ...]:
        """The calls of its next reply. ``shown``: the facts; ``made``: the names of the calls so far."""
        for step in self.steps:
            if not any(each.name in made for each in step.calls):
                return step.calls if any(set(need) <= set(shown) for need in step.needs) else ()
        return ()

    def says(self, shown: Collection[str]) -> str:
        """Its last words."""
        return "\n".join([DONE, *(TEXTS[each] for each in sorted(shown) if self.quotes)])


ONE_BY_ONE = Script((Step((SEARCH,)), Step((LOOK,)), Step((PAY,), ("bd",))))
AT_ONCE = Script((Step((SEARCH, LOOK)), Step((PAY,), ("bd",))))
LED_ON = Script((Step((SEARCH,)), Step((LOOK,), ("b",)), Step((PAY,), ("d",))))
"""The second result is only asked for because of the first."""


@dataclass(frozen=True)
class World:
    """The facts of each source, by its id: those in the first prompt, and those in what tools return."""

    results: Mapping[str, Mapping[str, str]]
    prompt: Mapping[str, str] = field(default_factory=dict[str, str])

    def run(self, script: Script, kept: Collection[str], wanted: str = "") -> tuple[set[str], bool]:
        """The sources that a run on these gets to see, and whether it makes the call ``wanted``."""
        made, seen = list[str](), set(self.prompt) & set(kept)
        while calls := script.next(self.facts(seen), made):
            for each in calls:
                made.append(each.name)
                seen |= set(self.results.get(each.name, {})) & set(kept)
            if wanted and wanted in made:
                return seen, True
        return seen, False

    @property
    def ids(self) -> list[str]:
        return [*self.prompt, *(each for result in self.results.values() for each in result)]

    def facts(self, ids: Collection[str]) -> str:
        known = {**self.prompt, **{k: v for result in self.results.values() for k, v in result.items()}}
        return "".join(known[each] for each in ids)

    def rules(self, script: Script, wanted: str, way: Way) -> tuple[Rules, Rules]:
        """The minimal retention and omission rules of the agent calling the tool ``wanted``."""
        if way == "whole_run":
            return _minimal(self.ids, lambda kept: self.run(script, kept, wanted)[1])
        made, before = list[str](), set(self.prompt)
        while not any(each.name == wanted for each in script.next(self.facts(before), made)):
            for each in script.next(self.facts(before), made):
                made.append(each.name)
                before |= set(self.results.get(each.name, {}))
        return _minimal(
            sorted(before),
            lambda kept: any(each.name == wanted for each in script.next(self.facts(kept), made)),
        )


def _minimal(ids: Collection[str], holds: Callable[[frozenset[str]], bool]) -> tuple[Rules, Rules]:
    subsets = [frozenset(each) for size in range(len(ids) + 1) for each in combinations(ids, size)]
    known = {each: holds(each) for each in subsets}
    retained = [each for each in subsets if all(known[more] for more in subsets if each <= more)]
    omitted = [each for each in subsets if not any(known[more] for more in subsets if not each & more)]
    return _smallest(retained), _smallest(omitted)


def _smallest(sets: Collection[frozenset[str]]) -> Rules:
    return {each for each in sets if not any(other < each for other in sets)}
