"""What all experiments do with --out: one folder holds one run of one experiment."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_rule_explainer.storing.opened import close_all
from tests.cli.runs import RagRules, assert_refused
from tests.experiments.records import jsonl, line

COMMANDS = {
    "efficiency": ("--setting", "hotpotqa", "--sizes", "1-2", "--miners", "dual"),
    "robustness": ("--samples", 1, "--sources", 2),
    "benchmark-models": ("--sources", 2),
    "quality": (),
}


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_all()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "q.jsonl", line())


def command(name: str, data: Path, *more: object) -> tuple[object, ...]:
    drawing = () if name == "quality" else ("--no-figures",)
    given = ("--data", data, "--examples", 1)
    return ("experiment", name, *given, *COMMANDS[name], *drawing, *more)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_that_cannot_be_one_is_refused_before_anybody_is_asked(
    rag_rules: RagRules, data: Path, tmp_path: Path, name: str
) -> None:
    out, store = tmp_path / "file", tmp_path / "s.sqlite"
    out.write_text("a file of somebody's")
    run = rag_rules(*command(name, data, "--out", out, "--store", store))
    assert_refused(run, "cannot be written to: File exists; give --out another folder")
    assert not store.exists()
    assert out.read_text() == "a file of somebody's"


@pytest.mark.parametrize("name", ["efficiency", "robustness", "benchmark-models"])
def test_one_folder_does_not_mix_two_experiments(
    rag_rules: RagRules, data: Path, tmp_path: Path, name: str
) -> None:
    other = "redteam.csv"
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / other).write_text("run,sources")
    run = rag_rules(*command(name, data, "--out", tmp_path / "out"))
    assert_refused(run, "has the redteam.csv of another experiment")
    assert [each.name for each in (tmp_path / "out").iterdir()] == [other]


@pytest.mark.parametrize(
    ("name", "stale"),
    [
        ("efficiency", ("judgements.jsonl", "seconds.png", "explored.png")),
        ("robustness", ("judgements.jsonl", "robustness_micro.png", "robustness_macro.png")),
        ("benchmark-models", ("benchmark.png",)),
    ],
)
def test_what_an_earlier_run_drew_or_judged_is_not_taken_for_this_ones(
    rag_rules: RagRules, data: Path, tmp_path: Path, name: str, stale: tuple[str, ...]
) -> None:
    for each in (*stale, "notes.png"):
        (tmp_path / each).write_bytes(b"of an earlier run")
    assert rag_rules(*command(name, data, "--out", tmp_path)).code == 0
    left = {each.name for each in tmp_path.iterdir()}
    assert "notes.png" in left
    assert not left & set(stale)
    assert not [each for each in left if each.startswith(".")]


def test_two_files_of_one_name_are_refused(rag_rules: RagRules, data: Path, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    other = jsonl(tmp_path / "b" / data.name, line())
    run = rag_rules("experiment", "quality", "--data", data, "--data", other, "--out", tmp_path / "o")
    assert_refused(run, "two files of --data have one name")


@pytest.mark.parametrize("sizes", ["1-99999999999999", "13", "0-3", "5-1", "1,4-2"])
def test_sizes_that_there_are_not(rag_rules: RagRules, data: Path, tmp_path: Path, sizes: str) -> None:
    run = rag_rules(*command("efficiency", data, "--out", tmp_path), "--sizes", sizes)
    assert_refused(run, f"--sizes '{sizes}': give numbers from 1 to 12, from few to many")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_name_of_a_file_moves_no_cursor(rag_rules: RagRules, tmp_path: Path, name: str) -> None:
    data = jsonl(tmp_path / "\x1b[2J.jsonl", line())
    run = rag_rules(*command(name, data, "--out", tmp_path / "o"))
    assert run.code == 0
    assert "\x1b" not in run.out + run.err
    missing = rag_rules(*command(name, data.with_name("\x1b[3J.jsonl"), "--out", tmp_path / "o"))
    assert_refused(missing, "there is no", "\\x1b[3J.jsonl")


def test_a_failure_moves_no_cursor(rag_rules: RagRules, tmp_path: Path) -> None:
    sources = [{"title": "", "text": "same", "necessary": place < 2} for place in range(2)]
    data = jsonl(tmp_path / "q.jsonl", line("\x1b[2J=1", sources=sources))
    run = rag_rules(
        *command("efficiency", data, "--out", tmp_path / "o", "--timeout", "1e-9", "--retries", 0)
    )
    assert run.code in {2, 3}
    assert "\x1b" not in run.out + run.err
    if run.code == 3:
        assert "\\x1b[2J=1" in run.out
