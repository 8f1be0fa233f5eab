"""Which texts were made of known ones."""

from rag_rule_explainer.instrumentation.searches.derived_texts import Known
from tests.integrations.known import TEXTS

A, B, C = TEXTS["a"], TEXTS["b"], TEXTS["c"]


def test_what_is_cut_out_or_put_together_is_derived() -> None:
    assert Known([B, A]).derives(A)
    assert Known([A]).derives(A[10:60])
    assert Known([A, B, C]).derives(f"{A}\n\n{B}")
    assert Known([]).derives("")


def test_what_comes_from_elsewhere_is_not() -> None:
    assert not Known([]).derives(A)
    assert not Known([B, C]).derives(A)
    assert not Known([A, B]).derives("a few words")


def test_what_is_mostly_from_elsewhere_is_not() -> None:
    assert not Known([A]).derives(f"{A} {B} {C}")
