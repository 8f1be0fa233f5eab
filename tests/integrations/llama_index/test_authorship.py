"""Whose the answer is, where code makes it of what models replied: true rules, or none proved."""

import pytest

from tests.integrations.deciding import SHAPES
from tests.integrations.leaving.shapes import Shape, check
from tests.integrations.llama_index.test_leaving import explainer_of


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    "shape",
    # The other integration's tests ask them all.
    [
        *SHAPES[::4],
        *(pytest.param(each, marks=pytest.mark.slow) for each in SHAPES if each not in SHAPES[::4]),
    ],
    ids=lambda shape: shape.name,
)
def test_an_answer_that_follows_from_replies_is_the_models(shape: Shape) -> None:
    check(shape, explainer_of(shape.build).explain("why?"))
