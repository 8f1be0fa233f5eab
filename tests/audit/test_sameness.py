"""What tells two conditions of an audit apart: what their functions are made of, and what these use."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import cast

import pytest

from rag_rule_explainer import Answer, Case
from rag_rule_explainer.audit.sameness import definition_of
from rag_rule_explainer.predicates import as_predicate

WORDS, LIMIT = ["bad"], 3


def shared(case: Case) -> bool:
    return any(word in case.answer.text for word in WORDS)


def using_another(case: Case) -> bool:
    return shared(case) and len(case.answer.text) >= LIMIT


asked_so_far = 0


def counting(_: Case) -> bool:
    global asked_so_far  # noqa: PLW0603 -- a function that counts is what is tested
    asked_so_far += 1
    return True


def says_bad(case: Case) -> bool:
    return case.answer.text in {"bad", "worse"}


def says_good(case: Case) -> bool:
    return case.answer.text in {"fine", "good"}


def found_by(pattern: str) -> Callable[[Case], bool]:
    compiled = re.compile(pattern)
    return lambda case: bool(compiled.search(case.answer.text))


def test_what_a_function_uses_is_a_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert definition_of(says_bad) != definition_of(says_good)
    assert definition_of(found_by("bad")) != definition_of(found_by("fine"))
    assert definition_of(found_by("bad")) == definition_of(found_by("bad"))
    assert definition_of({"a", "b", 3}) == definition_of({3, "b", "a"}) != definition_of({"a", "b"})
    before, counted = definition_of(using_another), definition_of(counting)
    monkeypatch.setattr(sys.modules[__name__], "WORDS", ["fine"])
    changed = definition_of(using_another)
    monkeypatch.setattr(sys.modules[__name__], "LIMIT", 5)
    assert len({before, changed, definition_of(using_another)}) == 3
    counting(cast("Case", None))
    assert definition_of(counting) == counted


class Says:
    """A condition that is an object. ``asked``: how often it was called."""

    def __init__(self, *words: str) -> None:
        self.words, self.asked = words, 0

    def __call__(self, case: Case) -> bool:
        self.asked += 1
        return any(each in case.answer.text for each in self.words)


def test_what_an_object_was_made_with_is_a_part_of_it() -> None:
    says = Says("bad")
    one, other = as_predicate(says), as_predicate(Says("fine"))
    assert definition_of(one) != definition_of(other)
    before = definition_of([one, other])
    assert says(Case("?", Answer("bad"), Answer("bad"), ()))
    assert definition_of([one, other]) == before
    assert definition_of(one) == definition_of(as_predicate(Says("bad")))


class Inside:
    """A condition uses its values. ``seen`` and ``known`` hold what it remembers."""

    limit = 3

    def __init__(self, words: object) -> None:
        self.set(words)
        self.seen, self.known = list[str](), dict[str, bool]()

    def set(self, words: object) -> None:
        self.words = words

    @cached_property
    def lower(self) -> str:
        return str(self.words).lower()

    def judge(self, case: Case) -> bool:
        self.seen.append(case.answer.text)
        self.known[case.answer.text] = True
        return self.lower in case.answer.text

    __call__ = judge


class Slotted:
    __slots__ = ("words",)

    def __init__(self, words: object) -> None:
        self.words = words

    def __call__(self, case: Case) -> bool:
        return str(self.words) in case.answer.text


@dataclass(frozen=True, eq=False)
class Given:
    words: object

    def __call__(self, case: Case) -> bool:
        return str(self.words) in case.answer.text


class Longer(Inside):
    limit = 4


def enclosing(inside: Inside) -> Callable[[Case], bool]:
    return lambda case: inside.judge(case)


def within(limit: Inside, case: Case) -> bool:
    return limit(case)


MADE: dict[str, Callable[[object], Callable[[Case], bool]]] = {
    "an object": Inside,
    "an object with slots": Slotted,
    "a dataclass": Given,
    "a method of an object": lambda words: Inside(words).judge,
    "a function that encloses an object": lambda words: enclosing(Inside(words)),
    "a function with an object as an argument": lambda words: partial(within, Inside(words)),
    "an object with an object inside": lambda words: Inside(Inside(words)),
}
WORDS_OF: dict[str, Callable[[str], object]] = {
    "a text": str,
    "a set": lambda word: {word},
    "a dict": lambda word: {word: 1},
    "a list of lists": lambda word: [[word]],
}


@pytest.mark.parametrize("words", WORDS_OF)
@pytest.mark.parametrize("made", MADE)
def test_objects_count_wherever_they_are(made: str, words: str) -> None:
    def one(word: str) -> str:
        return definition_of(as_predicate(MADE[made](WORDS_OF[words](word))))

    assert one("bad") != one("fine")
    assert one("bad") == one("bad")


def test_what_a_class_has_is_a_part_of_its_objects() -> None:
    assert definition_of(as_predicate(Inside("a"))) != definition_of(as_predicate(Longer("a")))
    assert definition_of(cache(says_bad)) != definition_of(cache(says_good))
    text = re.compile("bad").search
    assert definition_of(text) != definition_of(re.compile("fine").search)


def test_what_an_object_remembers_is_no_part_of_it() -> None:
    inside = Inside("bad")
    before = definition_of([as_predicate(inside), as_predicate(inside.judge)])
    assert inside(Case("?", Answer("bad"), Answer("bad"), ()))
    assert inside.seen
    assert inside.known
    assert definition_of([as_predicate(inside), as_predicate(inside.judge)]) == before


@pytest.mark.waits
def test_the_definition_is_the_same_in_each_run_of_a_program() -> None:
    """Sets have another order in each."""
    code = (
        "from rag_rule_explainer.audit.sameness import definition_of as d\n"
        "print(d([lambda case: case.answer.text in {'a', 'b', 'c', 'd'}, {'e', 'f', 'g', 'h'}]))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
