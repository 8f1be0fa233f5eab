"""The order in which probes are asked, on llama.cpp's own prompt cache: see ``prompt_cache``."""

import pytest

from tests.model.prompt_cache import ALL_LAYERS, ORDERS, Cell, measured

pytestmark = [pytest.mark.model, pytest.mark.timeout(3600)]

FEW = 1
"""One slot evaluates the same with one layer as with all: nothing there depends on time."""


def test_one_slot_with_the_ram_cache_off() -> None:
    ours = measured(Cell("ours", 8, 1, "off", FEW))
    assert ours.ratio <= 1.1
    for way in ORDERS:
        assert measured(Cell(way, 8, 1, "off", FEW)).evaluated > ours.evaluated


def test_one_layer_counts_as_all_do() -> None:
    few, whole = (measured(Cell("ours", 5, 1, "off", layers)) for layers in (FEW, ALL_LAYERS))
    assert (few.evaluated, few.trie) == (whole.evaluated, whole.trie)


@pytest.mark.parametrize("slots", [2, 4])
def test_several_slots_with_the_ram_cache_off(slots: int) -> None:
    # With few layers, a prompt takes no longer than to ask for the next one: then slots are free of which
    # the server cannot know whose they are.
    ours = measured(Cell("ours", 8, slots, "off"))
    assert ours.ratio <= 1.2
    assert measured(Cell("level", 6, slots, "off")).ratio > ours.ratio


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_with_the_ram_cache_on(slots: int) -> None:
    layers = FEW if slots == 1 else ALL_LAYERS
    ours = measured(Cell("ours", 6, slots, "on", layers))
    assert ours.evaluated <= 1.1 * measured(Cell("level", 6, slots, "on", layers)).evaluated


def test_ten_sources_against_level_order() -> None:
    ours = measured(Cell("ours", 10, 1, "off", FEW))
    assert ours.ratio <= 1.1
    assert measured(Cell("level", 10, 1, "off", FEW)).evaluated > ours.evaluated
