"""Replays for whom to blame: within a limit, the same call again tests the same documents; and what their
answers are compared with."""

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import Case, Explainer, Retries, Source, contains
from rag_rule_explainer.audit import Audit, audit
from tests.fixing.applications import BAD, FIVE

LIES = [Source(f"lie{place}", f"lie number {place}") for place in range(4)]
ELSE = Source("else", "something else")
LOG = [{"question": each.id, "documents": [each, ELSE]} for each in LIES]


class Moody:
    """Each third run fails at first, and is made once more. ``runs``: how many there were."""

    def __init__(self) -> None:
        self.runs = count()

    def __call__(self, _: str, sources: Sequence[Source]) -> str:
        if next(self.runs) % 3 == 2:
            raise ConnectionError("busy")
        return "bad" if any("lie" in each.text for each in sources) else "fine"

    def audited(self, folder: Path, most: int | None, **fields: Any) -> Audit:
        retries = Retries(most=3, first_wait=0)
        explainer = Explainer(self, concurrency=1, check_repeatable=False, retries=retries)
        fields = {"workers": 1, "report": False, "fdr": 0.05, "out": folder, **fields}
        return audit(explainer, LOG, contains("bad"), audit_limits=most, **fields)


@pytest.mark.parametrize("limit", [60, 90])
def test_what_retries_spent_does_not_change_the_plan(tmp_path: Path, limit: int) -> None:
    first = Moody().audited(tmp_path, limit)
    assert first.blame is not None
    assert first.blame.plan.left_out
    again = Moody()
    assert str(again.audited(tmp_path, limit).blame) == str(first.blame)
    # Only what the limit refused may be missing, and it refuses it again.
    assert next(again.runs) == 0
    more = Moody().audited(tmp_path, None)
    assert more.blame is not None
    assert set(first.blame.documents) <= set(more.blame.documents) == {each.id for each in LIES}


def test_runs_to_retrieve_are_kept_back(tmp_path: Path) -> None:
    """Without that, the last replays would be refused."""
    application = FIVE["a plain function"]().application
    fields: dict[str, Any] = {"framework": "plain", "concurrency": 1, "report": False}
    asked = ["What is the news?"]
    whole = audit(application, asked, BAD, fdr=0.05, **fields)
    assert whole.blame is not None
    spent = sum(each.replays for each in whole.questions)
    enough = spent + whole.blame.plan.replays
    cut = audit(application, asked, BAD, fdr=0.05, audit_limits=enough, **fields)
    assert cut.blame is not None
    assert cut.blame.plan.left_out
    assert not any(each.undecided for each in (*cut.blame, *cut.blame.not_shown))
    exact = audit(application, asked, BAD, fdr=0.05, audit_limits=enough + 1, **fields)
    assert str(exact.blame) == str(whole.blame)


def test_fresh_answers_are_compared_with_the_whole_answer(tmp_path: Path) -> None:
    """The audit keeps its beginning; the saved explanation keeps all of it."""

    def replay(_: str, sources: Sequence[Source]) -> str:
        return f"{'long ' * 500}{any('lie' in each.text for each in sources)}"

    def is_same(case: Case) -> bool:
        return case.answer.text == case.baseline.text

    explainer = Explainer(replay, concurrency=1, check_repeatable=False)
    found = audit(explainer, LOG[:1], is_same, workers=1, report=False, fdr=0.5, out=tmp_path)
    assert found.blame is not None
    assert found.blame.documents == ("lie0",)
