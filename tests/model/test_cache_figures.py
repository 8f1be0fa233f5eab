"""What the page about the real model says is what was measured; and what needs no model."""

import re

import pytest

from tests.documentation.making.places import DOCS
from tests.model.fewer_layers import layer_of
from tests.model.prompt_cache import ALL_LAYERS, Cell, known, tables

PAGE = DOCS / "explanation" / "paper-model.md"
REPORT = DOCS.parent / "cookbook" / "paper-model" / "report.md"
SHARE = re.compile(r"\d\.\d{3} \[\d\.\d{3}, \d\.\d{3}\]")


def test_the_page_has_the_tables_that_were_measured() -> None:
    assert "\n".join(tables()) in PAGE.read_text(encoding="utf-8")


def test_the_page_has_the_shares_of_the_report_that_the_notebook_shows() -> None:
    page, report = (file.read_text(encoding="utf-8") for file in (PAGE, REPORT))
    came_out = page[page.index("## What came out") : page.index("### The model as a judge")]
    # The report writes some intervals in words.
    told = re.sub(r" \(\d+ of \d+; 95% interval (\S+) to (\S+)\)", r" [\1, \2]", report)
    shares = SHARE.findall(came_out.replace("(10 of 20) ", "").replace("(0.200 [", "0.200 ["))
    assert len(shares) > 30
    assert [share for share in shares if share not in told] == []


def test_the_page_has_what_the_whole_model_took() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    whole = {each[:3]: found for each, found in known().items() if each.layers == ALL_LAYERS}
    two, four, level = (whole[each] for each in (("ours", 6, 2), ("ours", 6, 4), ("level", 6, 4)))
    assert f"two slots evaluated {two.ratio:.2f} of the trie and four {four.ratio:.2f}" in text
    assert f"level order with four slots {level.ratio:.2f}." in text
    assert f"takes {four.cpu:.0f} seconds of a processor, and level order {int(level.cpu + 0.5)}." in text
    assert f"and {four.seconds:.0f} in another" in text


def test_the_bars_hold_for_what_was_measured() -> None:
    ratios = {each[:4]: found.ratio for each, found in known().items() if each.way == "ours"}
    assert ratios["ours", 8, 1, "off"] <= 1.1
    assert ratios["ours", 10, 1, "off"] <= 1.1
    assert max(ratios["ours", 8, slots, "off"] for slots in (2, 4)) <= 1.2


@pytest.mark.parametrize(("tensor", "layer"), [("blk.12.attn_q.weight", 12), ("token_embd.weight", -1)])
def test_a_tensor_is_of_one_layer(tensor: str, layer: int) -> None:
    assert layer_of(tensor) == layer


def test_a_cell_is_read_as_it_is_written() -> None:
    assert Cell.of("ours,8,4,off,6") == Cell("ours", 8, 4, "off", 6)
    assert Cell.of("level,10,1,on").layers == 30
