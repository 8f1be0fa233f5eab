"""``rag-rules store``."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_rule_explainer import Answer, Judgement, Store, Verdict
from rag_rule_explainer.storing.answers import AnswerClaim
from rag_rule_explainer.storing.opened import close_all
from tests.cli.runs import RagRules, assert_refused

HOSTILE = "bot\x1b[31m\n[bold]"


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Path]:
    """A store with an answer and a judgement in one namespace, and two answers in a hostile one."""

    async def fill() -> None:
        for namespace, samples in (("bot-1", 1), (HOSTILE, 2)):
            live = Store(str(tmp_path / "store.db"), namespace).open()
            for sample in range(samples):
                claim = await live.answers("Why?").take(("a", "b"), ("a", "b"), sample)
                assert isinstance(claim, AnswerClaim)
                await claim.put(Answer("because\ud800\x1b[31m"), 0.5)
        await (
            Store(str(tmp_path / "store.db"), "bot-1")
            .open()
            .put_judgement("a judge", ("a", 1), Judgement(Verdict.HOLDS, "it does"))
        )

    asyncio.run(fill())
    close_all()
    yield tmp_path / "store.db"
    close_all()


def test_info(rag_rules: RagRules, stored: Path) -> None:
    run = rag_rules("store", "info", stored)
    head, *lines = run.out.splitlines()
    assert run.code == 0
    assert head.startswith(f"{stored}: schema 1, ")
    assert head.endswith(" bytes")
    assert lines[1].startswith("  bot-1: 1 answer to 1 question and 1 judgement, 20")
    assert lines[0].startswith(r"  bot\x1b[31m [bold]: 2 answers to 1 question and 0 judgements, 20")
    assert len(lines) == 2


def test_prune(rag_rules: RagRules, stored: Path) -> None:
    assert (
        rag_rules("store", "prune", stored, "--older-than-days", 1).out
        == "pruned 0 answers, 0 judgements\n"
    )
    assert (
        rag_rules("store", "prune", stored, "--namespace", "bot-1").out
        == "pruned 1 answer, 1 judgement\n"
    )
    assert_refused(rag_rules("store", "prune", stored), "nothing says what to prune", "give --namespace")
    assert rag_rules("store", "prune", stored, "--all").out == "pruned 2 answers, 0 judgements\n"
    assert rag_rules("store", "info", stored).out.endswith("  nothing is stored yet\n")


def test_export(rag_rules: RagRules, stored: Path) -> None:
    run = rag_rules("store", "export", stored)
    assert run.code == 0
    assert run.out.isascii()
    assert "\x1b" not in run.out
    records = [json.loads(line) for line in run.out.splitlines()]
    assert [record["kind"] for record in records] == ["answer", "answer", "answer", "judgement"]
    assert {record["answer"]["text"] for record in records[:3]} == {"because\ud800\x1b[31m"}
    only = rag_rules("store", "export", stored, "--namespace", HOSTILE)
    assert len(only.out.splitlines()) == 2


@pytest.mark.parametrize("command", ["info", "prune", "export"])
def test_bad_input_ends_in_one_line(rag_rules: RagRules, tmp_path: Path, command: str) -> None:
    more = ("--all",) if command == "prune" else ()
    assert_refused(rag_rules("store", command, tmp_path / "none.db", *more), "there is no store", "check")
    assert_refused(rag_rules("store", command, "mysql://me:secret@host/db", *more), "give the path")
    run = rag_rules("store", command, "postgresql://me:secret@127.0.0.1:1/db", *more)
    assert_refused(run, "postgresql://me:***@127.0.0.1:1/db", "check that the server is up")
    assert "secret" not in run.err
    assert_refused(rag_rules("store", command), f". See rag-rules store {command} --help.")
