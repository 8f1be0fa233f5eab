"""The rows of the robustness experiment."""

import pytest

from rag_rule_explainer.experiments.models import offline_reader
from rag_rule_explainer.experiments.robustness_rows import row_of
from rag_rule_explainer.experiments.scoring import Score
from rag_rule_explainer.rules import RuleKind


def test_what_is_undefined_is_counted_and_in_no_mean() -> None:
    scores = [Score(8, 0, 0), Score(8, 0, 0), Score(8, 4, 2), Score(0, 4, 0)]
    row = row_of(offline_reader(), RuleKind.RETENTION, 3, scores, failed=2)
    assert (row.questions, row.failed, row.samples) == (4, 2, 3)
    assert (row.expected, row.found, row.right) == (24, 8, 2)
    assert (row.precision_undefined, row.recall_undefined) == (2, 1)
    assert row.micro_precision == 2 / 8
    assert row.micro_recall == 2 / 24
    assert row.macro_precision == (2 / 4 + 0) / 2
    assert row.macro_recall == pytest.approx((0 + 0 + 2 / 8) / 3)


def test_of_nothing_there_is_no_share() -> None:
    row = row_of(offline_reader(), RuleKind.OMISSION, 1, [], failed=1)
    assert (row.micro_precision, row.micro_recall_low, row.macro_recall, row.macro_precision_high) == (
        None,
        None,
        None,
        None,
    )
    assert (row.precision_undefined, row.recall_undefined) == (0, 0)
