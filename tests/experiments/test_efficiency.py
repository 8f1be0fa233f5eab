"""What miners cost, measured: on a model that never errs, and on some that do."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path

import pytest

from rag_rule_explainer import InvalidInput, Limits, Settings, Source, Store
from rag_rule_explainer.errors import BaselineFailed
from rag_rule_explainer.experiments import synthetic
from rag_rule_explainer.experiments.efficiency import (
    EfficiencyOutcome,
    EfficiencyPlan,
    EfficiencyRow,
    measure_efficiency,
)
from rag_rule_explainer.experiments.models import Examined
from rag_rule_explainer.experiments.subsets import SubsetAsking
from rag_rule_explainer.experiments.walking import WalkedMiner
from rag_rule_explainer.probing.limiter import Limiter
from rag_rule_explainer.storing.opened import close_all
from tests.drawing import examples
from tests.experiments.records import example

Says = Callable[[frozenset[str]], str]
RETENTION, OMISSION, DUAL = WalkedMiner.MONO_RETENTION, WalkedMiner.MONO_OMISSION, WalkedMiner.DUAL


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_all()


def pair(ids: frozenset[str]) -> str:
    """What is right for examples of ten, of which the last two are necessary."""
    return "Lima" if {"D9", "D10"} <= ids else "N/A"


def asking(says: Says, **settings: object) -> SubsetAsking:
    async def replay(_: str, sources: Sequence[Source]) -> str:
        return says(frozenset(source.id for source in sources))

    given = Settings(retries=0)
    return SubsetAsking(Examined("a model", "tests", replay), replace(given, **settings), Limiter(4))  # pyright: ignore[reportArgumentType] -- of settings


def perfectly(count: int, plan: EfficiencyPlan) -> EfficiencyOutcome:
    who = SubsetAsking(synthetic.perfect_model(), Settings(), Limiter(8), synthetic.PerfectJudge())
    return measure_efficiency(list(synthetic.examples(count, 0)), who, plan)


def nodes_of(rows: Sequence[EfficiencyRow], miner: WalkedMiner) -> list[list[int]]:
    """By question, of each size."""
    own = [row for row in rows if (row.miner, row.kind) == (miner.family, miner.kind)]
    questions = dict.fromkeys(row.question_id for row in own)
    return [[row.nodes for row in own if row.question_id == each] for each in questions]


class TestSynthetic:
    def test_the_whole_curve(self) -> None:
        outcome = perfectly(3, EfficiencyPlan("synthetic", timed=False))
        rows = outcome.rows
        assert nodes_of(rows, RETENTION) == [[1, 3, 4, 6, 10, 18, 34, 66, 130, 258]] * 3
        assert nodes_of(rows, OMISSION) == [[2, 4, 7, 13, 25, 49, 97, 193, 385, 769]] * 3
        assert nodes_of(rows, DUAL) == [[2**n for n in range(1, 11)]] * 3
        last = {(row.miner, row.kind): row for row in rows if row.n == 10}
        assert (last["mono", "retention"].rules, last["mono", "omission"].rules) == (256, 768)
        assert (last["mono", "retention"].minimal_rules, last["mono", "omission"].minimal_rules) == (1, 2)
        assert last["mono", "omission"].explored == pytest.approx(0.751, abs=0.001)
        assert last["dual", "both"].calls == 1023
        assert {row.seconds for row in rows} == {None}
        assert (outcome.done, outcome.calls, outcome.deviations) == (3, 3 * 1023, [])
        assert outcome.judge_requests >= 3
        assert len(rows) == 3 * 10 * 6

    def test_the_columns(self) -> None:
        names = "setting question_id n miner kind nodes calls repeated rules minimal_rules seconds"
        assert [field.name for field in fields(EfficiencyRow)] == names.split()

    def test_without_the_exhaustive_miner_the_same_is_counted(self) -> None:
        plan = EfficiencyPlan("synthetic", timed=False)
        wanted = tuple(miner for miner in WalkedMiner if miner is not WalkedMiner.EXHAUSTIVE)
        rows = perfectly(1, replace(plan, miners=wanted)).rows
        assert rows == [row for row in perfectly(1, plan).rows if row.miner != "exhaustive"]

    @pytest.mark.slow
    def test_a_hundred_questions_do_not_differ(self) -> None:
        questions = examples(100)
        rows = perfectly(questions, EfficiencyPlan("synthetic", timed=False)).rows
        assert nodes_of(rows, RETENTION) == [[1, 3, 4, 6, 10, 18, 34, 66, 130, 258]] * questions


class TestWhatIsPaid:
    def test_only_what_the_wanted_miners_ask_for(self, tmp_path: Path) -> None:
        who = asking(pair, store=Store(str(tmp_path / "s.sqlite"), "tests"))
        outcome = measure_efficiency([example()], who, EfficiencyPlan("s", miners=(RETENTION,)))
        # All that retain both, and of 2 to 10 sources all but one of the two.
        assert outcome.calls == 256 + 2 * 9
        assert nodes_of(outcome.rows, RETENTION) == [[1, 3, 4, 6, 10, 18, 34, 66, 130, 258]]

    def test_with_the_exhaustive_miner_each_subset_once(self, tmp_path: Path) -> None:
        who = asking(pair, store=Store(str(tmp_path / "s.sqlite"), "tests"))
        first = measure_efficiency([example()], who, EfficiencyPlan("s"))
        assert (first.calls, first.stored) == (1023, 0)
        again = measure_efficiency([example()], who, EfficiencyPlan("s"))
        assert (again.calls, again.stored) == (0, 1023)
        assert again.rows == first.rows
        # What was not asked for is not there, and nothing of it is needed.
        fewer = measure_efficiency([example()], who, EfficiencyPlan("s", sizes=(3, 5), miners=(DUAL,)))
        assert fewer.calls == 0
        assert fewer.rows == [row for row in first.rows if row.n in {3, 5} and row.miner == "dual"]

    def test_the_seconds_of_a_miner_are_those_of_its_calls(self, tmp_path: Path) -> None:
        who = asking(pair, store=Store(str(tmp_path / "s.sqlite"), "tests"))
        rows = measure_efficiency([example()], who, EfficiencyPlan("s", sizes=(6,))).rows
        seconds = {row.miner if row.kind == "both" else row.kind: row.seconds or 0.0 for row in rows}
        assert all(seconds.values())
        monos = seconds["retention"] + seconds["omission"]
        assert seconds["two-monos"] == pytest.approx(monos)
        assert seconds["dual"] < seconds["dual-without-memory"] == pytest.approx(monos)
        assert seconds["dual"] == pytest.approx(seconds["exhaustive"])

    def test_the_order_of_distractors(self) -> None:
        shown: list[frozenset[str]] = []

        def noting(ids: frozenset[str]) -> str:
            shown.append(ids)
            return pair(ids)

        measure_efficiency([example()], asking(noting), EfficiencyPlan("s", sizes=(3,)))
        assert frozenset[str]().union(*shown) == {"D9", "D10", "D1"}
        shown.clear()
        plan = EfficiencyPlan("s", sizes=(3,), distractors=1)
        measure_efficiency([example(name) for name in "abcdef"], asking(noting), plan)
        assert len(frozenset[str]().union(*shown)) > 4


class TestDeviations:
    def test_a_guess_and_a_miss_are_counted(self) -> None:
        def errs(ids: frozenset[str]) -> str:
            # Right from one of the two alone; wrong as soon as D1 is there.
            return "Lima" if "D9" in ids and "D1" not in ids else "N/A"

        outcome = measure_efficiency([example()], asking(errs), EfficiencyPlan("s", sizes=(1, 2, 3)))
        found = {each.n: each for each in outcome.deviations}
        # {D9}; of {D9, D10} the one; and with D1, which is wrong with both.
        counts = {n: (e.wrong_with, e.with_all, e.right_without, e.without) for n, e in found.items()}
        assert counts == {1: (0, 0, 1, 2), 2: (0, 1, 1, 3), 3: (1, 2, 1, 6)}

    def test_a_share_that_rises_is_told_with_the_error_behind_it(self) -> None:
        def errs(ids: frozenset[str]) -> str:
            return "N/A" if ids == frozenset({"D9", "D10", "D1"}) else pair(ids)

        outcome = measure_efficiency([example()], asking(errs), EfficiencyPlan("s", sizes=(2, 3, 4)))
        told = {each.n: each.rises for each in outcome.deviations}
        assert told == {3: "", 4: "mono-retention; two-monos"}
        assert nodes_of(outcome.rows, RETENTION) == [[3, 1, 5]]
        assert nodes_of(outcome.rows, OMISSION) == [[4, 7, 13]]

    def test_a_share_may_rise_until_all_necessary_sources_are_in_and_not_after(self) -> None:
        def errs(ids: frozenset[str]) -> str:
            return "N/A" if ids == frozenset({"D9", "D10"}) else pair(ids)

        outcome = measure_efficiency([example()], asking(errs), EfficiencyPlan("s", sizes=(1, 2, 3)))
        told = {each.n: each.rises for each in outcome.deviations}
        assert nodes_of(outcome.rows, RETENTION) == [[1, 1, 4]]
        assert told == {2: "", 3: "mono-retention; two-monos"}

    def test_a_model_that_is_right_deviates_nowhere(self) -> None:
        assert measure_efficiency([example()], asking(pair), EfficiencyPlan("s")).deviations == []


class TestFailures:
    def test_a_question_without_all_verdicts_is_listed_and_in_no_row(self) -> None:
        def breaks(ids: frozenset[str]) -> str:
            if ids == frozenset({"D9", "D1"}):
                raise ValueError("no such thing")
            return pair(ids)

        given = [example("bad"), example("good", sources=12)]
        outcome = measure_efficiency(given, asking(breaks), EfficiencyPlan("s", sizes=(2, 3)))
        assert [failure.question_id for failure in outcome.failures] == ["bad"]
        assert "ValueError: no such thing" in outcome.failures[0].reason
        assert {row.question_id for row in outcome.rows} == {"good"}
        assert outcome.done == 2

    def test_a_model_that_never_answers_ends_it(self) -> None:
        def down(_: frozenset[str]) -> str:
            raise ConnectionError("refused")

        with pytest.raises(BaselineFailed, match=r"a model answered nothing about 3 questions.*refused"):
            measure_efficiency([example(name) for name in "abcdef"], asking(down), EfficiencyPlan("s"))

    def test_a_limit_makes_a_failure(self) -> None:
        outcome = measure_efficiency(
            [example()], asking(pair, limits=Limits(replays=5)), EfficiencyPlan("s")
        )
        assert "replays" in outcome.failures[0].reason


@pytest.mark.parametrize("sizes", [(), (0,), (13,), (5, 20)])
def test_sizes_that_cannot_be_measured(sizes: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput):
        EfficiencyPlan("s", sizes=sizes)
    with pytest.raises(InvalidInput, match="nothing to compare"):
        EfficiencyPlan("s", miners=())
