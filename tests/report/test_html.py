"""The HTML report as a text: what is in it, and what can never be."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rag_rule_explainer import Explainer, Explanation, Noise, Source, condition, contains, equals
from rag_rule_explainer.explanation.records import SourceRecord
from rag_rule_explainer.predicates import Predicate, negated
from rag_rule_explainer.printable import printable
from rag_rule_explainer.report.html import as_html
from rag_rule_explainer.report.plain_words import GUARANTEES, SIGNS, guarantee_of
from rag_rule_explainer.report.subsets import region_of, subset_views
from rag_rule_explainer.rules import ClaimStatus
from rag_rule_explainer.testing import ScriptedReplay
from tests.browser.reports import full_ten, grouped
from tests.drawing import drawn, few
from tests.report.hostile import PAYLOADS, hostile_explanations, hostile_texts
from tests.report.test_text import explained, yes_if

ASSETS = [
    each
    for each in sorted(Path(str(resources.files("rag_rule_explainer.report.html"))).iterdir())
    if each.suffix in {".css", ".js"}
]
fine = condition(lambda case: "yes" in case.answer.text, "it is not fine")
HAS_ADDRESS = {"href", "src", "action", "data", "srcset", "poster"}


class Page(HTMLParser):
    """The elements, attributes and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def names(self) -> set[tuple[str, str]]:
        return {(tag, name) for tag, attributes in self.elements for name in attributes} | {
            (tag, "") for tag, _ in self.elements
        }


def embedded(text: str) -> str:
    (found,) = re.findall(r'<script type="application/json" id="explanation">([^<]*)</script>', text)
    return found


def explained_of(sources: list[Source], **fields: Any) -> Explanation:
    replay = ScriptedReplay(yes_if(sources[0].id))
    options: dict[str, Any] = {"predicate": contains("yes"), "miner": "exact", **fields}
    return Explainer(replay, **options).explain("question?", sources)


class TestWhatItSays:
    def test_every_rule_with_its_titles_its_evidence_and_its_guarantee(self) -> None:
        sources = [Source("a.md", "one", {"title": "First & best"}), Source("b.md", "two")]
        page = Page(as_html(explained_of(sources)))
        assert "whenever First & best a.md is retained, the answer contains 'yes'" in page.text
        assert "proved on all 2 subsets" in page.text
        assert (
            "✔ It was tried with and without the other document, and it was so both times." in page.text
        )

    def test_the_smallest_change_says_what_the_answer_becomes(self) -> None:
        page = Page(as_html(explained(yes_if("D1"))))
        assert "Without D1, the answer becomes 'no'" in page.text

    def test_what_the_condition_looks_at_is_marked_in_the_answer(self) -> None:
        explainer = Explainer(ScriptedReplay(lambda _: "It says YES, I think"), predicate=contains("yes"))
        assert "It says <mark>YES</mark>, I think" in as_html(explainer.explain("q", ["text"]))

    def test_every_probe_is_a_row(self) -> None:
        explanation = explained(yes_if("D1", "D2"))
        page = Page(as_html(explanation))
        rows = [
            tag for tag, has in page.elements if tag == "tr" and has.get("class") in {"holds", "breaks"}
        ]
        assert len(rows) == len(explanation.probes) == 8

    def test_no_two_kinds_of_claim_guarantee_the_same(self) -> None:
        assert len(set(GUARANTEES.values())) == len(GUARANTEES)
        assert len(set(SIGNS.values())) == len(SIGNS) == len(GUARANTEES)

    def test_voted_rules_are_not_marked_as_proved(self) -> None:
        text = as_html(explained(yes_if("D1"), noise=Noise(samples=3)))
        assert 'class="claim voted"' in text
        assert 'class="claim proved"' not in text

    def test_more_sources_than_can_be_drawn_are_a_table(self) -> None:
        text = as_html(explained(yes_if("D1"), sources=11, miner="auto"))
        assert 'class="matrix"' in text
        assert 'class="lattice"' not in text

    @pytest.mark.parametrize("claim", [each for each in GUARANTEES if each != "proved"])
    def test_a_claim_has_its_own_guarantee_and_no_other(self, claim: ClaimStatus) -> None:
        made = explained(yes_if("D1"), rules="retention")
        rules = tuple(replace(rule, claim=claim) for rule in made.retention_rules)
        text = as_html(made.model_copy(update={"retention_rules": rules}))
        first_screen = text[: text.index('class="legend"')]
        own = {**GUARANTEES, claim: guarantee_of(rules[0])}
        said = {each for each, guarantee in own.items() if guarantee in first_screen}
        assert said == {claim}
        assert re.findall(r'<span aria-hidden="true">(.)</span>', first_screen) == [SIGNS[claim]]

    def test_long_texts_are_cut_and_counted(self) -> None:
        text = as_html(explained_of([Source("a", "x" * 1_000_000), Source("b", "y")]))
        assert "… and 970,000 more characters" in text


class TestFirstScreen:
    """The first screen asks in plain words, and answers before it gives figures."""

    def test_headings_are_plain_words_and_the_names_of_kinds_are_small(self) -> None:
        text = as_html(explained(yes_if("D1")))
        assert "<h2>Which documents bring this about <small>Retention rules</small></h2>" in text
        assert "<h2>Which documents end this by being left out <small>Omission rules</small></h2>" in text

    @pytest.mark.parametrize(
        "conditions", [{"omission_predicate": contains("no")}, {"rules": "omission"}], ids=str
    )
    def test_conditions_that_are_not_opposite_have_headings_that_are_true(
        self, conditions: dict[str, Any]
    ) -> None:
        text = as_html(explained(yes_if("D1"), **conditions))
        assert "Which documents decide by being left out" in text
        for untrue in ("this needs", "bring this about", "undoes this", "no longer so"):
            assert untrue not in text

    def test_all_combinations_are_counted_where_every_document_is_free(self) -> None:
        said = "All 4 combinations of the other 2 documents were tried, and it was so each time."
        text = as_html(explained(yes_if("D1")))
        assert text.index(said) < text.index("proved on all 4 subsets")
        explainer = Explainer(ScriptedReplay(yes_if("D1")), predicate=contains("yes"), miner="exact")
        documents = {"D1": "one", "D2": "two", "D3": "three"}
        three = [Source(name, text) for name, text in documents.items()]
        pinned = as_html(explainer.explain("question?", three, pinned=["D3"]))
        assert "combinations of the other 2 documents" not in pinned
        assert "It was tried with and without" not in pinned
        assert GUARANTEES["proved"] in pinned[: pinned.index('class="legend"')]

    def test_several_rules_and_rules_of_several_documents_are_told_apart(self) -> None:
        either = Page(as_html(explained(lambda shown: "yes" if shown & {"D1", "D2"} else "no"))).text
        assert "Retention rulesEach of these rules is enough by itself." in either
        assert "Omission rulesBoth together." in either
        assert "Both must go." in either
        both = Page(as_html(explained(yes_if("D1", "D2")))).text
        assert "Omission rulesEach of these rules is enough by itself." in both
        assert "must go." not in both

    def test_what_is_said_of_rules_that_are_not_proved_points_to_how_sure_they_are(self) -> None:
        text = as_html(explained(yes_if("D1", "D2"), noise=Noise(samples=3)))
        assert "Each of these rules is enough by itself. Each rule says how sure it is." in text

    def test_one_change_is_singular_and_says_how_it_was_seen(self) -> None:
        one, two = (as_html(explained(yes_if(*ids))) for ids in (("D1",), ("D1", "D2")))
        assert "<h2>Smallest change that undoes this</h2>" in one
        assert "This was tried; the application gave this answer." in one
        assert "<h2>Smallest changes that undo this</h2>" in two
        assert "Each of these was tried; the application gave these answers." in two

    def test_a_change_that_is_no_omission_rule_is_told_from_one(self) -> None:
        told = "It is enough while all other documents are there."

        def chat_or_mail(shown: frozenset[str]) -> str:
            return "yes" if "D1" in shown or ("D2" in shown and "D3" not in shown) else "no"

        assert told in as_html(explained(chat_or_mail))
        assert "If others are missing too, this may come back. An omission rule says" in as_html(
            explained(chat_or_mail)
        )

        def unless_warned(shown: frozenset[str]) -> str:
            return "no" if "D2" in shown and "D1" not in shown else "yes"

        without_rules = as_html(explained(unless_warned))
        assert told in without_rules
        assert "An omission rule says" not in without_rules
        assert told not in as_html(explained(yes_if("D1")))

    def test_that_the_rules_are_all_is_said_after_them(self) -> None:
        text = Page(as_html(explained(yes_if("D1")))).text
        assert text.index("these are all the rules there are.") > text.index("whenever D1 is omitted")

    def test_that_rules_may_be_missing_is_said_before_them_in_plain_words(self) -> None:
        text = Page(as_html(grouped())).text
        plain = text.index("documents (a-1")
        assert "The search looked closely at " in text[:plain]
        assert plain < text.index(
            "not complete: no other rule of the documents that were looked at closely was found"
        )
        assert text.index("not complete") < text.index("Retention rules")
        assert "▣ Some documents were always kept, or always left out" in text


def test_of_a_thousand_sources_and_more_those_that_rules_name_are_shown_and_linked_to() -> None:
    explanation = explained(yes_if("D1150", "D3"), sources=1200, miner="sampled")
    page = Page(as_html(explanation))
    links = {str(attributes["href"]) for _, attributes in page.elements if attributes.get("href")}
    shown = {f"#{attributes['id']}" for _, attributes in page.elements if attributes.get("id")}
    assert {"#source-3", "#source-1150"} <= links <= shown
    assert len([each for each in shown if each.startswith("#source-")]) == 1000


class TestSubsets:
    def test_a_condition_and_its_negation_share_one_lattice(self) -> None:
        (view,) = subset_views(explained(yes_if("D1")))
        assert {mask for mask, state in view.states.items() if state == "holds"} == {1, 3, 5, 7}

    def test_two_conditions_have_one_each(self) -> None:
        two = explained(yes_if("D1"), omission_predicate=contains("no"))
        assert [view.condition for view in subset_views(two)] == list(two.predicates.values())

    def test_quoted_words_do_not_make_a_negation(self) -> None:
        two = explained(
            lambda _: "yes", predicate=contains("must go"), omission_predicate=~contains("must not go")
        )
        assert len(subset_views(two)) == 2

    def test_nor_do_words_that_sound_like_one(self) -> None:
        first = condition(lambda case: "yes" in case.answer.text, "it is fine")
        second = condition(lambda case: "o" in case.answer.text, "it is not so that it is fine")
        two = explained(yes_if("D1"), predicate=first, omission_predicate=second)
        assert not two.conditions_are_opposite
        assert [view.condition for view in subset_views(two)] == list(two.predicates.values())

    @pytest.mark.parametrize("first", [contains("yes"), contains("yes") & contains("y"), fine])
    def test_a_negation_is_one_whatever_its_words(self, first: Predicate) -> None:
        for predicate, other in ((first, negated(first)), (negated(first), first)):
            made = explained(yes_if("D1"), predicate=predicate, omission_predicate=other)
            assert made.conditions_are_opposite
            assert len(subset_views(Explanation.model_validate_json(made.model_dump_json()))) == 1

    def test_conditions_that_are_the_same_or_alone_are_no_negation(self) -> None:
        assert not explained(yes_if("D1"), omission_predicate=contains("yes")).conditions_are_opposite
        assert not explained(yes_if("D1"), rules="omission").conditions_are_opposite

    def test_a_condition_that_draws_lots_has_two_lattices(self) -> None:
        draw = Random(0)
        drawn = condition(lambda _: draw.random() < 0.5, "it is fine")
        made = explained(yes_if("D1"), predicate=drawn, check_repeatable=False, miner="exhaustive")
        assert made.conditions_are_opposite
        assert len(subset_views(made)) == 2

    @pytest.mark.parametrize("needed", [("D1",), ("D1", "D3"), ()])
    def test_a_rule_covers_just_the_subsets_it_was_seen_on(self, needed: tuple[str, ...]) -> None:
        explanation = explained(yes_if(*needed))
        (view,) = subset_views(explanation)
        for rule in explanation:
            need, avoid = region_of(rule, explanation.units)
            covered = [m for m in range(8) if m & need == need and not m & avoid]
            assert len(covered) == rule.applicable
            states = {view.states[mask] for mask in covered if mask in view.states}
            assert states == {"holds" if rule.kind == "retention" else "breaks"}


class TestOneFile:
    def test_it_asks_for_nothing(self) -> None:
        page = Page(as_html(explained(yes_if("D1"))))
        for _, attributes in page.elements:
            for name in HAS_ADDRESS & attributes.keys():
                assert (attributes[name] or "").startswith("#")
        assert not re.search(r"@import|url\(", as_html(explained(yes_if("D1"))))

    def test_the_policy_allows_its_own_styles_and_scripts_alone(self) -> None:
        text = as_html(explained(yes_if("D1")))
        (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
        assert policy.startswith("default-src 'none';")
        assert "unsafe" not in policy
        inline = re.findall(
            r"<style>(.*?)</style>|<script type=\"module\">(.*?)</script>", text, re.DOTALL
        )
        assert len(inline) == len(ASSETS)
        for found in inline:
            digest = base64.b64encode(hashlib.sha256("".join(found).encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy

    @pytest.mark.parametrize("asset", ASSETS, ids=lambda path: path.name)
    def test_no_style_or_script_is_long(self, asset: Path) -> None:
        text = asset.read_text()
        assert len(text.splitlines()) <= 300
        assert text.isascii() or asset.suffix == ".css" or "…" in text
        assert "</" not in text

    def test_the_explanation_can_be_read_back(self) -> None:
        explanation = explained(yes_if("D1"))
        assert Explanation.model_validate_json(embedded(as_html(explanation))) == explanation

    def test_ten_full_documents_with_every_subset_are_below_one_and_a_half_megabytes(self) -> None:
        assert len(as_html(full_ten()).encode()) < 1_500_000

    def test_lone_surrogates_are_read_back_as_escapes(self) -> None:
        explanation = explained(yes_if("D1")).model_copy(
            update={"sources": (SourceRecord("D1", "a\ud800b"),), "question": "\udfff"}
        )
        assert "\\ud800" in embedded(as_html(explanation))
        assert as_html(explanation).encode()


@pytest.fixture(scope="module")
def plain_names() -> set[tuple[str, str]]:
    usual = [
        explained(yes_if("D1", "D2"), sources=4),
        hostile_explanations(["text"])[0],
        hostile_explanations(["text"] * 8)[1],
        explained(lambda shown: "yes" if len(shown) > 4 else "no", sources=8),
    ]
    return {name for each in usual for name in Page(as_html(each)).names} | {("bdi", "")}


class TestHostileTexts:
    def test_there_are_two_hundred(self) -> None:
        assert len(set(hostile_texts())) == 200

    @drawn
    def test_none_adds_an_element_or_an_attribute(self, plain_names: set[tuple[str, str]]) -> None:
        for explanation in hostile_explanations(few(hostile_texts())):
            assert Page(as_html(explanation)).names <= plain_names

    def test_none_is_raw_where_the_file_is_read_as_text(self) -> None:
        for explanation in hostile_explanations(list(PAYLOADS)):
            for line in as_html(explanation).splitlines():
                assert line == printable(line)

    def test_each_is_read_back(self) -> None:
        for explanation in hostile_explanations(list(PAYLOADS)):
            assert Explanation.model_validate_json(embedded(as_html(explanation))) == explanation


class TestChanges:
    def test_where_the_search_recorded_none_what_was_seen_to_flip_it_is_said(self) -> None:
        explanation = grouped()
        assert not explanation.counterfactuals
        text = Page(as_html(explanation)).text
        assert "Without a-1, the answer becomes 'no'" in text
        assert "Without c-2, the answer becomes 'no'" in text
        assert "Each of these changes is enough by itself." in text

    def test_several_ways_are_said_to_be_enough_each(self) -> None:
        assert "Each of these changes is enough by itself." in as_html(explained(yes_if("D1", "D2")))
        assert "Each of these changes is enough by itself." not in as_html(explained(yes_if("D1")))

    def test_what_starts_from_no_documents_is_said_apart(self) -> None:
        text = as_html(explained(yes_if("D1", "D2")))
        first, _, apart = text.partition("Which documents are enough alone")
        assert " and nothing else, the answer becomes" not in first
        assert apart.count(" and nothing else, the answer becomes &#39;yes&#39;") == 1

    def test_where_the_outcome_is_always_the_same_no_change_and_no_document_is_needed(self) -> None:
        text = Page(as_html(explained(yes_if()))).text
        assert "There is none: the outcome is the same whatever is left out." in text
        assert "None decides: it is so whatever is left out." in text
        assert "All 8 combinations of the 3 documents were tried" in text
        assert "None: it is so even with no documents at all." in text
        never = Page(as_html(explained(lambda _: "no"))).text
        assert "Which documents decide by being left out" in never
        assert "bring this about" not in never
        assert "undo this" not in never
        assert "None decides: it is so whatever is left out." not in never
        assert "There is none: the outcome is the same whatever is left out." in never

    def test_that_none_was_found_is_not_that_there_is_none(self) -> None:
        text = Page(as_html(explained(yes_if(), sources=12, miner="sampled"))).text
        assert re.search(r"None was found; \d+ of 4095 removals were tried\.", text)
        assert "There is none" not in text
        assert "Look at the model and the prompt. The rule says how sure it is." in text

    def test_what_readers_missed_is_said(self) -> None:
        pair = Page(as_html(explained(yes_if("D1", "D2")))).text
        assert "Retention rulesBoth together." in pair
        assert "As answers vary" not in pair
        three = Page(as_html(explained(yes_if("D1", "D2", "D3"), sources=4))).text
        assert "Retention rulesAll of these together." in three
        assert "together." not in Page(as_html(explained(yes_if("D1")))).text
        voted = Page(as_html(explained(yes_if("D1"), noise=Noise(samples=3)))).text
        assert "gave this answer. As answers vary, it may come out otherwise." in voted
        assert "The answers vary. With nothing else, 2 of 2 answers said so." in voted
        assert "The answers vary. With all other documents, 2 of 2 answers said so." in voted
        tested = Page(as_html(explained(yes_if("D1"), sources=12, miner="sampled"))).text
        assert re.search(
            r"Of the 2,048 combinations of the other documents, \d+ drawn at random were tried", tested
        )

    def test_a_number_is_not_marked_in_a_longer_one(self) -> None:
        sources = [Source("a", "From 2019 to 120: 20 days, 20.")]
        explainer = Explainer(ScriptedReplay(lambda shown: "20" if shown else "25"), equals("20"))
        text = as_html(explainer.explain("How many?", sources))
        assert "From 2019 to 120: <mark>20</mark> days, <mark>20</mark>." in text

    def test_changes_stand_in_the_order_of_the_rules(self) -> None:
        text = Page(as_html(explained(yes_if("D1", "D2")))).text
        assert 0 < text.index("Without D1, the answer") < text.index("Without D2, the answer")

    def test_with_pinned_documents_nothing_is_said_of_their_absence(self) -> None:
        sources = [Source(each, f"text {each}") for each in ("a", "b", "c")]

        def page(needed: set[str], pinned: list[str]) -> str:
            replay = ScriptedReplay(lambda shown: "yes" if needed <= {*shown} else "no")
            explained_pinned = Explainer(replay, equals("yes")).explain("?", sources, pinned=pinned)
            return Page(as_html(explained_pinned)).text

        pair = page({"a", "b"}, ["a"])
        assert "With b and the pinned documents alone, the answer becomes 'yes'" in pair
        assert "and nothing else" not in pair
        always = page({"a"}, ["a", "b"])
        assert "None of the others decides while the pinned documents stay." in always
        assert "whatever is left out" not in always
