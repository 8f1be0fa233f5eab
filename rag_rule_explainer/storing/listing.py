"""This module reads all stored answers to one question. It uses a connection of its own, so it does not
wait for the writer (the thread that does all other work with the database)."""

from contextlib import closing
from typing import Any

from sqlalchemy import select

from .database import OUTSIDE_OPTIONS, RESETS, Database, patiently
from .schema import answers, questions

MOST_LISTED = 4096
"""The maximum number of stored answers to one question that are read; the others are left out."""


def answers_to(database: Database, question: str) -> list[Any]:
    """Returns a row for each stored answer to a question, up to ``MOST_LISTED``. A row has the digest of
    the arrangement (the ordered sources of the answer), the ids of the sources, and the answer. The rows
    are ordered by this digest. ``question``: the digest of the question. Raises StoreFailed if the
    database cannot be used."""
    rows = (
        select(answers.c.arrangement, answers.c.ids, answers.c.answer)
        .join(questions, questions.c.id == answers.c.question)
        .where(questions.c.digest == question, answers.c.answer.is_not(None))
        .order_by(answers.c.arrangement, answers.c.sample)
        .limit(MOST_LISTED)
    )

    def read() -> list[Any]:
        with closing(database.connect()) as connection:
            return list(connection.execution_options(**OUTSIDE_OPTIONS).execute(rows).all())

    with database.as_store_failed():
        return patiently(read, resets=RESETS)
