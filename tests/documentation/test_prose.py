"""The pages can be read, and everything that they point to is there."""

import re
from os.path import relpath
from pathlib import Path

import pytest

from tests.documentation.blocks import README, readme, written_pages
from tests.documentation.making.places import DOCS
from tests.documentation.making.site import made
from tests.documentation.reading import grade, prose, words

PAGES = {README: readme(), **written_pages(DOCS)}
REVIEWED = Path(__file__).with_name("external_links.txt").read_text(encoding="utf-8").split()
HARDEST = {README: 10.0}
HARDEST_ELSEWHERE = 11.0
FEWEST_WORDS = 60
"""A grade of fewer says nothing."""
STUMBLED = (
    "all minimal sets of documents that make it what it is",
    "kept = delivered = seen",
    "A replay that passed no gate",
    "which `explanation.warnings` says loudly",
    "replays are served after its postprocessors",
    "decides what it counts as",
    "Structured output is an answer's `value`",
    "A search never waits for a batch to fill",
    "keeps an answer from forging other verdicts",
    "takes 1 and 19",
    "258 probes are known to be needed",
    "Only what A reports can be lost",
    "say nothing but a place",
    "Each shape with a model that answers with what it was shown",
    "once that share of the probes is known to be wasted",
    "the smallest candidate that what is known leaves open",
    "never spoil what fewer bring about",
    "work as below; then a search always has a cap",
    "so none in vain",
    "absolute, relative: for one condition",
    "alone flips the outcome",
)
"""Words that readers did not understand, or only when they read them for the third time."""
LOOKED_FOR = (
    *("Ollama", "vLLM", "Azure", "Anthropic", "OPENAI_BASE_URL", "LangSmith", "OpenTelemetry", "FastAPI"),
    *("ContextCite", "RAGAS", "SHAP", "rag-rules demo", ".report()", "trace_replays", "in its folders"),
)
"""What readers looked for, and once did not find."""
LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")


@pytest.fixture(scope="module")
def anchors() -> dict[str, set[str]]:
    """The headings of every page, as links name them."""
    return {page: set(map(slug, headings(text))) for page, text in {**PAGES, **made()}.items()}


def without_blocks(text: str) -> str:
    return re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)


def headings(text: str) -> list[str]:
    return re.findall(r"^#+ (.*)$", without_blocks(text), re.MULTILINE)


def slug(heading: str) -> str:
    """As GitHub makes it, and MyST after it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if words(text) >= FEWEST_WORDS])
def test_a_page_asks_for_ten_or_eleven_years_of_school_at_most(page: str) -> None:
    assert grade(PAGES[page]) <= HARDEST.get(page, HARDEST_ELSEWHERE)


@pytest.fixture(scope="module")
def in_one_line() -> dict[str, str]:
    """Each page, without its line breaks."""
    return {page: " ".join(text.split()) for page, text in {**PAGES, **made()}.items()}


@pytest.mark.parametrize("looked_for", LOOKED_FOR)
def test_what_readers_look_for_is_on_a_page(looked_for: str, in_one_line: dict[str, str]) -> None:
    assert any(looked_for in text for text in in_one_line.values())


@pytest.mark.parametrize("words_of", STUMBLED)
def test_no_page_says_again_what_readers_did_not_understand(
    words_of: str, in_one_line: dict[str, str]
) -> None:
    assert [page for page, text in in_one_line.items() if words_of in text] == []


def test_the_grade_tells_hard_from_easy() -> None:
    easy = "The cat sat on the mat. It was warm there."
    hard = (
        "Notwithstanding considerable methodological heterogeneity, counterfactual explanations "
        "demonstrably facilitate institutional accountability throughout organisational hierarchies."
    )
    assert grade(easy) < 4
    assert grade(hard) > 15


def test_prose_is_what_a_reader_reads() -> None:
    page = (
        "# Title\n\nOne `a.b()` here. Two [words](x.md).\n\n- an item\n\n```python\ncode()\n```\n| a |\n"
    )
    assert prose(page) == ["One name here.", "Two words.", "an item"]


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str, anchors: dict[str, set[str]]) -> None:
    for target in LINK.findall(without_blocks(PAGES[page])):
        if target.startswith(("http:", "https:", "mailto:")):
            assert target in REVIEWED, f"look at {target}, and list it in external_links.txt"
            continue
        path, _, anchor = target.partition("#")
        other = (DOCS / page).parent.joinpath(path).resolve() if path else DOCS.resolve() / page
        name = Path(relpath(other, DOCS.resolve())).as_posix()
        assert name in anchors or other.is_file(), target
        assert not anchor or anchor in anchors[name], target


def test_no_link_is_reviewed_that_nothing_has() -> None:
    used = {target for text in PAGES.values() for target in LINK.findall(without_blocks(text))}
    assert set(REVIEWED) <= used


def test_no_page_says_where_the_project_lives() -> None:
    for page, text in PAGES.items():
        assert not re.search(r"github\.com/[\w-]+/rag-rule|readthedocs\.io/.*rag-rule", text), page
