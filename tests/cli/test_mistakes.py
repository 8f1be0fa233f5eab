"""What a newcomer does wrong on the command line, and the one line that says what to do instead.

More of the same stands beside what it is about: conditions that are not met and ways in (test_doors),
Ctrl-C (test_output), applications (test_applications), other bad input (test_bad_input).
"""

import json
import shlex
import sys
from pathlib import Path

import pytest

from tests.cli.runs import BUILT, QUESTION, UNREACHABLE, RagRules, assert_refused, folder, jsonl
from tests.support.completions import Completion
from tests.support.openai_server import OpenAIServer

ASKED = ("explain", "--question", QUESTION)
GIVE = 'give a .jsonl file with lines like {"id": "D1", "text": "..."}, or a folder of .txt or .md files'
WRITE = (
    "write [not:]contains:TEXT | equals:TEXT | matches:REGEX | one-of:TEXT|TEXT | consistent-with:TEXT | "
    "judged:TEXT | same-answer[:OVERLAP] | refuses | cites[:ID] | mentions:ID | "
    "json-path:PATH[=JSON or TEXT] | calls[:TOOL[:ARG=JSON or TEXT&ARG~TEXT]] | next-call[:TOOL[:...]] | "
    "calls-in-order:TOOL|TOOL | calls-at-most:N[:TOOL] | calls-at-least:N[:TOOL]"
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with sources and what is none; the command runs in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    jsonl(tmp_path / "texts.jsonl", *BUILT)
    folder(
        tmp_path,
        {
            "empty.jsonl": "",
            "broken.jsonl": '{"text": "a"}\n{"text": "b",\n',
            "bodies.jsonl": '{"body": "a"}\n',
            "list.json": '[{"text": "a"}, "b"]',
            "scans/a.pdf": "%PDF",
            "scans/more/b.PDF": "%PDF",
            "scans/c.docx": "PK",
            "mixed/a.md": "The iron tower was built in 1889.",
            "mixed/b.pdf": "%PDF",
            "newcomers_app.py": "import json as chains\nnumber = 1\n",
        },
    )
    (tmp_path / "scan.pdf").write_bytes(b"%PDF-1.7\n\xe2\xe3")
    (tmp_path / "nothing").mkdir()
    return tmp_path


MISTAKES = {
    "ASKED --sources texts.jsonl --predicate contain:20": (
        f"'contain:20' is not a predicate; did you mean 'contains'? {WRITE}"
    ),
    "explain --sources texts.jsonl": "there is no question; give one with --question",
    "ASKED": "there is nothing to explain by; give --sources, an --app, or a --baseline with documents",
    "ASKED --sources texts.jsonl --model m": (
        "OPENAI_API_KEY is not set; export it (any value will do for a local endpoint)"
    ),
    "ASKED --sources nope.jsonl": f"there is no nope.jsonl; {GIVE}",
    "ASKED --sources empty.jsonl": f"empty.jsonl holds no sources; {GIVE}",
    "ASKED --sources nothing": f"nothing holds no sources; {GIVE}",
    "ASKED --sources scans": (
        "scans holds 2 .pdf and 1 .docx files and no texts; take their text out first: " + GIVE
    ),
    "ASKED --sources scan.pdf": "scan.pdf is a .pdf file, not text; take its text out first",
    "ASKED --sources bodies.jsonl": (
        "bodies.jsonl, line 1: there is no text: it has 'body'; call the text one of text, page_content, "
        f"content; {GIVE}"
    ),
    "ASKED --sources list.json": f"list.json, item 2: Input should be an object; {GIVE}",
    "ASKED --sources -": f"--sources - reads what is piped in, and nothing is; {GIVE}",
    "ASKED --sources texts.jsonl --pinned plaqe": (
        "--pinned names 'plaqe', which is no source; did you mean 'plaque'? the sources are 'plaque', "
        "'leaflet', 'menu'"
    ),
    f"verify --question {QUESTION!r} --sources texts.jsonl --rule leaflt --kind retention": (
        "the rule names 'leaflt', which is no source; did you mean 'leaflet'? the sources are 'plaque', "
        "'leaflet', 'menu'"
    ),
    "ASKED --sources texts.jsonl --predicate contains:1950": (
        "with all sources the condition is not met: the answer does not contain '1950'. The answer is "
        "'1889'. Rules then say on which sources it would be met, or not; to learn why it is not met "
        "here, explain its opposite (~contains('x') instead of contains('x'); on the command line "
        "not:contains:x). Nothing else was asked. Give a condition that the answer meets, or pass --yes "
        "to look for its rules all the same. More: rag-rules help ConditionFalse"
    ),
    "ASKED --app nope:chain": (
        "--app: there is no module 'nope'; run this in its folder, or write FILE.py:OBJECT"
    ),
    "ASKED --app newcomers_app:chain": (
        "--app: newcomers_app has no 'chain'; name a chain or an engine that it defines"
    ),
    "ASKED --app app.chain": (
        "--app 'app.chain' names no application; write module:object, such as app:chain, or "
        "FILE.py:object"
    ),
    "ASKED --sources texts.jsonl --store gone/dir/x.db": (
        "--store 'gone/dir/x.db' is in the folder 'gone/dir', which does not exist; make that folder, or "
        "give another path"
    ),
    "ASKED --sources texts.jsonl --model m --key s3cr3t": (
        "the variable that is named for the key is not set (give the name of a variable, such as "
        "OPENAI_API_KEY, and not the key); export it (any value will do for a local endpoint)"
    ),
    "store prune x.db": "nothing says what to prune; give --namespace, --older-than-days, or --all",
    "store prune x.db --all --namespace n": (
        "--all prunes every namespace and age; leave out --namespace and --older-than-days, or --all"
    ),
    "ASKED --yes --app newcomers_app:number": (
        "--app newcomers_app:number is of type int; name what is asked, built with a framework that is "
        "known here (langchain, llama-index), or a function of one input"
    ),
}


# Partly in the words of libraries, which change.
IN_OTHERS_WORDS = {
    "explian": ("'explian'", " Did you mean 'explain'? See rag-rules --help."),
    "explain --predicat contains:20": (
        "No such option: --predicat",
        "--predicate",
        "See rag-rules explain --help.",
    ),
    "ASKED --sources texts.jsonl --contains 1889": (
        "No such option: --contains. Did you mean --predicate contains:1889? See",
    ),
    "ASKED --sources texts.jsonl --noise 9": ("No such option: --noise. Did you mean --samples? See",),
    "ASKED --sources texts.jsonl --limits 100": (
        "No such option: --limits. Did you mean --max-replays? See",
    ),
    "ASKED --sources texts.jsonl --one_of '1889|1890'": ("--predicate 'one-of:1889|1890'? See",),
    "estimate --refuses --sources texts.jsonl": ("Did you mean --predicate refuses? See",),
    "verify --question ? --sources texts.jsonl --retained plaque,menu": (
        "No such option: --retained. Did you mean --rule plaque,menu --kind retention? See",
    ),
    "verify --question ? --sources texts.jsonl --omitted=plaque": ("--rule plaque --kind omission? See",),
    "explain 'How many days?' --sources texts.jsonl": (
        "(How many days?). A question is given by --question '...'. See rag-rules explain --help.",
    ),
    "explain --key": ("Option '--key' requires an argument. See rag-rules explain --help.",),
    "store prune --namespace": ("See rag-rules store prune --help.",),
    "ASKED --sources texts.jsonl --json out.json": (
        "(out.json). --out FILE writes it into a file, in the form that its name ends in.",
    ),
    "ASKED --sources texts.jsonl --output out.json": (
        "No such option: --output",
        " --out FILE writes it into a file, in the form that its name ends in.",
    ),
    "ASKED --sources texts.jsonl --miner exat": (
        "Invalid value for '--miner': 'exat' is not ",
        "'exact'",
    ),
    "ASKED --sources broken.jsonl": ("broken.jsonl, line 2: Invalid JSON: ", f"at column 13; {GIVE}"),
}


@pytest.mark.parametrize(("typed", "said"), MISTAKES.items(), ids=MISTAKES)
@pytest.mark.usefixtures("here")
def test_a_mistake_is_told_in_one_line(
    rag_rules: RagRules, monkeypatch: pytest.MonkeyPatch, typed: str, said: str
) -> None:
    monkeypatch.setattr(sys, "stdin", None)  # as Python sets it where nobody is there
    told = rag_rules(*words(typed))
    assert (told.code, told.out, told.err) == (2, "", f"rag-rules: {said}\n")


@pytest.mark.parametrize(("typed", "said"), IN_OTHERS_WORDS.items(), ids=IN_OTHERS_WORDS)
@pytest.mark.usefixtures("here")
def test_a_mistake_that_a_library_finds(rag_rules: RagRules, typed: str, said: tuple[str, ...]) -> None:
    assert_refused(rag_rules(*words(typed)), *said)


def words(typed: str) -> list[str]:
    """As a shell splits them."""
    return [word for each in shlex.split(typed) for word in (ASKED if each == "ASKED" else (each,))]


def test_of_a_folder_it_is_said_what_is_not_read(rag_rules: RagRules, here: Path) -> None:
    told = rag_rules(*ASKED, "--sources", here / "mixed")
    assert told.code == 0
    assert f"1 .pdf file in {here / 'mixed'}: not read, as only .txt and .md are\n" in told.err


def test_more_sources_than_can_be_read_back(rag_rules: RagRules, tmp_path: Path) -> None:
    file = jsonl(tmp_path / "many.jsonl", *({"text": f"text {number}"} for number in range(10_001)))
    told = rag_rules(*ASKED, "--sources", file)
    assert told.code == 2
    assert "10,001 sources are more than the 10,000 of which an explanation can be read back" in told.err
    assert "retrieve fewer (a smaller top-k)" in told.err


def test_a_library_that_is_missing(
    rag_rules: RagRules, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("matplotlib", "matplotlib.figure"):  # another test may have imported both
        monkeypatch.setitem(sys.modules, module, None)  # Python's own way to say: there is none
    told = rag_rules("experiment", "efficiency", "--setting", "synthetic", "--out", here / "curves")
    assert told.code == 2
    assert told.err == "rag-rules: drawing figures needs: pip install 'rag-rule-explainer[experiments]'\n"


class TestEndpoint:
    """A model that is asked at the wrong place."""

    def asked(self, rag_rules: RagRules, here: Path, *more: object) -> str:
        told = rag_rules(*ASKED, "--sources", here / "texts.jsonl", "--model", "m", "--retries", 0, *more)
        assert (told.code, told.out) == (2, "")
        cap, line = told.err.splitlines()
        assert cap == "at most 10 replays of the model"
        return line

    def test_nobody_is_there(self, with_key: RagRules, here: Path) -> None:
        line = self.asked(with_key, here, "--base-url", f"{UNREACHABLE}/v1")
        assert line.startswith(
            f"rag-rules: the model m at {UNREACHABLE}/v1 does not answer; check that its endpoint is up, "
            "and --model, --base-url and OPENAI_API_KEY: "
        )

    @pytest.mark.waits
    @pytest.mark.parametrize(
        ("path", "look"),
        [
            ("", "does its base URL end in /v1?"),
            ("/v1/chat/completions", "give --base-url without /chat/completions;"),
            ("/elsewhere/v1", "is that its name there?"),
        ],
    )
    def test_there_is_nothing_at_that_path(
        self, with_key: RagRules, here: Path, path: str, look: str
    ) -> None:
        with OpenAIServer() as server:
            place = server.base_url.removesuffix("/v1") + path
            line = self.asked(with_key, here, "--base-url", place)
        assert f"the model m at {place} does not answer; {look} check that its endpoint is up" in line
        assert "Error code: 404" in line

    def test_the_endpoint_of_the_environment_is_named_as_well(
        self, with_key: RagRules, here: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", UNREACHABLE)
        assert f"the model m at {UNREACHABLE} does not answer" in self.asked(with_key, here)

    @pytest.mark.waits
    def test_a_reply_that_is_cut_off_is_told_with_what_to_do(
        self, with_key: RagRules, here: Path
    ) -> None:
        with OpenAIServer(lambda _: Completion("The iron", finish_reason="length")) as server:
            line = self.asked(with_key, here, "--base-url", server.base_url)
        assert line == (
            f"rag-rules: the model m at {server.base_url} gave no answer: UnusableReply: a model reply "
            "was cut off at its length limit; raise that limit (often max_tokens), or give fewer sources"
        )


class TestHelp:
    """What is looked up before anything is done right."""

    @pytest.mark.usefixtures("here")
    def test_the_examples_are_understood(self, rag_rules: RagRules) -> None:
        shown = map(str.strip, rag_rules("explain", "--help").out.splitlines())
        examples = [line.split(" ", 1)[1] for line in shown if line.startswith("rag-rules ")]
        assert len(examples) == 3
        for each in examples:
            told = rag_rules(*words(each))
            assert told.code == 2  # for want of these files and this module; no option is wrong
            assert "there is no " in told.err

    def test_an_estimate_speaks_as_the_command_line_does(self, rag_rules: RagRules, here: Path) -> None:
        given = ("estimate", "--question", QUESTION, "--sources", here / "texts.jsonl")
        assert "(--price MODEL=IN,OUT)" in rag_rules(*given).out
        priced = rag_rules(*given, "--price", "*=0.15,0.6", "--json").out
        assert json.loads(priced)["best"]["cost"] > 0
