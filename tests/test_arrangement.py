"""Arrangements show exactly the sources that their mask retains, and those that are pinned."""

from random import Random

import pytest

from rag_rule_explainer import Source
from rag_rule_explainer.lattice import Subset
from rag_rule_explainer.sources import Arrangement, SourceSet
from rag_rule_explainer.sources.source_set import GROUP, MOST_GROUPED

# Sizes around the bounds of the groups whose selections are remembered, and beyond the last of them.
SIZES = [1, GROUP - 1, GROUP, GROUP + 1, 2 * GROUP + 1, MOST_GROUPED, MOST_GROUPED + 1]


def kept_by_bits(sources: SourceSet, mask: int) -> list[str]:
    """Each source on its own: whether it is pinned, or its unit's bit is set."""
    bits = {source.id: place for place, unit in enumerate(reversed(sources.units)) for source in unit}
    return [each.id for each in sources if each.id in sources.pinned or mask >> bits[each.id] & 1]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("twins", [False, True])
@pytest.mark.parametrize("is_pinned", [False, True])
def test_an_arrangement_has_the_sources_of_its_mask(size: int, twins: bool, is_pinned: bool) -> None:
    random = Random(size)
    # A twin stands far from its other, so that one unit has sources in two groups.
    texts = [f"text {place}" for place in range(size)] + ["text 0"] * twins
    given = [Source(f"D{place}", text) for place, text in enumerate(texts)]
    pinned = ["D1"] if is_pinned and size > 1 else []
    sources = SourceSet.of(given, pinned, tied_from=1.0 if twins else None)
    for _ in range(20):
        mask = random.getrandbits(sources.lattice.size)
        for _ in ("made", "remembered"):
            assert list(Arrangement.of(sources, Subset(mask)).ids) == kept_by_bits(sources, mask)


def test_an_arrangement_equals_one_that_was_made_of_the_same_sources() -> None:
    sources = SourceSet.of(["one", "two", "three"])
    made = Arrangement.of(sources, Subset(0b101))
    assert made == Arrangement((sources.sources[0], sources.sources[2]))
    assert hash(made) == hash(Arrangement(made.sources))
