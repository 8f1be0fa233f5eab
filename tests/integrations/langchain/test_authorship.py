"""Whose the answer is, where code makes it of what models replied: true rules, or none proved."""

import pytest

from tests.integrations.deciding import SHAPES, beside_a_hint
from tests.integrations.langchain.test_leaving import explainer_of
from tests.integrations.leaving.shapes import Shape, check


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_an_answer_that_follows_from_replies_is_the_models(shape: Shape) -> None:
    check(shape, explainer_of(shape.build).explain("why?"))


def test_what_code_decides_by_the_sources_alone_is_ignored_where_that_is_said() -> None:
    explanation = explainer_of(beside_a_hint, ignore=["\\(little is known\\)"]).explain("why?")
    check(Shape(beside_a_hint), explanation)
