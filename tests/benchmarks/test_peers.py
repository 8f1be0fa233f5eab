"""What else one could take, on the same conditions: what it costs, and what is said then.

Needs the dependency group ``peers``; without one of them its rows are left out. A call is one question
to the application; the baseline is in none of the figures. *Wrong* is what is no rule of all sources,
also where it is said to be relative to some of them, or unverified. What must be true of this project's
miners is asserted; peers' rows are printed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from rag_rule_explainer.rules import RuleKind
from tests.benchmarks.peers.conditions import Condition, blocked_pair, either_pair, pair_of, records
from tests.benchmarks.peers.methods import OF_BOTH_KINDS, OF_ONE_KIND, SAMPLED, SAYING, Method
from tests.benchmarks.peers.promises import check
from tests.benchmarks.peers.running import HEADING, row, runs_of
from tests.benchmarks.ratios import STUDIES

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]
TEN = "the peers on ten sources: calls and CPU seconds of a mean run, rules and sources of all runs"
MORE = "the peers on a pair of more sources, likewise"
OWN = "the sampled search of a pair: its own CPU time for each probe"
MANY = (20, 50, 100, 200)
RETENTION, OMISSION = (RuleKind.RETENTION,), (RuleKind.OMISSION,)


@dataclass(frozen=True)
class Block:
    """Rows of a table. ``conditions``: from the folder of real data."""

    title: str
    name: str
    kinds: tuple[RuleKind, ...]
    conditions: Callable[[Path], Sequence[Condition]]


def again(made: Callable[[], Condition], _data: Path, *, seeds: int = 5) -> list[Condition]:
    return [made()] * seeds


def hotpotqa(data: Path) -> list[Condition]:
    return [each for split in ("train", "dev") for each in records(data / f"hotpotqa_{split}.jsonl")]


CONDITIONS: dict[str, Callable[[Path], Sequence[Condition]]] = {
    "A": partial(again, partial(pair_of, 10)),
    "B": partial(again, either_pair),
    "C": partial(again, blocked_pair),
    "HotpotQA": hotpotqa,
}


def rows() -> Iterator[tuple[Block, Method]]:
    for name, made in CONDITIONS.items():
        yield from product([Block(TEN, f"{name}, retention", RETENTION, made)], OF_ONE_KIND)
    yield from product([Block(TEN, "HotpotQA, omission", OMISSION, hotpotqa)], SAYING)
    for name, made in CONDITIONS.items():
        yield from product([Block(TEN, f"{name}, both", tuple(RuleKind), made)], OF_BOTH_KINDS)
    for n in MANY:
        block = Block(MORE, f"{n} sources", RETENTION, partial(again, partial(pair_of, n), seeds=3))
        yield from ((block, method) for method in OF_ONE_KIND if method.most >= n)


@pytest.mark.parametrize(("block", "method"), [*rows()], ids=lambda each: each.name)
def test_peers(block: Block, method: Method, request: pytest.FixtureRequest) -> None:
    real = block.conditions is hotpotqa
    conditions = block.conditions(request.getfixturevalue("real_data") if real else Path())
    runs = runs_of(method, conditions, block.kinds)
    check(method, runs)
    STUDIES.setdefault(block.title, [HEADING]).append(row(block.name, method, runs))


@pytest.mark.parametrize("size", [10, 50, 200])
def test_what_the_sampled_search_takes_for_itself(size: int) -> None:
    runs = runs_of(SAMPLED, [pair_of(size)] * 25, RETENTION)
    check(SAMPLED, runs)
    probes = sum(run.calls for run in runs)
    spent = 1e6 * sum(run.seconds for run in runs) / probes
    told = STUDIES.setdefault(OWN, [("sources", "runs", "probes of a run", "microseconds a probe")])
    told.append((str(size), str(len(runs)), f"{probes / len(runs):.0f}", f"{spent:.0f}"))
