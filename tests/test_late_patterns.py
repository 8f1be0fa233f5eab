"""A pattern that is compiled late is one that was compiled at once."""

import copy
import pickle
import re
from collections.abc import Callable

import pytest

from rag_rule_explainer.late_patterns import compiled_late


def pickled(pattern: "re.Pattern[str]") -> "re.Pattern[str]":
    return pickle.loads(pickle.dumps(pattern))  # noqa: S301 -- made here


def used(pattern: "re.Pattern[str]") -> "re.Pattern[str]":
    assert pattern.search("1889") is not None
    return pattern


@pytest.mark.parametrize("seen", [copy.copy, copy.deepcopy, pickled, used])
def test_it_finds_what_the_pattern_finds(seen: Callable[["re.Pattern[str]"], "re.Pattern[str]"]) -> None:
    late = seen(compiled_late(r"(?P<year>\d{4})", re.IGNORECASE))
    known = re.compile(r"(?P<year>\d{4})", re.IGNORECASE)
    text = "built in 1889, opened in 1900"
    assert late.findall(text) == known.findall(text) == ["1889", "1900"]
    assert [each.span("year") for each in late.finditer(text)] == [(9, 13), (25, 29)]
    assert (late.sub("", text), late.match(text)) == (known.sub("", text), None)
    assert (late.pattern, late.flags, late.groupindex) == (known.pattern, known.flags, known.groupindex)
    assert repr(late) == repr(known)


def test_it_is_compiled_when_it_is_first_used_and_once() -> None:
    broken = compiled_late("(")
    with pytest.raises(re.error):
        broken.search("")
    late = compiled_late("a")
    assert late.search == late.search
    assert not hasattr(late, "_nothing")
