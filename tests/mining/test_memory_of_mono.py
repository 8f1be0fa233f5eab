"""What the search keeps in memory, beside the paper's two levels."""

import tracemalloc
from math import comb
from pathlib import Path

import pytest

from rag_rule_explainer.lattice import Lattice
from rag_rule_explainer.mining.mono import Mono
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.verdicts import Verdict

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "fidelity.md"


def measured(size: int) -> tuple[int, int]:
    """The subsets that were asked about, and the bytes at the most."""
    lattice = Lattice(size)
    both, asked = lattice.bit(0) | lattice.bit(1), 0
    tracemalloc.start()
    try:
        mining = Mono(RuleKind.RETENTION)(lattice)
        wanted = next(mining)
        while True:
            told = {subset: Verdict.of(subset & both == both) for subset, _, *_ in wanted.asks}
            asked += len(told)
            wanted = mining.send(told)
    except StopIteration:
        return asked, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size", [8, 12, 14])
def test_memory_is_as_the_page_says(size: int) -> None:
    asked, most = measured(size)
    assert asked == 2 ** (size - 2) + 2
    assert most < 50 * 2**size
    assert most > comb(size, size // 2)  # more than a byte for each set of the paper's larger level
    assert "below 50 bytes for each subset" in PAGE.read_text(encoding="utf-8")
