"""Numbers in a line beside a list: which of them count its items, and which are in doubt."""

import pytest

from rag_rule_explainer.instrumentation.source_kinds.counting_lines import counted_in, lowered


def with_one_less(line: str, total: int) -> str:
    """The line as it is written about one item less."""
    for start, end in reversed(counted_in(line, (0, len(line)), total).counts):
        line = line[:start] + lowered(line[start:end], 1) + line[end:]
    return line


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("Found 3 mails:", "Found 2 mails:"),
        ("You have 3 new mails in the inbox:", "You have 2 new mails in the inbox:"),
        ("There are three open tickets:", "There are two open tickets:"),
        ("Three mails:", "Two mails:"),
        ("Total: 3", "Total: 2"),
        ("Orders (3):", "Orders (2):"),
        ("(3 items)", "(2 items)"),
        ("**3 mails found**", "**2 mails found**"),
        ("Results: 3 found", "Results: 2 found"),
        ("Showing 3 of 17 orders:", "Showing 2 of 16 orders:"),
        ("Found 17 mails, showing 3:", "Found 16 mails, showing 2:"),
        ("Results 1-3 of 3:", "Results 1-2 of 2:"),
        ("Results 4 to 6 of 17:", "Results 4 to 5 of 16:"),
        ("Here are the 3 most recent mails:", "Here are the 2 most recent mails:"),
        ("3 results for 'top 3 phones':", "2 results for 'top 3 phones':"),
        ("Found 3 mails of the last 3 days:", "Found 2 mails of the last 3 days:"),
    ],
)
def test_a_number_that_counts_goes_down(line: str, left: str) -> None:
    assert with_one_less(line, 3) == left
    assert not counted_in(line, (0, len(line)), 3).is_doubtful


@pytest.mark.parametrize(
    "line",
    [
        *("Room 3:", "Page 3", "Page 3 of 3:", "Chapter 3: rules", "Mails from March 3:", "Order #3"),
        *("2026-03-03 at 3:33", "Version 3.1", "Q3 results", "3-star hotels", "Balance: $3", "3% off"),
        *("Hotels for 3 people:", "Mails of the last 3 days:", 'Mails about "3 mails":', "Mail of Ann:"),
        *("Found 2 mails:", "Found 17 mails:"),
    ],
)
def test_a_number_that_means_another_thing_stays_and_is_not_doubted(line: str) -> None:
    counted = counted_in(line, (0, len(line)), 3)
    assert counted.counts == ()
    assert not counted.is_doubtful


@pytest.mark.parametrize(
    "line",
    [
        "Top 3 phones:",
        "3 days left:",
        "Status: 3",
        "3:",
        "3 stars and up:",
        "Sorted by 3 keys:",
        "Bob, 3",
    ],
)
def test_a_number_of_the_same_size_is_in_doubt_where_the_line_does_not_say_what_it_is(line: str) -> None:
    assert with_one_less(line, 3) == line
    assert counted_in(line, (0, len(line)), 3).is_doubtful


@pytest.mark.parametrize("line", ["Found 1 mail:", "You have 1 new mail:", "1 mail found:", "Mails (1):"])
def test_one_item_has_a_noun_in_the_singular(line: str) -> None:
    assert with_one_less(line, 1) == line.replace("1", "0")
    assert not counted_in(line, (0, len(line)), 1).is_doubtful


def test_no_number_goes_below_zero() -> None:
    assert [lowered(each, 5) for each in ("3", "Three", "12")] == ["0", "Zero", "7"]
