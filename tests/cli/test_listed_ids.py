"""Ids in lists on the command line."""

import pytest

from rag_rule_explainer.cli.requests import parsed_ids


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        (None, ()),
        (["D2, D4", "D5"], ("D2", "D4", "D5")),
        (['D2,"a, b"'], ("D2", "a, b")),
        (["inbox #1, item 2"], ("inbox #1, item 2",)),
        (
            ["D1, inbox #1, item 2,inbox #2, heading,inbox #3"],
            ("D1", "inbox #1, item 2", "inbox #2, heading", "inbox #3"),
        ),
        (["inbox #1, item 2 (2)", "item 3"], ("inbox #1, item 2 (2)", "item 3")),
        (["item 1, item 2"], ("item 1", "item 2")),
        (["D #1, items"], ("D #1", "items")),
    ],
)
def test_parts_of_results_need_no_quotes(given: list[str] | None, ids: tuple[str, ...]) -> None:
    assert parsed_ids(given) == ids
