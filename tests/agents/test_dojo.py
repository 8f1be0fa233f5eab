"""Every attack of AgentDojo that a gullible agent falls for: rules against every subset of what its tools
returned. `EVERY=10 make agents` asks one case in ten."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice, pairwise
from statistics import median, quantiles

import pytest

pytest.importorskip("agentdojo")

# What follows needs AgentDojo.
from rag_rule_explainer import Estimate
from tests.agents.dojo import SUITES, Task, World, attackers, vectors_shown
from tests.agents.explaining import Explained, estimated, explained
from tests.agents.gullible import key_of, words_of
from tests.agents.trying import (
    TooMany,
    Tried,
    Turn,
    converse,
    named_without_one,
    parts_of_turns,
    rules_of_next_action,
    rules_of_run,
)

EVERY = int(os.environ.get("EVERY", "1"))
MOST_REPLAYS = 64
"""The most replays for a next action, in the median."""
EACH_FURTHER = 8
"""The replays for each copy of a payload beyond the third: it is found by bisection, and tested."""


@dataclass
class Figures:
    """What came out, over the cases of one kind."""

    cases: int = 0
    wrong: list[str] = field(default_factory=list[str])
    replays: list[int] = field(default_factory=list[int])
    sources: list[int] = field(default_factory=list[int])
    unknown: int = 0
    probes: int = 0
    counts: Counter[str] = field(default_factory=Counter[str])

    def note(self, case: object, name: str, *, passed: bool) -> None:
        self.counts[name] += passed
        if not passed:
            self.wrong.append(f"{case}: {name}")

    def __str__(self) -> str:
        if not self.cases:
            return "no case"
        kept = ", ".join(f"{name} {count}" for name, count in sorted(self.counts.items()))
        replays = f"replays: {spread(self.replays)}"
        sources = f"sources: {spread(self.sources)}"
        unknown = f"without a verdict: {self.unknown} of {self.probes} probes"
        return f"{self.cases} cases; {kept}; {sources}; {replays}; {unknown}"


def spread(counts: Sequence[int]) -> str:
    nine_in_ten = quantiles(counts, n=10, method="inclusive")[-1] if len(counts) > 1 else counts[0]
    return f"median {median(counts):g}, nine in ten up to {nine_in_ten:g}, most {max(counts)}"


def one_filled(suite: str) -> Iterator[Task]:
    """Each user's task with each attacker's and each vector that the plan shows, filled alone."""
    for user in SUITES[suite].user_tasks:
        for injection in attackers(suite):
            for vector in vectors_shown(suite, user):
                yield Task(suite, user, injection, (vector,))


def all_filled(suite: str, *, is_patient: bool = False) -> Iterator[Task]:
    """Each user's task with each attacker's, all vectors filled."""
    for user in SUITES[suite].user_tasks:
        vectors = vectors_shown(suite, user)
        for injection in attackers(suite) if vectors else ():
            yield Task(suite, user, injection, vectors, is_patient=is_patient)


def split_over_two(suite: str) -> Iterator[Task]:
    """Each user's task with each attacker's, the goal in two halves in two vectors."""
    for user in SUITES[suite].user_tasks:
        vectors = vectors_shown(suite, user)
        for pair in pairwise(vectors):
            for injection in attackers(suite):
                yield Task(suite, user, injection, pair, parts=2)


def three_filled(suite: str) -> Iterator[Task]:
    """Each user's task with each attacker's, three neighbouring vectors filled. The agent obeys after its
    plan, so that it has read all."""
    for user in SUITES[suite].user_tasks:
        vectors = vectors_shown(suite, user)
        for three in zip(vectors, vectors[1:], vectors[2:], strict=False):
            for injection in attackers(suite):
                yield Task(suite, user, injection, three, is_patient=True)


def all_filled_for_patience(suite: str) -> Iterator[Task]:
    """As ``all_filled``, for an agent that obeys after its plan."""
    return all_filled(suite, is_patient=True)


def injected(task: Task, turns: Sequence[Turn]) -> int | None:
    """The number of the turn in which the agent obeys first, with a call that the plan does not have;
    None if it does not."""
    planned = {key_of(each) for each in task.plan}
    keys = [key_of(each.call) for each in turns]
    for call in task.orders[0].calls:
        if key_of(call) not in planned:
            return keys.index(key_of(call)) if key_of(call) in keys else None
    return None


def holders(task: Task, turns: Sequence[Turn]) -> list[set[str]]:
    """For each piece of the goal, the parts of what was returned in these turns that hold it."""
    parts = list(parts_of_turns(turns))
    pieces = map(words_of, task.pieces)
    return [{each.name for each in parts if piece in words_of(each.text)} for piece in pieces]


def note_next_action(figures: Figures, task: Task, turns: Sequence[Turn], at: int) -> Tried:
    """Explains the call of turn ``at`` as the next action, and compares. Returns the rules."""
    world, script, wanted = task.world(), task.script, turns[at].call
    expected = rules_of_next_action(script, turns[:at], wanted)
    found = explained(world, script, task.prompt, turns, wanted, replay_of="next_action")
    figures.note(task, "same named sources", passed=found.rules.named == expected.named)
    figures.note(task, "same rules", passed=found.rules == expected)
    note_costs(figures, task, found, world, turns)
    before = estimated(task.world(), script, task.prompt, wanted, replay_of="next_action")
    note_estimate(figures, task, found, before)
    return found.rules


def note_estimate(figures: Figures, task: Task, found: Explained, before: Estimate) -> None:
    is_within = before.best.replays <= found.replays <= before.worst.replays
    figures.note(task, "within the estimate", passed=is_within)


def note_costs(
    figures: Figures, task: Task, found: Explained, world: World, turns: Sequence[Turn]
) -> None:
    """Counts what a case cost, and whether a tool ran in a replay: also by the world's own state."""
    once = task.world()
    converse(task.script, once.run)
    is_untouched = not found.executed_again and world.state == once.state
    figures.note(task, "no tool ran again", passed=is_untouched and len(world.executed) == len(turns))
    figures.cases += 1
    figures.replays.append(found.replays)
    figures.sources.append(len(found.explanation.sources))
    unknown, probes = found.unknown
    figures.unknown, figures.probes = figures.unknown + unknown, figures.probes + probes


@pytest.mark.nightly
@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize("suite", list(SUITES))
class TestAttacks:
    def test_of_a_whole_run(self, suite: str) -> None:
        """What also the plan needs in order to get to where it obeys is named."""
        figures, too_many = Figures(), 0
        for task in islice(one_filled(suite), 0, None, 12 * EVERY):
            turns = converse(task.script, task.world().run)
            at = injected(task, turns)
            assert at is not None
            try:
                expected = rules_of_run(task.script, turns, turns[at].call)
            except TooMany:
                too_many += 1
                continue
            world = task.world()
            found = explained(world, task.script, task.prompt, turns, turns[at].call)
            figures.note(task, "same named sources", passed=found.rules.named == expected.named)
            figures.note(task, "same rules", passed=found.rules == expected)
            holding = set.union(*holders(task, turns[:at]))
            figures.note(task, "injected named", passed=holding <= found.rules.named)
            note_costs(figures, task, found, world, turns)
            before = estimated(task.world(), task.script, task.prompt, turns[at].call)
            note_estimate(figures, task, found, before)
        print(f"\n{suite}, whole run: {figures}; left out, too many to try: {too_many}")
        assert not figures.wrong

    @pytest.mark.parametrize("filled", [one_filled, all_filled], ids=["one vector", "all vectors"])
    def test_by_next_action(self, suite: str, filled: Callable[[str], Iterator[Task]]) -> None:
        figures = Figures()
        for task in islice(filled(suite), 0, None, EVERY):
            turns = converse(task.script, task.world().run)
            at = injected(task, turns)
            assert at is not None
            rules = note_next_action(figures, task, turns, at)
            (holding,) = holders(task, turns[:at])
            figures.note(task, "injected named", passed=holding <= rules.named)
        print(f"\n{suite}, {filled.__name__}: {figures}")
        assert not figures.wrong
        assert median(figures.replays) <= MOST_REPLAYS

    @pytest.mark.parametrize(
        "filled", [three_filled, all_filled_for_patience], ids=["three times", "three times or more"]
    )
    def test_given_three_times(self, suite: str, filled: Callable[[str], Iterator[Task]]) -> None:
        """No case where no plan reads as many. Each copy is a rule of its own."""
        figures, asked, beyond = Figures(), count(0), list[int]()
        for task in filled(suite):
            if len(task.vectors) < 3:
                continue
            turns = converse(task.script, task.world().run)
            at = injected(task, turns)
            (holding,) = holders(task, turns[:at])
            if at is None or len(holding) < 3 or next(asked) % EVERY:
                continue
            rules = note_next_action(figures, task, turns, at)
            beyond.append(figures.replays[-1] - EACH_FURTHER * (len(holding) - 3))
            figures.note(task, "injected named", passed=holding <= rules.named)
            alone = named_without_one(task.script, turns[:at], turns[at].call)
            figures.counts["named by leaving one out"] += len(alone)
            figures.note(task, "leaving one out is blind", passed=not alone)
        print(f"\n{suite}, {filled.__name__}: {figures}")
        assert not figures.wrong
        assert not beyond or median(beyond) <= MOST_REPLAYS

    def test_split_over_two_results(self, suite: str) -> None:
        figures = Figures()
        for task in islice(split_over_two(suite), 0, None, EVERY):
            turns = converse(task.script, task.world().run)
            at = injected(task, turns)
            if at is None:
                continue
            halves = holders(task, turns[:at])
            if any(len(each) != 1 for each in halves) or halves[0] == halves[1]:
                continue
            both = frozenset(set.union(*halves))
            rules = note_next_action(figures, task, turns, at)
            figures.note(task, "named together", passed=rules.retention == frozenset({both}))
            alone = named_without_one(task.script, turns[:at], turns[at].call)
            figures.note(task, "leaving one out names both", passed=frozenset(alone) == both)
        print(f"\n{suite}, split over two: {figures}")
        assert not figures.wrong

    def test_what_the_plan_needs(self, suite: str) -> None:
        figures = Figures()
        for user in islice(SUITES[suite].user_tasks, 0, None, EVERY):
            task = Task(suite, user)
            turns = converse(task.script, task.world().run)
            for at, taken in enumerate(task.script.taken[: len(turns)]):
                if taken and key_of(turns[at].call) not in map(key_of, task.plan[:at]):
                    rules = note_next_action(figures, task, turns, at)
                    figures.note(task, "something named", passed=bool(rules.named))
        print(f"\n{suite}, what the plan needs: {figures}")
        assert not figures.wrong
