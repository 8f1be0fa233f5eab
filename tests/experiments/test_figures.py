"""Figures are files that can be looked at; what is on them is looked at by people."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from rag_rule_explainer.experiments.charts import draw_efficiency
from rag_rule_explainer.experiments.efficiency import EfficiencyPlan, EfficiencyRow, measure_efficiency
from rag_rule_explainer.experiments.figures import GREY, Curve, draw_curves, dress, new_figure, save
from rag_rule_explainer.experiments.walking import WalkedMiner
from tests.experiments.records import example
from tests.experiments.test_efficiency import asking, pair

pytest.importorskip("matplotlib")


def size_of(path: Path) -> tuple[int, int]:
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", content[16:24])


def rows(*miners: WalkedMiner) -> list[EfficiencyRow]:
    plan = EfficiencyPlan("s", sizes=(1, 2, 3), miners=miners or tuple(WalkedMiner))
    return measure_efficiency([example("a"), example("b")], asking(pair), plan).rows


@pytest.mark.slow
def test_every_figure_is_drawn_and_the_same_again(tmp_path: Path) -> None:
    found = rows()
    names = ["explored", "mono_against_dual", "predictions", "rules", "seconds"]
    paths = list(draw_efficiency(found, "what was measured", tmp_path / "a"))
    assert [path.stem for path in paths] == names
    assert all(size_of(path)[1] > 500 for path in paths)
    again = list(draw_efficiency(found, "what was measured", tmp_path / "b"))
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in paths]


@pytest.mark.slow
def test_each_figure_shows_its_own_column(tmp_path: Path) -> None:
    found = rows()

    def drawn(changed: list[EfficiencyRow]) -> dict[str, bytes]:
        return {path.stem: path.read_bytes() for path in draw_efficiency(changed, "s", tmp_path)}

    first = drawn(found)
    told = {
        "nodes": {"explored", "mono_against_dual"},
        "calls": {"predictions"},
        "repeated": {"mono_against_dual"},
        "rules": {"rules"},
        "minimal_rules": {"rules"},
        "seconds": {"seconds"},
    }
    for column, names in told.items():
        other = drawn([replace(row, **{column: 1}) for row in found])
        assert {name for name in first if first[name] != other[name]} == names


@pytest.mark.slow
def test_what_was_not_measured_is_not_drawn(tmp_path: Path) -> None:
    found = rows(WalkedMiner.MONO_RETENTION)
    drawn = [path.stem for path in draw_efficiency(found, "s", tmp_path)]
    assert drawn == ["explored", "predictions", "rules", "seconds"]
    assert list(draw_efficiency([], "s", tmp_path)) == []


def test_panels_without_a_curve_have_the_same_places_as_those_beside_them() -> None:
    _, panels = new_figure("Title", "subject", panels=2)
    draw_curves(panels[0], [Curve("curve", GREY, {1: [1.0], 3: [2.0]})])
    for axes in panels:
        dress(axes, "x", "y", places=(1, 2, 3))
    assert [axes.get_xlim() for axes in panels] == [(0.5, 3.5)] * 2


def test_a_name_is_no_formula_and_moves_nothing(tmp_path: Path) -> None:
    figure, (axes,) = new_figure("Title", "a $\\frac{ model\x1b[31m \u202e" + "x" * 500)
    draw_curves(axes, [Curve("curve", GREY, {1: [1.0, 2.0], 2: [3.0]}, band=True)])
    assert size_of(save(figure, tmp_path / "f.png")) == (960, 660)
    shown = axes.get_title(loc="left")
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert len(shown) == 100
