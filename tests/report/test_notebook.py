"""What a notebook shows of each result."""

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from IPython.core.formatters import DisplayFormatter

from rag_rule_explainer import Explainer, Explanation, Noise, contains, diff
from rag_rule_explainer.checking.figures import Share
from rag_rule_explainer.checking.result import JudgeCheck
from rag_rule_explainer.printable import printable
from rag_rule_explainer.report.html.grid import lattice_grid
from rag_rule_explainer.report.subsets import subset_views
from rag_rule_explainer.testing import ScriptedReplay
from tests.report.hostile import PAYLOADS, hostile_explanations
from tests.report.test_html import Page
from tests.report.test_text import explained, yes_if

PAIR = explained(yes_if("D1", "D2"))
CHECK = JudgeCheck(
    condition="it is so",
    cases=2,
    distinct=2,
    tp=1,
    fp=0,
    tn=1,
    fn=0,
    unknown=0,
    precision=Share(1, 1, 1.0, 0.0, 1.0),
    recall=Share(1, 1, 1.0, 0.0, 1.0),
    false_positive_rate=Share(0, 1, 0.0, 0.0, 1.0),
)


def explainer() -> Explainer:
    return Explainer(ScriptedReplay(yes_if("D1")), predicate=contains("yes"))


RESULTS: dict[str, Callable[[], Any]] = {
    "explanation": lambda: PAIR,
    "finding": lambda: PAIR.rules[0],
    "comparison": lambda: diff(PAIR, explained(yes_if("D1"))),
    "judge check": lambda: CHECK,
    "estimate": lambda: explainer().estimate("question?", ["a", "b"]),
    "held": lambda: explainer().verify(["D1"], "retention", "question?", ["a", "b"]),
    "broken": lambda: explainer().verify(["D2"], "retention", "question?", ["a", "b"]),
}
DRAWING = "data:image/svg+xml,"
"""The beginning of an address that is itself a drawing, so that nothing is asked for."""
each_result = pytest.mark.parametrize("name", RESULTS)


def shown(result: Any) -> dict[str, str]:
    formatter: Any = DisplayFormatter()
    bundle, _ = formatter.format(result)
    return bundle


@each_result
def test_it_is_shown_as_html_and_as_text(name: str) -> None:
    result = RESULTS[name]()
    bundle = shown(result)
    assert bundle["text/plain"] == str(result)
    assert type(bundle["text/html"]) is str
    assert "&lt;" not in bundle["text/html"]
    page = Page(bundle["text/html"])
    assert page.names >= {("details", "")} or name == "finding" or "\n" not in str(result)
    first = str(result).splitlines()[0]
    if name != "explanation":
        assert first.split(": ")[-1].split(" [")[0] in page.text


@each_result
def test_it_changes_nothing_beside_it(name: str) -> None:
    page = Page(shown(RESULTS[name]())["text/html"])
    assert {tag for tag, _ in page.elements}.isdisjoint({"style", "script", "link", "iframe", "a"})
    for tag, attributes in page.elements:
        assert attributes.keys().isdisjoint({"id", "class", "href", "onclick"})
        assert ("src" in attributes) is (tag == "img")
        assert str(attributes.get("src", DRAWING)).startswith(DRAWING)


@each_result
def test_it_is_left_out_if_another_form_is_wanted(name: str) -> None:
    bundle = RESULTS[name]()._repr_mimebundle_
    assert list(bundle(include=["text/html"])) == ["text/html"]
    assert list(bundle(exclude=["text/html"])) == ["text/plain"]


def test_an_explanation_has_its_rules_its_fixes_and_its_lattice() -> None:
    page = Page(shown(PAIR)["text/html"])
    for rule in PAIR:
        assert rule.rule in page.text
        assert rule.evidence in page.text
    assert "Without D2, the answer becomes 'no'" in page.text
    (view,) = subset_views(PAIR)
    titles = [has["title"] for tag, has in page.elements if tag == "span" and "title" in has]
    assert len(titles) == len(view.states) == 8
    assert "the condition holds: D1, D2; answer: yes" in titles


def test_the_drawing_has_no_word_outside_of_it_and_is_said_in_one_sentence() -> None:
    explanation = explained(yes_if("D1", "D2"), sources=6)
    page = Page(shown(explanation)["text/html"])
    assert "svg" not in {tag for tag, _ in page.elements}
    (image,) = (has for tag, has in page.elements if tag == "img")
    told = "Subsets: the condition holds: 16, the condition does not hold: 48"
    assert image["alt"] == told
    (summary,) = (text for text in page.texts if text.startswith("All 64 subsets"))
    after = "".join(page.texts[page.texts.index(summary) + 1 :])
    assert len(after) < 200
    drawing = ElementTree.fromstring(unquote(str(image["src"]).removeprefix(DRAWING)))  # noqa: S314 -- ours
    words = {each.text for each in drawing.iter() if each.text}
    assert {"all 6 kept", "none kept", "the condition holds (16)"} <= words


class Sanitised(HTMLParser):
    """The lines of a page where styles, scripts and drawings were taken out, as by VS Code, Colab and
    GitHub in a notebook that is not trusted."""

    BLOCKS = frozenset({"div", "p", "pre", "details", "summary", "ul", "li"})
    TAKEN_OUT = frozenset({"svg", "script", "style", "math", "iframe", "object"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.lines, self._inside = [""], 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside += tag in self.TAKEN_OUT
        self.lines += [""] if tag in self.BLOCKS else []

    def handle_endtag(self, tag: str) -> None:
        self._inside -= tag in self.TAKEN_OUT
        self.lines += [""] if tag in self.BLOCKS else []

    def handle_data(self, data: str) -> None:
        self.lines[-1] += "" if self._inside else data


@pytest.mark.parametrize("explanation", [PAIR, explained(yes_if("D1"), noise=Noise(samples=3))])
def test_without_styles_and_drawings_each_rule_is_a_line_with_how_sure_it_is_below(
    explanation: Explanation,
) -> None:
    lines = [line for line in Sanitised(shown(explanation)["text/html"]).lines if line.strip()]
    for rule in explanation:
        place = lines.index(rule.rule)
        assert rule.evidence in lines[place + 1]
    assert lines.index("Retention rules") < lines.index("Omission rules")
    assert any(line.startswith("complete") for line in lines)


def test_a_rule_is_a_sentence() -> None:
    assert repr(PAIR.rules[0]) == (
        "whenever D1 and D2 are retained, the answer contains 'yes' [proved on all 2 subsets]"
    )


def test_hostile_texts_add_nothing() -> None:
    usual = hostile_explanations(["text"])[0]
    allowed = Page(shown(usual)["text/html"]).names | Page(shown(PAIR)["text/html"]).names
    for explanation in hostile_explanations(list(PAYLOADS)):
        for result in (explanation, *explanation.rules, diff(explanation, explanation)):
            html = shown(result)["text/html"]
            others = {("pre", ""), ("pre", "style"), ("details", "open"), ("bdi", "")}
            assert Page(html).names <= allowed | others
            assert all(line == printable(line) for line in html.splitlines())


class TestPlots:
    @pytest.mark.spread(fast=3)
    @pytest.mark.parametrize("what", ["lattice", "rules", "importance"])
    @pytest.mark.parametrize(
        "explanation", [PAIR, hostile_explanations(list(PAYLOADS))[6]], ids=["", "$"]
    )
    def test_each_is_a_figure_that_a_notebook_shows(self, what: str, explanation: Explanation) -> None:
        if what == "importance" and not explanation.importance:
            pytest.skip("it has none")
        figure: Any = explanation.plot(what)
        assert figure._repr_png_().startswith(b"\x89PNG")

    def test_the_lattice_has_every_subset_once(self) -> None:
        figure: Any = PAIR.plot("lattice")
        (axes,) = figure.axes
        told = {each.get_label(): len(each.get_offsets()) for each in axes.collections}
        assert told == {
            "the condition holds (2)": 2,
            "the condition does not hold (6)": 6,
            "retention rules (1)": 1,
            "omission rules (2)": 2,
        }

    def test_subsets_that_were_never_asked_about_are_drawn_apart(self) -> None:
        """For two of four sources, the retention miner asks about the four sets with both, and about the
        two largest without one of them."""
        pruned = explained(yes_if("D1", "D2"), sources=4, rules="retention")
        figure: Any = pruned.plot("lattice")
        (axes,) = figure.axes
        drawn: Any = {each.get_label(): each for each in axes.collections}
        told = {label: len(each.get_offsets()) for label, each in drawn.items()}
        assert told == {
            "the condition holds (4)": 4,
            "the condition does not hold (2)": 2,
            "not asked (10)": 10,
            "retention rules (1)": 1,
        }
        (view,) = subset_views(pruned)
        places = lattice_grid(view).places
        broken = {
            tuple(map(float, each)) for each in drawn["the condition does not hold (2)"].get_offsets()
        }
        assert broken == {places[mask] for mask in range(16) if view.states.get(mask) == "breaks"}
        asked = {frozenset(probe.kept) for probe in pruned.probes}
        assert len(asked) == 6
        assert len(view.states) == 6

    @pytest.mark.parametrize("what", ["", "pie", None, 3])
    def test_what_is_none_is_told(self, what: Any) -> None:
        with pytest.raises(ValueError, match=r"draws nothing; give one of lattice, rules, importance"):
            PAIR.plot(what)

    def test_what_is_too_much_is_told(self) -> None:
        many = explained(yes_if("D1"), sources=11, miner="auto")
        with pytest.raises(ValueError, match=r"11 sources have too many subsets .* plot\('rules'\)"):
            many.plot()
        assert many.plot("rules")

    @pytest.mark.parametrize("what", ["rules", "importance"])
    def test_where_nothing_is_drawn_it_is_told(self, what: str) -> None:
        with pytest.raises(ValueError, match="nothing to draw"):
            explained(lambda _: "no").plot(what)
