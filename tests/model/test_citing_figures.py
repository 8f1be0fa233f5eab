"""What needs no model: the questions of the study of citations, its figures, and that it goes on."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from demos.real_model.citing import Checked, all_questions, over_questions, reported, study
from demos.real_model.runtime import Endpoint

NOWHERE = Endpoint("http://127.0.0.1:9/v1", "none")


def answer(question: str, *classes: str, is_right: bool = True) -> Checked:
    cited = [
        {
            "source": "a",
            "right": True,
            "class": each,
            "claim": "proved",
            "statement": "x",
            "support": True,
        }
        for each in classes
    ]
    return Checked(question, "It is so.", is_right, ["a"], cited, 10)


def test_there_is_one_question_for_each_document() -> None:
    questions = all_questions()
    assert len({each.question for each in questions}) == len({each.right for each in questions}) == 80
    for each in questions:
        having = [name for name, text in each.documents.items() if each.fact_in(text)]
        assert having == [each.right], each.question


def test_what_is_undecided_is_in_no_share() -> None:
    found = [answer("1", "decisive", "undecided"), answer("2", is_right=False), answer("3", "decorative")]
    said = "\n".join(reported(found))
    assert "Cites at all: 0.667 (2 of 3" in said
    assert "decisive                   1 of 2, 0.50" in said
    assert "undecided, in no share     1" in said
    assert "Of the unfaithful ones, the document has the words of the claim: 1.000 (1 of 1" in said


def test_the_interval_is_over_questions() -> None:
    """Many citations of one answer are no more evidence than one."""
    alike: list[tuple[str, Any]] = [(str(place % 2), {"class": "xy"[place % 2]}) for place in range(400)]
    assert over_questions(alike, "x") == (0.0, 1.0)


def test_a_study_that_was_stopped_asks_nothing_twice(tmp_path: Path) -> None:
    first = all_questions()[:2]
    done = [answer(each.question, "decisive") for each in first]
    lines = "".join(f"{json.dumps(asdict(each))}\n" for each in done)
    (tmp_path / "answers.jsonl").write_text(lines, encoding="utf-8")
    assert list(study(first, NOWHERE, tmp_path)) == done
