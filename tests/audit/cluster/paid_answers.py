"""What an audit has paid for: what the application wrote down, beside what was committed to the store."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text

from rag_rule_explainer.storing.address import Address
from rag_rule_explainer.storing.database import Database
from rag_rule_explainer.storing.encoding import unpacked_ids
from tests.audit.cluster.application import SHOWN

_STORED = "SELECT ids, question, min(stored) FROM rag_rules_answers WHERE answer IS NOT NULL GROUP BY 1, 2"


@dataclass(frozen=True)
class Run:
    """One run of the application that was paid. ``began``: when, in seconds since 1970."""

    question: str
    ids: tuple[str, ...]
    began: float

    @property
    def is_baseline(self) -> bool:
        """Whether all was shown, as when a question is asked: a run that retrieves cannot be stored."""
        return len(self.ids) == SHOWN


def paid_runs(paid: Path) -> list[Run]:
    lines = paid.read_text().splitlines() if paid.exists() else []
    runs = [json.loads(line) for line in lines]
    return [Run(question, tuple(ids), began) for question, *ids, began in runs]


def committed(url: str) -> dict[tuple[str, tuple[str, ...]], float]:
    """When each answer was committed first, by the question's text and the ids."""
    with Database(Address.of(url)).connect() as connection:
        rows = connection.execute(text(_STORED)).all()
        named = dict(map(tuple, connection.execute(text("SELECT id, text FROM rag_rules_questions")).all()))
    return {(bytes(named[number]).decode(), unpacked_ids(ids)): at for ids, number, at in rows}


def paid_again(paid: Path, url: str) -> list[Run]:
    """The runs that began after their answer had been committed. There must be none."""
    known = committed(url)
    begun = [each for each in paid_runs(paid) if not each.is_baseline]
    keys = {ids_of_question: at for ids_of_question, at in known.items()}
    return [
        each
        for each in begun
        if any(
            each.question in question and ids == each.ids and each.began > at + 0.05
            for (question, ids), at in keys.items()
            if ids == each.ids and each.question in question
        )
    ]


def paid_often(paid: Path) -> Counter[tuple[str, tuple[str, ...]]]:
    """How often each arrangement was paid, of those that were paid more than once."""
    counted = Counter((each.question, each.ids) for each in paid_runs(paid))
    return Counter({key: count for key, count in counted.items() if count > 1})
