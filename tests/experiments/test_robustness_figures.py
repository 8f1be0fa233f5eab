"""Figures of robustness: whatever the rows are, they can be drawn."""

from dataclasses import replace
from pathlib import Path

import pytest

from rag_rule_explainer.experiments.charts import draw_robustness
from rag_rule_explainer.experiments.models import Examined, offline_reader
from rag_rule_explainer.experiments.robustness_rows import RobustnessRow, row_of
from rag_rule_explainer.experiments.scoring import Score
from rag_rule_explainer.rules import RuleKind

pytestmark = pytest.mark.slow


def rows(model: Examined, scores: list[Score]) -> list[RobustnessRow]:
    return [row_of(model, kind, count, scores, failed=0) for kind in RuleKind for count in range(1, 4)]


def test_what_is_undefined_leaves_a_gap_and_no_name_is_a_formula(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    reader = offline_reader()
    hostile = Examined("$\\frac{\x1b[2J" + 200 * "x", "x", reader.replay, temperature=0.0)
    drawn = [
        *rows(reader, [Score(8, 0, 0), Score(8, 4, 4)]),
        *rows(hostile, [Score(8, 0, 0)]),
        *rows(Examined("none", "y", reader.replay), []),
    ]
    files = list(draw_robustness(drawn, "$subject_", tmp_path))
    assert [file.name for file in files] == ["robustness_micro.png", "robustness_macro.png"]
    first = [file.read_bytes() for file in files]
    assert first == [file.read_bytes() for file in draw_robustness(drawn, "$subject_", tmp_path)]
    assert not list(draw_robustness([], "nothing", tmp_path))


def test_each_figure_shows_its_own_mean(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    before = rows(offline_reader(), [Score(8, 4, 4), Score(8, 4, 2)])
    micro = [replace(row, micro_precision=0.6) for row in before]
    macro = [replace(row, macro_recall=0.6) for row in before]

    def drawn(found: list[RobustnessRow]) -> list[bytes]:
        return [file.read_bytes() for file in draw_robustness(found, "s", tmp_path)]

    first = drawn(before)
    same = [[a == b for a, b in zip(first, drawn(each), strict=True)] for each in (micro, macro)]
    assert same == [[False, True], [True, False]]
