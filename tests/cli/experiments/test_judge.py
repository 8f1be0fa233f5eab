"""``rag-rules experiment judge``: from an experiment's judgements to labels, and back."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer.storing.opened import close_all
from tests.cli.runs import RagRules, assert_refused, jsonl
from tests.experiments.seeded import ErrorRates, Seeded, judged_true
from tests.support.judging import judging
from tests.support.openai_server import OpenAIServer


def judgement(number: int, **more: object) -> dict[str, object]:
    return {
        "judge": "j",
        "model": "m",
        "temperature": 1.0,
        "question_id": "q",
        "question": "Who?",
        "truth": "Lima",
        "answer": f"answer {number}",
        "verdict": "holds" if number % 2 else "breaks",
        "reason": "by its words",
        **more,
    }


@pytest.fixture
def judgements(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "judgements.jsonl", *(judgement(n) for n in range(120)))


def relabelled(file: Path, label: Callable[[int, dict[str, Any]], object]) -> Path:
    lines = [json.loads(line) for line in file.read_text(encoding="ascii").splitlines()]
    return jsonl(file, *({**each, "label": label(n, each)} for n, each in enumerate(lines)))


def is_odd(_: int, line: dict[str, Any]) -> bool:
    return int(line["answer"].split()[1]) % 2 == 1


def test_drawn_labelled_and_measured(rag_rules: RagRules, tmp_path: Path, judgements: Path) -> None:
    out = tmp_path / "out"
    drawn = rag_rules("experiment", "judge", "--judgements", judgements, "--out", out)
    assert (drawn.code, drawn.err) == (0, "")
    assert drawn.out.splitlines()[0] == "100 of 120 judgements drawn, on 100 different answers, said by j"
    file = relabelled(out / "to_label.jsonl", is_odd)
    run = rag_rules("experiment", "judge", "--labels", file, "--out", out)
    assert (run.code, run.err) == (0, "")
    assert "100 labelled answers, 100 distinct, 0 requests to the judge" in run.out
    with (out / "judge.csv").open(encoding="utf-8", newline="") as table:
        rows = {row["figure"]: row for row in csv.DictReader(table)}
    assert (rows["precision"]["value"], rows["recall"]["value"]) == ("1.000000", "1.000000")
    assert rows["false_positive_rate"]["value"] == "0.000000"
    assert 0 < float(rows["false_positive_rate"]["high"]) < 0.1
    again = rag_rules("experiment", "judge", "--judgements", tmp_path, "--out", out)
    assert_refused(again, "has labels already, which would be lost", "--labels")


def test_what_a_model_answered_that_is_no_text_can_be_labelled(
    rag_rules: RagRules, tmp_path: Path
) -> None:
    """Half a surrogate pair, which JSON can hold."""
    out = tmp_path / "out"
    said = jsonl(tmp_path / "judgements.jsonl", judgement(1, answer="\ud800 1"), judgement(3))
    rag_rules("experiment", "judge", "--judgements", said, "--count", 2, "--out", out)
    file = relabelled(out / "to_label.jsonl", is_odd)
    run = rag_rules("experiment", "judge", "--labels", file, "--out", out)
    assert (run.code, run.err) == (0, "")
    assert "2 labelled answers, 2 distinct" in run.out


def test_half_filled_labels_are_measured_and_said_to_be_half(
    rag_rules: RagRules, tmp_path: Path, judgements: Path
) -> None:
    rag_rules("experiment", "judge", "--judgements", judgements, "--out", tmp_path)
    file = relabelled(tmp_path / "to_label.jsonl", lambda n, line: is_odd(n, line) if n < 37 else None)
    run = rag_rules("experiment", "judge", "--labels", file, "--out", tmp_path)
    assert run.code == 3
    first, *rest = run.out.splitlines()
    assert first == "37 of 100 are labelled; the others are in no figure"
    assert "37 labelled answers" in "".join(rest)


def test_fewer_than_asked_for_are_all_drawn_and_said_to_be_fewer(
    rag_rules: RagRules, tmp_path: Path
) -> None:
    few = jsonl(tmp_path / "few.jsonl", *(judgement(n) for n in range(7)))
    run = rag_rules("experiment", "judge", "--judgements", few, "--out", tmp_path / "out")
    assert run.code == 3
    assert run.out.splitlines()[:2] == [
        "7 of 7 judgements drawn, on 7 different answers, said by j",
        "100 were asked for: these are all that near-exact match did not settle, so far",
    ]


def test_bad_input(rag_rules: RagRules, tmp_path: Path, judgements: Path) -> None:
    command = "experiment", "judge", "--out", tmp_path
    assert_refused(rag_rules(*command), "give --judgements to draw from, or --labels to read back")
    assert_refused(
        rag_rules(*command, "--judgements", judgements, "--labels", judgements), "and not both"
    )
    assert_refused(rag_rules(*command, "--judgements", tmp_path / "no"), "there is no", "no;")
    assert_refused(rag_rules(*command, "--labels", judgements), "there is no", "drawn.jsonl")
    rag_rules(*command, "--judgements", judgements)
    file = tmp_path / "to_label.jsonl"
    assert_refused(
        rag_rules(*command, "--labels", file), "none of the 100 lines", 'set "label" to true or false'
    )
    relabelled(file, lambda n, _: "yes" if n == 3 else True)
    assert_refused(rag_rules(*command, "--labels", file), "line 4: label: Input should be a valid bool")
    relabelled(file, lambda _, __: True)
    jsonl(file, *[{**json.loads(line), "id": None} for line in file.read_text().splitlines()])
    assert_refused(rag_rules(*command, "--labels", file), 'line 1: there is no "id"')


@pytest.mark.waits
@pytest.mark.slow
def test_judgements_of_both_experiments_are_drawn_from(with_key: RagRules, tmp_path: Path) -> None:
    seeded = Seeded({"a": ErrorRates(0.3, 0.3), "b": ErrorRates(0.1, 0.1)}, questions=2)
    data = seeded.write(tmp_path / "q.jsonl")
    robust, cost, out = tmp_path / "robust", tmp_path / "cost", tmp_path / "out"
    given = "--data", data, "--examples", 2, "--no-figures"
    with OpenAIServer(seeded.script) as server, OpenAIServer(judging(judged_true)) as judge:
        asked = "--base-url", server.base_url, "--judge-model", "j", "--judge-base-url", judge.base_url
        run = with_key(
            *("experiment", "robustness", *given, *asked, "--out", robust, "--samples", 2),
            *("--model", "a", "--model", "b"),
        )
        assert run.code == 0, run.err
        real = "--setting", "hotpotqa", "--sizes", "2-5", "--model", "b"
        run = with_key("experiment", "efficiency", *given, *asked, *real, "--out", cost)
        assert run.code == 0, run.err
        close_all()
        before = len(judge.requests)
        both = "--judgements", robust, "--judgements", cost / "judgements.jsonl"
        run = with_key("experiment", "judge", *both, "--out", out, "--count", 20)
        assert run.code == 0, run.err
        drawn = [json.loads(line) for line in (out / "drawn.jsonl").read_text().splitlines()]
        assert {model for each in drawn for model in each["models"]} == {
            "a at temperature 1",
            "b at temperature 1",
        }
        for each in drawn:
            assert (each["verdict"] == "holds") is judged_true(each["answer"])
        lines = (cost / "judgements.jsonl").read_text().splitlines()
        said = {json.loads(line)["answer"] for line in lines}
        assert "N/A" in said
        assert not said & {"code 500", "code 501"}
        assert len(judge.requests) == before


def test_the_name_of_a_judge_moves_no_cursor(rag_rules: RagRules, tmp_path: Path) -> None:
    hostile = "\x1b[2J" + "j" * 500
    file = jsonl(tmp_path / "judgements.jsonl", judgement(1, judge=hostile))
    run = rag_rules("experiment", "judge", "--judgements", file, "--out", tmp_path, "--count", 1)
    assert run.code == 0
    assert "said by \\x1b[2Jjjj" in run.out
    assert "\x1b" not in run.out
    assert "j" * 200 not in run.out
