"""Tests that a store gives back the answers of an agent whose memory is made anew in each process."""

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer
from langchain_rag_rule_explainer.lasting_content import lasting_content
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.store.memory import InMemoryStore

from rag_rule_explainer import contains
from tests.integrations.langchain.anew import told
from tests.integrations.langchain.models import Telling
from tests.integrations.langchain.zoo.remembered import retriever_of

pytestmark = pytest.mark.waits

ROOT = Path(__file__).parents[3]
SUBSETS = 16
ALWAYS_PAID = 1
"""The baseline, by which each explanation recognises the application."""
IDS = ["1529efa9-449e-437b-bbf1-00dafcb5f0b9", "lc_run--f7eae427-dcee-41b6-8585-936a9a706636-0"]


def process(store: Path, **given: Any) -> Any:
    program = ["-m", "tests.integrations.langchain.anew", json.dumps({"store": str(store), **given})]
    run = subprocess.run(
        [sys.executable, *program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if "dies" in given:
        assert run.returncode == -signal.SIGKILL, run.stderr
        return None
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A store that another process has filled, and what it told. Each test takes a copy."""
    store = tmp_path_factory.mktemp("first") / "a.db"
    return store, process(store)


@pytest.fixture
def filled(first: tuple[Path, Any], tmp_path: Path) -> Path:
    copytree(first[0].parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / first[0].name


def test_a_second_process_with_the_same_memory_pays_nothing(
    first: tuple[Path, Any], filled: Path
) -> None:
    once, second = first[1], process(filled)
    assert once["stored"] == 0
    assert once["paid"] > SUBSETS
    assert (second["paid"], second["stored"]) == (ALWAYS_PAID, once["paid"] - ALWAYS_PAID)
    assert second["rules"] == once["rules"]


def test_what_was_paid_before_a_kill_is_not_paid_again(first: tuple[Path, Any], tmp_path: Path) -> None:
    whole, store = first[1], tmp_path / "killed.db"
    process(store, dies=25)
    with closing(sqlite3.connect(store)) as database:
        ((kept,),) = database.execute("SELECT count(*) FROM rag_rules_answers WHERE answer IS NOT NULL")
    assert kept > 3  # the baseline, the replay that checks it, and others
    after = told(store=str(store))
    assert after["stored"] == kept
    assert after["paid"] + after["stored"] == whole["paid"]
    # A model that kills its process after some requests counts them, so nothing is proved.
    assert [each.split(" [")[0] for each in after["rules"]] == [
        each.split(" [")[0] for each in whole["rules"]
    ]


@pytest.mark.parametrize(
    "changed", [{"earlier": "It was Bob."}, {"thread": "2"}, {"about": "Reads letters."}]
)
def test_another_memory_thread_or_tool_gets_no_stored_answer(
    changed: dict[str, str], filled: Path
) -> None:
    assert told(store=str(filled), **changed)["stored"] == 0


def test_the_same_memory_gets_them_in_this_process_too(filled: Path) -> None:
    assert told(store=str(filled))["paid"] == ALWAYS_PAID


def saved(*messages: Any, identity: str = "1f1e", thread: str = "1", writes: Any = ()) -> CheckpointTuple:
    checkpoint: Any = {
        "v": 4,
        "ts": f"time of {identity}",
        "id": identity,
        "channel_values": {"messages": list(messages)},
        "channel_versions": {"messages": f"0002.0.{len(identity)}"},
        "versions_seen": {"model": {"messages": f"0001.0.{len(identity)}"}},
    }
    config: Any = {"configurable": {"thread_id": thread, "checkpoint_id": identity}}
    return CheckpointTuple(config, checkpoint, {"source": "update", "step": 0}, None, list(writes))


def conversation(ids: list[str], *, answered: int = 0, **changed: Any) -> CheckpointTuple:
    call = {"name": "pay", "args": {"to": changed.pop("to", "Ann")}, "id": ids[0]}
    asked: Any = changed.pop("parts", changed.pop("asked", "Pay."))
    return saved(
        HumanMessage(asked, id=changed.pop("named", ids[1]), name=changed.pop("called", None)),
        AIMessage("", tool_calls=[call, {**call, "id": ids[1]}]),
        ToolMessage(changed.pop("result", "Paid."), tool_call_id=ids[answered]),
        **changed,
    )


def test_ids_that_were_made_up_do_not_count() -> None:
    other = [IDS[0].replace("1", "2"), IDS[1].replace("e", "a")]
    assert lasting_content(conversation(IDS)) == lasting_content(conversation(other, identity="2f2"))


@pytest.mark.parametrize(
    "changed",
    [
        {"asked": "Pay!"},
        {"asked": IDS[0]},
        {"to": "Bob"},
        {"to": IDS[0]},
        {"result": "Refused."},
        {"result": IDS[1]},
        {"named": "first"},
        {"called": IDS[1]},
        {"parts": [IDS[0]]},
        {"answered": 1},
        {"thread": "2"},
        {"writes": [("task", "messages", "more")]},
    ],
)
def test_all_else_counts(changed: dict[str, Any]) -> None:
    assert lasting_content(conversation(IDS, **changed)) != lasting_content(conversation(IDS))
    # An id in a text is no id that was made up.
    if any(each in str(changed) for each in IDS):
        other = [IDS[0].replace("1", "2"), IDS[1].replace("e", "a")]
        written = json.dumps(changed)
        for old, new in zip(IDS, other, strict=True):
            written = written.replace(old, new)
        quoted: dict[str, Any] = json.loads(written)
        assert lasting_content(conversation(IDS, **changed)) != lasting_content(
            conversation(other, **quoted)
        )


class Seen:
    """What an application finds in a long-term store of the items that it is filled with."""

    def __init__(self, items: dict[str, str]) -> None:
        retriever, self.store = retriever_of(), InMemoryStore()
        for key, text in items.items():
            self.store.put(("said",), key, {"text": text})

        def answer(question: str) -> str:
            found = [each.value["text"] for each in self.store.search(("said",))]
            context = " ".join(each.page_content for each in retriever.invoke(question))
            return Telling().invoke(f"{found} {context} {question}").text

        self.application = RunnableLambda(answer)


def test_a_long_term_store_that_is_filled_anew_pays_nothing_again(tmp_path: Path) -> None:
    def paid(items: dict[str, str]) -> tuple[int, int]:
        explainer = RuleExplainer(
            Seen(items).application, contains("bad"), store=str(tmp_path / "a.db"), rules="retention"
        )
        counts = explainer.explain("why?").counts
        return counts.replays, counts.stored

    first, again = paid({"1": "It was Ann.", "2": "Or Bob."}), paid({"1": "It was Ann.", "2": "Or Bob."})
    assert first[1] == 0
    assert again == (ALWAYS_PAID, first[0] - ALWAYS_PAID)
    for others in ({"1": "It was Bob.", "2": "Or Bob."}, {"2": "Or Bob.", "1": "It was Ann."}):
        assert paid(others)[1] == 0


def test_an_id_that_is_made_to_be_hard_to_read_is_read() -> None:
    hard = "a_" * 20_000 + "!"
    assert lasting_content(conversation(IDS, named=hard)) != lasting_content(conversation(IDS))
