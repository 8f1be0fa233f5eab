"""Looking at a store, pruning it, taking everything out of it."""

import json
import time
from pathlib import Path

import pytest

from rag_rule_explainer import Answer, InvalidInput, Judgement, Store, StoreFailed, Verdict
from rag_rule_explainer.storing import maintenance as upkeep
from rag_rule_explainer.storing.maintenance import NamespaceInfo, Pruned, export, info, prune
from tests.postgres import Server
from tests.storing.asking import among_others, answered, answers, change, claimed, rows

DAY = 86_400.0


async def fill(url: str, namespace: str, numbers: range) -> None:
    mine = answers(Store(url, namespace))
    for number in numbers:
        await (await claimed(mine, number)).put(Answer(f"answer {number}\ud800\0"), 0.5)
    judged = Store(url, namespace).open()
    await judged.put_judgement("a judge", (namespace, 1), Judgement(Verdict.BREAKS, "because"))


async def test_info_tells_what_is_there(url: str) -> None:
    started = time.time()
    await fill(url, "one", range(3))
    await fill(url, "two", range(1))
    held = await claimed(answers(Store(url, "two"), "Another?"), 7)
    found = info(url)
    assert found.schema == 1
    assert (found.size is None) is ("postgresql" in url)
    assert found.size is None or found.size > 4096
    one, two = found.namespaces
    assert one == NamespaceInfo("one", 1, 3, 1, 0, one.oldest, one.newest)
    assert two == NamespaceInfo("two", 2, 1, 1, 1, two.oldest, two.newest)
    for space in (one, two):
        assert space.oldest is not None
        assert space.newest is not None
        assert started - 5 < space.oldest <= space.newest < time.time() + 5
    held.release()


async def test_a_namespace_is_pruned_and_the_others_stay(url: str) -> None:
    await fill(url, "one", range(3))
    await fill(url, "two", range(2))
    with among_others(Store(url, "one")):
        held = await claimed(answers(Store(url, "one")), 99)
    assert prune(url, "one") == Pruned(answers=3, judgements=1)
    assert [(s.namespace, s.answers, s.claims) for s in info(url).namespaces] == [
        ("one", 0, 1),
        ("two", 2, 0),
    ]
    # What is being made is none of its business, and what was pruned can be made again.
    await held.put(Answer("made meanwhile"), None)
    await fill(url, "one", range(1))
    assert info(url).namespaces[0].answers == 2
    assert prune(url, "one") == Pruned(2, 1)
    assert [space.namespace for space in info(url).namespaces] == ["two"]
    assert rows(Store(url, "-"), "SELECT count(*) FROM rag_rules_questions") == [(1,)]
    assert prune(url, "never heard of") == Pruned(0, 0)


async def test_what_is_old_is_pruned(url: str) -> None:
    await fill(url, "one", range(4))
    for table in ("answers", "judgements"):
        # The names are the test's own.
        change(Store(url, "one"), f"UPDATE rag_rules_{table} SET stored = stored - {10 * DAY}")  # noqa: S608
    await fill(url, "two", range(2))
    assert prune(url, "two", 5) == Pruned(0, 0)
    assert prune(url, older_than_days=5) == Pruned(4, 1)
    assert [space.namespace for space in info(url).namespaces] == ["two"]


async def test_claims_that_are_dead_are_pruned(url: str) -> None:
    claim = await claimed(answers(Store(url, "one")), 1)
    change(Store(url, "one"), "UPDATE rag_rules_answers SET owner = 'elsewhere|1|x', expires = 1.0")
    prune(url, "one")
    assert rows(Store(url, "one"), "SELECT count(*) FROM rag_rules_answers") == [(0,)]
    claim.release()


async def test_everything_is_pruned_only_where_that_is_said(url: str) -> None:
    await fill(url, "one", range(3))
    with pytest.raises(InvalidInput, match="nothing says what to prune"):
        prune(url)
    with pytest.raises(InvalidInput, match="leave those out"):
        prune(url, "one", everything=True)
    with pytest.raises(InvalidInput, match="at least 0"):
        prune(url, older_than_days=float("nan"))
    assert prune(url, everything=True) == Pruned(3, 1)
    assert info(url).namespaces == ()


async def test_pruning_leaves_nothing_of_it_in_the_file(tmp_path: Path) -> None:
    url = str(tmp_path / "store.db")
    await fill(url, "one", range(3))
    prune(Path(url), "one")
    assert info(Path(url)).namespaces == () == tuple(export(Path(url)))
    for file in tmp_path.iterdir():  # noqa: ASYNC240 -- there is nobody to wait
        assert b"answer 1" not in file.read_bytes()


async def test_export_says_everything(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "_PAGE", 2)
    await fill(url, "one", range(5))
    await fill(url, "two", range(2))
    held = await claimed(answers(Store(url, "two")), 99)
    records = [json.loads(json.dumps(record)) for record in export(url)]
    assert len(records) == 7 + 2
    assert (
        len({(record["namespace"], record["kind"], record.get("arrangement")) for record in records}) == 9
    )
    judgement = next(record for record in export(url, "two") if record["kind"] == "judgement")
    del judgement["memo"], judgement["stored"]
    assert judgement == {
        "kind": "judgement",
        "namespace": "two",
        "predicate": "a judge",
        "verdict": "breaks",
        "reason": "because",
    }
    answer = next(r for r in export(url, "two") if r["kind"] == "answer" and "0" in r["answer"]["text"])
    assert answer["answer"]["text"] == "answer 0\ud800\0"
    assert (answer["ids"], answer["sample"], answer["latency"]) == (["a", "b"], 0, 0.5)
    assert sum(record["namespace"] == "one" for record in export(url, "one")) == 6
    held.release()


async def test_a_corrupted_row_ends_an_export(url: str) -> None:
    await fill(url, "one", range(2))
    mark = "?" if "sqlite" in url else "%s"
    # The names are the test's own.
    change(Store(url, "one"), f"UPDATE rag_rules_answers SET ids = {mark}", b"{}")  # noqa: S608
    with pytest.raises(StoreFailed, match="has a row with"):
        list(export(url))
    assert await answered(answers(Store(url, "one")), 1) == Answer("answer 1\ud800\0")


def test_where_there_is_no_store_none_is_made(tmp_path: Path, server: Server) -> None:
    for url in (str(tmp_path / "none.db"), server.url()):
        with pytest.raises(StoreFailed, match="there is no store"):
            info(url)
        with pytest.raises(StoreFailed, match="there is no store"):
            export(url)
        with pytest.raises(StoreFailed, match="there is no store"):
            prune(url, "tests")
    assert list(tmp_path.iterdir()) == []
    assert server.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == "0"
