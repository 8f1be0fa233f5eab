"""How a condition compares the value of a structured answer."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from rag_rule_explainer import Answer, Case, Explainer, Source, Store, condition
from rag_rule_explainer.predicates.values import own_value


class Dose(BaseModel):
    amount: int
    unit: str = "mg"


class Doses(BaseModel):
    doses: list[Dose]


@dataclass
class Place:
    name: str


def test_a_value_equals_the_object_that_it_was_made_of() -> None:
    value = own_value({"doses": [{"amount": 40, "unit": "mg"}]})
    assert value == Doses(doses=[Dose(amount=40)])
    assert Doses(doses=[Dose(amount=40)]) == value
    assert value != Doses(doses=[])
    assert value["doses"] == [Dose(amount=40)]
    assert own_value({"name": "Delft"}) == Place("Delft") != own_value({"name": "Ghent"})
    assert value == {"doses": [{"amount": 40, "unit": "mg"}]}
    assert value not in (None, "doses", 3, [])
    assert json.loads(json.dumps(value)) == value


def test_a_field_that_is_read_as_an_attribute_says_how_it_is_read() -> None:
    value = own_value({"unit": "mg"})
    with pytest.raises(AttributeError, match=r"case\.answer\.value\['unit'\]"):
        value.unit  # noqa: B018 -- reading it raises the error
    with pytest.raises(AttributeError, match=r"without 'units'; it has 'unit'"):
        value.units  # noqa: B018 -- reading it raises the error


def test_a_condition_may_compare_with_a_model(tmp_path: Any) -> None:
    def replay(_question: str, sources: Any) -> Answer:
        dose = Dose(amount=40 if "D1" in {source.id for source in sources} else 20)
        return Answer(dose.model_dump_json(), value=dose.model_dump(mode="json"))

    def is_forty(case: Case) -> bool:
        return case.answer.value == Dose(amount=40)

    store = Store(tmp_path / "answers.db", namespace="doses")
    explainer = Explainer(replay, predicate=condition(is_forty), store=store)
    for stored in (0, 5):  # the second time, the values come from the store
        explanation = explainer.explain("Dose?", [Source("D1", "a"), Source("D2", "b")])
        assert explanation.counts.stored == stored
        assert str(explanation.retention_rules[0]).startswith("whenever D1 is retained")
