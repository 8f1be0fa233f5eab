"""Real questions with the offline reader: the shapes that every model must give."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from rag_rule_explainer import Settings, Store
from rag_rule_explainer.experiments.efficiency import (
    Deviation,
    EfficiencyPlan,
    EfficiencyRow,
    measure_efficiency,
)
from rag_rule_explainer.experiments.examples import drawn
from rag_rule_explainer.experiments.models import offline_reader
from rag_rule_explainer.experiments.published import examples_in
from rag_rule_explainer.experiments.subsets import SubsetAsking
from rag_rule_explainer.experiments.tables import write_csv
from rag_rule_explainer.probing.limiter import Limiter
from rag_rule_explainer.storing.opened import close_all


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_all()


def by_miner(rows: Sequence[EfficiencyRow]) -> dict[tuple[str, int], dict[str, EfficiencyRow]]:
    """By question and size, then by miner; the Monos by their kind."""
    found = defaultdict[tuple[str, int], dict[str, EfficiencyRow]](dict)
    for row in rows:
        found[row.question_id, row.n][row.kind if row.miner == "mono" else row.miner] = row
    return found


def check_shapes(rows: Sequence[EfficiencyRow], deviations: Sequence[Deviation]) -> None:
    erring = {(each.question_id, each.n): each for each in deviations}
    found = by_miner(rows)
    for (question, n), miners in found.items():
        retention, omission, dual = (miners[each].nodes for each in ("retention", "omission", "dual"))
        assert miners["exhaustive"].nodes == 1 << n
        assert max(retention, omission) <= dual <= min(1 << n, retention + omission)
        assert miners["two-monos"].nodes == retention + omission
        assert miners["dual"].rules == miners["retention"].rules + miners["omission"].rules
        assert miners["dual"].rules == miners["exhaustive"].rules
        assert miners["dual"].calls <= (1 << n) - 1
        assert miners["two-monos"].nodes - dual == miners["dual-without-memory"].repeated
        before, now = found.get((question, n - 1)), erring.get((question, n))
        rising = set[str]()
        if n > 2 and before is not None:
            rising = {name for name, row in miners.items() if row.explored > before[name].explored}
        assert len(rising) == (len(now.rises.split("; ")) if now is not None and now.rises else 0)
        if now is None and n >= 2:
            # Where all answers are what the labels imply, so is the cost.
            assert (retention, omission, dual) == (2 ** (n - 2) + 2, 2**n - 2 ** (n - 2) + 1, 2**n)


@pytest.mark.nightly
def test_fifty_questions_from_a_cold_store(real_data: Path, tmp_path: Path) -> None:
    examples = drawn(examples_in(real_data / "hotpotqa_train.jsonl"), 50, 0).examples
    model = offline_reader()
    settings = Settings(store=Store(str(tmp_path / "s.sqlite"), model.namespace), concurrency=8)
    asking, plan = SubsetAsking(model, settings, Limiter(8)), EfficiencyPlan("hotpotqa")
    first = measure_efficiency(examples, asking, plan)
    assert (first.done, first.failures) == (50, [])
    assert (first.calls, first.stored) == (50 * 1023, 0)
    assert len(first.rows) == 50 * 10 * 6
    check_shapes(first.rows, first.deviations)
    assert any(each.wrong_with for each in first.deviations)
    write_csv(tmp_path / "first.csv", EfficiencyRow, first.rows)
    again = measure_efficiency(examples, asking, plan)
    assert (again.calls, again.stored) == (0, 50 * 1023)
    write_csv(tmp_path / "again.csv", EfficiencyRow, again.rows)
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "first.csv").read_bytes()
    assert again.deviations == first.deviations


def test_a_few_questions_of_few_sources(real_data: Path, tmp_path: Path) -> None:
    examples = drawn(examples_in(real_data / "hotpotqa_train.jsonl"), 8, 0).examples
    asking = SubsetAsking(offline_reader(), Settings(), Limiter(8))
    outcome = measure_efficiency(examples, asking, EfficiencyPlan("hotpotqa", sizes=(1, 2, 3, 4, 5)))
    assert outcome.calls == 8 * 31
    check_shapes(outcome.rows, outcome.deviations)
