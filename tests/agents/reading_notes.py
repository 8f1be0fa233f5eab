"""This module holds agents with one tool that writes and another that reads what it wrote. What they use
is made before the run, so what the first run wrote is still there in replays."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from operator import attrgetter
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import tool

from tests.agents.reading import MAILS, Omitted, Scripted, cut, policy_for
from tests.agents.reading_agents import agent_of, guilty, innocent

NOTE = "account 4711"


def agent_with_notes(omitted: Omitted, write: Callable[[str], object], read: Callable[[], object]) -> Any:
    """Returns an agent that calls ``remember`` after a mail with an account, and then ``policy``."""

    @tool
    def remember() -> str:
        """Remember."""
        write(NOTE)
        return cut("remember #1", "noted", omitted)

    @tool
    def policy() -> str:
        """Policy."""
        return cut("policy #1", policy_for(read()), omitted)

    return agent_of(omitted, policy, more=[remember])


@guilty
def notes_in_a_list(omitted: Omitted) -> Any:
    notes = list[str]()
    return agent_with_notes(omitted, notes.append, lambda: list(notes))


@guilty
def notes_in_a_dict(omitted: Omitted) -> Any:
    notes = dict[str, list[str]]()
    return agent_with_notes(omitted, lambda text: notes.setdefault("today", []).append(text), notes.copy)


class Calendar:
    def __init__(self) -> None:
        self.entries = list[str]()

    def add(self, text: str) -> None:
        self.entries.append(text)

    def told(self) -> str:
        return "\n".join(self.entries)


@guilty
def notes_in_an_object(omitted: Omitted) -> Any:
    calendar = Calendar()
    return agent_with_notes(omitted, calendar.add, calendar.told)


@guilty
def notes_in_a_file(omitted: Omitted) -> Any:
    path = Path("notes.txt").resolve()
    path.write_text("", encoding="utf-8")

    def write(text: str) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)

    return agent_with_notes(omitted, write, lambda: path.read_text(encoding="utf-8"))


@guilty
def notes_in_a_database(omitted: Omitted) -> Any:
    path = str(Path("notes.db").resolve())
    Path(path).unlink(missing_ok=True)

    def asked(statement: str, *values: str) -> list[Any]:
        with closing(sqlite3.connect(path)) as connection, connection:
            return connection.execute(statement, values).fetchall()

    asked("create table notes (text)")
    return agent_with_notes(
        omitted,
        lambda text: asked("insert into notes values (?)", text),
        lambda: asked("select text from notes"),
    )


@innocent
def notes_that_no_tool_reads(omitted: Omitted) -> Any:
    notes, known = list[str](), [NOTE]
    return agent_with_notes(omitted, notes.append, lambda: list(known))


class World:
    def __init__(self) -> None:
        self.notes, self.pages = list[str](), [NOTE]


@innocent
def notes_in_an_object_that_is_handed_on(omitted: Omitted) -> Any:
    world = World()
    return agent_with_notes(omitted, world.notes.append, lambda: attrgetter("pages")(world))


@innocent
def notes_that_are_always_written(omitted: Omitted) -> Any:
    notes = list[str]()

    @tool
    def inbox() -> list[str]:
        """Read."""
        return cut("inbox #1", MAILS, omitted)

    @tool
    def remember() -> str:
        """Remember."""
        notes.append(NOTE)
        return cut("remember #1", "noted", omitted)

    @tool
    def policy() -> str:
        """Policy."""
        return cut("policy #1", policy_for(list(notes)), omitted)

    @tool
    def block() -> str:
        """Block."""
        return cut("block #1", "blocked", omitted)

    model = Scripted(order=("inbox", "remember", "policy"))
    return create_agent(model, [inbox, remember, policy, block])
