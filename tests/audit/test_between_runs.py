"""What an audit's folder keeps from one run for the next: paid answers, what was spent, and how
questions were asked."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import Explainer, InvalidInput, Limits, Source
from rag_rule_explainer.audit import Audit, LoggedQuestion, audit
from rag_rule_explainer.errors import CallbackFailed
from tests.audit.shop import CONDITION, FOUR, Shop, asked, run, said


def writers() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name == "rag-rule-store"}


@pytest.mark.parametrize("workers", [1, 3])
def test_what_a_limit_stopped_is_not_paid_again(tmp_path: Path, workers: int) -> None:
    """No store is given, so the folder has one. A limit counts what all runs in the folder have spent."""
    runs = Counter[tuple[str, ...]]()
    shop = Shop()

    def replay(question: str, sources: Sequence[Source]) -> str:
        runs[(question, *(each.id for each in sources))] += 1
        return shop(question, sources)

    def asked(most: int | None) -> Audit:
        explainer = Explainer(replay, check_repeatable=False, concurrency=1)
        limits = None if most is None else Limits(replays=most, failures=None)
        return audit(explainer, FOUR, CONDITION, out=tmp_path, workers=workers, audit_limits=limits)

    before = writers()
    for most in (1, 2, 7, 7, 9):
        assert asked(most).counts["stopped"] > 0
        assert runs.total() == most
    assert said(asked(None)) == said(run(Shop()))
    assert set(runs.values()) == {1}
    assert writers() <= before
    whole = Shop()
    run(whole)
    assert runs.total() == whole.asked.total()


def test_answers_of_another_application_are_not_taken_from_the_folder(tmp_path: Path) -> None:
    def fine(_: str, __: Sequence[Source]) -> str:
        return "fine"

    def bad(_: str, __: Sequence[Source]) -> str:
        return "bad"

    def asked(replay: Callable[..., str], most: int | None) -> Audit:
        explainer = Explainer(replay, check_repeatable=False, concurrency=1)
        return audit(explainer, FOUR, CONDITION, out=tmp_path, workers=1, audit_limits=most)

    first = asked(fine, 5)
    assert [each.outcome for each in first.questions] == ["not bad", *["stopped"] * 3]
    found = asked(bad, None)
    assert [each.outcome for each in found.questions] == ["not bad", *["bad"] * 3]
    (note,) = found.notes
    assert note.startswith("1 question was explained otherwise: application ")
    assert "fine" in note.partition("; now application ")[0]
    assert "bad" in note.partition("; now application ")[2]
    assert f"note: {note[:60]}" in str(found)


def test_settings_that_were_changed_between_two_runs_are_told(tmp_path: Path) -> None:
    def asked(questions: Sequence[LoggedQuestion], **settings: Any) -> Audit:
        explainer = Explainer(Shop(), check_repeatable=False, **settings)
        return audit(explainer, questions, CONDITION, out=tmp_path)

    assert asked(FOUR[:2], miner="exact").notes == ()
    assert asked(FOUR[:2], miner="exact", concurrency=1, timeout=7.0).notes == ()
    found = asked(FOUR, miner="exhaustive", seed=5)
    told = "2 questions were explained otherwise: miner 'exact', seed 0; now miner 'exhaustive', seed 5"
    assert found.notes == (told,)
    assert told in unescape((tmp_path / "index.html").read_text())
    (back,) = asked(FOUR, miner="exact").notes
    assert back.endswith("miner 'exhaustive', seed 5; now miner 'exact', seed 0")


def test_a_limit_does_not_count_a_question_twice_that_has_another_id_now(tmp_path: Path) -> None:
    whole = Shop()
    run(whole)
    run(Shop(), FOUR[:3], out=tmp_path)
    moved = [replace(each, id=f"moved {each.id}") for each in FOUR]
    run(Shop(), moved[:3], out=tmp_path)
    (tmp_path / "spent.json").unlink(missing_ok=True)  # as after a kill
    found = run(Shop(), moved, out=tmp_path, audit_limits=whole.asked.total())
    assert said(found) == said(run(Shop(), moved))
    one_more = [*moved, replace(FOUR[0], id="new", question="new?")]
    found = run(Shop(), one_more, out=tmp_path, audit_limits=whole.asked.total())
    assert [each.outcome for each in found.questions[3:]] == ["bad", "stopped"]


def test_two_runs_do_not_use_a_folder_at_the_same_time(tmp_path: Path) -> None:
    """The second would note what it spends in place of what both do."""
    refused = list[str]()

    def again(_: object) -> None:
        with pytest.raises(InvalidInput) as error:
            run(Shop(), out=tmp_path)
        refused.append(str(error.value))

    run(Shop(), out=tmp_path, on_question=again)
    assert refused == [
        f"another run is auditing in {tmp_path}; wait for its end, or give another folder"
    ] * len(FOUR)
    # It is given back at the end, also of a run that fails.
    (tmp_path / "spent.json").write_text("half")
    with pytest.raises(InvalidInput, match="remove the file"):
        run(Shop(), out=tmp_path)
    (tmp_path / "spent.json").unlink()

    def fail(_: object) -> None:
        raise RuntimeError

    with pytest.raises(CallbackFailed):
        run(Shop(), asked(("list",)), out=tmp_path / "other", on_question=fail)
    for folder in (tmp_path, tmp_path / "other"):
        assert len(run(Shop(), out=folder).questions) == len(FOUR)


def test_what_a_killed_run_spent_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was noted last is there: questions that failed are in no other count."""
    monkeypatch.setattr("rag_rule_explainer.audit.auditing._SECONDS_TO_NOTE", -1.0)
    noted = list[str]()

    def see(_: object) -> None:
        noted.append((tmp_path / "spent.json").read_text() if (tmp_path / "spent.json").exists() else "")

    shop = Shop(fails="question 0")
    run(shop, out=tmp_path, on_question=see, workers=1)
    assert noted[0] == ""
    assert noted[1] == "[1, 0, 0.0]\n"


def test_nothing_is_written_into_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(InvalidInput, match="holds something else"):
        run(Shop(), out=tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.tex"]
