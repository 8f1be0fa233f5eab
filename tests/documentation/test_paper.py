"""What README, documentation and notebooks state of the paper is in the table of its figures."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_rule_explainer.experiments.paper import FACTS, stated
from tests.documentation.making.site import made

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)(?![\w])")
COUNTED = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?) ?(%|[a-z]+)")
VALUES = {fact.value for fact in FACTS.values()}
UNITS = {fact.unit for fact in FACTS.values()} - {""}
"""What the paper counts. A figure before one of these words has to be one that the paper has of them."""
OWN = {
    "*All valid rules*, as the paper counts, are 256 and 768 at n = 10": {256, 768, 10},
    "visits 33 nodes and makes 32 calls; over all pairs, at most 35 nodes": {33, 32, 35},
    "The paper's judge figures do not fit": {89, 90, 1, 111, 200},
}
"""Sentences that name the paper and have figures of our own: those figures."""


def texts() -> Iterator[tuple[str, str]]:
    for path in (ROOT / "README.md", ROOT / "llms.txt", *sorted((ROOT / "docs").rglob("*.md"))):
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "cookbook").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                yield path.relative_to(ROOT).as_posix(), "".join(cell["source"])


def sentences(text: str) -> Iterator[str]:
    """Sentences that name the paper, without blocks of code, with the cells that a table says are its."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    column = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            column = None
        elif column is None:
            heads = [at for at, cell in enumerate(cells) if re.fullmatch(r"(?i)(the )?paper", cell)]
            column = heads[0] if heads else len(cells)
        elif column < len(cells):
            yield cells[column]
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("|"))
    for sentence in re.split(r"(?<=[.!?:])\s+|\n\s*\n|\n- ", prose):
        if re.search(r"\bpaper\b", sentence, re.IGNORECASE):
            yield " ".join(sentence.split())


def figures(sentence: str) -> set[float]:
    found = {
        float(each.replace(",", ""))
        for each in NUMBER.findall(re.sub(r"<[^>]*>|arXiv \S+", "", sentence))
    }
    words = re.sub("three quarters", "", sentence.casefold())
    found |= {75.0} if "three quarters" in sentence.casefold() else set()
    return found | ({25.0} if "a quarter" in words else set())


def of_another_thing(sentence: str) -> set[float]:
    """Figures that the paper has, but not of what the sentence counts."""
    counted = {
        (float(n.replace(",", "")), unit) for n, unit in COUNTED.findall(sentence) if unit in UNITS
    }
    return {number for number, _ in counted - {(fact.value, fact.unit) for fact in FACTS.values()}}


def unknown(sentence: str) -> set[float]:
    own = {number for part, numbers in OWN.items() if part in sentence for number in numbers}
    return (figures(sentence) - VALUES | of_another_thing(sentence)) - own


def test_each_figure_that_is_called_the_papers_is_in_the_table() -> None:
    read = [(name, sentence) for name, text in texts() for sentence in sentences(text)]
    with_figures = [each for each in read if figures(each[1])]
    assert len(with_figures) > 10
    assert {name for name, _ in with_figures} >= {
        "cookbook/paper.ipynb",
        "docs/explanation/paper.md",
    }
    assert [(name, s, unknown(s)) for name, s in with_figures if unknown(s)] == []


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_nor_is_one_missing_that_a_page_states_which_is_made_from_the_code() -> None:
    read = [(name, sentence) for name, text in made().items() for sentence in sentences(text)]
    assert any("paper" in sentence for _, sentence in read)
    assert [(name, s, unknown(s)) for name, s in read if unknown(s)] == []


@pytest.mark.parametrize(
    ("sentence", "wrong"),
    [
        ("The paper counts 33 calls.", {33}),
        ("A third visits 1,025 nodes, as in the paper", {1025}),
        ("temperature 0.7, as in the paper", {0.7}),
        ("The paper takes 44 sources.", {44}),
        ("The paper explores 75 % of the nodes in 100 calls.", {100}),
        ("A quarter of the lattice, as in the paper", set[float]()),
        ("The paper takes 1,000 examples.", set[float]()),
    ],
)
def test_a_wrong_figure_is_noticed(sentence: str, wrong: set[float]) -> None:
    assert list(sentences(f"Before. {sentence}")) == [sentence]
    assert unknown(sentence) == wrong


def test_a_wrong_cell_of_a_table_is_noticed() -> None:
    table = "| figure | the paper | this run |\n|---|---|---|\n| red teaming | 33 calls | 32 |\n"
    assert [unknown(cell) for cell in sentences(table)] == [set(), {33}]


def test_no_number_of_calls_is_called_the_papers() -> None:
    for path in (ROOT / "rag_rule_explainer").rglob("*.py"):
        assert "the paper's count" not in path.read_text(encoding="utf-8")
    assert 33 not in VALUES


def test_a_match_that_is_stricter_is_not_called_the_papers() -> None:
    code = {str(path): path.read_text("utf-8") for path in (ROOT / "rag_rule_explainer").rglob("*.py")}
    for name, text in {**code, **dict(texts())}.items():
        plain = " ".join(text.split())
        assert "the paper's near-exact" not in plain, name
        assert "hallucinated" not in plain, name


def test_a_fact_has_its_place_and_its_words() -> None:
    assert all(fact.place for fact in FACTS.values())
    assert str(FACTS["judge false positive rate"]) == "0.9 %"
    assert str(FACTS["synthetic explored by omission"]) == "about 75 %"
    assert str(FACTS["synthetic examples"]) == "1,000"
    assert stated("red-team bound") == 78
    with pytest.raises(ValueError, match="not whole"):
        stated("judge precision")


@pytest.mark.slow
def test_the_papers_judge_figures_cannot_come_from_its_judgments() -> None:
    """True and false positives, and negatives; none is missed, as the recall is 100 %."""
    wanted = FACTS["judge precision"].value, FACTS["judge false positive rate"].value

    def fits(count: int) -> bool:
        return any(
            (round(100 * right / (right + wrong), 2), round(100 * wrong / (count - right), 2)) == wanted
            for right in range(1, count)
            for wrong in range(1, count - right + 1)
        )

    assert [count for count in range(2, 201) if fits(count)] == [200]
    assert not fits(stated("judge judgments"))
