"""How good a model is at the questions themselves."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from rag_rule_explainer import Answer, BaselineFailed, Settings, Source, Store
from rag_rule_explainer.experiments.models import Examined, offline_reader
from rag_rule_explainer.experiments.published import examples_in
from rag_rule_explainer.experiments.quality import ShownSources, measure_quality, quality_rows
from rag_rule_explainer.storing.opened import close_all
from tests.experiments.records import example


def test_what_is_shown() -> None:
    given = example(sources=4)
    ids = {shown: [source.id for source in shown.of(given)] for shown in ShownSources}
    assert ids == {
        ShownSources.ALL: ["D1", "D2", "D3", "D4"],
        ShownSources.NECESSARY: ["D3", "D4"],
        ShownSources.OTHERS: ["D1", "D2"],
    }


def test_every_answer_is_counted_once() -> None:
    def replay(question: str, sources: Sequence[Source]) -> Answer:
        ids = {source.id for source in sources}
        if question == "broken?":
            raise ValueError("out of order")
        if ids == {"D3", "D4"}:
            return Answer("lima.", finish_reason="length")
        return Answer("n/a" if "D3" not in ids else "Lima, in Peru")

    examples = [example(name, sources=4) for name in "abc"]
    examples.append(example("d", sources=4, question="broken?"))
    # Without distractors, nobody is asked about them.
    examples.append(example("e", sources=2, necessary=2, answer="Quito"))
    model, told = Examined("m", "tests", replay), list[tuple[int, int]]()
    given = measure_quality(
        examples, model, Settings(retries=0), lambda done, of: told.append((done, of))
    )
    assert given is not None
    rows = {row.shown: row for row in quality_rows("file", model, given)}
    counts = {
        shown: (row.questions, row.exact, row.declined, row.other, row.failed)
        for shown, row in rows.items()
    }
    assert counts == {
        "all sources": (5, 0, 1, 3, 1),
        "necessary only": (5, 3, 1, 0, 1),
        "without necessary": (4, 0, 3, 0, 1),
    }
    assert rows["necessary only"].exact_share == 0.75
    assert "0.750 (3 of 4; 95% interval 0.301 to 0.954)" in str(rows["necessary only"].share)
    assert told[-1] == (14, 14)
    records = [each.record() for each in given]
    assert records[1]["finish_reason"] == "length"
    assert (records[1]["answer"], records[1]["exact"]) == ("lima.", True)
    assert [record["failure"] for record in records if record["question_id"] == "d"] == [
        "ValueError: out of order"
    ] * 3


def test_a_model_that_is_down_is_not_asked_about_everything() -> None:
    asked = list[str]()

    def replay(question: str, sources: Sequence[Source]) -> Answer:
        asked.append(question)
        raise ConnectionError("refused")

    settings = Settings(retries=0, concurrency=1)
    examples = [example(str(number), sources=4) for number in range(20)]
    with pytest.raises(BaselineFailed, match=r"last \d+ answers of m all failed.* refused"):
        measure_quality(examples, Examined("m", "tests", replay), settings)
    assert 10 <= len(asked) < 15


def test_failures_that_are_not_in_a_row_end_nothing() -> None:
    asked = list[str]()

    def replay(question: str, sources: Sequence[Source]) -> Answer:
        asked.append(question)
        if len(asked) % 10:
            raise ConnectionError("refused")
        return Answer("N/A")

    examples = [example(str(number), sources=4) for number in range(10)]
    given = measure_quality(examples, Examined("m", "tests", replay), Settings(retries=0, concurrency=1))
    assert given is not None
    assert sum(each.answer is not None for each in given) == 3


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("name", ["hotpotqa_train", "hotpotqa_dev"])
def test_the_reader_is_better_than_nothing_and_needs_its_sources(
    name: str, real_data: Path, tmp_path: Path
) -> None:
    examples = list(examples_in(real_data / f"{name}.jsonl"))[:40]
    model, store = offline_reader(), Store(str(tmp_path / "s.sqlite"), "tests")
    settings = Settings(store=store, concurrency=4)
    first = measure_quality(examples, model, settings)
    assert first is not None
    assert measure_quality(examples, model, settings) == first
    close_all()
    rows = {row.shown: row for row in quality_rows(name, model, first)}
    assert [row.questions for row in rows.values()] == [40, 40, 40]
    without = rows["without necessary"].exact_high
    with_all = rows["all sources"].exact_low
    assert without is not None
    assert with_all is not None
    assert rows["without necessary"].exact < rows["all sources"].exact <= rows["necessary only"].exact + 4
    assert rows["without necessary"].declined > rows["all sources"].declined
