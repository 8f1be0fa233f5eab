"""``rag-rules explain --app``, logged incidents and pinned documents."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.runs import (
    BUILT,
    QUESTION,
    RagRules,
    assert_refused,
    explanation_of,
    finished,
    folder,
    jsonl,
    rules_of,
    subprocess_of,
)

APPLICATION = """
from langchain_core.documents import Document
from langchain_rag_rule_explainer import lexical_chain

DOCUMENTS = [
    Document(id="plaque", page_content="The iron tower was built in 1889."),
    Document(id="leaflet", page_content="The iron tower was built in 1900."),
    Document(id="menu", page_content="Soup is served at noon."),
]
chain = lexical_chain(DOCUMENTS, k=3)

class Nested:
    chain = chain

def asks_as_a_graph(given):
    return {"messages": [("ai", chain.invoke(given["messages"][-1]["content"]))]}

def asks_by_key(given):
    return {"answer": chain.invoke(given["input"])}

def asks_by_an_odd_key(given):
    return {"answer": chain.invoke(given["the_thing"])}

def fails(question):
    raise ConnectionError("no route to the index")

def never_retrieves(question):
    return "no idea"

questions = []

def counts(question):
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_rag_rule_explainer import BM25Retriever
    questions.append(question)
    found = BM25Retriever(documents=DOCUMENTS, k=3).invoke(question)
    texts = " ".join(each.page_content for each in found)
    model = FakeListChatModel(responses=["1889" if "1889" in texts else "unknown"])
    return model.invoke(f"[request no. {len(questions)}] {texts} {question}").text

def make():
    return lexical_chain(DOCUMENTS, k=3)

number = 7
"""
ENGINES = """
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.schema import TextNode
from llama_index_rag_rule_explainer import BM25Retriever, OfflineLLM, lexical_engine

NODES = [
    TextNode(id_="plaque", text="The iron tower was built in 1889."),
    TextNode(id_="leaflet", text="The iron tower was built in 1900."),
    TextNode(id_="menu", text="Soup is served at noon."),
]
engine = lexical_engine(NODES, k=3)
chat = ContextChatEngine.from_defaults(retriever=BM25Retriever(NODES, k=3), llm=OfflineLLM())
retriever = BM25Retriever(NODES, k=3)

def make():
    return lexical_engine(NODES, k=3)

def asks(question):
    return engine.query(question)

def asks_by_key(given):
    return {"answer": str(engine.query(given["input"]))}
"""
RULES = ["whenever plaque is retained, the answer contains '1889'"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_loop: None) -> Iterator[Path]:
    """A folder with an application in it, as the current one."""
    folder(
        tmp_path,
        {
            "tower_app.py": APPLICATION,
            "tower_engines.py": ENGINES,
            "broken_app.py": "1 / 0",
            "needy_app.py": "import nope",
        },
    )
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    yield tmp_path
    sys.path[:] = before
    for name in ("tower_app", "tower_engines", "broken_app", "needy_app"):
        sys.modules.pop(name, None)


def asked(app: str, *more: object) -> list[object]:
    return [
        *("explain", "--app", app, "--question", QUESTION, "--predicate", "contains:1889"),
        *("--rules", "retention", "--json", *more),
    ]


@pytest.fixture
def elsewhere(
    here: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """The folder of the application, which also holds a package; another folder is the current one."""
    folder(
        here,
        {
            "tower_package/__init__.py": "",
            "tower_package/inner.py": "from .made import make\n",
            "tower_package/made.py": APPLICATION,
            "json.py": APPLICATION,
        },
    )
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    yield here
    for name in ("tower_package", "tower_package.inner", "tower_package.made"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("app", ["tower_app.py:chain", "tower_package/inner.py:make"])
def test_an_application_is_named_by_its_file(rag_rules: RagRules, elsewhere: Path, app: str) -> None:
    assert rules_of(explanation_of(rag_rules(*asked(f"{elsewhere}/{app}")))) == RULES


def test_a_file_with_the_name_of_a_module_is_not_taken_for_it(
    rag_rules: RagRules, elsewhere: Path
) -> None:
    run = rag_rules(*asked(f"{elsewhere}/json.py:chain"))
    assert_refused(run, "Python takes json.py for another module of the name json; rename the file")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    ("app", "more"),
    [
        ("tower_app:chain", []),
        ("tower_app:Nested.chain", []),
        ("tower_app:asks_as_a_graph", ["--input-key", "messages"]),
        ("tower_app:make", []),
        ("tower_app:asks_by_key", ["--input-key", "input"]),
        ("tower_app:asks_by_key", ["--input", json.dumps({"input": QUESTION})]),
        ("tower_app:asks_by_an_odd_key", ["--input-key", "the_thing"]),
        ("tower_app:asks_by_an_odd_key", ["--input", json.dumps({"the_thing": QUESTION})]),
    ],
)
def test_an_application_is_explained_as_it_is(rag_rules: RagRules, app: str, more: list[str]) -> None:
    run = rag_rules(*asked(app, *more))
    explanation = explanation_of(run)
    assert (rules_of(explanation), explanation.question) == (RULES, QUESTION)
    assert {source.id for source in explanation.sources} == {"plaque", "leaflet"}
    assert explanation.scope == "seen"
    assert "at most 300 replays of the application" in run.err


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    ("app", "more"),
    [
        ("tower_engines:engine", []),
        ("tower_engines:chat", []),
        ("tower_engines:chat", ["--input", json.dumps({"message": QUESTION})]),
        ("tower_engines:make", []),
        ("tower_engines:asks", []),
        ("tower_engines:asks", ["--framework", "llama-index"]),
        ("tower_engines:asks_by_key", ["--input-key", "input"]),
    ],
)
def test_an_engine_is_explained_as_a_chain_is(rag_rules: RagRules, app: str, more: list[str]) -> None:
    explanation = explanation_of(rag_rules(*asked(app, *more)))
    assert (rules_of(explanation), explanation.question) == (RULES, QUESTION)
    assert {source.id for source in explanation.sources} == {"plaque", "leaflet"}
    assert "llama-index-core" in explanation.versions


def test_an_engine_is_explained_by_brought_documents_and_by_an_incident(
    rag_rules: RagRules, here: Path
) -> None:
    documents = jsonl(
        here / "mine.jsonl", {"id": "mine", "text": "The iron tower was built in 1889."}, BUILT[1]
    )
    brought = explanation_of(rag_rules(*asked("tower_engines:engine", "--documents", documents)))
    assert rules_of(brought) == ["whenever mine is retained, the answer contains '1889'"]
    live = explanation_of(rag_rules(*asked("tower_engines:engine")))
    incident = here / "incident.json"
    logged = {
        "question": live.question,
        "answer": live.baseline.text,
        "docs": [{"id": s.id, "text": s.text, "metadata": s.metadata} for s in live.sources],
        "pinned": ["leaflet"],
    }
    incident.write_text(json.dumps(logged))
    again = explanation_of(
        rag_rules(
            *("explain", "--app", "tower_engines:engine", "--baseline", incident, "--json"),
            *("--predicate", "contains:1889", "--rules", "retention"),
        )
    )
    assert again.warnings == ()
    assert rules_of(again) == RULES
    assert all("leaflet" in probe.kept for probe in again.probes)


@pytest.mark.waits
@pytest.mark.slow
def test_it_runs_as_a_program_of_its_own() -> None:
    run = finished(subprocess_of(*asked("tower_app:chain")))
    assert rules_of(explanation_of(run)) == RULES


def test_documents_are_served_instead_of_retrieving(rag_rules: RagRules, here: Path) -> None:
    documents = jsonl(
        here / "mine.jsonl", {"id": "mine", "text": "The iron tower was built in 1889."}, BUILT[1]
    )
    explanation = explanation_of(rag_rules(*asked("tower_app:chain", "--documents", documents)))
    assert [source.id for source in explanation.sources] == ["mine", "leaflet"]
    assert rules_of(explanation) == ["whenever mine is retained, the answer contains '1889'"]


def test_pinned_documents_are_in_no_rule(rag_rules: RagRules, here: Path) -> None:
    sources = jsonl(here / "sources.jsonl", *BUILT)
    of_an_app = rag_rules(*asked("tower_app:chain", "--pinned", "leaflet"))
    of_sources = rag_rules(
        *("explain", "--sources", sources, "--question", QUESTION, "--predicate", "contains:1889"),
        *("--pinned", "leaflet, menu", "--json"),
    )
    for run in (of_an_app, of_sources):
        explanation = explanation_of(run)
        assert all("leaflet" in probe.kept for probe in explanation.probes)
        assert all("leaflet" not in rule.sources for rule in explanation.rules)
    shown = rag_rules("explain", "--sources", sources, "--question", QUESTION, "--pinned", "menu")
    assert "  menu     Soup is served at noon. (pinned)" in shown.out


def test_an_incident_gives_the_rules_of_the_live_run(rag_rules: RagRules, here: Path) -> None:
    live = explanation_of(rag_rules(*asked("tower_app:chain")))
    incident = here / "incident.json"
    logged = {
        "question": live.question,
        "answer": live.baseline.text,
        "documents": [{"id": s.id, "text": s.text, "metadata": s.metadata} for s in live.sources],
    }
    incident.write_text(json.dumps(logged))
    again = explanation_of(
        rag_rules(
            *("explain", "--app", "tower_app:chain", "--baseline", incident, "--json"),
            *("--predicate", "contains:1889", "--rules", "retention"),
        )
    )
    assert again.rules == live.rules
    assert again.warnings == ()
    without_app = explanation_of(
        rag_rules("explain", "--baseline", incident, "--predicate", "contains:1889", "--json")
    )
    assert without_app.retention_rules == live.retention_rules


def test_that_a_logged_answer_is_given_no_more_is_the_first_thing_said(
    rag_rules: RagRules, here: Path
) -> None:
    logged = here / "answer.txt"
    logged.write_text("It was built in 1850.\n")
    run = rag_rules(
        *("explain", "--app", "tower_app:chain", "--question", QUESTION, "--baseline", logged),
        *("--predicate", "contains:1850"),
    )
    lines = run.out.splitlines()
    assert lines[1] == "Answer: It was built in 1850."
    assert lines[2].startswith("WARNING: the logged answer is not what the application answers")


@pytest.mark.parametrize(
    ("app", "said"),
    [
        ("tower_app", "write module:object"),
        (":chain", "write module:object"),
        ("no_such_app:chain", "no module 'no_such_app'"),
        ("tower_app:no_such_chain", "has no 'no_such_chain'"),
        ("needy_app:chain", "imports 'nope', which is not installed"),
        ("broken_app:chain", "importing broken_app failed: ZeroDivisionError"),
        ("tower_app:number", "is of type int; name what is asked, built with a framework"),
        ("tower_engines:retriever", "this is a BM25Retriever, a retriever, which answers no questions"),
        ("tower_app:fails", "no route to the index"),
        ("tower_app:asks_by_key", "name the key of the question, such as --input-key question, or give"),
        ("tower_engines:asks_by_key", "name the key of the question, such as --input-key question, or"),
        ("tower_app:never_retrieves", "gate(...)"),
    ],
)
def test_what_is_no_application_or_fails_is_told_in_one_line(
    rag_rules: RagRules, app: str, said: str
) -> None:
    run = rag_rules(*asked(app), "--retries", 0)
    assert run.code == 2
    assert run.err.splitlines()[-1].startswith("rag-rules: ")
    assert said in run.err.splitlines()[-1]
    assert "Traceback" not in run.err


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "is empty"),
        ("{}", "answer: Field required"),
        ("[]", "JSON object"),
        ('{"answer": 7}', "answer: Input should be a valid string"),
        ('{"answer": "a", "documents": [{"id": 7.5, "text": "x"}]}', "documents.0.id"),
        ('{"answer": "a", "documents": [{"id": 7}]}', "documents.0: there is no text: it has 'id'"),
        ('{"answer": "a", "documents": "x"}', "documents"),
        ('{"answer": ' + "[" * 100_000, "JSON"),
        ('{"answer": "a", "documents": []}', "no sources"),
    ],
)
def test_a_bad_incident_is_told_in_one_line(
    rag_rules: RagRules, here: Path, written: str, said: str
) -> None:
    incident = here / "incident.json"
    incident.write_text(written)
    assert_refused(rag_rules("explain", "--question", QUESTION, "--baseline", incident), said)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--app", "tower_app:chain", "--sources", "x"], "--sources does not go with --app"),
        (["--app", "tower_app:chain", "--model", "x"], "--model does not go with --app"),
        (["--sources", "x", "--framework", "langchain"], "--framework goes with --app only"),
        (
            ["--sources", "x", "--documents", "x"],
            "--documents goes with --app only; give --app",
        ),
        (["--sources", "x", "--sources", "y"], "--sources is given twice; give one file"),
        (["--sources", "x", "--predicate", "contains :y"], "did you mean 'contains:y'?"),
        (["--sources", "x", "--scope", "retrieved"], "--scope goes with --app only"),
        (["--sources", "x", "--on-no-retrieval", "accept"], "--on-no-retrieval goes with --app only"),
        (["--app", "tower_app:chain", "--input", "{", "--input-key", "k"], "leave --input-key out"),
        (["--app", "tower_app:chain", "--input", "{"], "--input is not JSON"),
        (["--app", "tower_app:chain", "--pinned", "nobody"], "'nobody', which is no source"),
        (["--app", "tower_app:chain", "--documents", "nowhere.jsonl"], "there is no nowhere.jsonl"),
    ],
)
def test_options_that_do_not_go_together(rag_rules: RagRules, options: list[str], said: str) -> None:
    run = rag_rules("explain", "--question", QUESTION, *options)
    assert run.code == 2
    assert said in run.err.splitlines()[-1]


def test_a_request_number_is_refused_unless_it_is_to_be_ignored(rag_rules: RagRules, here: Path) -> None:
    ask = asked("tower_app:counts")
    refused = rag_rules(*ask)
    assert refused.code == 2
    assert "request no. 1" in refused.err
    assert "ignore=" in refused.err
    explanation = explanation_of(rag_rules(*ask, "--ignore", r"request no\. \d+"))
    assert {rule.sources for rule in explanation.retention_rules} == {("plaque",)}
    assert "--ignore has a pattern" in rag_rules(*ask, "--ignore", "(").err
    assert "--replay-bound is 0.5" in rag_rules(*ask, "--replay-bound", "0.5").err
