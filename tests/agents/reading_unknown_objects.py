"""This module holds agents whose tools share an object of a library whose content is not known, such as
a connection of a database or a block of memory."""

import mmap
import multiprocessing
from email.message import EmailMessage
from typing import Any, Protocol, cast
from unittest.mock import Mock

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.pool import StaticPool

from tests.agents.reading import Omitted
from tests.agents.reading_agents import guilty, innocent
from tests.agents.reading_notes import NOTE, agent_with_notes


class _Base(DeclarativeBase):
    pass


class _Note(_Base):
    __tablename__ = "notes_of_agents"
    id: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str]


class _Number(Protocol):
    value: int


def _engine() -> sa.Engine:
    """A database in memory that has one empty note."""
    engine = sa.create_engine(
        "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
    )
    _Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add(_Note(text=""))
        session.commit()
    return engine


def _told(engine: sa.Engine) -> str:
    with Session(engine) as session:
        return " ".join(each.text for each in session.scalars(sa.select(_Note)))


@guilty
def notes_in_memory_of_processes(omitted: Omitted) -> Any:
    count = cast("_Number", multiprocessing.Value("i", 0))

    def write(_: str) -> None:
        count.value = 1

    return agent_with_notes(omitted, write, lambda: NOTE if count.value else "")


@guilty
def notes_in_a_block_of_memory(omitted: Omitted) -> Any:
    block = mmap.mmap(-1, 10)
    return agent_with_notes(omitted, lambda _: block.write(b"x"), lambda: NOTE if block[0] else "")


@guilty
def notes_in_a_mail(omitted: Omitted) -> Any:
    mail = EmailMessage()
    return agent_with_notes(
        omitted, lambda text: mail.add_header("X-Note", text), lambda: str(mail["X-Note"] or "")
    )


@guilty
def notes_that_a_fake_got(omitted: Omitted) -> Any:
    fake = Mock()
    return agent_with_notes(
        omitted, lambda text: fake.send(text), lambda: NOTE if fake.send.called else ""
    )


@guilty
def notes_in_a_session_of_a_database(omitted: Omitted) -> Any:
    engine = _engine()

    def write(text: str) -> None:
        with Session(engine) as session:
            session.add(_Note(text=text))
            session.commit()

    return agent_with_notes(omitted, write, lambda: _told(engine))


@guilty
def notes_by_sql(omitted: Omitted) -> Any:
    engine = _engine()

    def write(text: str) -> None:
        with engine.begin() as connection:
            connection.execute(
                sa.text("INSERT INTO notes_of_agents (text) VALUES (:text)"), {"text": text}
            )

    return agent_with_notes(omitted, write, lambda: _told(engine))


@innocent
def a_database_that_is_read(omitted: Omitted) -> Any:
    engine = _engine()
    return agent_with_notes(omitted, lambda _: _told(engine), lambda: NOTE + _told(engine))


@innocent
def a_list_beside_a_database(omitted: Omitted) -> Any:
    engine = _engine()

    def write(text: str) -> None:
        seen = list[str]()
        seen.append(text)
        seen.append(_told(engine))

    return agent_with_notes(omitted, write, lambda: NOTE + _told(engine))
