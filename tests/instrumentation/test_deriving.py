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


FACTS = (
    "Amber is old tree resin.",
    "Basalt columns form from lava that cools slowly.",
    "Copper roofs turn green over many decades in the open air.",
)


def test_short_texts_put_together_are_derived() -> None:
    assert Known(FACTS).derives("\n".join(FACTS))
    assert Known(FACTS).derives("source: 1\n" + "\nsource: 2\n".join(FACTS))
    assert Known(FACTS).derives("resin. " + FACTS[1] + " Copper roofs turn")
    assert not Known(FACTS).derives(f"{FACTS[0]} Nobody knows who wrote the rest of what is said here.")


def test_rows_of_one_pattern_are_not_made_of_each_other() -> None:
    row = "patient {} was admitted to the hospital in spring with a diagnosis of {}"
    assert not Known([row.format(1, "gout")]).derives(row.format(2, "asthma and then some more"))


def test_two_words_that_stand_in_a_text_tell_nothing() -> None:
    assert not Known(["the sea"]).derives("the sea the sky")
