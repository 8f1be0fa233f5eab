"""Every form says when an explanation was made and from what, and none of it changes what it says."""

import json
import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from typing import Any

import pytest
from pydantic import ValidationError

from rag_rule_explainer import Answer, Explainer, Explanation, Source, contains, diff
from rag_rule_explainer.explanation.origin import ApplicationRecord, ModelRecord
from rag_rule_explainer.report import FORMS, as_text, caveats
from tests.report.test_text import explained, section, yes_if

EPOCH = "SOURCE_DATE_EPOCH"
PRINTED = "2025-06-15 15:06:40 UTC"


@pytest.fixture
def dated(monkeypatch: pytest.MonkeyPatch) -> Explanation:
    monkeypatch.setenv(EPOCH, "1750000000")
    return explained(yes_if("D1"))


def made(explanation: Explanation) -> datetime:
    return datetime.strptime(explanation.made_at, "%Y-%m-%dT%H:%M:%S%z")


class TestTime:
    def test_is_that_of_the_clock(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(EPOCH, raising=False)
        made_at = explained(yes_if("D1")).made_at
        assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", made_at)

    def test_is_set_by_a_build(self, dated: Explanation) -> None:
        assert dated.made_at == "2025-06-15T15:06:40Z"

    @pytest.mark.parametrize(
        "wrong", ["", "soon", "1e99", "-" + "9" * 30, "9" * 30, "9" * 12, "1.5", " 1", "-5"]
    )
    def test_a_wrong_wish_costs_no_explanation(self, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
        monkeypatch.setenv(EPOCH, wrong)
        explanation = explained(yes_if("D1"))
        assert Explanation.model_validate_json(explanation.to_json()) == explanation
        notes = [note for note in explanation.notes if EPOCH in note]
        assert [f"{EPOCH} is {wrong!r}, and not a whole number" in note for note in notes] == (
            [True] if wrong else []
        )
        assert abs(made(explanation) - datetime.now(timezone.utc)) < timedelta(hours=1)

    @pytest.mark.parametrize("form", ["text", "markdown", "csv", "latex"])
    def test_repeats_in_every_run_that_a_build_dates(self, dated: Explanation, form: str) -> None:
        again = explained(yes_if("D1"))
        assert again.id != dated.id
        assert FORMS[form].written(again) == FORMS[form].written(dated)

    def test_makes_no_explanation_another_one(self, dated: Explanation) -> None:
        later = dated.model_copy(update={"made_at": "2030-01-01T00:00:00Z"})
        assert later == dated
        assert hash(later) == hash(dated)
        assert diff(dated, later).clean
        assert diff(dated, later) == diff(dated, dated)
        assert later.model_copy(update={"seed": 9}) != dated
        assert dated != "an explanation"

    @pytest.mark.parametrize(
        "forged", ["now", "2025-06-15T15:06:40Z\n", "\x1b[2J", "２025-06-15T15:06:40Z"]
    )
    def test_of_a_file_is_a_time(self, dated: Explanation, forged: str) -> None:
        saved = dated.model_copy(update={"made_at": forged}).model_dump_json()
        with pytest.raises(ValidationError, match="made_at"):
            Explanation.model_validate_json(saved)

    def test_that_there_is_not_is_not_known(self, dated: Explanation) -> None:
        for made_at in ("", "2025-02-31T00:00:00Z"):
            undated = dated.model_copy(update={"made_at": made_at})
            assert "  at        not known" in section(undated, "Made")
            for form in FORMS.values():
                assert form.written(undated)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_says_when_and_of_what(form: str, dated: Explanation) -> None:
    told = dated.report(form).replace("{-}", "-")
    assert any(time in told for time in (PRINTED, dated.made_at))
    assert "question?" in told.replace("\\", "")


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_every_whole_form_has_hashes_and_versions(form: str, dated: Explanation) -> None:
    told = dated.report(form).replace("\\", "")
    assert sha256(b"text 1").hexdigest()[:12] in told
    assert "rag-rule-explainer" in told
    assert "python" in told


def test_settings_are_those_that_are_unusual(dated: Explanation) -> None:
    assert '  settings  miner = "exact", retries.most = 0' in section(dated, "Made")
    usual = Explainer(lambda question, sources: "yes", predicate=contains("yes")).explain("?", ["a"])
    assert "  settings  as they are by default" in section(usual, "Made")


def test_models_are_called_as_they_call_themselves() -> None:
    def replay(question: str, sources: Any) -> Answer:
        spent = {"input_tokens": 3, "output_tokens": 1}
        return Answer("yes", usage=spent, models={"small-2025\x1b[2J": spent})

    explanation = Explainer(replay, predicate=contains("yes"), concurrency=1).explain("?", ["a", "b"])
    (model,) = explanation.models
    assert (model.name, model.use) == ("small-2025\x1b[2J", "application")
    assert model.tokens["input_tokens"] == 3 * explanation.counts.replays
    assert r"  models    small-2025\x1b[2J" in section(explanation, "Made")


def test_judges_and_models_without_a_name_are_told_apart(dated: Explanation) -> None:
    asked = (ModelRecord("", "application", {"input_tokens": 1}), ModelRecord("strict", "judge"))
    of = ApplicationRecord("Chain", "ab" * 32)
    told = section(dated.model_copy(update={"models": asked, "application": of}), "Made")
    assert "  application  Chain (hash of its first requests: abababababab)" in told
    assert "  models       one without a name" in told
    assert "  judges       strict" in told


class TestHashes:
    def test_are_those_of_the_texts(self) -> None:
        explanation = Explainer(lambda question, sources: "yes").explain("?", [Source("a", "é\ud800")])
        (source,) = explanation.sources
        assert source.sha256 == sha256("é?".encode()).hexdigest() == source.sha256_now
        assert source.is_unchanged

    @pytest.mark.parametrize("form", ["text", "markdown"])
    def test_say_that_a_text_was_changed(self, dated: Explanation, form: str) -> None:
        first, *others = dated.sources
        changed = dated.model_copy(update={"sources": (replace(first, text="forged"), *others)})
        read = Explanation.model_validate_json(changed.to_json())
        assert "WARNING: D1: the text is not what was explained" in read.report(form)
        assert any("not what was explained" in each.text for each in caveats(read))
        assert "not what was explained" not in dated.report(form)

    def test_that_there_are_not_say_nothing(self, dated: Explanation) -> None:
        earlier = tuple(replace(source, sha256="") for source in dated.sources)
        assert "not what was explained" not in as_text(dated.model_copy(update={"sources": earlier}))


def test_a_summary_is_a_small_dict_with_its_time(dated: Explanation) -> None:
    told = dated.summary().to_dict()
    assert told["made_at"] == dated.made_at
    assert told["answer"] == "yes"
    assert json.loads(json.dumps(told)) == told
    assert "text 1" not in json.dumps(told)
