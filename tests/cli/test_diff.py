"""``rag-rules diff``: exit codes, output, and files that are none."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import Comparison, Explanation, Limits, Source
from tests.cli.runs import QUESTION, RagRules, assert_refused, finished, subprocess_of
from tests.comparison.explaining import explained, needs

Saved = Callable[..., Path]


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    """Writes explanations, each to a file of its own."""

    def save(explanation: Explanation, **changed: Any) -> Path:
        told = json.loads(explanation.model_dump_json()) | changed
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
        path.write_text(json.dumps(told), encoding="utf-8")
        return path

    return save


ONE, OTHER = explained(needs("D1")), explained(needs("D2"))
WEAKER = explained(needs("D1", "D2"), rules="retention")
FOUND = explained(needs("D1"), rules="retention")
STOPPED = explained(needs("D1"), rules="retention", limits=Limits(2))


@pytest.mark.parametrize(
    ("a", "b", "fail_on", "code"),
    [
        (ONE, ONE, None, 0),
        (ONE, ONE, "any", 0),
        (ONE, OTHER, None, 1),
        (ONE, OTHER, "lost", 1),
        (ONE, OTHER, "gained", 1),
        (FOUND, WEAKER, "lost", 1),
        (FOUND, WEAKER, "gained", 0),
        (WEAKER, FOUND, "gained", 1),
        (WEAKER, FOUND, "lost", 0),
        (FOUND, STOPPED, None, 3),
        (FOUND, STOPPED, "lost", 3),
        (STOPPED, FOUND, "lost", 0),
        (STOPPED, FOUND, "gained", 3),
        (STOPPED, STOPPED, None, 3),
        (ONE, FOUND, None, 3),
        (OTHER, FOUND, None, 1),
    ],
)
def test_exit_codes(
    rag_rules: RagRules, saved: Saved, a: Explanation, b: Explanation, fail_on: str | None, code: int
) -> None:
    run = rag_rules("diff", saved(a), saved(b), *(() if fail_on is None else ("--fail-on", fail_on)))
    assert run.code == code
    assert run.err == ""


@pytest.mark.waits
@pytest.mark.slow
def test_the_real_command_on_what_explain_printed(sources: Path, tmp_path: Path) -> None:
    files = tmp_path / "a.json", tmp_path / "b.json"
    for file, question in zip(files, (QUESTION, "What is served at noon?"), strict=True):
        with file.open("w", encoding="utf-8") as out:
            asked = ("--question", question, "--sources", sources, "--json")
            assert finished(subprocess_of("explain", *asked, stdout=out)).code == 0
    same = finished(subprocess_of("diff", files[0], files[0]))
    assert (same.code, same.out, same.err) == (0, "no rule differs, 2 unchanged\n", "")
    other = finished(subprocess_of("diff", *files))
    assert (other.code, other.err) == (3, "")
    undecided, answer, summary, *changes = other.out.splitlines()
    assert undecided.startswith("UNDECIDED: the questions differ: ")
    assert answer.startswith("answer: ")
    assert "lost" in summary
    told = [line for line in changes if not line.startswith("  ")]
    whys = [line for line in changes if line.startswith(("  in A with ", "  in B with "))]
    assert len(told) == len(whys) > 0


@pytest.mark.waits
@pytest.mark.slow
def test_nobody_reading_changes_no_exit_code(saved: Saved) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        assert finished(subprocess_of("diff", saved(ONE), saved(ONE), stdout=closed)).code == 0
        assert finished(subprocess_of("demo", stdout=closed)).code == 0
        assert finished(subprocess_of("explain", "--help", stdout=closed)).code == 0


@pytest.mark.waits
@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("arguments", [("--help",), ("demo",)])
def test_a_full_disk_is_said_in_one_line(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        run = finished(subprocess_of(*arguments, stdout=full))
    assert run.code == 2
    assert run.err.splitlines()[-1].startswith("rag-rules: the output cannot be written: No space left")


def test_json(rag_rules: RagRules, saved: Saved) -> None:
    run = rag_rules("diff", saved(ONE), saved(OTHER), "--json")
    assert run.code == 1
    assert run.out.isascii()
    comparison = Comparison.model_validate_json(run.out)
    assert [change.what for change in comparison.lost] == ["lost", "lost"]


def test_id_of(rag_rules: RagRules, saved: Saved) -> None:
    def one(identity: str, **metadata: object) -> Path:
        given = [Source(identity, identity, metadata), Source("x", "x", {**metadata, "url": "x"})]
        return saved(explained(needs(identity), given))

    a, b = one("old", url="example.org", page=1), one("new", url="example.org", page=1)
    assert rag_rules("diff", a, b).code == 1
    run = rag_rules("diff", a, b, "--id-of", "url")
    assert run.code == 0
    assert run.out.splitlines()[0] == "sources renamed: old is new in B"
    assert rag_rules("diff", a, b, "--id-of", "id").code == 1
    assert rag_rules("diff", a, b, "--id-of", "text").code == 1
    assert_refused(
        rag_rules("diff", a, b, "--id-of", "page"), "the sources old and x of A have one identity, '1'"
    )
    assert_refused(
        rag_rules("diff", a, b, "--id-of", "uri"), "--id-of 'uri'", "'id', 'text', 'url', 'page'"
    )


def test_hostile_ids_cannot_touch_the_terminal(rag_rules: RagRules, saved: Saved) -> None:
    evil = "\x1b[31mred\n\u202e[bold]"
    a = explained(needs(evil), [Source(evil, "x"), Source("b", "b")])
    b = explained(needs("b"), [Source(evil, "y"), Source("b", "b")])
    run = rag_rules("diff", saved(a), saved(b))
    assert run.code == 1
    assert all(character.isprintable() or character == "\n" for character in run.out)
    assert r'lost: whenever "\x1b[31mred \u202e[bold]" is retained' in run.out
    assert_refused(rag_rules("diff", saved(a), saved(b), "--id-of", evil), r"\x1b[31mred\n\u202e[bold]")


class TestFilesThatAreNone:
    @pytest.fixture
    def refused(self, rag_rules: RagRules, saved: Saved, tmp_path: Path) -> Callable[..., None]:
        def refuse(content: bytes | Path, *said: str) -> None:
            bad = content if isinstance(content, Path) else tmp_path / "bad.json"
            if not isinstance(content, Path):
                bad.write_bytes(content)
            assert_refused(rag_rules("diff", bad, saved(ONE)), *said, "rag-rules explain --json")
            assert_refused(rag_rules("diff", saved(ONE), bad), *said)

        return refuse

    def test_that_cannot_be_read(self, refused: Callable[..., None], tmp_path: Path) -> None:
        refused(tmp_path / "none.json", "there is no ", "none.json")
        refused(tmp_path, "cannot be read: Is a directory")
        refused(Path("x" * 500), "cannot be read: File name too long")
        refused(Path("\x1b[31mno\nsuch"), r"\x1b[31mno such")

    def test_that_are_something_else(self, refused: Callable[..., None]) -> None:
        refused(b"", "bad.json: Invalid JSON")
        refused(b"\xff\xfe", "bad.json: Invalid JSON")
        refused(b"{}", "question: Field required")
        refused(b'"text"', "bad.json: ")
        refused(b"[" * 1_000_000, "Invalid JSON: recursion limit exceeded")
        refused(b'{"raw_input": ' + b'{"a":' * 100_000, "recursion limit exceeded")
        refused(b'{"\\u001b[31m\\n": 1}', "question: Field required")

    def test_that_are_endless(
        self, refused: Callable[..., None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("rag_rule_explainer.report.loading.MOST_BYTES", 1 << 20)
        refused(Path("/dev/zero"), "is larger than 1 MiB")

    def test_that_are_newer(self, rag_rules: RagRules, saved: Saved) -> None:
        newer = saved(ONE, schema_version=3, aspect="new", complete="by half")
        assert_refused(rag_rules("diff", newer, newer), "it has schema 3", "up to 2", "upgrade")
        endless = saved(ONE, schema_version=10**100)
        assert_refused(rag_rules("diff", endless, endless), "schema")

    def test_that_contradict_themselves(self, rag_rules: RagRules, saved: Saved) -> None:
        forged = saved(ONE, stop_reason="stopped")
        assert_refused(rag_rules("diff", forged, forged), "it is marked complete")

    def test_with_a_mark_of_their_byte_order(self, rag_rules: RagRules, saved: Saved) -> None:
        file = saved(ONE)
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
        assert rag_rules("diff", file, file).code == 0

    def test_arguments_that_are_none(self, rag_rules: RagRules, saved: Saved) -> None:
        assert_refused(rag_rules("diff", saved(ONE)), "See rag-rules diff --help")
        assert_refused(rag_rules("diff", saved(ONE), saved(ONE), "--fail-on", "all"), "'all'", "gained")
        other = saved(explained(needs("D1"), rules="omission"))
        assert_refused(rag_rules("diff", saved(FOUND), other), "nothing can be compared")
