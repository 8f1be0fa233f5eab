"""Whatever is kept of a response, what is put together of it is that response, but for the rest."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_rule_explainer.instrumentation.clients.recognising import recognised
from tests.instrumentation.clients.responses import KINDS, ROWS, Kind


def cut(rows: Any, masks: list[list[bool]]) -> list[list[Any]]:
    pairs = zip(rows, masks, strict=True)
    return [[each for each, keep in zip(row, mask, strict=True) if keep] for row, mask in pairs]


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@settings(max_examples=20)
@given(rows=ROWS, drawn=st.data())
def test_all_fields_are_cut_alike(kind: Kind, rows: Any, drawn: Any) -> None:
    rows = rows if kind.several else rows[:1]
    response = kind.make(rows)
    before, whole = deepcopy(response), kind.said(response)
    items = kind.client.rows(response)
    assert items is not None
    masks = [[drawn.draw(st.booleans()) for _ in row] for row in items]
    made = kind.client.response(cut(items, masks), response)
    assert type(made) is type(response)
    assert kind.said(made) == cut(whole, masks)
    # Nothing that was given is changed.
    assert kind.said(response) == kind.said(before) == whole
    assert kind.said(kind.client.response(items, response)) == whole


@pytest.mark.parametrize("kind", KINDS[:-2], ids=lambda kind: kind.name)
def test_a_response_is_recognised(kind: Kind) -> None:
    rows = [[("i", "t", 0.5, None)], [("j", "u", 0.25, {"a": 1})]]
    client = recognised(kind.make(rows if kind.several else rows[:1]))
    assert type(client) is type(kind.client)
