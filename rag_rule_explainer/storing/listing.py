"""All stored answers to one question, read beside the writer."""

from contextlib import closing
from typing import Any

from sqlalchemy import select

from .database import OUTSIDE_OPTIONS, RESETS, Database, patiently
from .schema import answers, questions

MOST_LISTED = 4096
"""Answers that are read at once."""


def answers_to(database: Database, question: str) -> list[Any]:
    """Arrangement, ids and answer of each answer to the question with this digest, in order.

    Raises StoreFailed.
    """
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

    with database.told():
        return patiently(read, resets=RESETS)
