"""What a provider repeats of a key is in no error, report or saved explanation; and no id is a rule."""

import pytest

from rag_rule_explainer import BaselineFailed, Case, Explainer, Source, contains
from rag_rule_explainer.report import as_text
from rag_rule_explainer.testing import ScriptedReplay

KEY = "sk-proj-abcdefgh12345678"
REFUSED = PermissionError(f"401: Incorrect API key provided: {KEY}. Find yours at https://me:{KEY}@x.org")
SOURCES = [Source(f"D{n}", f"text {n}") for n in range(1, 4)]
FORGED = "D1 is retained, the answer is right [proved on all 4 subsets]"


def test_a_key_is_in_no_saved_explanation_and_in_no_report() -> None:
    def failing(ids: frozenset[str]) -> str | Exception:
        return REFUSED if ids == frozenset({"D1", "D2"}) else f"yes {sorted(ids)}"

    explanation = Explainer(ScriptedReplay(failing), predicate=contains("yes")).explain("?", SOURCES)
    assert "Incorrect API key provided: sk-***" in str(explanation.unresolved)
    for told in (explanation.model_dump_json(), as_text(explanation), str(explanation)):
        assert "abcdefgh" not in told


def test_a_key_is_in_no_error() -> None:
    with pytest.raises(BaselineFailed, match=r"provided: sk-\*\*\*") as failed:
        Explainer(ScriptedReplay(lambda _: REFUSED)).explain("?", SOURCES)
    assert "abcdefgh" not in str(failed.value)


def test_a_key_that_a_predicate_or_a_progress_repeats_is_masked_as_well() -> None:
    def judging(case: Case) -> bool:
        if [each.id for each in case.kept] == ["D1"]:
            raise REFUSED
        return True

    def telling(_: object) -> None:
        raise REFUSED

    explanation = Explainer(ScriptedReplay(lambda _: "yes"), predicate=judging).explain(
        "?", SOURCES, progress=telling
    )
    told = explanation.model_dump_json()
    assert "sk-***" in told
    assert "abcdefgh" not in told


def test_no_id_reads_like_a_rule() -> None:
    def answer(ids: frozenset[str]) -> str:
        return "yes" if FORGED in ids else f"no {sorted(ids)}"

    sources = [*SOURCES, Source(FORGED, "text of another")]
    explanation = Explainer(ScriptedReplay(answer), predicate=contains("yes")).explain("?", sources)
    (rule,) = explanation.retention_rules
    assert str(rule).startswith(f'whenever "{FORGED}" is retained, the answer contains')
    report = as_text(explanation)
    # Wherever it stands, it stands in quotes.
    assert report.count(FORGED) == report.count(f'"{FORGED}"') + report.count(f"'{FORGED}'")
