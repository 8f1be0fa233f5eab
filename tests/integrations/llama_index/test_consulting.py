"""What an application remembers, or how often it ran, is never taken for rules."""

from typing import Any

import pytest
from llama_index.core.schema import TextNode
from llama_index_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation
from tests.integrations.consulting import (
    SHAPES,
    STATEFUL,
    TITLES,
    Answer,
    Shape,
    Turns,
    check,
    heeds,
    text_of,
)
from tests.integrations.known import BAD, blames_b_and_d
from tests.integrations.llama_index.engines import Counting
from tests.integrations.llama_index.models import Telling
from tests.representing import some


@pytest.fixture(autouse=True)
def turns_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Turns, "runs", 0)


def built(shape: Shape) -> Answer:
    nodes = [
        TextNode(id_=name, text=text_of(name), metadata={"title": title})
        for name, title in TITLES.items()
    ]
    retriever, model = Counting(nodes), Telling(says=heeds)
    return shape.build(
        lambda question: [
            (each.node.metadata["title"], each.node.get_content())
            for each in retriever.retrieve(question)
        ],
        lambda prompt: model.complete(prompt).text,
    )


def outcome(application: Any) -> Explanation | Exception:
    try:
        return RuleExplainer(application, predicate=BAD, miner="exact").explain("why?")
    except Exception as error:
        return error


# Each shape is asked of one framework in a fast run.
@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("shape", some(SHAPES, every=2, first=1), ids=lambda shape: shape.name)
def test_every_shape_has_its_rules_or_is_doubted(shape: Shape) -> None:
    check(shape, outcome(built(shape)))


@pytest.mark.spread(fast=3, slow=2)
@pytest.mark.parametrize("shape", STATEFUL, ids=lambda shape: shape.name)
def test_made_anew_every_one_has_its_rules(shape: Shape) -> None:
    found = outcome(lambda: built(shape))
    assert isinstance(found, Explanation), found
    if shape.name != "a turn of a class":  # which no new object makes anew
        assert blames_b_and_d(found), found.warnings
