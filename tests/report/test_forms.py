"""What every form of a report owes, whichever it is."""

from collections.abc import Callable

import pytest

from rag_rule_explainer import Answer, Explanation, InvalidInput, ToolCall, calls_tool, diff
from rag_rule_explainer.printable import printable
from rag_rule_explainer.report import FORMS, caveats, notebook_html
from tests.report.test_text import explained, forged_explanation, hostile_explanation, yes_if

each_form = pytest.mark.parametrize("form", FORMS)
FOR_READERS = [name for name, form in FORMS.items() if form.holds != "rules" and name != "json"]
"""The forms that say what a report says, in its order."""


def said(form: str, explanation: Explanation) -> list[str]:
    return FORMS[form].written(explanation).splitlines()


@each_form
def test_it_has_a_name_a_suffix_and_a_media_type(form: str) -> None:
    found = FORMS[form]
    assert found.name == form
    assert all(suffix == suffix.lower() and suffix[0] == "." for suffix in found.suffixes)
    assert found.media_type.count("/") == 1
    explanation = explained(yes_if("D1", "D2"))
    assert explanation.report(form) == found.written(explanation)
    assert explanation.report(form).endswith("\n")


def test_no_suffix_means_two_forms() -> None:
    suffixes = [suffix for form in FORMS.values() for suffix in form.suffixes]
    assert len({*suffixes}) == len(suffixes)


def test_what_is_no_form_is_told() -> None:
    with pytest.raises(InvalidInput, match=r"'pdf' is not a form of a report; give one of text, "):
        explained(yes_if("D1")).report("pdf")


@pytest.mark.parametrize("make", [hostile_explanation, forged_explanation])
def test_json_is_the_explanation(make: Callable[[], Explanation]) -> None:
    explanation = make()
    written = FORMS["json"].written(explanation)
    assert written.isascii()
    assert Explanation.model_validate_json(written) == explanation


@pytest.mark.parametrize("form", [name for name in FORMS if name != "json"])
def test_every_rule_comes_with_what_it_rests_on(form: str) -> None:
    explanation = explained(yes_if("D1", "D2"))
    told = "\n".join(said(form, explanation))
    for rule in explanation:
        assert rule.evidence in told[told.index(rule.antecedent) :]


@each_form
@pytest.mark.parametrize("make", [hostile_explanation, forged_explanation])
def test_each_line_is_printable(form: str, make: Callable[[], Explanation]) -> None:
    for line in said(form, make()):
        assert line == printable(line)


@pytest.mark.parametrize("form", FOR_READERS)
def test_a_form_that_is_whole_has_the_warnings_before_all_rules(form: str) -> None:
    explanation = explained(yes_if("D1"), sources=5).model_copy(
        update={"warnings": ("mind the gap",), "complete": False, "stop_reason": "stopped early"}
    )
    told = "\n".join(said(form, explanation))
    assert told.index("WARNING: mind the gap") < told.index("whenever")
    assert "not complete (stopped early)" in told


def test_beside_a_partial_one_are_the_warnings_and_whether_it_is_all() -> None:
    stopped = explained(yes_if("D1")).model_copy(
        update={"warnings": ("mind the \x1b gap",), "complete": False, "stop_reason": "stopped early"}
    )
    warning, ending = (each.text for each in caveats(stopped))
    assert warning == r"WARNING: mind the \x1b gap"
    assert ending.startswith("not complete (stopped early): ")


@pytest.mark.parametrize("miner", ["quick", "sampled"])
def test_every_form_names_the_search_that_ran(miner: str) -> None:
    explanation = explained(yes_if("D1"), sources=9, miner=miner)
    for form in ("text", "markdown", "html", "json"):
        told = "".join(FORMS[form].written(explanation).split())
        assert f"miner:{miner}(" in told or f'"miner":{{"name":"{miner}"' in told
        assert f"miner:{'sampled' if miner == 'quick' else 'quick'}(" not in told
    assert {"quick": "sampled", "sampled": "quick"}[miner] not in notebook_html(explanation)


def test_no_form_shows_an_empty_answer_in_place_of_a_call() -> None:
    """Nor does a comparison, a summary, a table or a change."""

    def acts(shown: frozenset[str]) -> Answer:
        return Answer("", calls=(ToolCall("pay" if "D1" in shown else "wait", {"to": "evil"}, 1),))

    def others(shown: frozenset[str]) -> Answer:
        return acts(shown & {"D2"})

    paying = calls_tool("pay")
    one, two = explained(acts, predicate=paying), explained(others, predicate=~paying)
    for form in ("text", "markdown", "html"):
        assert "wait(to=" in FORMS[form].written(one)
    compared = str(diff(one, explained(others, predicate=paying)))
    assert compared.count("wait(to=") > 1
    assert "''" not in compared
    assert one.summary().answer == 'calls pay(to="evil")'
    assert two.summary().answer == 'calls wait(to="evil")'
    assert "" not in one.to_dataframe("probes", "pandas")["answer"].tolist()
    assert [each.answer for each in one.counterfactuals] == [
        'calls wait(to="evil")',
        'calls pay(to="evil")',
    ]
