"""``rag-rules help NAME``: a page for everything that a user may meet, and nothing that leads nowhere."""

import ast
import dataclasses
import inspect
import os
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, get_args

import langchain_rag_rule_explainer
import llama_index_rag_rule_explainer
import plain_rag_rule_explainer
import pytest
from typer.main import get_command

import rag_rule_explainer
from rag_rule_explainer import Explainer, RagRuleError, Settings, contains
from rag_rule_explainer.cli.app import app
from rag_rule_explainer.cli.pages import HelpPage, find_page, help_pages
from rag_rule_explainer.predicates import JudgeFailed
from rag_rule_explainer.report import view
from rag_rule_explainer.report.plain_words import LEGEND
from rag_rule_explainer.rules import ClaimStatus
from tests.cli.runs import QUESTION, RagRules, assert_refused, finished, subprocess_of

HOME = Path(rag_rule_explainer.__file__).parent / "cli" / "pages"
_ROOT: Any = get_command(app)
OPTIONS: set[str] = {
    name
    for each in ("explain", "verify", "check")
    for o in _ROOT.commands[each].params
    for name in o.opts
}
EXPLAINERS: tuple[Any, ...] = (
    Explainer,
    langchain_rag_rule_explainer.RuleExplainer,
    llama_index_rag_rule_explainer.RuleExplainer,
    plain_rag_rule_explainer.RuleExplainer,
)
NO_SETTING = {
    "self",
    "application",
    "replay",
    "fields",
    "kwargs",
    "input",
    "question",
    "sources",
    "config",
}


def page_of(name: str) -> HelpPage:
    page = find_page(name)
    assert page is not None, name
    return page


def errors_below(error: type[Exception]) -> Iterator[type[Exception]]:
    yield error
    for each in error.__subclasses__():
        yield from errors_below(each)


def public_errors() -> set[str]:
    for found in walk_packages(rag_rule_explainer.__path__, "rag_rule_explainer."):
        if not found.name.endswith("__main__"):
            import_module(found.name)
    named = {
        each.__name__ for each in errors_below(RagRuleError) if each.__module__.startswith("rag_rule")
    }
    return {JudgeFailed.__name__, *(name for name in named if not name.startswith("_"))}


def settings() -> dict[str, Any]:
    """What a user can set, each with its default."""
    found = dict[str, Any]()
    for explainer in EXPLAINERS:
        for function in (explainer, explainer.explain):
            parameters = inspect.signature(function).parameters.values()
            found.update({each.name: each.default for each in parameters if each.name not in NO_SETTING})
    return found


def headings() -> set[str]:
    """The headings of a report, as its source has them."""
    found = {"Sources", "Importance", "Importance from 0 to 1", *view.RULES_OF.values()}
    for node in ast.walk(ast.parse(Path(view.__file__).read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id="Section" | "_listed"), args=[first, *_]):
                value = first.values[0] if isinstance(first, ast.JoinedStr) else first
                match value:
                    case ast.Constant(value=str(heading)):
                        found.add(heading)
                    case ast.Name(id=name) if name.isupper():
                        found.add(getattr(view, name))
                    case _:
                        pass
            case _:
                pass
    return found - {""}


def test_the_headings_are_those_of_a_report() -> None:
    explainer = Explainer(lambda _, sources: "yes" if len(sources) > 1 else "no", contains("yes"))
    explanation = explainer.explain("Is it so?", ["one text", "another", "and a third"])
    shown = {section.heading.partition("(")[0].strip() for section in view.sections(explanation)}
    assert shown - {""} <= {heading.partition("(")[0].strip() for heading in headings()}
    assert len(shown) >= 9


def test_every_error_has_a_page_and_every_such_page_an_error() -> None:
    pages = {page.name for page in help_pages() if page.kind == "errors"}
    assert pages == public_errors()
    assert len(pages) >= 20


def test_every_setting_has_a_page_that_says_its_default() -> None:
    fields = {each.name: each for each in dataclasses.fields(Settings)}
    for name, default in settings().items():
        page = page_of(name)
        assert page.kind == "settings"
        assert page.name == name
        said = re.findall(r"Default: `([^`]*)`", " ".join(page.text.split()))
        made = fields[name].default_factory if name in fields else dataclasses.MISSING
        usual = repr(default) if made is dataclasses.MISSING else f"{getattr(made, '__name__', '')}()"
        assert said == ([] if callable(default) else [usual.replace("'", '"')]), name
    others = {page.name for page in help_pages() if page.kind == "settings"} - set(settings())
    assert others == {"annotate", "app", "judge", "model", "trace"}


def test_every_claim_has_a_page_and_every_such_page_a_claim() -> None:
    assert {page.name for page in help_pages() if page.kind == "claims"} == set(get_args(ClaimStatus))


@pytest.mark.parametrize("heading", sorted(headings()))
def test_every_heading_of_a_report_has_a_page(heading: str) -> None:
    assert len(headings()) >= 11
    assert page_of(heading).kind in {"words", "settings"}


@pytest.mark.parametrize("term", [term for term, _ in LEGEND][1:-1])
def test_every_term_of_the_legend_has_a_page(term: str) -> None:
    for each in term.strip("“”").split(", "):
        page_of(each)


WORDS = """
WARNING probe probes replay replays baseline samples retries reused miner complete UNVERIFIED tied pinned
absolute relative witness counterfactual Banzhaf Shapley minimal votes draws unresolved subset rule Answer
Question confidence proved namespace
"""


@pytest.mark.parametrize("word", [*WORDS.split(), "repeat check", "not complete", "no verdict"])
def test_every_word_of_a_report_has_a_page(word: str) -> None:
    page_of(word)


def test_a_name_leads_to_one_page() -> None:
    named: dict[str, HelpPage] = {}
    for page in help_pages():
        for name in {page.name.casefold(), *(each.casefold() for each in page.others)}:
            assert named.setdefault(name, page) is page, name
            assert page_of(name) == page, name


def test_a_name_of_a_command_and_of_a_setting_shows_both(rag_rules: RagRules) -> None:
    assert {page.name for page in help_pages()} & set(_ROOT.commands) == {"audit", "store"}
    told = rag_rules("help", "store").out
    assert "Commands (rag-rules store COMMAND -h" in told
    assert "\nSetting of Settings. Default: None. Command line: --store" in told


def test_what_a_page_names_is_there() -> None:
    known = {"--samples", "--help", *OPTIONS}
    for command in _ROOT.commands.values():
        for inner in [command, *getattr(command, "commands", {}).values()]:
            known |= {name for option in inner.params for name in (*option.opts, *option.secondary_opts)}
    for page in help_pages():
        assert set(re.findall(r"(?<!-)--[a-z][\w-]+", page.text)) <= known, page.name
        for command in re.findall(r"rag-rules ([a-z-]+)", page.text):
            assert command in _ROOT.commands, (page.name, command)
        for name in re.findall(r"rag-rules help (\w+)", page.text):
            assert name == "NAME" or find_page(name), (page.name, name)
        for link in re.findall(r"\]\(([^)]+)\)", page.text):
            assert (HOME / page.kind / link).is_file(), (page.name, link)


@pytest.mark.parametrize("page", help_pages(), ids=lambda page: page.name)
def test_a_page_is_short_markdown_of_one_form(page: HelpPage) -> None:
    lines = page.text.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == f"# {page.title}"
    begins = {"errors": "Error. ", "settings": "Setting of ", "claims": "Claim. ", "words": "Word of "}
    assert lines[2].startswith(begins[page.kind])
    if page.kind == "errors":
        assert "**Why it happens.**" in page.text
        assert "**What to do.**" in page.text
    if page.kind == "claims":
        assert "**What it does not say.**" in page.text


def test_every_option_of_explain_is_explained(rag_rules: RagRules) -> None:
    for option in sorted(OPTIONS):
        if option.startswith("--"):
            run = rag_rules("help", option)
            assert run.code == 0, option
            assert run.out


@pytest.mark.parametrize(
    ("asked", "first"),
    {
        "NotRepeatable": "AnswerNotRepeatable",
        "errors.SourceLeak": "SourceLeak",
        "sourceleak": "SourceLeak",
        "Noise(samples=9)": "noise",
        "limits.replays": "limits",
        "--no-repeat-check": "check_repeatable",
        "UNVERIFIED": "unverified",
        "Importance from 0 to 1 (Banzhaf, Shapley)": "Importance",
        "What would flip it": "What would flip it",
        "Held out: retrieved, but never shown to the model": "Held out",
        "OPENAI_API_KEY": "model",
    }.items(),
)
def test_a_name_as_users_write_it(rag_rules: RagRules, asked: str, first: str) -> None:
    run = rag_rules("help", *asked.split(" "))
    assert (run.code, run.err) == (0, "")
    assert run.out.splitlines()[0] == first
    assert not re.search(r"\*\*|`|\]\(| $", run.out, re.MULTILINE)
    assert max(map(len, run.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("asked", "meant"),
    {
        "SorceLeak": "SourceLeak",
        "niose": "noise",
        "testd": "tested",
        "explian": "explain",
        "--smaples": "--samples",
        "importence": "importance",
        "--jsn": "--json",
    }.items(),
)
def test_a_misspelt_name_is_guessed(rag_rules: RagRules, asked: str, meant: str) -> None:
    assert_refused(rag_rules("help", asked), f"did you mean {meant!r}?", "rag-rules help lists all names")


@pytest.mark.parametrize("asked", ["zzzz", "\x1b[2J", "x" * 5000, "", "..", "../errors/SourceLeak", "é"])
def test_a_name_that_is_none_is_refused(rag_rules: RagRules, asked: str) -> None:
    run = rag_rules("help", asked)
    assert_refused(run, "has no page")
    assert len(run.err) < 400


def test_all_names_are_listed(rag_rules: RagRules) -> None:
    told = " ".join(rag_rules("help").out.split())
    for page in help_pages():
        assert re.search(rf"\b{page.name.replace('_', '[ _]')}\b", told), page.name


def test_the_help_of_a_command_is_the_whole_one(rag_rules: RagRules) -> None:
    assert rag_rules("help", "explain").out == rag_rules("explain", "--help-all").out.rstrip("\n") + "\n"
    assert "--older-than-days" in rag_rules("help", "store", "prune").out
    assert "efficiency" in rag_rules("help", "experiment").out


def test_errors_name_their_pages() -> None:
    named = {getattr(each, "PAGE", "") for each in errors_below(RagRuleError)} - {""}
    assert named <= {page.name for page in help_pages() if page.kind == "errors"}
    assert len(named) >= 12

    class Own(rag_rule_explainer.SourceLeak):
        pass

    assert str(Own("it leaked.")) == "it leaked. More: rag-rules help SourceLeak"
    assert str(rag_rule_explainer.InvalidInput("it is wrong")) == "it is wrong"


@pytest.mark.waits
def test_a_report_names_the_page_of_its_claim(rag_rules: RagRules, sources: Path) -> None:
    given = ("explain", "--question", QUESTION, "--sources", sources)
    piped = rag_rules(*given)
    assert "rag-rules help" not in piped.out + piped.err
    assert "Any other word" in rag_rules(*given, "--legend").out
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal:
        run = finished(subprocess_of(*given, stdout=terminal))
    os.close(ours)
    assert run.err.splitlines()[-1] == "what a word of the report means: rag-rules help proved"
