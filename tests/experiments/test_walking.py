"""What miners visit, against the closed forms: retention 2^(n-k) + k, omission 2^n - 2^(n-k) + 1."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.experiments.walking import Walk, WalkedMiner, WalkedVerdicts, walk
from rag_rule_explainer.lattice import Lattice, minimal
from rag_rule_explainer.mining import valid_rules
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.verdicts import Verdict

RETENTION, OMISSION = WalkedMiner.MONO_RETENTION, WalkedMiner.MONO_OMISSION


def verdicts(holding: list[bool]) -> WalkedVerdicts:
    """The condition of omission rules is the opposite."""
    found = tuple(Verdict.of(holds) for holds in holding)
    return WalkedVerdicts(found, tuple(~verdict for verdict in found))


def perfect(size: int, necessary: int) -> WalkedVerdicts:
    """All ``necessary`` sources come first, as far as there is room."""
    needed = Lattice(size).mask(range(necessary)) if necessary <= size else -1
    return verdicts([mask & needed == needed for mask in range(1 << size)])


def walks(size: int, necessary: int) -> dict[WalkedMiner, Walk]:
    return {miner: walk(miner, perfect(size, necessary)) for miner in WalkedMiner}


def test_the_whole_curve_of_two_necessary_sources() -> None:
    nodes = {
        n: [walks(n, 2)[miner].nodes for miner in (RETENTION, OMISSION, WalkedMiner.DUAL)]
        for n in range(1, 11)
    }
    assert nodes == {
        1: [1, 2, 2],
        2: [3, 4, 4],
        3: [4, 7, 8],
        4: [6, 13, 16],
        5: [10, 25, 32],
        6: [18, 49, 64],
        7: [34, 97, 128],
        8: [66, 193, 256],
        9: [130, 385, 512],
        10: [258, 769, 1024],
    }


@pytest.mark.parametrize(
    ("size", "k"), [(n, k) for n, k in product(range(1, 10), (1, 2, 3, 4)) if k <= n]
)
def test_the_closed_forms(size: int, k: int) -> None:
    found = walks(size, k)
    every, above = 1 << size, 1 << (size - k)
    assert found[RETENTION].nodes == above + k
    assert found[OMISSION].nodes == every - above + 1
    assert found[WalkedMiner.DUAL].nodes == found[WalkedMiner.EXHAUSTIVE].nodes == every
    assert (found[RETENTION].rules, found[OMISSION].rules) == (above, every - above)
    assert (found[RETENTION].minimal_rules, found[OMISSION].minimal_rules) == (1, k)
    both = (every, 1 + k)
    for miner in set(WalkedMiner) - {RETENTION, OMISSION}:
        assert (found[miner].rules, found[miner].minimal_rules) == both


def test_without_the_necessary_sources_nothing_is_retained() -> None:
    assert [walks(1, 2)[miner].rules for miner in (RETENTION, OMISSION)] == [0, 2]
    assert [walks(3, 4)[miner].nodes for miner in (RETENTION, OMISSION)] == [1, 8]


def test_calls_are_nodes_without_the_one_that_nobody_is_asked_about() -> None:
    found = walks(10, 2)
    assert (found[WalkedMiner.DUAL].nodes, found[WalkedMiner.DUAL].calls) == (1024, 1023)
    assert (found[OMISSION].nodes, found[OMISSION].calls) == (769, 768)
    # No retention rule needs no sources.
    assert (found[RETENTION].nodes, found[RETENTION].calls) == (258, 258)
    assert found[WalkedMiner.EXHAUSTIVE].calls == 1023


def test_memory_saves_what_both_kinds_ask_for() -> None:
    found = walks(10, 2)
    without, apart = found[WalkedMiner.DUAL_WITHOUT_MEMORY], found[WalkedMiner.TWO_MONOS]
    assert (without.nodes, without.calls, without.repeated) == (1024, 1026, 3)
    assert (apart.nodes, apart.calls, apart.repeated) == (1027, 1026, 3)
    assert found[WalkedMiner.DUAL].repeated == found[WalkedMiner.EXHAUSTIVE].repeated == 0


@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.booleans(), min_size=1 << n, max_size=1 << n)))
def test_any_verdicts(holding: list[bool]) -> None:
    table, lattice = verdicts(holding), Lattice(len(holding).bit_length() - 1)
    found = {miner: walk(miner, table) for miner in WalkedMiner}
    dual, apart = found[WalkedMiner.DUAL], found[WalkedMiner.TWO_MONOS]
    assert dual.nodes <= 1 << lattice.size
    assert dual.nodes <= apart.nodes == found[RETENTION].nodes + found[OMISSION].nodes
    assert apart.nodes == dual.nodes + apart.repeated
    assert apart.calls == found[RETENTION].calls + found[OMISSION].calls
    for miner in (RETENTION, OMISSION):
        (kind,) = miner.kinds
        rules = valid_rules(kind, lattice, dict(enumerate(table.of(kind))))  # pyright: ignore[reportArgumentType] -- none is missing
        assert found[miner].rules == len(rules)
        assert found[miner].minimal_rules == len(minimal(rules))


def test_only_what_is_visited_needs_a_verdict() -> None:
    table = perfect(4, 2)
    visited = set(walk(RETENTION, table).replayed)
    partly = tuple(v if mask in visited else None for mask, v in enumerate(table.retention))
    assert walk(RETENTION, WalkedVerdicts(partly, ())) == walk(RETENTION, table)
    with pytest.raises(KeyError, match="no verdict for the omission rules on subset 0"):
        walk(WalkedMiner.DUAL, WalkedVerdicts(partly, partly))


def test_names_of_miners() -> None:
    assert [(miner.family, miner.kind) for miner in WalkedMiner] == [
        ("exhaustive", "both"),
        ("mono", "retention"),
        ("mono", "omission"),
        ("dual", "both"),
        ("dual-without-memory", "both"),
        ("two-monos", "both"),
    ]
    assert WalkedMiner.MONO_OMISSION.kinds == (RuleKind.OMISSION,)
