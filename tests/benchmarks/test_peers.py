"""What else one could take, on the same conditions: what it costs, and what is said then.

Needs the dependency group ``peers``; without one of them its rows are left out. A call is one question
to the application; the baseline is in none of the figures. What must be true of this project's miners is
asserted; peers' rows are printed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from rag_rule_explainer.rules import RuleKind
from tests.benchmarks.peers.conditions import Condition, blocked_pair, either_pair, pair_of, records
from tests.benchmarks.peers.methods import OF_BOTH_KINDS, OF_ONE_KIND, SAMPLED, Method
from tests.benchmarks.peers.promises import check
from tests.benchmarks.peers.running import HEADING, row, runs_of
from tests.benchmarks.ratios import STUDIES

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]
TEN = "the peers on ten sources: calls and CPU seconds of a mean run, rules and sources of all runs"
MORE = "the peers on a pair of more sources, likewise"
OWN = "the sampled search of a pair: its own CPU time for each probe"
SEEDS = 5
PAIRS = (10, 50, 200)
RETENTION, OMISSION = (RuleKind.RETENTION,), (RuleKind.OMISSION,)


@dataclass(frozen=True)
class Block:
    """Rows of the table. ``conditions``: from the folder of real data."""

    name: str
    kinds: tuple[RuleKind, ...]
    conditions: Callable[[Path], Sequence[Condition]]


def again(made: Callable[[], Condition], _data: Path) -> list[Condition]:
    return [made()] * SEEDS


def hotpotqa(data: Path) -> list[Condition]:
    return [each for split in ("train", "dev") for each in records(data / f"hotpotqa_{split}.jsonl")]


CONDITIONS: dict[str, Callable[[Path], Sequence[Condition]]] = {
    "A": partial(again, partial(pair_of, 10)),
    "B": partial(again, either_pair),
    "C": partial(again, blocked_pair),
    "HotpotQA": hotpotqa,
}
OF_TEN = [
    *(Block(f"{name}, retention", RETENTION, made) for name, made in CONDITIONS.items()),
    Block("HotpotQA, omission", OMISSION, hotpotqa),
]
OF_BOTH = [Block(f"{name}, both", tuple(RuleKind), made) for name, made in CONDITIONS.items()]
OF_MORE = [
    Block(f"{n} sources", RETENTION, partial(again, partial(pair_of, n))) for n in (20, 50, 100, 200)
]
ROWS = [
    *((TEN, block, method) for block in OF_TEN for method in OF_ONE_KIND),
    *((TEN, block, method) for block in OF_BOTH for method in OF_BOTH_KINDS),
    *((MORE, block, method) for block in OF_MORE for method in OF_ONE_KIND if method.most > 10),
]


@pytest.mark.parametrize(
    ("title", "block", "method"),
    ROWS,
    ids=lambda each: getattr(each, "name", ""),
)
def test_peers(title: str, block: Block, method: Method, request: pytest.FixtureRequest) -> None:
    real = block.conditions is hotpotqa
    conditions = block.conditions(request.getfixturevalue("real_data") if real else Path())
    if conditions[0].lattice.size > method.most:
        pytest.skip(f"{method.name} takes too long on {block.name}")
    runs = runs_of(method, conditions, block.kinds)
    check(method, runs)
    STUDIES.setdefault(title, [HEADING]).append(row(block.name, method, runs))


@pytest.mark.parametrize("size", PAIRS)
def test_what_the_sampled_search_takes_for_itself(size: int) -> None:
    runs = runs_of(SAMPLED, [pair_of(size)] * 25, RETENTION)
    check(SAMPLED, runs)
    probes = sum(run.calls for run in runs)
    spent = 1e6 * sum(run.seconds for run in runs) / probes
    rows = STUDIES.setdefault(OWN, [("sources", "runs", "probes of a run", "microseconds a probe")])
    rows.append((str(size), str(len(runs)), f"{probes / len(runs):.0f}", f"{spent:.0f}"))
