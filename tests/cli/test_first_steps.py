"""What a new user types that is nearly right: what it does, or the line that says how it is written."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.runs import BUILT, QUESTION, RagRules, assert_refused, explanation_of, folder, jsonl

ASKED = ("explain", "--question", QUESTION)
CHAIN = """
from langchain_core.documents import Document
from langchain_rag_rule_explainer import lexical_chain

print("LOADING")
plaque = Document(id="plaque", page_content="The iron tower was built in 1889.")
chain = lexical_chain([plaque, Document(id="menu", page_content="Soup is served at noon.")], k=2)


def printing(question):
    print("ASKED")
    return chain.invoke(question)


def ending(question):
    raise SystemExit(3)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    jsonl(tmp_path / "texts.jsonl", *BUILT)
    return folder(tmp_path, {"first_app.py": CHAIN, "one.txt": "A text.", "t/a.txt": "", "a.csv": "id,t"})


@pytest.mark.parametrize(
    "written",
    [
        json.dumps(BUILT).encode(),
        json.dumps(BUILT, indent=2).encode(),
        "\n".join(json.dumps(each) for each in BUILT).encode("utf-8-sig"),
        "\r\n".join(json.dumps(each) for each in BUILT).encode("utf-16"),
        "\n".join(json.dumps({"id": each["id"], "content": each["text"]}) for each in BUILT).encode(),
        "\n".join(
            json.dumps({"id": each["id"], "page_content": each["text"]}) for each in BUILT
        ).encode(),
    ],
    ids=["a list", "a list on lines", "a byte order mark", "UTF-16", "content", "page_content"],
)
def test_sources_as_people_have_them(rag_rules: RagRules, here: Path, written: bytes) -> None:
    (here / "own.json").write_bytes(written)
    run = rag_rules(*ASKED, "--sources", "own.json", "--predicate", "contains:1889", "--json")
    assert [source.id for source in explanation_of(run).sources] == ["plaque", "leaflet", "menu"]


def test_an_id_may_be_a_number(rag_rules: RagRules, here: Path) -> None:
    jsonl(here / "numbered.jsonl", {"id": 7, "text": "The iron tower was built in 1889."})
    run = rag_rules(*ASKED, "--sources", "numbered.jsonl", "--json")
    assert [source.id for source in explanation_of(run).sources] == ["7"]


REFUSED = {
    ("--sources", ""): "a path is empty; name a file or a folder",
    ("--sources", "https://example.org/x.jsonl"): "is no file; download it first",
    ("--sources", "a.csv"): "a.csv is a .csv file; write each row as JSON",
    ("--sources", "one.txt"): "one.txt is one text; give the folder that it is in",
    ("--predicate", "contains"): "'contains' is not a predicate; did you mean 'contains:TEXT'?",
    ("--predicate", "contains=1889"): "did you mean 'contains:1889'?",
    ("--predicate", "contains '1889'"): "did you mean 'contains:1889'?",
    (
        "--predicate",
        "one-of:|",
    ): "'one-of:|' has an empty text; write one-of:TEXT|TEXT, such as one-of:yes|no",
    ("--predicate", "cites:plaqe"): (
        "the condition names 'plaqe', which is no source; did you mean 'plaque'? the sources are 'plaque'"
    ),
    ("--predicate", "not:mentions:D9"): "the condition names 'D9', which is no source; the sources are",
    (
        "--max-cost",
        "1",
    ): "--max-cost needs the price of tokens; give those of a million tokens in and out",
    (
        "--max-cost",
        "nan",
        "--price",
        "m=1,1",
    ): "--max-cost is nan; give a number above 0, or leave it out",
    ("--price", "m=nan,1"): "--price 'm=nan,1': the price of input is nan; give a number, 0 or more",
    ("--samples", "100000"): "--samples is 100000; give a whole number, from 1 to 1,000",
    ("--concurrency", "100000"): "--concurrency is 100000; give a whole number, from 1 to 10,000",
    ("--vote", "every"): "noise asks for votes of one sample; ask for more, such as --samples 9",
    ("--partition", "0"): "--partition is by 0; give a number of sources from 1 to",
}


@pytest.mark.parametrize(("options", "said"), REFUSED.items(), ids=map(" ".join, REFUSED))
@pytest.mark.usefixtures("here")
def test_what_is_not_taken(rag_rules: RagRules, options: tuple[str, ...], said: str) -> None:
    given = () if "--sources" in options else ("--sources", "texts.jsonl")
    assert_refused(rag_rules(*ASKED, *given, *options), said)


APPLICATIONS = {
    ("gone.py:chain",): (
        "--app 'gone.py:chain': there is no file 'gone.py'; run this in its folder, or give its path"
    ),
    ("./first_app:chain",): "write module:object or FILE.py:object, such as first_app.py:chain",
    (
        "first_app.py",
    ): "--app 'first_app.py' names no application; write module:object, such as app:chain",
    ("first_app:chian",): "first_app has no 'chian'; did you mean 'chain'?",
    (
        "first_app:chain",
        "--framework",
        "llama-index",
    ): "which is not of llama-index; leave --framework out",
    ("first_app:chain", "--ignore", ".*"): "--ignore has '.*', which is found in every text",
    ("first_app:ending", "--yes"): "the application ended the program (SystemExit: 3)",
}


@pytest.mark.parametrize(("options", "said"), APPLICATIONS.items(), ids=map(" ".join, APPLICATIONS))
@pytest.mark.usefixtures("here")
def test_what_is_no_application(rag_rules: RagRules, options: tuple[str, ...], said: str) -> None:
    run = rag_rules(*ASKED, "--app", *options)
    assert (run.code, run.out) == (2, "")
    assert said in run.err.splitlines()[-1]


@pytest.mark.parametrize("name", ["first_app.py:printing", "./first_app.py:printing", "{here}:printing"])
def test_an_application_is_named_by_its_file_too(
    rag_rules: RagRules, here: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    named = name.format(here=here / "first_app.py")
    if named != name:
        (here / "elsewhere").mkdir()
        monkeypatch.chdir(here / "elsewhere")
    sys.modules.pop("first_app", None)
    asked = (*ASKED, "--app", named, "--predicate", "contains:1889", "--json")
    assert explanation_of(rag_rules(*asked)).baseline.text == "1889"


@pytest.mark.parametrize(
    ("given", "helped"),
    [
        (("explain", "--key"), "rag-rules explain"),
        (("store", "prune", "--older"), "rag-rules store prune"),
    ],
)
def test_what_is_wrong_with_options_names_the_help_of_the_command(
    rag_rules: RagRules, given: tuple[str, ...], helped: str
) -> None:
    run = rag_rules(*given)
    assert (run.code, run.out) == (2, "")
    assert run.err.rstrip().endswith(f"See {helped} --help.")


@pytest.mark.usefixtures("here")
def test_what_an_application_prints_is_not_among_the_result(rag_rules: RagRules) -> None:
    sys.modules.pop("first_app", None)
    run = rag_rules(*ASKED, "--app", "first_app:printing", "--predicate", "contains:1889", "--json")
    assert explanation_of(run).baseline.text == "1889"
    assert run.err.startswith("LOADING\n")
    assert run.err.count("ASKED\n") == 1


@pytest.mark.parametrize(
    ("piped", "said"), [(b"", "nothing came through the pipe"), (b"\xe9", "not UTF-8")]
)
def test_a_pipe_with_nothing_to_read_in_it(
    rag_rules: RagRules, monkeypatch: pytest.MonkeyPatch, piped: bytes, said: str
) -> None:
    with io.TextIOWrapper(io.BytesIO(piped)) as pipe:
        monkeypatch.setattr(sys, "stdin", pipe)
        assert_refused(rag_rules(*ASKED, "--sources", "-"), said)


def test_an_empty_file_in_a_folder_is_left_out(rag_rules: RagRules, here: Path) -> None:
    run = rag_rules(*ASKED, "--sources", here / "t")
    assert (run.code, run.out) == (2, "")
    assert f"a.txt in {here / 't'}: left out, as there is nothing in it" in run.err


def test_a_link_to_a_text_that_is_gone(rag_rules: RagRules, here: Path) -> None:
    link = here / "t" / "gone.txt"
    try:
        link.symlink_to(here / "nowhere.txt")
    except OSError:
        pytest.skip("this account may not make links")
    refused = rag_rules(*ASKED, "--sources", here / "t")
    assert_refused(refused, f"{link} is a link to a file that does not exist; remove or mend the link")


def test_an_id_with_a_comma(rag_rules: RagRules, here: Path) -> None:
    two = ({"id": "Doe, J.", "text": "It is 1889."}, {"id": "b", "text": "It is 1900."})
    given = *ASKED, "--sources", jsonl(here / "two.jsonl", *two), "--pinned"
    shown = rag_rules(*given, '"Doe, J."')
    assert shown.out.count("(pinned)") == 1
    assert "names 'Doe', 'J.', which is no source" in rag_rules(*given, "Doe, J.").err


def test_a_document_in_a_log_without_a_text(rag_rules: RagRules, here: Path) -> None:
    (here / "log.json").write_text(json.dumps({"answer": "x", "documents": [{"id": "a", "body": "y"}]}))
    run = rag_rules(*ASKED, "--baseline", "log.json")
    assert_refused(
        run, "log.json: documents.0: there is no text: it has 'id', 'body'; call the text one of"
    )


def test_an_estimate_takes_an_incident_as_well(rag_rules: RagRules, here: Path) -> None:
    (here / "log.json").write_text(
        json.dumps({"question": QUESTION, "answer": "x", "documents": list(BUILT)})
    )
    run = rag_rules("estimate", "--baseline", "log.json")
    assert (run.code, run.out.splitlines()[0]) == (0, "3 sources")


@pytest.mark.waits
@pytest.mark.slow
def test_completion_is_of_the_command_also_under_python_m() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rag_rule_explainer", "--show-completion", "bash"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
    )
    assert "_RAG_RULES_COMPLETE=complete_bash" in done.stdout
    assert done.stdout.strip().endswith("completion rag-rules")
