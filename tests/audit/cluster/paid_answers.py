"""What an audit has paid for: what the application wrote down, beside what was committed to the store."""

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text

from rag_rule_explainer.storing.address import Address
from rag_rule_explainer.storing.database import Database
from rag_rule_explainer.storing.encoding import unpacked_ids
from tests.audit.cluster.application import SHOWN

_QUESTION = re.compile(r"question \d+\?")
_STORED = (
    "SELECT ids, question, min(stored) FROM rag_rules_answers WHERE answer IS NOT NULL GROUP BY 1, 2"
)


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
    return [Run(question, tuple(ids), began) for question, ids, began in runs]


def committed(url: str) -> list[tuple[str, tuple[str, ...], float]]:
    """The name of the question, the ids and the time of each answer that was committed."""
    with Database(Address.of(url)).connect() as connection:
        rows = connection.execute(text(_STORED)).all()
        named = dict(
            map(tuple, connection.execute(text("SELECT id, text FROM rag_rules_questions")).all())
        )
    return [(bytes(named[number]).decode(), unpacked_ids(ids), at) for ids, number, at in rows]


def paid_again(paid: Path, url: str) -> list[Run]:
    """The runs that began after their answer had been committed. There must be none."""
    found: list[Run] = []
    runs = defaultdict[tuple[str, tuple[str, ...]], list[Run]](list)
    for each in paid_runs(paid):
        runs[each.question, each.ids].append(each)
    for name, ids, at in committed(url):
        question = _QUESTION.search(name)
        assert question, name
        asked = runs.pop((question[0], ids), [])
        found += [each for each in asked if not each.is_baseline and each.began > at + 0.05]
    assert all(len(ids) == SHOWN for _, ids in runs), "paid, and never committed"
    return found


def paid_often(paid: Path) -> Counter[tuple[str, tuple[str, ...]]]:
    """How often each arrangement was paid, of those that were paid more than once."""
    counted = Counter((each.question, each.ids) for each in paid_runs(paid))
    return Counter({key: count for key, count in counted.items() if count > 1})
