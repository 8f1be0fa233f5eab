from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.lattice import (
    FAMILY_LIMIT,
    Lattice,
    bits,
    down_closure,
    family,
    maximal,
    members,
    minimal,
    up_closure,
)

SIZE = 5
masks = st.integers(0, 2**SIZE - 1)
groups = st.sets(masks)


def test_the_last_unit_is_the_lowest_bit() -> None:
    lattice = Lattice(4)
    assert lattice.bit(3) == 1
    assert lattice.mask([0, 3]) == 0b1001
    assert lattice.units(0b1001) == (0, 3)


def test_counting_meets_every_subset_before_its_supersets() -> None:
    seen: set[int] = set()
    for mask in Lattice(SIZE).masks():
        assert all(smaller in seen for smaller in Lattice(SIZE).one_fewer(mask))
        seen.add(mask)


@given(masks)
def test_supersets_are_all_masks_that_contain_it_each_once(mask: int) -> None:
    lattice = Lattice(SIZE)
    found = list(lattice.supersets(mask))
    assert found == [wider for wider in lattice.masks() if wider & mask == mask]


@given(masks)
def test_neighbours_differ_in_one_unit(mask: int) -> None:
    lattice = Lattice(SIZE)
    assert {m for m in lattice.masks() if m & mask == mask and (m ^ mask).bit_count() == 1} == set(
        lattice.one_more(mask)
    )
    assert {m for m in lattice.masks() if m & mask == m and (m ^ mask).bit_count() == 1} == set(
        lattice.one_fewer(mask)
    )
    assert sum(bits(mask)) == mask


@given(groups)
def test_minimal_and_maximal_by_definition(group: set[int]) -> None:
    assert set(minimal(group)) == {m for m in group if not any(o & m == o and o != m for o in group)}
    expected = {m for m in group if not any(o & m == m and o != m for o in group)}
    assert set(maximal(group, SIZE)) == expected
    assert set(maximal(group, FAMILY_LIMIT + 1)) == expected


@given(groups)
def test_minimal_comes_smallest_first_and_earlier_units_first(group: set[int]) -> None:
    found = minimal(group)
    assert list(found) == sorted(found, key=lambda m: (m.bit_count(), -m))


@given(groups)
def test_closures_by_definition(group: set[int]) -> None:
    everything = Lattice(SIZE).masks()
    packed = family(group, SIZE)
    assert set(members(packed)) == group
    assert set(members(up_closure(packed, SIZE))) == {
        m for m in everything if any(o & m == o for o in group)
    }
    assert set(members(down_closure(packed, SIZE))) == {
        m for m in everything if any(o & m == m for o in group)
    }


@pytest.mark.parametrize("size", [0, 1])
def test_the_smallest_lattices(size: int) -> None:
    lattice = Lattice(size)
    assert list(lattice.masks()) == list(range(2**size))
    assert list(lattice.supersets(0)) == list(range(2**size))
    assert list(combinations(lattice.units(lattice.full), size)) == [tuple(range(size))]
