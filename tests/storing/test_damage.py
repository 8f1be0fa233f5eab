"""Files that a disk has damaged, and files that are gone: an error that says so, or the right answers."""

import contextlib
import random
import shutil
from pathlib import Path

import pytest

from rag_rule_explainer import (
    Answer,
    Case,
    Explainer,
    Explanation,
    RagRuleError,
    Source,
    Store,
    StoreFailed,
)
from rag_rule_explainer.storing.maintenance import export
from rag_rule_explainer.storing.opened import close_all
from rag_rule_explainer.testing import ScriptedReplay
from tests.drawing import examples, few
from tests.storing.asking import answered, answers, claimed

SOURCES = [Source(f"D{n}", f"text {n}") for n in range(1, 5)]
RULES = {("D1", "D3"), ("D1",), ("D3",)}
PAGE = 4096


def pair(ids: frozenset[str]) -> str:
    return "yes" if {"D1", "D3"} <= ids else f"no {sorted(ids)}"


def explained(path: Path) -> Explanation:
    explainer = Explainer(
        ScriptedReplay(pair), store=Store(str(path), "tests"), check_repeatable=False, miner="exact"
    )
    return explainer.explain("?", SOURCES)


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    path = tmp_path / "whole.db"
    explained(path)
    close_all()
    return path.read_bytes()


def is_right_or_refused(path: Path, content: bytes) -> bool:
    """False where the store was refused; asserts that nothing else comes of it but the right rules."""
    for beside in path.parent.glob(f"{path.name}*"):
        beside.unlink()
    path.write_bytes(content)
    try:
        explanation = explained(path)
    except StoreFailed as failed:
        assert str(path) in str(failed)  # noqa: PT017 -- it may be refused, or not
        return False
    finally:
        close_all()
    found = {rule.sources for rule in explanation.rules}
    if explanation.stop_reason:
        assert str(path) in explanation.stop_reason
        # What was proved until then is true, if not the last word.
        assert all({"D1", "D3"} <= set(rule.sources) for rule in explanation.retention_rules)
        assert all({"D1", "D3"} & set(rule.sources) for rule in explanation.omission_rules)
        return False
    assert found == RULES
    with contextlib.suppress(RagRuleError):
        list(export(str(path)))
    return True


def check(whole: bytes, path: Path, places: list[int], draw: random.Random) -> tuple[int, int]:
    """How many of the damaged files were refused, and how many explained."""
    refused = right = 0
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= draw.choice((1 << draw.randrange(8), draw.randrange(1, 256)))
        if is_right_or_refused(path, bytes(damaged)):
            right += 1
        else:
            refused += 1
    return refused, right


def test_a_flipped_byte_in_the_schema_is_told(whole: bytes, tmp_path: Path) -> None:
    damaged = bytearray(whole)
    damaged[whole.index(b"CREATE TABLE rag_rules_answers") + 20] ^= 0x80
    path = tmp_path / "damaged.db"
    path.write_bytes(bytes(damaged))
    with pytest.raises(StoreFailed, match="restore the file from a copy") as failed:
        explained(path)
    assert str(path) in str(failed.value)


def test_a_flipped_byte_is_an_error_or_does_no_harm(whole: bytes, tmp_path: Path) -> None:
    draw = random.Random(3)
    used = [place for place, byte in enumerate(whole) if byte]
    refused, right = check(whole, tmp_path / "damaged.db", draw.sample(used, 40), draw)
    assert refused
    assert right


@pytest.mark.slow
def test_flipped_bytes_and_pages_all_over_a_file(whole: bytes, tmp_path: Path) -> None:
    draw, path = random.Random(4), tmp_path / "damaged.db"
    used = [place for place, byte in enumerate(whole) if byte]
    places = [*draw.sample(used, 600), *range(100), *draw.sample(range(len(whole)), 100)]
    refused, right = check(whole, path, few(places), draw)
    assert refused > examples(50)
    assert right > examples(50)
    for begin in few(range(0, len(whole), PAGE)):
        for page in (bytes(PAGE), draw.randbytes(PAGE), whole[:PAGE], whole[-PAGE:]):
            is_right_or_refused(path, whole[:begin] + page + whole[begin + PAGE :])
        is_right_or_refused(path, whole[:begin])


def test_one_letter_of_an_answer_is_not_another_answer(whole: bytes, tmp_path: Path) -> None:
    # The answer to all sources, which everything is compared with.
    assert whole.count(b'"yes"')
    damaged = whole.replace(b'"yes"', b'"yet"')
    assert not is_right_or_refused(tmp_path / "damaged.db", damaged)


@pytest.mark.parametrize("way", ["deleted", "moved", "replaced"])
def test_a_file_that_goes_in_mid_run_ends_the_search(tmp_path: Path, way: str) -> None:
    path = tmp_path / "answers.db"
    calls: list[frozenset[str]] = []

    def losing(ids: frozenset[str]) -> str:
        calls.append(ids)
        if len(calls) == 5:
            if way == "deleted":
                path.unlink()
            else:
                path.rename(tmp_path / "elsewhere.db")
            if way == "replaced":
                shutil.copy(tmp_path / "elsewhere.db", path)
        return pair(ids)

    explanation = Explainer(
        ScriptedReplay(losing), store=Store(str(path), "tests"), rules="retention", concurrency=1
    ).explain("?", SOURCES)
    assert "was deleted, moved or replaced" in explanation.stop_reason
    assert str(path) in explanation.stop_reason
    assert not explanation.complete
    assert len(calls) == 5
    # The next one is made anew, or is the one that is there now.
    assert explained(path).complete


def test_a_file_that_goes_after_the_last_answer_is_told(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    explained(path)

    def vanishing(case: Case) -> bool:
        if case.answer.text == pair(frozenset({"D2", "D3", "D4"})):  # which is asked about last
            path.unlink()
        return case.answer.text == "yes"

    explanation = Explainer(
        ScriptedReplay(pair),
        store=Store(str(path), "tests"),
        check_repeatable=False,
        predicate=vanishing,
        rules="retention",
        concurrency=1,
    ).explain("?", SOURCES)
    assert (explanation.counts.replays, explanation.complete) == (0, True)
    assert any("was deleted, moved or replaced" in warning for warning in explanation.warnings)


async def test_the_current_folder_may_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mine = answers(Store("store.db", "tests"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    await (await claimed(mine, 1)).put(Answer("yes"), None)
    assert await answered(mine, 1) == Answer("yes")
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == []
