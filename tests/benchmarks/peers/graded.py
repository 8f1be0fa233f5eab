"""MaxShapley's re-labelled records: what methods name of the offline reader's answer, beside the grades
that people gave to the sources.

The condition is that the answer stays as it is, right or wrong: rules are about what the reader says. So
where it is wrong, the sources that it took it from may have no grade, and ought to be named all the same.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rag_rule_explainer import Source
from rag_rule_explainer.experiments.rates import macro
from rag_rule_explainer.lattice import Lattice, Mask
from rag_rule_explainer.predicates.wording import equivalent
from rag_rule_explainer.testing.reader import read_answer
from tests.benchmarks.peers.budgets import Budgeted
from tests.benchmarks.peers.conditions import Condition, known
from tests.benchmarks.peers.curves import Curved, among_first, share

SETS = ("hotpotqa", "musique")
NO_ANSWER = "N/A"


@dataclass(frozen=True)
class Graded:
    """A record: its condition, the grade of each source, and whether the answer is the truth."""

    condition: Condition
    grades: tuple[int, ...]
    right: bool

    @property
    def relevant(self) -> frozenset[int]:
        return frozenset(unit for unit, grade in enumerate(self.grades) if grade)


@cache
def graded(data: Path) -> Sequence[Graded]:
    """Those that have a source with a grade, and that the reader gives an answer to."""
    files = (data / f"maxshapley_{name}.jsonl" for name in SETS)
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines())
    return [found for line in lines if (found := _record(json.loads(line))) is not None]


def _record(record: dict[str, Any]) -> Graded | None:
    question: str = record["question"]
    grades = tuple(source["relevance"] for source in record["sources"])
    # MuSiQue repeats titles within a record, so a source goes by its place.
    passages = [
        Source(f"{place}", source["text"], {"title": source["title"]}).passage
        for place, source in enumerate(record["sources"])
    ]
    lattice = Lattice(len(passages))

    def answer(mask: Mask) -> str:
        return read_answer(question, [passages[unit] for unit in lattice.units(mask)])

    baseline = answer(lattice.full)
    if not any(grades) or baseline == NO_ANSWER:
        return None
    same = [answer(mask) == baseline for mask in lattice.masks()]
    return Graded(known(lattice, same.__getitem__), grades, equivalent(baseline, record["answer"]))


def named(method: Curved, each: Graded, seed: int) -> list[float]:
    """With as many subsets as there are."""
    return method.run(Budgeted(each.condition, len(each.condition.lattice.masks())), seed)


def row(method: Curved, records: Sequence[Graded]) -> list[str]:
    """Precision at k, where k sources have a grade; of all that is named, the share with a grade; of all
    grades together, the share that is named."""
    told = [(each, named(method, each, seed)) for seed, each in enumerate(records)]
    first = [(each, among_first(scores, each.relevant, len(each.relevant))) for each, scores in told]
    taken = [(each, {unit for unit, score in enumerate(scores) if score > 1e-9}) for each, scores in told]
    return [
        share(macro((hit.numerator, hit.denominator * len(each.relevant)) for each, hit in first)),
        share(macro((len(units & each.relevant), len(units)) for each, units in taken)),
        share(macro((sum(each.grades[u] for u in units), sum(each.grades)) for each, units in taken)),
    ]
