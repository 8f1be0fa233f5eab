"""Formal texts that describe data, and texts that only look like them."""

import warnings

import pytest

from rag_rule_explainer.instrumentation.source_kinds.formal_texts import is_formal

FORMAL = [
    "CREATE TABLE IF NOT EXISTS a (b INT)",
    "CREATE INDEX a ON b (c)",
    "CREATE TABLE loans (id INT PRIMARY KEY, book_id INT, due DATE);",
    "CREATE OR REPLACE TYPE t (a INT)",
    "type Book { id: ID! title: String }",
    "message Book {\n  string name = 1;\n}",
    r"\b\d{3}-\d{2}-\d{4}\b",
    r"^(?P<year>\d{4})-(?P<month>\d{2})$",
    r"[\w.]+@[\w.]+",
    "loans.book_id = books.id",
    "PostgreSQL 16",
    "Python 3.12.1",
]
OTHER = [
    "CREATE TABLE for the visitor and the key (b INT)",
    "CREATE VIEW v AS (SELECT a FROM b)",
    "CREATE TABLE a (b INT);\nTHEY WENT HOME",
    "The visitor wanted to get into a store (see there).",
    "CREATE TABLE a (b INT) -- the visitor asked for a key",
    "CREATE TABLE a (b TEXT DEFAULT 'the key')",
    "CREATE TABLE a (the visitor asked for the key of it)",
    "type note { the visitor asked for the key of it }",
    "CREATE TABLE a (b INT) and they went home",
    "SELECT name FROM loans WHERE due < NOW()",
    "Keller[a]pays[b]the[c]invoice",
    r"\d(\w",
    r"\d \w",
    "topic = billing",
    "two words 7",
    "(a)(b)",
    "",
]


@pytest.mark.parametrize("text", FORMAL)
def test_a_text_that_describes_data_is_formal(text: str) -> None:
    assert is_formal(text)


@pytest.mark.parametrize("text", OTHER)
def test_a_text_that_may_say_something_is_not(text: str) -> None:
    assert not is_formal(text)


@pytest.mark.parametrize("text", [r"[[a]\d\w", r"\d\w(?i)x", r"[a--b]\d", r"[a||b]\d"])
def test_no_pattern_makes_python_warn(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not is_formal(text)
