"""~, & and | in three values, how they read, and what may be lifted to a predicate."""

import re
from collections.abc import Awaitable, Callable, Hashable, Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import (
    Answer,
    Case,
    InvalidInput,
    Judgement,
    Verdict,
    cites,
    condition,
    contains,
    equals,
    is_valid,
    json_path,
    judged,
    same_answer,
)
from rag_rule_explainer.predicates import (
    AllOf,
    AnyOf,
    Contains,
    Not,
    Predicate,
    as_predicate,
    negated,
    negation_of,
    unwrapped,
)
from rag_rule_explainer.predicates.combine import both, either, opposite
from rag_rule_explainer.testing import OfflineJudge

HOLDS, BREAKS, UNKNOWN = Verdict.HOLDS, Verdict.BREAKS, Verdict.UNKNOWN
BY_RANK = (BREAKS, UNKNOWN, HOLDS)
"""Kleene's order: & is the least of its parts, | the greatest."""

CASE = Case("question?", Answer("baseline"), Answer("answer"), ())

Log = list[str]


@dataclass(frozen=True)
class Says:
    """Says always the same, at once, and logs that it was asked."""

    verdict: Verdict
    name: str = "it is so"
    key: Hashable | None = None
    log: Log = field(default_factory=Log, compare=False)

    def __call__(self, _case: Case) -> Judgement:
        self.log.append(self.name)
        return Judgement(self.verdict, f"because {self.name}")

    def memo_key(self, _case: Case) -> Hashable | None:
        return self.key

    def __str__(self) -> str:
        return self.name

    __and__, __or__, __invert__ = both, either, opposite


@dataclass(frozen=True)
class SaysLater:
    """The same, but has to be awaited."""

    verdict: Verdict
    name: str = "it is so"
    log: Log = field(default_factory=Log, compare=False)

    async def __call__(self, _case: Case) -> Judgement:
        await anyio.lowlevel.checkpoint()
        self.log.append(self.name)
        return Judgement(self.verdict)

    def memo_key(self, _case: Case) -> Hashable | None:
        return None

    __and__, __or__, __invert__ = both, either, opposite


def judgement(predicate: Predicate, case: Case = CASE) -> Judgement:
    async def awaited(judged: Awaitable[Judgement]) -> Judgement:
        return await judged

    judged = predicate(case)
    return judged if isinstance(judged, Judgement) else anyio.run(awaited, judged)


def verdict(predicate: Predicate) -> Verdict:
    return judgement(predicate).verdict


def least(verdicts: Iterable[Verdict]) -> Verdict:
    return min(verdicts, key=BY_RANK.index)


def greatest(verdicts: Iterable[Verdict]) -> Verdict:
    return max(verdicts, key=BY_RANK.index)


def turned(of: Verdict) -> Verdict:
    return BY_RANK[2 - BY_RANK.index(of)]


class TestTruthTables:
    def test_negation_turns_what_is_known_around(self) -> None:
        for each in Verdict:
            assert verdict(~Says(each)) is turned(each)
            assert verdict(Not(SaysLater(each))) is turned(each)

    @pytest.mark.parametrize("later", range(8))
    def test_and_is_the_least_of_its_parts_and_or_the_greatest(self, later: int) -> None:
        for verdicts in product(Verdict, repeat=3):
            parts = tuple(
                SaysLater(each) if later >> place & 1 else Says(each)
                for place, each in enumerate(verdicts)
            )
            assert verdict(AllOf(parts)) is least(verdicts)
            assert verdict(AnyOf(parts)) is greatest(verdicts)

    def test_the_operators_build_them(self) -> None:
        for first, second in product(Verdict, repeat=2):
            assert verdict(Says(first) & Says(second)) is least((first, second))
            assert verdict(Says(first) | Says(second)) is greatest((first, second))

    def test_de_morgan(self) -> None:
        for first, second in product(map(Says, Verdict), repeat=2):
            assert verdict(~(first & second)) is verdict(~first | ~second)
            assert verdict(~(first | second)) is verdict(~first & ~second)


class TestAsking:
    def asked(self, join: Callable[..., Predicate], *verdicts: Verdict) -> str:
        log: Log = []
        parts = [Says(each, name=name, log=log) for name, each in zip("abc", verdicts, strict=False)]
        judgement(join(tuple(parts)))
        return "".join(log)

    def test_the_rest_of_a_conjunction_is_not_asked_once_a_part_breaks(self) -> None:
        assert self.asked(AllOf, BREAKS, HOLDS, HOLDS) == "a"
        assert self.asked(AllOf, HOLDS, BREAKS, HOLDS) == "ab"

    def test_the_rest_of_a_disjunction_is_not_asked_once_a_part_holds(self) -> None:
        assert self.asked(AnyOf, HOLDS, BREAKS, BREAKS) == "a"
        assert self.asked(AnyOf, BREAKS, HOLDS, BREAKS) == "ab"

    def test_what_decides_nothing_lets_the_rest_be_asked(self) -> None:
        assert self.asked(AllOf, HOLDS, UNKNOWN, BREAKS) == "abc"
        assert self.asked(AnyOf, BREAKS, UNKNOWN, HOLDS) == "abc"

    def test_an_awaitable_part_is_not_even_called_once_it_is_decided(self) -> None:
        never = SaysLater(HOLDS)
        assert isinstance((Says(BREAKS) & never)(CASE), Judgement)
        assert isinstance((Says(HOLDS) | never)(CASE), Judgement)
        assert never.log == []

    def test_a_part_after_an_awaited_one_is_not_asked_once_it_is_decided(self) -> None:
        never = Says(HOLDS)
        assert verdict(SaysLater(BREAKS) & never) is BREAKS
        assert verdict(SaysLater(HOLDS) | never) is HOLDS
        assert never.log == []

    def test_the_deciding_part_gives_the_reason(self) -> None:
        decided = judgement(Says(HOLDS, "a") & Says(UNKNOWN, "b") & Says(BREAKS, "c"))
        assert decided == Judgement(BREAKS, "because c")

    def test_where_they_decide_together_all_give_their_reasons(self) -> None:
        decided = judgement(Says(HOLDS, "a") & (Says(HOLDS, "b") & Says(HOLDS, "a")))
        assert decided == Judgement(HOLDS, "because a; because b; because a")
        assert judgement(Says(BREAKS, "a") | Says(BREAKS, "a")) == Judgement(BREAKS, "because a")

    def test_an_unknown_part_gives_the_reason_where_nothing_decides(self) -> None:
        assert judgement(Says(BREAKS, "a") | Says(UNKNOWN, "b")) == Judgement(UNKNOWN, "because b")


A, B, C = (Says(HOLDS, name) for name in ("a", "b", "c"))


def _joined(part: st.SearchStrategy[Predicate]) -> st.SearchStrategy[Predicate]:
    return st.builds(both, part, part) | st.builds(either, part, part) | st.builds(negated, part)


PREDICATES = st.recursive(st.sampled_from((A, B, C)), _joined, max_leaves=8)


class TestClauses:
    @pytest.mark.parametrize(
        ("predicate", "clause", "opposite"),
        [
            (A & B & C, "a and b and c", "not (a) or not (b) or not (c)"),
            (A | B | C, "a or b or c", "not (a) and not (b) and not (c)"),
            (A & (B | C), "a and (b or c)", "not (a) or (not (b) and not (c))"),
            (A | (B & C), "a or (b and c)", "not (a) and (not (b) or not (c))"),
            (A & ~(B & C), "a and (not (b) or not (c))", "not (a) or (b and c)"),
            (A & ~(B | C), "a and not (b) and not (c)", "not (a) or b or c"),
            (A | ~(B | C), "a or (not (b) and not (c))", "not (a) and (b or c)"),
            (A | ~(B & C), "a or not (b) or not (c)", "not (a) and b and c"),
            (A & ~B, "a and not (b)", "not (a) or b"),
        ],
        ids=str,
    )
    def test_brackets_stand_where_the_joint_changes(
        self, predicate: Predicate, clause: str, opposite: str
    ) -> None:
        assert str(predicate) == clause
        assert negation_of(predicate) == opposite
        assert str(negated(predicate)) == opposite

    def test_parts_with_a_wording_for_their_negation_use_it(self) -> None:
        joined = contains("zinc") & ~same_answer()
        assert str(joined) == "the answer contains 'zinc' and the answer changes"
        assert str(~joined) == "the answer does not contain 'zinc' or the answer stays the same"

    def test_what_would_take_in_what_follows_stands_in_brackets(self) -> None:
        criterion = judged("names a drug", OfflineJudge(), judge_name="J")
        denied = "(it is not so that the answer names a drug (judged by J))"
        assert str(~criterion & contains("a")) == f"{denied} and the answer contains 'a'"
        assert str(~(criterion | contains("a"))) == f"{denied} and the answer does not contain 'a'"
        assert str(~criterion) == denied[1:-1]
        inside = json_path("$.dose", is_=contains("m"))
        told = "(at $.dose, the answer contains 'm') or the answer contains 'a'"
        assert str(inside | contains("a")) == told

    @given(PREDICATES)
    def test_what_a_clause_says_is_what_is_judged(self, predicate: Predicate) -> None:
        # Clauses of these predicates are Python expressions, and Python's "and" binds tighter than "or".
        for truths in product((False, True), repeat=3):
            world = dict(zip("abc", truths, strict=True))
            said = eval(str(predicate), {}, world)  # noqa: S307 -- of clauses made here
            judged = verdict(_in_world(predicate, world))
            assert judged is Verdict.of(said)


def _in_world(predicate: Predicate, world: dict[str, bool]) -> Predicate:
    match predicate:
        case Not(inner):
            return negated(_in_world(inner, world))
        case AllOf(parts):
            return AllOf(tuple(_in_world(part, world) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(_in_world(part, world) for part in parts))
        case _:
            return Says(Verdict.of(world[str(predicate)]))


class TestNegation:
    def test_two_negations_are_none(self) -> None:
        for predicate in (A, A & B, A | B, condition(is_short), contains("x")):
            assert negated(negated(predicate)) is predicate

    def test_unwrapping_gives_the_base_and_whether_it_was_negated(self) -> None:
        assert unwrapped(A) == (A, False)
        assert unwrapped(~A) == (A, True)
        assert unwrapped(~(A & B)) == (A & B, True)


class TestMemoKey:
    def test_a_negation_has_the_key_of_what_it_negates(self) -> None:
        assert (~Says(HOLDS, key="k")).memo_key(CASE) == "k"
        assert (~Says(HOLDS, key=None)).memo_key(CASE) is None

    @pytest.mark.parametrize("join", [AllOf, AnyOf])
    def test_a_joint_key_tells_every_part_apart(self, join: Callable[..., Predicate]) -> None:
        def key(first: Hashable | None, second: Hashable | None) -> Hashable | None:
            return join((Says(HOLDS, key=first), Says(HOLDS, key=second))).memo_key(CASE)

        assert key(1, 2) == key(1, 2)
        assert len({key(1, 2), key(1, 3), key(2, 1), key(2, 2)}) == 4

    @pytest.mark.parametrize("join", [AllOf, AnyOf])
    def test_a_part_that_is_never_remembered_keeps_the_whole_from_it(
        self, join: Callable[..., Predicate]
    ) -> None:
        forgotten = condition(is_short)
        assert join((contains("x"), forgotten)).memo_key(CASE) is None
        assert join((forgotten, contains("x"))).memo_key(CASE) is None
        assert join((contains("x"), ~forgotten)).memo_key(CASE) is None


def is_short(case: Case) -> bool:
    return len(case.answer.text) < 20


async def is_short_later(case: Case) -> bool:
    await anyio.lowlevel.checkpoint()
    return is_short(case)


class IsShort:
    def __call__(self, case: Case) -> bool:
        return is_short(case)


class IsShortLater:
    async def __call__(self, case: Case) -> bool:
        return await is_short_later(case)


class TestFunctions:
    @pytest.mark.parametrize("function", [is_short, is_short_later, IsShort(), IsShortLater()])
    def test_sync_and_async_ones_are_lifted(self, function: Callable[[Case], Any]) -> None:
        lifted = as_predicate(function)
        longer = Case("question?", Answer("baseline"), Answer("answer" * 9), ())
        assert judgement(lifted) == Judgement(HOLDS)
        assert judgement(lifted, longer) == Judgement(BREAKS)

    @pytest.mark.parametrize(
        ("outcome", "expected"),
        [
            (True, Judgement(HOLDS)),
            (False, Judgement(BREAKS)),
            (UNKNOWN, Judgement(UNKNOWN)),
            (Judgement(BREAKS, "because"), Judgement(BREAKS, "because")),
        ],
    )
    def test_they_may_answer_by_truth_verdict_or_judgement(
        self, outcome: bool | Verdict | Judgement, expected: Judgement
    ) -> None:
        assert judgement(as_predicate(lambda _: outcome)) == expected

    @pytest.mark.parametrize("outcome", [None, 1, "yes", (True,)])
    def test_any_other_outcome_is_refused(self, outcome: Any) -> None:
        told = re.escape(repr(outcome))
        with pytest.raises(InvalidInput, match=rf"^the predicate returned {told}.*; return True, False"):
            judgement(as_predicate(lambda _: outcome))

    @pytest.mark.waits
    def test_a_sync_one_does_not_hold_up_the_loop(self) -> None:
        async def judged() -> Judgement:
            rung = anyio.Event()

            def waits(_case: Case) -> bool:
                anyio.from_thread.run_sync(rung.set)
                anyio.from_thread.run(rung.wait)
                return True

            predicate = condition(waits)
            with anyio.fail_after(60):
                return await predicate(CASE)

        assert anyio.run(judged) == Judgement(HOLDS)

    def test_they_read_by_their_name_or_by_the_text_they_are_given(self) -> None:
        assert str(as_predicate(is_short)) == "is_short(case) is true"
        assert negation_of(as_predicate(is_short)) == "is_short(case) is false"
        assert str(as_predicate(lambda _: True)) == "the given function is true"
        assert str(as_predicate(IsShort())) == "IsShort(case) is true"
        assert str(condition(is_short, "the answer is short")) == "the answer is short"
        assert str(~condition(is_short, "the answer is short")) == "not (the answer is short)"

    def test_they_are_joined_with_predicates(self) -> None:
        assert judgement(contains("answer") & is_short) == Judgement(HOLDS)
        assert judgement(equals("x") | is_short_later) == Judgement(HOLDS)
        assert judgement(~(contains("answer") & is_short)).verdict is BREAKS

    def test_what_they_raise_is_raised(self) -> None:
        def fails(_case: Case) -> bool:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            judgement(as_predicate(fails))


class TestAsPredicate:
    def test_a_predicate_stays_itself(self) -> None:
        assert as_predicate(A) is A

    @pytest.mark.parametrize("given_", [None, 7, "calcium", ["calcium"]])
    def test_what_cannot_be_called_is_refused(self, given_: Any) -> None:
        with pytest.raises(InvalidInput, match="pass a predicate such as contains"):
            as_predicate(given_)
        with pytest.raises(InvalidInput, match="pass a predicate such as contains"):
            _ = contains("a") & given_

    def test_a_predicate_that_cannot_be_hashed_is_refused(self) -> None:
        @dataclass
        class Thawed:
            words: list[str]

            def __call__(self, _case: Case) -> Judgement:
                return Judgement(HOLDS)

            def memo_key(self, _case: Case) -> None:
                return None

        with pytest.raises(InvalidInput, match="Thawed cannot be hashed; make it a frozen dataclass"):
            as_predicate(Thawed(["a"]))


@pytest.mark.parametrize("given", [contains, same_answer, cites, judged, is_valid, condition, Contains])
def test_what_makes_predicates_is_none(given: Any) -> None:
    with pytest.raises(InvalidInput, match=f"the predicate is {given.__name__} itself.*call it"):
        as_predicate(given)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"function": "contains"}, "give a function of a Case"),
        ({"function": None}, "give a function of a Case"),
        ({"text": 5}, "the text of a condition is 5"),
        ({"remembered_as": " "}, "remembered_as is ' '"),
        ({"remembered_as": 5}, "remembered_as is 5"),
    ],
)
def test_conditions_that_could_not_be_judged_or_told(arguments: dict[str, Any], told: str) -> None:
    given: dict[str, Any] = {"function": bool, **arguments}
    with pytest.raises(InvalidInput, match=told):
        condition(**given)


@pytest.mark.parametrize("condition", [contains("a"), ~contains("a"), contains("a") & contains("b")])
def test_a_condition_is_neither_true_nor_false(condition: Predicate) -> None:
    with pytest.raises(InvalidInput, match=r"combine conditions with &, \| and ~"):
        _ = condition and contains("b")
    with pytest.raises(InvalidInput, match="not with and, or and not"):
        _ = condition or contains("b")
    with pytest.raises(InvalidInput, match="by itself"):
        _ = not condition
