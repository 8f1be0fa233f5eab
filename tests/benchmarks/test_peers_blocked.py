"""What is wrong of the rules that are said of conditions with blockers, which are not monotone."""

import random
from functools import cache

import pytest

from rag_rule_explainer.lattice import Lattice
from rag_rule_explainer.rules import RuleKind
from tests.benchmarks.peers.conditions import Condition, known
from tests.benchmarks.peers.methods import MARCO, SAMPLED, Saying
from tests.benchmarks.peers.promises import SHARE, check, violated
from tests.benchmarks.peers.running import mean, runs_of
from tests.benchmarks.ratios import STUDIES
from tests.mining.blockers import blocked

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]
TITLE = "random conditions with blockers, 8 to 12 sources: what is wrong of the rules that are reported"
HEADING = (
    "method",
    "conditions",
    "with a wrong rule",
    "rules",
    "not rules",
    "fail on over 5 %",
    "probes",
)
CONDITIONS = 500


@cache
def conditions() -> list[Condition]:
    draws = map(random.Random, range(CONDITIONS))
    return [known(Lattice(size := draw.randint(8, 12)), blocked(draw, size)) for draw in draws]


@pytest.mark.parametrize("method", [SAMPLED, MARCO], ids=lambda method: method.name)
def test_conditions_that_are_not_monotone(method: Saying) -> None:
    runs = runs_of(method, conditions(), (RuleKind.RETENTION,))
    check(method, runs)
    shares = [violated(run, claim) for run in runs for claim in run.claims]
    counts = (
        len(runs),
        sum(bool(run.wrong) for run in runs),
        len(shares),
        sum(share > 0 for share in shares),
        sum(share > SHARE for share in shares),
        round(mean(run.distinct for run in runs)),
    )
    STUDIES.setdefault(TITLE, [HEADING]).append((method.name, *map(str, counts)))
