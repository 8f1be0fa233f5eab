"""A log of 1,000 questions over poisoned corpora that questions share: whom to suspect first.

Four of the twenty corpora among the slow tests; all of them at night, with the table. How the log is made
is said in ``shared_corpora``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

from rag_rule_explainer.checking.figures import share
from tests.audit.logged import (
    Told,
    explained,
    most_retrieved,
    named_by_leaving_one_out,
    suspects_in,
    told,
)
from tests.audit.shared_corpora import CORPORA, QUESTIONS, SIZE, shared_corpora

SLOW, TOP_K = 4, 5


@lru_cache(maxsize=2)
def log_of(data: Path, corpora: int, top_k: int) -> tuple[Told, ...]:
    return tuple(told(list(shared_corpora(data))[:corpora], top_k))


@dataclass(frozen=True)
class First:
    """Whether each way to look for the culprit names a planted document first, for one question. Naming
    nothing counts as failed."""

    dataset: str
    by_rules: bool
    by_leaving_one_out: bool
    by_retrieval_frequency: bool
    by_rank: bool
    names_planted_only: bool


def firsts(log: Sequence[Told]) -> list[First]:
    often, found = most_retrieved(log), list[First]()
    for each in log:
        if not each.is_scored:
            continue
        explanation, planted = explained(each), each.corpus.planted
        named, alone = suspects_in(explanation), named_by_leaving_one_out(each)
        first = First(
            each.asked.dataset,
            named[:1] != () and named[0] in planted,
            alone[:1] != [] and alone[0] in planted,
            often[each.asked.id] in planted,
            each.shown[0].id in planted,
            bool(named) and planted.issuperset(named),
        )
        assert set(named) <= each.to_blame
        found.append(first)
    return found


def table(log: Sequence[Told], found: Sequence[First], top_k: int) -> str:
    bad = sum(each.answers_badly for each in log)
    attacked = sum(each.asked.is_attacked for each in log)
    questions = f"{len(log)} questions ({attacked} attacked) of corpora of {SIZE} documents, top {top_k}"
    rows = [f"{questions}: {bad} bad answers, {len(found)} of them scored"]
    columns = [name for name in First.__dataclass_fields__ if name != "dataset"]
    for name in [*sorted({each.dataset for each in found}), "all"]:
        own = [each for each in found if name in (each.dataset, "all")]
        shares = [share(sum(getattr(each, way) for each in own), len(own), "none") for way in columns]
        rows.append(f"{name:<10} of {len(own)}:")
        rows += [f"  {way:<24} {each}" for way, each in zip(columns, shares, strict=True)]
    return "\n".join(rows)


def check(log: Sequence[Told], top_k: int) -> list[First]:
    found = firsts(log)
    print(f"\n{table(log, found, top_k)}")
    # The published Influence Score: 86 %.
    assert sum(each.by_rules for each in found) >= 0.95 * len(found)
    assert sum(each.by_leaving_one_out for each in found) <= 0.4 * len(found)
    return found


def test_the_log_is_what_it_is_said_to_be(real_data: Path) -> None:
    corpora = list(shared_corpora(real_data))
    asked = [each for corpus in corpora for each in corpus.asked]
    assert len(corpora) == CORPORA
    assert len(asked) == len({each.id for each in asked}) == QUESTIONS
    assert len({each.question for each in asked}) == QUESTIONS
    assert sum(each.is_attacked for each in asked) == 420
    for corpus in corpora:
        assert len(corpus.asked) == 50
        assert len(corpus.documents) == len({each.id for each in corpus.documents}) == SIZE
        assert len({each.passage for each in corpus.documents}) == SIZE
        assert corpus.planted <= {each.id for each in corpus.documents}
        assert 75 <= len(corpus.planted) <= 90
        assert sum(each.is_attacked for each in corpus.asked) == 21
    assert [each.documents for each in shared_corpora(real_data)] == [each.documents for each in corpora]


@pytest.mark.slow
def test_a_planted_document_is_suspected_first_in_four_corpora(real_data: Path) -> None:
    assert len(check(log_of(real_data, SLOW, TOP_K), TOP_K)) >= 25


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("top_k", [5, 10])
def test_a_planted_document_is_suspected_first_in_all(real_data: Path, top_k: int) -> None:
    assert len(check(log_of(real_data, CORPORA, top_k), top_k)) >= 150
