"""The curves of what methods find with the same budget: how they are counted, and that the page has what
its code gives."""

from collections.abc import Sequence

import pytest

from tests.benchmarks.peers import harder
from tests.benchmarks.peers.budgets import Budgeted, Spent, leave_one_out
from tests.benchmarks.peers.conditions import known
from tests.benchmarks.peers.curves import (
    CONDITIONS,
    HOTPOTQA,
    OWN,
    SAMPLED,
    Curved,
    among_first,
    conditions,
    curve,
    found_at,
    points,
)
from tests.documentation.making.places import DOCS

PAGE = DOCS / "explanation" / "peers.md"


def row_of(method: Curved, cells: Sequence[str]) -> str:
    return f"| {' | '.join((method.name, *cells))} |"


@pytest.mark.parametrize("hard", harder.HARDER, ids=lambda hard: hard.name)
def test_the_rules_of_a_harder_condition_are_those_of_brute_force(hard: harder.Hard) -> None:
    for seed in range(3):
        made = hard.at(8, seed)
        for kind, rules in made.rules.items():
            assert rules == known(made.lattice, made.holds).rules[kind]


def test_a_budget_is_kept_and_repetitions_are_free() -> None:
    condition = harder.BLOCKED.at(20, 0)
    subject = Budgeted(condition, 2)
    full, one, other = subject.lattice.full, subject.lattice.bit(0), subject.lattice.bit(1)
    for mask in (full, one, other, one, full):
        assert subject.holds(mask) == condition.holds(mask)
    with pytest.raises(Spent):
        subject.holds(one | other)


def test_of_sources_with_the_same_score_any_is_as_likely() -> None:
    wanted = frozenset({0, 1})
    assert among_first([2, 1, 0, 0], wanted, 2) == 2
    assert among_first([1, 1, 1, 1], wanted, 2) == 1
    assert among_first([1, 0, 2, 0], wanted, 2) == 1
    assert among_first([0, 0, 0, 0], wanted, 2) == 0


def test_leaving_one_out_shows_nothing_where_either_pair_will_do() -> None:
    condition = harder.EITHER.at(20, 0)
    assert not any(leave_one_out(Budgeted(condition, 100), 0))
    blocked = harder.BLOCKED.at(20, 0)
    assert sum(leave_one_out(Budgeted(blocked, 100), 0)) == 3


def test_with_enough_it_finds_every_source_that_a_rule_names() -> None:
    for name in (harder.BLOCKED.name, harder.EITHER.name):
        assert found_at(points(SAMPLED, name, 500, None)).value == 1


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("method", OWN, ids=lambda method: method.name)
def test_the_page_has_what_its_code_gives(
    method: Curved, name: str, request: pytest.FixtureRequest
) -> None:
    """For what needs no package; the others' rows are written with it, by the same code."""
    data = request.getfixturevalue("real_data") if name == HOTPOTQA else None
    assert conditions(name, data)
    assert row_of(method, curve(method, name, data)) in PAGE.read_text(encoding="utf-8")
