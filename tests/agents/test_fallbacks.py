"""Tests of applications that read what a tool wrote only where a source is left out."""

import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool, tool
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.store.memory import InMemoryStore

from rag_rule_explainer import contains
from tests.agents.reading import ASKED, MAILS, Omitted, Scripted, cut, false_rules, told

NOTE = "account 4711"
KEPT: ContextVar[list[str] | None] = ContextVar("kept", default=None)


class Unsure(Scripted):
    """An ``Unsure`` has no idea without the first mail."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        made = super()._generate(messages, *args, **kwargs)
        if made.generations[0].text != "done" or MAILS[0] in told(messages):
            return made
        return ChatResult(generations=[ChatGeneration(message=AIMessage("I have no idea."))])


def asked(
    omitted: Omitted, question: Any, remember: Any, notes: Callable[[], object], **more: Any
) -> str:
    """Returns the answer of an agent that keeps a mail with an account; the notes if it has no idea."""

    @tool
    def inbox() -> list[str]:
        """Read."""
        return cut("inbox #1", MAILS, omitted)

    model = Unsure(order=("inbox",), noting=True)
    agent: Any = create_agent(model, [inbox, remember], **more)
    text = str(agent.invoke(question)["messages"][-1].content)
    return f"From my notes: {notes()}" if "no idea" in text else text


def saying(omitted: Omitted, write: Callable[[], object]) -> Any:
    @tool
    def remember() -> str:
        """Remember."""
        write()
        return cut("remember #1", "noted", omitted)

    return remember


def of_a_store(omitted: Omitted) -> Any:
    def ask(question: Any) -> str:
        store = InMemoryStore()

        @tool
        def remember(runtime: ToolRuntime[Any, Any]) -> str:
            """Remember."""
            memory: Any = runtime.store
            memory.put(("notes",), "first", {"text": NOTE})
            return cut("remember #1", "noted", omitted)

        def notes() -> list[Any]:
            return [each.value for each in store.search(("notes",))]

        return asked(omitted, question, remember, notes, store=store)

    return ask


class Desk:
    def __init__(self, omitted: Omitted) -> None:
        self.omitted, self.note = omitted, ""

    def remember(self) -> str:
        """Remember."""
        self.note = NOTE
        return cut("remember #1", "noted", self.omitted)

    def ask(self, question: Any) -> str:
        return asked(
            self.omitted, question, StructuredTool.from_function(self.remember), lambda: self.note
        )


def of_an_attribute(omitted: Omitted) -> Any:
    def ask(question: Any) -> str:
        return Desk(omitted).ask(question)

    return ask


def of_a_folder(omitted: Omitted) -> Any:
    def ask(question: Any) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "note.txt")
            remember = saying(omitted, lambda: path.write_text(NOTE, encoding="utf-8"))
            return asked(
                omitted,
                question,
                remember,
                lambda: [each.read_text(encoding="utf-8") for each in Path(folder).glob("*.txt")],
            )

    return ask


def of_a_database(omitted: Omitted) -> Any:
    def ask(question: Any) -> str:
        with closing(sqlite3.connect(":memory:", check_same_thread=False)) as connection:
            connection.execute("create table notes (text)")
            insert = "insert into notes values (?)"
            remember = saying(omitted, lambda: connection.execute(insert, (NOTE,)))
            read = "select text from notes"
            return asked(omitted, question, remember, lambda: connection.execute(read).fetchall())

    return ask


def of_a_context_variable(omitted: Omitted) -> Any:
    def ask(question: Any) -> str:
        token = KEPT.set(["milk"])
        try:
            remember = saying(omitted, lambda: (KEPT.get() or []).append(NOTE))
            return asked(omitted, question, remember, KEPT.get)
        finally:
            KEPT.reset(token)

    return ask


SHAPES = [of_a_store, of_an_attribute, of_a_folder, of_a_database, of_a_context_variable]


def explained(make: Any, **options: Any) -> Any:
    return RuleExplainer(make(()), ~contains("4711"), source_kinds=["tools"], **options).explain(ASKED)


@pytest.mark.parametrize("make", SHAPES, ids=lambda make: make.__name__)
def test_no_false_rule_where_the_notes_of_a_tool_are_read_without_a_source(make: Any) -> None:
    assert "4711" not in make(())(ASKED)
    assert "4711" in make(["inbox #1, item 1"])(ASKED)
    explanation = explained(make)

    assert false_rules(explanation, lambda omitted: "4711" not in make(omitted)(ASKED)) == []
    assert not explanation.complete
    assert "safe_tools=['remember']" in str(explanation)


@pytest.mark.parametrize("make", SHAPES, ids=lambda make: make.__name__)
def test_the_way_out_gives_the_rules(make: Any) -> None:
    explanation = explained(make, safe_tools=["remember"])

    assert explanation.complete, str(explanation)
    assert not explanation.doubted
    assert false_rules(explanation, lambda omitted: "4711" not in make(omitted)(ASKED)) == []
    assert {rule.sources for rule in explanation.rules if rule.kind.value == "retention"} == {
        ("inbox #1, item 1",)
    }
