"""The forms in which an explanation is printed."""

from pathlib import Path

import pytest

from rag_rule_explainer import Explanation
from rag_rule_explainer.report import FORMS
from tests.cli.runs import QUESTION, RagRules, explanation_of

FOR_READERS = [form for form in FORMS if form not in {"json", "html"}]
"""The forms that say the same of every run; JSON, and HTML with it, has its id and its times as well."""


@pytest.mark.parametrize("form", FOR_READERS)
def test_each_is_printed(rag_rules: RagRules, sources: Path, form: str) -> None:
    asked = ("explain", "--question", QUESTION, "--sources", sources, "--lockstep")
    run = rag_rules(*asked, "--format", form)
    assert run.code == 0
    explanation = explanation_of(rag_rules(*asked, "--json"))
    assert run.out == FORMS[form].written(explanation)
    ending = "complete: these are all the rules there are"
    assert (ending in run.err.splitlines()) is (FORMS[form].holds == "rules")
    assert (ending in run.out) is (FORMS[form].holds != "rules")


@pytest.mark.parametrize("command", [["explain"], ["verify", "--rule", "plaque", "--kind", "omission"]])
def test_json_has_a_short_form(rag_rules: RagRules, sources: Path, command: list[str]) -> None:
    ways = (["--json"], ["--format", "json"], ["--format", "json", "--json"])
    asked = (*command, "--question", QUESTION, "--sources", sources)
    runs = [rag_rules(*asked, *form) for form in ways]
    explanations = [Explanation.model_validate_json(run.out) for run in runs]
    for run, explanation in zip(runs, explanations, strict=True):
        assert run.out == FORMS["json"].written(explanation)
        assert explanation.summary() == explanations[0].summary()
        assert run.code == runs[0].code
        assert "plaque" not in run.err


@pytest.mark.parametrize(
    ("rule", "code", "told"),
    [("plaque", 0, "plaque is retained"), ("menu", 1, "broken: retaining menu does not bring it about")],
)
def test_what_was_verified_is_said_beside_the_table(
    rag_rules: RagRules, sources: Path, rule: str, code: int, told: str
) -> None:
    asked = ("verify", "--rule", rule, "--kind", "retention", "--question", QUESTION)
    run = rag_rules(*asked, "--sources", sources, "--format", "csv")
    assert run.code == code
    assert run.out.startswith("kind,sources,rule,claim,support,question,made_at\n")
    assert told in run.err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--format", "xml"], "rag-rules: this command has no form 'xml'; give --format one of text"),
        (["--format", "csv", "--json"], "rag-rules: --json is a form as well; leave it or"),
    ],
)
@pytest.mark.parametrize("command", [["explain"], ["verify", "--rule", "plaque", "--kind", "omission"]])
def test_what_is_none_is_told_before_anything_is_asked(
    rag_rules: RagRules, sources: Path, command: list[str], given: list[str], told: str
) -> None:
    run = rag_rules(*command, "--question", QUESTION, "--sources", sources, *given)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(told)
    assert len(run.err.splitlines()) == 1
