"""``rag-rules doctor``: each state of disrepair is found, named, and has its way out."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import distribution
from pathlib import Path

import pytest
from typing_extensions import override

from tests.cli.runs import QUESTION, UNREACHABLE, RagRules, Run, assert_refused
from tests.support.faults import Fault
from tests.support.openai_server import OpenAIServer

KEY = "sk-doctor-1234567890abcdef"
ENTRY_POINTS = distribution("rag-rule-explainer").read_text("entry_points.txt") or ""
PLAIN = """
from plain_rag_rule_explainer import gate

@gate
def search(question):
    return ["The tower was built in 1889.", "Soup is served at noon."]

def answer(question):
    print("a line of its own")
    return search(question)[0]

def without_a_search(question):
    return "1889"

def broken(question):
    raise RuntimeError("no database")

number = 7
"""


def lines_of(run: Run) -> dict[str, tuple[str, str]]:
    """By the part: its state and all that is said of it, with the way out."""
    found, part = dict[str, tuple[str, str]](), ""
    for line in run.out.splitlines()[:-1]:
        state, name, said = line[:9].strip(), line[9:23].strip(), line[23:]
        part = name or part
        found[part] = (state or found[part][0], f"{found[part][1]} {said}" if not state else said)
    return found


def assert_problem(run: Run, part: str, *said: str, way_out: str) -> None:
    """One problem, said in one line with its way out in the next; exit code 1; no key anywhere."""
    assert (run.code, run.err) == (1, "")
    state, told = lines_of(run)[part]
    assert state == "problem", run.out
    for each in said:
        assert each in told
    assert f"-> {way_out}" in told
    assert run.out.splitlines()[-1].startswith("1 problem, ")
    assert "Traceback" not in run.out
    assert KEY not in run.out
    assert len(told) < 1100


def distribution_in(
    folder: Path, name: str, version: str, *metadata: str, entry_points: str = ""
) -> None:
    """Installs what pip would leave of a distribution without files."""
    home = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    home.mkdir()
    lines = ("Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *metadata)
    (home / "METADATA").write_text("\n".join(lines) + "\n")
    (home / "entry_points.txt").write_text(entry_points)


@contextmanager
def endpoint(replies: Mapping[str, tuple[int, object]]) -> Generator[tuple[str, list[str]], None, None]:
    """A server on this machine that wants ``KEY`` and has ``replies`` by path. Yields its address, and
    the paths that it was asked for."""
    asked = list[str]()

    class Handler(BaseHTTPRequestHandler):
        def _reply(self) -> None:
            asked.append(self.path)
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, body = replies.get(self.path, (404, {"detail": "Not Found"}))
            if self.headers.get("Authorization") != f"Bearer {KEY}":
                given = self.headers.get("Authorization", "")
                status, body = 401, {"error": {"message": f"Incorrect API key provided: {given}"}}
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _reply  # noqa: N815 -- the names that the server calls

        @override
        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


MODELS = {"data": [{"id": "small"}, {"id": "large:latest"}]}
LISTED = {"/v1/models": (200, MODELS)}


@pytest.fixture
def keyed(rag_rules: RagRules, monkeypatch: pytest.MonkeyPatch) -> RagRules:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    return rag_rules


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module with applications, in the current folder."""
    name = f"doctors_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(PLAIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return name


class TestWell:
    """What is in order is said so, and nothing is asked of a model without a reason."""

    def test_this_installation(self, rag_rules: RagRules) -> None:
        run = rag_rules("doctor")
        assert (run.code, run.err) == (0, "")
        found = lines_of(run)
        assert found["python"][0] == "ok"
        assert "langchain-core" in found["[langchain]"][1]
        assert found["integrations"][1] == "langchain, llama-index, plain"
        assert {state for state, _ in found.values()} == {"ok"}
        assert run.out.splitlines()[-1] == "0 problems, 0 warnings"

    @pytest.mark.waits
    def test_a_model_that_is_listed_costs_nothing(self, keyed: RagRules) -> None:
        with endpoint(LISTED) as (place, asked):
            for name in ("small", "large", "large:latest"):
                run = keyed("doctor", "--model", name, "--base-url", f"{place}/v1/")
                assert run.code == 0
                assert lines_of(run)["model"] == ("ok", f"{place}/v1 has {name}")
        assert set(asked) == {"/v1/models"}

    @pytest.mark.waits
    def test_an_endpoint_without_a_list_is_asked_for_one_token(
        self, keyed: RagRules, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with OpenAIServer(lambda _: "yes") as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            run = keyed("doctor", "--judge-model", "m", "--json")
            assert [request["max_tokens"] for request in server.requests] == [1]
        assert run.code == 0
        last = json.loads(run.out)[-1]
        assert (last["part"], last["state"]) == ("judge-model", "ok")
        assert KEY not in run.out

    def test_a_store_is_tried_and_left_as_it_was(self, rag_rules: RagRules, tmp_path: Path) -> None:
        new = tmp_path / "new.db"
        assert lines_of(rag_rules("doctor", "--store", new))["store"][0] == "ok"
        assert list(tmp_path.iterdir()) == []
        sources = tmp_path / "s.jsonl"
        sources.write_text('{"text": "The tower was built in 1889."}\n')
        asked = ("--question", QUESTION, "--sources", sources, "--store", new)
        assert rag_rules("explain", *asked).code == 0
        before = rag_rules("store", "info", new).out
        run = rag_rules("doctor", "--store", new)
        assert lines_of(run)["store"] == ("ok", f"{new} can be written; it has 3 answers")
        assert rag_rules("store", "info", new).out == before

    def test_one_replay_is_made_only_where_somebody_agrees(self, rag_rules: RagRules, app: str) -> None:
        given = ("doctor", "--app", f"{app}:answer")
        imported = rag_rules(*given)
        assert imported.code == 0
        assert lines_of(imported)["one replay"][1].startswith("not tried -> --question")
        unasked = rag_rules(*given, "--question", QUESTION)
        assert unasked.code == 0
        assert lines_of(unasked)["one replay"][0] == "warning"
        assert "a line of its own" not in unasked.err
        tried = rag_rules(*given, "--question", QUESTION, "--yes")
        assert tried.code == 0, tried.out
        state, said = lines_of(tried)["one replay"]
        assert state == "ok"
        assert "2 sources -> rag-rules estimate" in said
        assert tried.err.count("a line of its own") == 1

    @pytest.mark.waits
    def test_what_one_replay_costs(
        self, keyed: RagRules, app: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / f"{app}_paid.py").write_text(PAID)
        with OpenAIServer(lambda _: "in 1889") as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            given = (
                "--app",
                f"{app}_paid:chain",
                "--question",
                QUESTION,
                "--yes",
                "--price",
                "*=1000,1000",
            )
            said = lines_of(keyed("doctor", *given))["one replay"][1]
            assert len(server.requests) == 1
        assert "input_tokens" in said
        assert "; cost 0.0" in said


PAID = """
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_openai import ChatOpenAI
from langchain_rag_rule_explainer import BM25Retriever

retriever = BM25Retriever(documents=[Document(id="a", page_content="The iron tower is of 1889.")], k=1)
prompt = ChatPromptTemplate.from_template("{context} {question}")
chain = (
    {"context": retriever | (lambda found: found[0].page_content), "question": RunnablePassthrough()}
    | prompt | ChatOpenAI(model="m") | StrOutputParser()
)
"""


class TestDisrepair:
    """Each state by itself, with its way out."""

    def test_01_an_old_python(
        self, rag_rules: RagRules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        needs = "Requires-Python: >=99"
        distribution_in(tmp_path, "rag-rule-explainer", "0.1.0", needs, entry_points=ENTRY_POINTS)
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
        run = rag_rules("doctor")
        assert_problem(run, "python", "is not >=99", way_out="make a virtual environment with another")

    def test_02_a_framework_that_is_too_old(
        self, rag_rules: RagRules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        distribution_in(tmp_path, "llama-index-core", "0.13.9")
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
        run = rag_rules("doctor")
        way_out = "pip install --upgrade 'rag-rule-explainer[llama-index]'"
        assert_problem(
            run, "[llama-index]", "llama-index-core 0.13.9 is not <0.15,>=0.14.9", way_out=way_out
        )

    def test_03_a_framework_that_is_too_new(
        self, rag_rules: RagRules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        distribution_in(tmp_path, "bm25s", "1.0.0rc1")
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
        way_out = "pip install --upgrade 'rag-rule-explainer[bm25]'"
        assert_problem(rag_rules("doctor"), "[bm25]", "bm25s 1.0.0rc1 is not <1,>=0.2.6", way_out=way_out)

    @pytest.mark.parametrize(
        ("module", "code", "said"),
        [
            ("nowhere_at_all", None, "No module named 'nowhere_at_all'"),
            ("broken_integration", "1 / 0", "ZeroDivisionError"),
            ("ended_integration", "raise SystemExit(3)", "SystemExit: 3"),
            ("empty_integration", "", "reading"),
        ],
    )
    def test_04_an_integration_whose_entry_point_is_broken(
        self,
        rag_rules: RagRules,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        module: str,
        code: str | None,
        said: str,
    ) -> None:
        points = f"[rag_rule_explainer.integrations]\nhaystack = {module}\n"
        distribution_in(tmp_path, "haystack-rules", "1.0", entry_points=points)
        if code is not None:
            (tmp_path / f"{module}.py").write_text(code)
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
        run = rag_rules("doctor")
        way_out = "pip install --upgrade haystack-rules, or pip uninstall haystack-rules"
        assert_problem(run, "integration", "haystack (of haystack-rules)", said, way_out=way_out)
        assert lines_of(run)["integrations"][1] == "langchain, llama-index, plain"

    @pytest.mark.waits
    @pytest.mark.slow
    def test_05_a_missing_extra(self, tmp_path: Path) -> None:
        run = in_an_environment_without(tmp_path, ("langchain", "openai"), "doctor", "--model", "m")
        way_out = "pip install 'rag-rule-explainer[openai]'"
        assert_problem(run, "model", "--model needs langchain_openai, which is not", way_out=way_out)
        state, said = lines_of(run)["extras"]
        assert state == "ok"
        assert "langchain" in said
        assert "openai" in said

    @pytest.mark.waits
    @pytest.mark.slow
    def test_06_a_package_that_is_not_installed(self, tmp_path: Path) -> None:
        run = in_an_environment_without(tmp_path, ("rag_rule_explainer-",), "doctor")
        assert_problem(run, "package", "is not installed", way_out="pip install rag-rule-explainer, or")

    def test_07_no_key(self, rag_rules: RagRules) -> None:
        run = rag_rules("doctor", "--model", "m", "--base-url", f"{UNREACHABLE}/v1")
        assert_problem(run, "model", "OPENAI_API_KEY is not set", way_out="export it; any value will do")

    @pytest.mark.parametrize("key", [f"{KEY} ", f"{KEY}\r\nX: y", f'"{KEY}é"'])
    def test_08_a_key_that_is_none(
        self, keyed: RagRules, monkeypatch: pytest.MonkeyPatch, key: str
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", key)
        run = keyed("doctor", "--model", "m", "--base-url", f"{UNREACHABLE}/v1")
        assert_problem(run, "model", "a line break or another character", way_out="copy it again")

    @pytest.mark.waits
    @pytest.mark.parametrize(
        "wrong", ["sk-wrong-9876543210fedcba", "no-prefix", "wrong-key-of-a-provider-77"]
    )
    def test_09_a_wrong_key(self, keyed: RagRules, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", wrong)
        with endpoint(LISTED) as (place, _):
            run = keyed("doctor", "--model", "small", "--base-url", f"{place}/v1")
        assert_problem(
            run, "model", "refuses the key (401)", way_out="export the right key in OPENAI_API_KEY"
        )
        assert wrong not in run.out

    def test_10_an_endpoint_that_is_not_there(self, keyed: RagRules) -> None:
        run = keyed("doctor", "--model", "m", "--base-url", f"{UNREACHABLE}/v1")
        assert_problem(
            run, "model", "nothing answers", "Connection refused", way_out="start the server, or"
        )

    @pytest.mark.waits
    @pytest.mark.parametrize("path", ["", "/api", "/v1/chat/completions"])
    def test_11_a_wrong_path(self, keyed: RagRules, path: str) -> None:
        with endpoint(LISTED) as (place, _):
            run = keyed("doctor", "--model", "small", "--base-url", f"{place}{path}")
        assert_problem(
            run, "model", "has no /chat/completions (404)", way_out="does its base URL end in /v1?"
        )

    @pytest.mark.waits
    def test_12_a_model_that_is_not_known_there(self, keyed: RagRules) -> None:
        error = {"error": {"message": "The model `smal` does not exist", "code": "model_not_found"}}
        with endpoint({**LISTED, "/v1/chat/completions": (404, error)}) as (place, _):
            run = keyed("doctor", "--model", "smal", "--base-url", f"{place}/v1")
        way_out = "did you mean 'small'? give --model a name that it knows"
        assert_problem(run, "model", "does not know smal (404)", way_out=way_out)

    @pytest.mark.parametrize(
        "url", ["127.0.0.1:8000/v1", "file:///etc/passwd", "http://", "http://[1/v1"]
    )
    def test_13_an_address_that_is_none(self, keyed: RagRules, url: str) -> None:
        run = keyed("doctor", "--model", "m", "--base-url", url)
        assert_problem(run, "model", "is no address of a server", way_out="give one such as http://127")

    def test_14_an_address_with_a_password(self, keyed: RagRules) -> None:
        run = keyed("doctor", "--model", "m", "--base-url", "http://ada:lovelace@127.0.0.1:1/v1")
        assert_problem(run, "model", "is no address", way_out="give one such as http://127.0.0.1:8000/v1")
        assert "lovelace" not in run.out

    @pytest.mark.waits
    def test_15_an_endpoint_that_redirects_is_not_followed_with_the_key(self, keyed: RagRules) -> None:
        both = {"/v1/models": (307, b""), "/v1/chat/completions": (307, b"")}
        with endpoint(both) as (place, _):
            run = keyed("doctor", "--model", "m", "--base-url", f"{place}/v1")
        assert_problem(run, "model", "redirects (307)", way_out="give the address to which it redirects")

    @pytest.mark.waits
    def test_16_an_endpoint_that_fails(self, keyed: RagRules) -> None:
        both = {"/v1/models": (200, b"<html>"), "/v1/chat/completions": (503, b"\x1b[2J" + b"x" * 5000)}
        with endpoint(both) as (place, _):
            run = keyed("doctor", "--model", "m", "--base-url", f"{place}/v1")
        assert_problem(run, "model", "fails (503)", way_out="look at the log of the server")
        assert "\x1b" not in run.out

    @pytest.mark.waits
    def test_17_an_endpoint_that_says_wait_is_a_warning(self, keyed: RagRules) -> None:
        with OpenAIServer(lambda _: Fault.RATE_LIMITED) as server:
            run = keyed("doctor", "--model", "m", "--base-url", server.base_url)
        assert run.code == 0
        state, said = lines_of(run)["model"]
        assert state == "warning"
        assert "refuses for now (429)" in said
        assert "-> wait, look at your quota there" in said

    @pytest.mark.parametrize(
        ("path", "said"),
        [("nowhere/answers.db", "No such file or directory"), ("file/answers.db", "Not a directory")],
    )
    def test_18_a_store_that_cannot_be_made(
        self, rag_rules: RagRules, tmp_path: Path, path: str, said: str
    ) -> None:
        (tmp_path / "file").touch()
        run = rag_rules("doctor", "--store", tmp_path / path)
        assert_problem(run, "store", said, way_out="check the path and the rights to its folder")

    def test_19_a_store_that_cannot_be_written(self, rag_rules: RagRules, tmp_path: Path) -> None:
        read_only = Path("/proc/rag-rules-answers.db")
        run = rag_rules("doctor", "--store", read_only)
        assert_problem(run, "store", "cannot be used", way_out="check the path and the rights")

    def test_20_a_store_that_is_something_else(self, rag_rules: RagRules, tmp_path: Path) -> None:
        file = tmp_path / "letter.txt"
        file.write_text("Dear Ada, " * 500)
        run = rag_rules("doctor", "--store", file)
        assert_problem(
            run, "store", "is not a database", way_out="give a file that is a store, or one that"
        )
        assert file.read_text().startswith("Dear Ada, ")

    def test_21_an_application_that_is_not_there(self, rag_rules: RagRules, app: str) -> None:
        run = rag_rules("doctor", "--app", "nowhere_at_all:chain")
        assert_problem(
            run, "application", "there is no module 'nowhere_at_all'", way_out="run this in its"
        )
        run = rag_rules("doctor", "--app", f"{app}:anser")
        assert_problem(run, "application", "has no 'anser'", way_out="did you mean 'answer'?")

    @pytest.mark.parametrize(
        ("code", "said"),
        [("import nothing_of_that_name", "not installed"), ("1 / 0", "ZeroDivisionError")],
    )
    def test_22_an_application_that_cannot_be_imported(
        self, rag_rules: RagRules, app: str, tmp_path: Path, code: str, said: str
    ) -> None:
        (tmp_path / f"{app}_broken.py").write_text(code)
        run = rag_rules("doctor", "--app", f"{app}_broken:chain")
        assert_problem(run, "application", said, way_out="")

    def test_23_an_application_without_a_search(self, rag_rules: RagRules, app: str) -> None:
        given = ("--app", f"{app}:without_a_search", "--question", QUESTION, "--yes")
        run = rag_rules("doctor", *given)
        assert_problem(run, "one replay", "gate(", "rag-rules help NoSourcesCaptured", way_out="")

    def test_24_an_application_that_fails(self, rag_rules: RagRules, app: str) -> None:
        run = rag_rules("doctor", "--app", f"{app}:broken", "--question", QUESTION, "--yes")
        assert_problem(run, "one replay", "no database", way_out="make it answer first")

    def test_25_what_is_no_application(self, rag_rules: RagRules, app: str) -> None:
        run = rag_rules("doctor", "--app", f"{app}:number", "--question", QUESTION, "--yes")
        assert_problem(run, "one replay", "is of type int", way_out="name what is asked")


def test_options_that_are_wrong_are_refused(rag_rules: RagRules, app: str) -> None:
    both = ("--app", f"{app}:answer", "--input", "{}", "--input-key", "q")
    assert_refused(rag_rules("doctor", *both), "leave --input-key out")
    assert_refused(rag_rules("doctor", "--app", f"{app}:answer", "--price", "x"), "is no price")


def in_an_environment_without(tmp_path: Path, left_out: tuple[str, ...], *arguments: str) -> Run:
    """Runs the command where only some of the installed packages are."""
    packages = Path(sysconfig.get_path("purelib"))
    home = tmp_path / "packages"
    home.mkdir()
    for each in packages.iterdir():
        if not each.name.startswith((*left_out, "__", "distutils")) and each.suffix != ".pth":
            (home / each.name).symlink_to(each)
    root = Path(__file__).parents[2]
    code = [root, *(each.parent for each in root.glob("integrations/*/*_rag_rule_explainer")), home]
    program = "from rag_rule_explainer.cli import main; main()"
    path = os.pathsep.join(map(str, code))
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, *arguments],
        env={"PYTHONPATH": path, "PATH": os.environ["PATH"], "OPENAI_API_KEY": KEY},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    shutil.rmtree(home)
    return Run(done.returncode, done.stdout, done.stderr)
