"""When two runs are the same but for what models make up."""

from collections.abc import Sequence

import pytest

from rag_rule_explainer.instrumentation.requests.courses import Course, Difference, difference
from rag_rule_explainer.instrumentation.requests.exchanges import Exchanges
from rag_rule_explainer.instrumentation.requests.volatile import Steady

Said = Sequence[tuple[str, str | None]]


def course(said: Said) -> Course:
    """One request after the other; None for one whose model failed."""
    exchanges = Exchanges()
    for key, (request, reply) in enumerate(said):
        exchanges.ask(key, request, request)
        if reply is not None:
            exchanges.reply(key, reply, reply)
    return Course.of(exchanges, Steady())


def differs(first: Said, other: Said) -> Difference | None:
    return difference(course(first), course(other))


def test_the_same_requests_are_the_same() -> None:
    said = [("plan", "search"), ("read it", "done")]
    assert differs(said, said) is None
    assert differs([], []) is None


def test_the_same_request_is_the_same_whatever_the_run_made_after_it() -> None:
    """An earlier turn of a conversation may have what a tool returns later in this run."""
    exchanges = Exchanges()
    text = "earlier: a mail of three words\nand now?"
    exchanges.ask(0, text, text)
    exchanges.reply(0, "read", "read")
    more, less = (Course.of(exchanges, Steady(), (), made) for made in (["a mail of three words"], []))
    assert more.steps != less.steps
    assert difference(more, less) is None
    assert more.leads_to(less)


def test_a_request_that_differs_is_told_around_its_first_difference() -> None:
    found = differs([("turn 1: why?", "so")], [("turn 2: why?", "so")])
    assert found is not None
    assert found.number == 1
    assert "turn 1" in found.clause
    assert "turn 2" in found.clause
    assert found.added == ("2:",)


def test_one_more_request_differs_and_so_does_one_less() -> None:
    short, long = [("a", "b")], [("a", "b"), ("c", "d")]
    more, less = differs(short, long), differs(long, short)
    assert more is not None
    assert "the baseline did not" in more.clause
    assert less is not None
    assert "the replay did not" in less.clause


def test_after_a_reply_of_other_words_anything_goes() -> None:
    assert differs([("a", "b"), ("c", "d")], [("a", "B"), ("something else", "d")]) is None
    assert differs([("a", "b"), ("c", "d")], [("a", "B")]) is None


def test_before_the_reply_of_other_words_nothing_goes() -> None:
    assert differs([("a", "b"), ("c", "d")], [("x", "B"), ("c", "d")]) is not None


def test_requests_whose_model_failed_do_not_count() -> None:
    assert differs([("a", None), ("a", "b")], [("a", "b")]) is None
    assert differs([("a", "b")], [("a", None), ("a", "b")]) is None


def test_branches_may_come_in_any_order() -> None:
    assert differs([("a", "1"), ("b", "2"), ("c", "3")], [("b", "2"), ("a", "1"), ("c", "3")]) is None


def test_equal_requests_are_matched_by_their_replies() -> None:
    first = [("again", "1"), ("again", "2"), ("sum of 1 and 2", "3")]
    assert differs(first, [("again", "2"), ("again", "1"), ("sum of 1 and 2", "3")]) is None
    assert differs(first, [("again", "2"), ("again", "1"), ("sum of 1 and 4", "3")]) is not None


SOURCES = ("Basalt cools slowly.\nIt cracks.", "Dunes wander with the wind.")


def showing(*lines: str) -> Course:
    exchanges = Exchanges()
    request = "\n".join(["Answer from this.", *lines])
    exchanges.ask(1, request, request)
    exchanges.reply(1, "x", "x")
    return Course.of(exchanges, Steady(), SOURCES)


def test_sources_in_another_order_are_the_same_request_and_it_is_known() -> None:
    one, other = showing(*SOURCES), showing(*reversed(SOURCES))
    assert difference(one, other) is None
    assert not one.same_order(other)
    assert one.same_order(one)
    assert difference(one, showing("Dunes wander with the", "Basalt cools slowly.")) is not None
    assert difference(one, showing(*SOURCES, SOURCES[1])) is not None


def test_other_words_in_another_order_are_another_request() -> None:
    assert differs([("safety over speed", "x")], [("speed over safety", "x")]) is not None
    assert differs([("mood: +", "x")], [("mood: -", "x")]) is not None


def test_after_a_reply_of_other_words_what_is_around_it_is_still_compared() -> None:
    first = course([("rewrite why", "how so"), ("how so\ncontext", "x")])
    other = course([("rewrite why", "what for"), ("what for\ncontext", "x")])
    assert difference(first, other) is None
    assert first.leads_to(other)
    longer = course([("rewrite why", "what for"), ("turn 2\nwhat for\ncontext", "x")])
    assert difference(first, longer) is None
    assert not first.leads_to(longer)


def test_a_fingerprint_is_a_course_without_texts() -> None:
    first = course([("plan", "search"), ("read it", "done")])
    known = Course.from_fingerprint(first.fingerprint(["p"]), ["p"])
    assert known is not None
    assert "plan" not in first.fingerprint([])
    assert difference(known, first) is None
    assert difference(known, course([("plan", "search"), ("read that", "done")])) is not None
    assert Course.from_fingerprint(first.fingerprint(["p"]), []) is None


@pytest.mark.parametrize(
    "text", ["", "nonsense", "7", "[]", '[["p"], [1]]', '[["p"], [["a", "b", "c", 7]]]']
)
def test_what_is_no_fingerprint_is_told(text: str) -> None:
    assert Course.from_fingerprint(text, ["p"]) is None
