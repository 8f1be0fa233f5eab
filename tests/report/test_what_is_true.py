"""What a report says of the probes is true of them, in every form."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from random import Random
from typing import Any

import pytest

from rag_rule_explainer import (
    Explainer,
    Explanation,
    Noise,
    RuleKind,
    Source,
    Verdict,
    condition,
    contains,
)
from rag_rule_explainer.report import as_html, as_text, notebook_html
from rag_rule_explainer.testing import ScriptedReplay
from tests.report.test_html import Page
from tests.report.test_text import Script, explained, yes_if

FORMS: dict[str, Callable[[Explanation], str]] = {
    "text": as_text,
    "markdown": lambda each: re.sub(r"\\(.)", r"\1", each.to_markdown()),
    "html": lambda each: Page(as_html(each)).text,
    "notebook": lambda each: Page(notebook_html(each)).text,
}
each_form: Any = pytest.mark.parametrize("form", FORMS)


def failing_on(*subsets: set[str]) -> Script:
    return lambda shown: (
        TimeoutError("down") if set(shown) in subsets else "yes" if {"D1", "D2"} & shown else "no"
    )


def noisy(seed: int, **fields: Any) -> Explanation:
    draw = Random(seed)

    def script(shown: frozenset[str]) -> str:
        holds = {"D1", "D2"} <= shown or "D3" in shown
        return f"{'yes' if holds != (draw.random() < 0.2) else 'no'} indeed"

    vote = ("border", "every", "sequential")[seed % 3]
    return explained(script, 4, noise=Noise(samples=5, vote=vote), concurrency=1, **fields)


class TestVotes:
    @pytest.mark.parametrize("seed", range(12))
    def test_the_answer_beside_a_verdict_has_this_verdict_itself(self, seed: int) -> None:
        explanation = noisy(seed)
        for probe in explanation.probes:
            for kind, judged in probe.verdicts.items():
                if probe.answers and judged.verdict is not Verdict.UNKNOWN:
                    says_yes = judged.verdict is Verdict.of(kind is RuleKind.RETENTION)
                    assert ("yes" in probe.answers[0].text) is says_yes

    def test_an_answer_that_fits_the_verdicts_of_both_conditions_is_chosen(self) -> None:
        said = iter(["yes blue", "yes blue"])  # of the baseline and its repetition
        texts = ["yes red", "no blue", "yes blue", "yes red", "no blue"] * 200
        more = iter(texts)
        explanation = Explainer(
            ScriptedReplay(lambda _: next(said, None) or next(more)),
            predicate=contains("yes"),
            omission_predicate=contains("blue"),
            noise=Noise(samples=5, vote="every"),
            concurrency=1,
        ).explain("question?", ["one", "two"])
        both = [each for each in explanation.probes if len(each.verdicts) == 2]
        assert both
        for probe in both:
            if any(each.text == "yes blue" for each in probe.answers) and all(
                each.verdict is Verdict.HOLDS for each in probe.verdicts.values()
            ):
                assert probe.answers[0].text == "yes blue"

    def test_the_table_of_probes_has_a_column_with_the_votes(self) -> None:
        html = as_html(noisy(1))
        heads = re.findall("<th>(.*?)</th>", html[html.index('aria-label="Probes"') :])
        assert heads == ["No.", "Retained", "How many", "Verdict", "Votes", "Answer", "Reason", "Seconds"]
        row = re.search('<tr class="holds">(.*?)</tr>', html[html.index('aria-label="Probes"') :])
        assert row
        assert re.fullmatch(r"\d of \d", re.findall("<td>(.*?)</td>", row[1])[4])
        assert "<th>Votes</th>" not in as_html(explained(yes_if("D1")))

    def test_the_notebook_and_the_data_frame_have_the_votes_too(self) -> None:
        explanation = noisy(1)
        titles = re.findall('title="(.*?)"', notebook_html(explanation))
        assert len(titles) == 16
        assert all(re.search(r"; votes: \d of \d$", each) for each in titles if "asked" not in each)
        frame = explanation.to_dataframe("probes", "pandas")
        counted = {each for name in RuleKind for each in frame[f"{name.value}_votes"].dropna()}
        assert counted
        assert all(re.fullmatch(r"\d of \d", each) for each in counted)
        once = explained(yes_if("D1")).to_dataframe("probes", "pandas")
        assert not once["retention_votes"].notna().any()

    def test_votes_that_decided_nothing_are_told(self) -> None:
        answers = iter(["yes", *["yes", "no", TimeoutError("down")] * 500])
        noise = Noise(samples=3, vote="every")
        unsure = explained(lambda _: next(answers), 2, noise=noise, concurrency=1, check_repeatable=False)
        undecided = [
            each
            for each in unsure.probes
            if each.votes and any(j.verdict is Verdict.UNKNOWN for j in each.verdicts.values())
        ]
        assert undecided
        assert re.search(r"<td>\d for, \d against</td>", as_html(unsure))


def searched_by_groups() -> Iterator[Explanation]:
    ids = [f"D{place}" for place in range(1, 7)]
    for needed in combinations(ids, 3):
        for together in (True, False):

            def script(shown: frozenset[str], needed: Any = needed, together: bool = together) -> str:
                holds = set(needed) <= shown if together else set(needed) & shown
                return "yes" if holds else "no"

            yield explained(script, 6, miner="grouped")


def test_of_sources_that_a_search_dropped_only_what_is_so_is_said() -> None:
    told = 0
    for explanation in searched_by_groups():
        text = Page(as_html(explanation)).text
        told += "The search looked closely at" in text
        assert "never tried by itself" not in text
        assert "only taken together" not in text
    assert told


class TestNothingFoundYet:
    @each_form
    def test_that_none_was_found_so_far_is_said_in_every_form(self, form: str) -> None:
        whole = {f"D{place}" for place in range(1, 5)}
        explanation = explained(lambda shown: "yes" if whole <= shown else TimeoutError("down"), 4)
        assert not explanation.complete
        text = FORMS[form](explanation)
        assert text.lower().count("none found so far with this outcome:") == sum(
            not rules for rules in (explanation.retention_rules, explanation.omission_rules)
        )
        assert "none found so far" not in FORMS[form](explained(lambda _: "no")).lower()

    @each_form
    def test_that_smaller_changes_were_not_all_tried_is_said_in_every_form(self, form: str) -> None:
        explanation = explained(failing_on({"D2", "D3"}, {"D1", "D3"}))
        assert "Smaller changes were not all tried." in FORMS[form](explanation)
        tried = FORMS[form](explained(failing_on()))
        assert "Smaller changes were not all tried." not in tried
        assert re.search(r"(?i)(without|removing)\s+D1\s+and\s+D2", tried)


class TestShares:
    @each_form
    @pytest.mark.parametrize("asked", [0.3, 0.6])
    def test_the_true_share_is_printed_and_never_most(self, asked: float, form: str) -> None:
        explanation = explained(yes_if("D1", "D2"), 4, noise=Noise(min_confidence=asked))
        text = FORMS[form](explanation)
        assert "on most" not in text
        assert f"these are all the rules that hold in at least {asked * 100:g} % of the subsets" in text
        assert any(rule.claim == "confident" for rule in explanation)
        for rule in (each for each in explanation if not each.proved):
            assert f"{rule.confidence * 100:g} %" in text

    def test_a_rule_says_in_how_many_combinations_it_was_so(self) -> None:
        (first, *_) = explained(yes_if("D1", "D2"), 4, noise=Noise(min_confidence=0.3)).rules
        said = "Not always so: it was so in 50 % of the combinations of the other documents."
        assert said in Page(notebook_html(first)).text

    def test_where_some_have_no_verdict_the_share_is_the_least(self) -> None:
        def script(shown: frozenset[str]) -> str | Exception:
            return TimeoutError("down") if len(shown) == 1 else "yes" if shown else "no"

        text = FORMS["html"](explained(script, 4, noise=Noise(min_confidence=0.6)))
        assert "it was so in at least 68.7 % of the combinations" in text

    def test_a_rule_that_may_break_is_not_said_to_be_enough(self) -> None:
        html = as_html(explained(yes_if("D1", "D2"), 4, noise=Noise(min_confidence=0.3)))
        assert "enough by itself" not in html[html.index('class="found"') : html.index('class="fixes"')]


class TestAllSources:
    def test_they_are_a_known_probe_where_no_batch_has_them(self) -> None:
        explanation = explained(yes_if("D1", "D3"), 4, partition=2, miner="auto")
        assert explanation.probes[0].kept == ("D1", "D2", "D3", "D4")
        assert explanation.counts.probes == len(explanation.probes)
        assert Explanation.model_validate_json(explanation.to_json()) == explanation
        for form in FORMS.values():
            text = re.sub(r"\s+", " ", form(explanation))
            assert "None was found" not in text
            assert re.search(r"(?i)(without|removing) D1\b", text)

    @pytest.mark.parametrize("seed", range(40))
    def test_they_never_make_an_explanation_contradict_itself(self, seed: int) -> None:
        draw = Random(seed)
        table = [draw.random() < 0.6 for _ in range(32)]
        mask = {f"D{place + 1}": 1 << place for place in range(5)}

        def script(shown: frozenset[str]) -> str:
            return "yes" if table[sum(mask[each] for each in shown)] else "no"

        how: list[dict[str, Any]] = [
            {"partition": draw.randint(1, 4), "miner": "auto"},
            {"miner": "sampled"},
            {"miner": "grouped"},
            {"miner": "exact"},
        ]
        rules = draw.choice(["both", "retention", "omission"])
        explanation = explained(script, 5, **draw.choice(how), rules=rules)
        assert Explanation.model_validate_json(explanation.to_json()) == explanation


class TestConstantConditions:
    def test_a_note_names_the_condition_that_no_source_decides_about(self) -> None:
        def replay(_: str, sources: Sequence[Source]) -> str:
            return f"yes, {'red' if any(each.id == 'D2' for each in sources) else 'blue'}"

        explainer = Explainer(replay, predicate=contains("yes"), omission_predicate=contains("blue"))
        explanation = explainer.explain("question?", ["one", "two", "three"])
        assert [rule.sources for rule in explanation.omission_rules] == [("D2",)]
        (note,) = (each for each in explanation.notes if "no source decides" in each)
        assert "the condition of retention rules (the answer contains 'yes') comes out the same" in note

    def test_one_condition_needs_no_name(self) -> None:
        (note,) = (each for each in explained(yes_if()).notes if "no source decides" in each)
        assert note.startswith("the condition comes out the same")


class TestImportance:
    def test_a_kind_that_is_left_out_is_named_with_the_reason(self) -> None:
        explanation = explained(failing_on({"D2", "D3"}, {"D1", "D3"}))
        for form in ("text", "markdown", "html"):
            text = FORMS[form](explanation)
            assert "Not given for retention rules: more of them may exist (2 subsets" in text
        assert "Not given for" not in as_text(explained(yes_if("D1")))

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            ({"partition": 2, "miner": "auto"}, "over several batches are not looked for"),
            ({"noise": Noise(min_confidence=0.3)}, "not defined for rules that may break"),
        ],
    )
    def test_where_all_are_left_out_the_picture_says_why(self, options: Any, why: str) -> None:
        explanation = explained(yes_if("D1", "D2"), 4, **options)
        assert any(rule.sources for rule in explanation)
        assert not explanation.importance
        for form in ("text", "markdown", "html"):
            assert why in FORMS[form](explanation)
        with pytest.raises(ValueError, match=f"nothing to draw: .*{why}"):
            explanation.plot("importance")

    def test_a_picture_with_one_kind_says_that_the_other_is_left_out(self) -> None:
        figure: Any = explained(failing_on({"D2", "D3"}, {"D1", "D3"})).plot("importance")
        assert "Not given for retention rules" in figure.axes[0].get_title()


def test_conditions_that_only_sound_opposite_have_no_common_verdict() -> None:
    safe = condition(lambda case: case.answer.text == "it is safe", "the answer says that it is safe")
    unsafe = condition(
        lambda case: case.answer.text == "it is not safe", "the answer says that it is not safe"
    )

    def replay(_: str, sources: Sequence[Source]) -> str:
        ids = {each.id for each in sources}
        return "it is safe" if {"D1", "D2"} <= ids else "it is not safe" if "D3" in ids else "who knows"

    explainer = Explainer(replay, predicate=safe, omission_predicate=unsafe)
    explanation = explainer.explain("Is it?", ["one", "two", "three"])
    rows = re.findall(r"<tr class=\"\w+\">.*?</tr>", as_html(explanation))
    (of_none,) = (row for row in rows if "no documents" in row)
    assert "retention: not asked, omission: does not hold" in of_none
    assert len(re.findall("<figure", as_html(explanation))) == 2
