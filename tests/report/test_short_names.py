"""Names of sources that a reader can tell apart, and sentences whose end is never cut off."""

import json
import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from rag_rule_explainer import Explainer, Explanation, Noise, Source, contains, diff
from rag_rule_explainer.explanation.wording import few_of, phrase_within
from rag_rule_explainer.printable import printable
from rag_rule_explainer.report import as_html, as_text, notebook_html
from rag_rule_explainer.report.html.markup import isolated
from rag_rule_explainer.report.short_names import short_ids, short_names
from rag_rule_explainer.testing import ScriptedReplay
from tests.report.hostile import PAYLOADS
from tests.report.test_html import Page
from tests.report.test_text import explained, section, yes_if

GUIDE = "Guide to strong bones (2024)"
LONG = [f"https://example.com/a/very/long/path/{'x' * 200}/{place}" for place in range(5)]
HEBREW = [f"\u05de\u05e1\u05de\u05da-{place}" for place in range(4)]


def of_sources(sources: list[Source], *needed: str, **fields: Any) -> Explanation:
    options: dict[str, Any] = {"predicate": contains("yes"), "miner": "exact", **fields}
    return Explainer(ScriptedReplay(yes_if(*needed)), **options).explain("question?", sources)


def of_ids(ids: list[str], *needed: str, **fields: Any) -> Explanation:
    return of_sources(
        [Source(each, f"text of number {n}") for n, each in enumerate(ids)], *needed, **fields
    )


CHUNKS = of_sources([Source(f"D{n}", f"part {n}", {"title": GUIDE}) for n in (1, 2, 3)], "D1", "D3")


def labels_of(figure: Any) -> set[str]:
    (axes,) = figure.axes
    return {each.get_text() for each in (*axes.get_xticklabels(), *axes.get_yticklabels())}


class TestSharedTitles:
    def test_the_table_of_importance_has_the_ids(self) -> None:
        table = re.findall(r"<tr><td>(.*?)</td>", as_html(CHUNKS))
        assert set(table) == {f"{GUIDE} (D1)", f"{GUIDE} (D3)"}

    def test_the_diagram_has_the_ids(self) -> None:
        (names,) = (each["data-names"] for tag, each in Page(as_html(CHUNKS)).elements if tag == "figure")
        assert json.loads(names or "") == [f"{GUIDE} (D{n})" for n in (1, 2, 3)]

    def test_the_titles_in_a_notebook_have_the_ids(self) -> None:
        titles = re.findall('title="(.*?)"', notebook_html(CHUNKS))
        assert len(titles) == len(set(titles)) == 8
        assert any(f"{GUIDE} (D1), {GUIDE} (D3); answer" in each for each in titles)

    @pytest.mark.parametrize("what", ["rules", "importance"])
    def test_the_pictures_have_the_ids(self, what: str) -> None:
        assert labels_of(CHUNKS.plot(what)) >= {f"{GUIDE} (D1)", f"{GUIDE} (D3)"}

    def test_a_title_that_no_other_source_has_stands_alone(self) -> None:
        sources = [Source("D1", "one", {"title": "First"}), Source("D2", "two", {"title": "Second"})]
        assert short_names(of_sources(sources, "D1")) == {"D1": "First", "D2": "Second"}

    def test_a_title_that_is_the_id_of_another_source_does_not_name_both(self) -> None:
        sources = [Source("D1", "one", {"title": "D2"}), Source("D2", "two")]
        assert short_names(of_sources(sources, "D1")) == {"D1": "D2 (D1)", "D2": "D2"}


class TestLongIds:
    @given(st.lists(st.text("aB …[]()1", min_size=1, max_size=30), unique=True, max_size=20))
    def test_no_two_ids_ever_read_the_same(self, ids: list[str]) -> None:
        names = short_ids(ids, 9)
        assert len(set(names.values())) == len(ids)

    def test_ids_that_differ_in_their_middle_alone(self) -> None:
        ids = ["a" * 300 + middle + "z" * 300 for middle in "123"]
        names = short_ids(ids)
        assert len(set(names.values())) == 3
        assert all(len(name) < 100 for name in names.values())

    def test_every_place_of_every_form_tells_them_apart(self) -> None:
        explanation = of_ids(LONG, LONG[0], LONG[3])
        assert [rule.sources for rule in explanation.omission_rules] == [(LONG[0],), (LONG[3],)]
        page = Page(as_html(explanation)).text
        cut = short_ids(LONG)
        assert len(set(cut.values())) == len(LONG)
        for each in (LONG[0], LONG[3]):
            assert f"whenever {cut[each]} is omitted" in page
            assert f"whenever {cut[each]} is omitted" in Page(notebook_html(explanation)).text
        titles = re.findall('title="(.*?)"', notebook_html(explanation))
        assert len(set(titles)) == len(titles) == 32
        for what in ("rules", "importance"):
            names = {each for each in labels_of(explanation.plot(what)) if "example.com" in each}
            assert len(names) == 2
        changes = section(explanation, "What would flip it")
        assert len({line.split(" flips")[0] for line in changes[:2]}) == 2


class TestManyRules:
    def test_badges_that_are_left_out_are_counted_and_both_kinds_are_seen(self) -> None:
        explanation = explained(lambda shown: "yes" if len(shown) >= 5 else "no", sources=9)
        assert len(explanation.rules) == 252
        (first, *_) = re.findall("<summary><b>D1</b>.*?</summary>", as_html(explanation))
        badges = re.findall(">([RO][0-9]+)<", first)
        assert {each[0] for each in badges} == {"R", "O"}
        naming = sum("D1" in rule.sources for rule in explanation)
        assert f"+{naming - len(badges)} more" in first


@cache
def of_three_hundred() -> Explanation:
    """Its one rule needs every source."""
    names = [f"D{place}" for place in range(1, 301)]
    return explained(yes_if(*names), sources=300, rules="retention", miner="sampled")


class TestLongLists:
    def test_a_list_is_cut_and_not_the_verb_after_it(self) -> None:
        explanation = explained(yes_if("D8", "D344"), sources=400, miner="grouped")
        for line in [
            *section(explanation, "What is not a rule"),
            *section(explanation, "What would flip it"),
        ]:
            assert "…" not in line or line.startswith("  … and")
            assert ": no, " in line or "flips the outcome" in line or line.startswith("  … and")

    def test_what_is_left_open_has_its_reason(self) -> None:
        explanation = explained(
            lambda shown: TimeoutError("down") if len(shown) == 30 else "yes" if "D2" in shown else "no",
            sources=60,
            miner="sampled",
        )
        if explanation.unresolved:
            assert all("TimeoutError: down" in line for line in section(explanation, "Left open"))

    def test_the_short_form_of_a_rule_ends_in_its_claim(self) -> None:
        (rule,) = of_three_hundred().rules
        assert len(rule.rule) > 1500
        assert repr(rule).endswith(f"more are retained, the answer contains 'yes' [{rule.evidence}]")
        assert "are retained, the answer contains 'yes'" in Page(notebook_html(rule)).text

    def test_a_comparison_says_what_became_of_a_rule_of_many_sources(self) -> None:
        many = of_three_hundred()
        one = explained(yes_if("D1"), sources=300, rules="retention", miner="sampled")
        for line in str(diff(many, one)).splitlines():
            if line.startswith(("lost", "weakened", "gained", "strengthened")):
                assert "retained, the answer contains 'yes' [" in line

    @given(st.lists(st.text(min_size=1, max_size=40), max_size=30), st.integers(1, 200))
    def test_a_phrase_counts_exactly_what_it_leaves_out(self, names: list[str], limit: int) -> None:
        names = [each.replace(",", "") for each in names]
        said = phrase_within(names, limit)
        more = re.search(r" and ([\d,]+) more$", said)
        if more and said not in names:
            left_out = int(more[1].replace(",", ""))
            assert said.startswith(", ".join(names[: len(names) - left_out]))
            assert len(said) <= max(limit, len(names[0])) + 20
        assert phrase_within(names, None).count(", ") == max(0, len(names) - 2) + "".join(names).count(
            ", "
        )

    def test_ids_of_any_length_leave_room_for_the_count(self) -> None:
        said = few_of(["x" * 5000, "y" * 5000, "z", *map(str, range(100))])
        assert len(said) < 300
        assert said.endswith(" more")


class TestRightToLeft:
    def test_each_id_is_isolated_in_html(self) -> None:
        explanation = of_ids(HEBREW, HEBREW[0], HEBREW[2])
        for html in (as_html(explanation), notebook_html(explanation)):
            body = re.sub("<script.*?</script>", "", html, flags=re.DOTALL)
            bare = re.sub('<bdi>.*?</bdi>|="[^"]*"', "", body)
            assert HEBREW[0] not in bare
            assert f"<bdi>{HEBREW[0]}</bdi>" in body

    def test_a_hash_is_not_torn_apart_by_an_id_before_it(self) -> None:
        (line,) = (each for each in as_text(of_ids(HEBREW, HEBREW[0])).splitlines() if "sha256 " in each)
        assert f"{HEBREW[0]} sha256:" in line

    def test_words_beside_each_other_are_read_as_one_text(self) -> None:
        words = " ".join(HEBREW[:2])
        assert isolated(f"with {words} and D1") == f"with <bdi>{words}</bdi> and D1"
        assert isolated(f"{HEBREW[0]}, {HEBREW[1]}") == f"<bdi>{HEBREW[0]}</bdi>, <bdi>{HEBREW[1]}</bdi>"
        explanation = of_sources([Source("D1", "one", {"title": words})], "D1")
        for html in (as_html(explanation), notebook_html(explanation)):
            assert f"<bdi>{words}</bdi>" in html

    def test_any_text_is_only_escaped_and_isolated(self) -> None:
        for text in (*PAYLOADS, f"'{HEBREW[0]}", f'{HEBREW[0]}"' * 500, HEBREW[0] * 500):
            plain = printable(text)
            assert isolated(plain).replace("<bdi>", "").replace("</bdi>", "") == escape(plain)

    def test_other_texts_stay_as_they_are(self) -> None:
        assert isolated("whenever D1 & D2, 'x'") == "whenever D1 &amp; D2, &#39;x&#39;"
        assert (
            isolated(f'"{HEBREW[0]} <b>" and D2') == f"<bdi>&#34;{HEBREW[0]} &lt;b&gt;&#34;</bdi> and D2"
        )


def test_noise_changes_no_name() -> None:
    explanation = explained(yes_if("D1"), noise=Noise(samples=3))
    assert short_names(explanation) == {f"D{place}": f"D{place}" for place in (1, 2, 3)}
