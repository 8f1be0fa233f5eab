"""Which texts are recognised in a request, and what must not be taken for them."""

import html
import json

import pytest

from rag_rule_explainer import Source
from rag_rule_explainer.instrumentation.requests.source_recognition import Request, Sight

TRIAL = "The 2023 trial gave 412 adults calcium for a year and saw no change in bone density at all."
BLOG = "My grandmother swears that two glasses of milk a day kept her hips strong until ninety."
BOTH = [Source("trial", TRIAL), Source("blog", BLOG)]


def seen(text: str, *written: str) -> frozenset[str]:
    return Sight(BOTH).seen_in([Request(text, written)])


@pytest.mark.parametrize(
    "shown",
    [
        TRIAL,
        f"Context:\n\n{TRIAL}\n\nQuestion: what about calcium?",
        TRIAL.upper(),
        TRIAL.replace(" ", "\n   "),
        TRIAL[:60] + "…",
        "… " + TRIAL[-60:],
        f"**{TRIAL.replace('2023', '_2023_')}**",
        json.dumps({"documents": [{"text": TRIAL.replace(" saw", '\n"saw"')}]}),
        json.dumps({"a": "café " + TRIAL}),
        html.escape(f"<p>{TRIAL}</p>"),
    ],
)
def test_a_text_is_recognised_however_it_is_set_and_cut(shown: str) -> None:
    assert seen(shown) == {"trial"}


def test_what_is_not_there_is_not_seen() -> None:
    assert seen("Question: what about calcium, milk and bone density in adults?") == frozenset()
    assert seen(TRIAL + "\n" + BLOG) == {"trial", "blog"}
    assert seen("") == frozenset()


def test_what_a_model_wrote_itself_does_not_count() -> None:
    assert seen(f"AI: {TRIAL}\nHuman: are you sure?", TRIAL) == frozenset()
    assert seen(f"AI: {TRIAL}\nHuman: are you sure? {BLOG}", TRIAL) == {"blog"}


def test_a_stretch_that_two_sources_share_tells_neither() -> None:
    boilerplate = "This text is provided for information and replaces no advice of a doctor. "
    sources = [Source("a", boilerplate + TRIAL), Source("b", boilerplate + BLOG)]
    sight = Sight(sources)
    assert sight.seen_in([Request(boilerplate)]) == frozenset()
    assert sight.seen_in([Request(boilerplate + BLOG)]) == {"b"}


@pytest.mark.parametrize(
    "boilerplate", ["see the note for all further details and all exceptions", "see it now on page nine"]
)
def test_what_two_sources_share_but_for_an_escape_tells_neither(boilerplate: str) -> None:
    r"""A request is read without its escapes, and \n of JSON is a letter before the next word."""
    there = json.dumps({"text": f"{TRIAL}\n{boilerplate}"})
    sources = [Source("a", boilerplate), Source("b", there), Source("c", f"{BLOG} {boilerplate} {BLOG}")]
    alone = Sight(sources[1:])
    assert alone.leaked_in([Request(there)], {"b"}) == frozenset()
    assert alone.leaked_in([Request(f"{there} {BLOG}")], {"b"}) == {"c"}
    assert Sight(sources[:2]).leaked_in([Request(there)], {"b"}) == frozenset()


def test_equal_texts_and_texts_of_the_input_cannot_be_told() -> None:
    sight = Sight([Source("a", TRIAL), Source("b", TRIAL), Source("c", BLOG)])
    assert sight.recognisable == {"c"}
    assert Sight(BOTH, constant=[f"Is this true: {TRIAL}"]).recognisable == {"blog"}


def test_a_short_text_that_is_the_question_cannot_be_told() -> None:
    """A list of questions and answers is indexed by its questions, and a user asks one of them."""
    asked = "When is the release of Falcon?"
    sources = [Source("asked", asked), Source("other", "Is any release of Falcon blocked?")]
    assert Sight(sources, constant=iter([asked])).recognisable == {"other"}


@pytest.mark.parametrize("text", ["b", "calcium", "yes it is", "", "…", "of the"])
def test_short_texts_may_be_anybodys(text: str) -> None:
    sight = Sight([Source("short", text), *BOTH])
    assert "short" not in sight.recognisable
    assert "short" not in sight.seen_in([Request(f"calcium b yes it is of the {text}")])


def test_a_text_of_a_few_words_is_recognised_whole_and_by_words() -> None:
    sight = Sight([Source("short", "Adults need calcium."), *BOTH])
    assert sight.seen_in([Request("we know: adults need CALCIUM!")]) == {"short"}
    assert sight.seen_in([Request("adults need calciumphosphate")]) == frozenset()
    assert sight.seen_in([Request("adults need calcium", ("adults need calcium",))]) == frozenset()
    twice = Request("adults need calcium. You said: adults need calcium", ("adults need calcium",))
    assert sight.seen_in([twice]) == {"short"}


def test_a_short_text_that_runs_into_the_next_one_is_found_and_is_that_of_no_other() -> None:
    sight = Sight([Source("a", "the gamma ray is here"), Source("b", "invoice number is 12")])
    together = Request("Context: the gamma ray is herewhat is it?")
    assert (sight.seen_in([together]), sight.glued_in([together])) == (set(), {"a"})
    assert not sight.glued_in([Request("Context: gamma rays are here")])
    # What a model wrote itself was not shown to it.
    assert not sight.glued_in([Request(together.text, ("the gamma ray is herewhat",))])
    two = Sight([Source("a", "invoice number is 1"), Source("b", "invoice number is 12")])
    assert two.glued_in([Request("invoice number is 12, invoice number is 1")]) == {"b"}


def test_scripts_without_spaces_are_recognised_too() -> None:
    text = "二零二三年的试验给四百名成年人服用钙片一年没有发现骨密度变化"
    sight = Sight([Source("zh", text), *BOTH])
    assert sight.seen_in([Request(f"资料：{text[:14]}。问题？")]) == {"zh"}
    assert sight.seen_in([Request("资料：二零二三年。问题？")]) == frozenset()


WHOLE = f"{TRIAL} {BLOG} And that is all there is to be said about what was seen on this long journey."


def contained() -> Sight:
    return Sight([Source("trial", TRIAL), Source("blog", BLOG), Source("whole", WHOLE)])


def test_a_text_within_another_keeps_its_owner_where_neither_was_kept() -> None:
    sent = [Request(f"Answer from this: {TRIAL}")]
    assert contained().leaked_in(sent, ["blog"]) == {"trial"}
    assert contained().leaked_in(sent, []) == {"trial"}


def test_a_text_that_one_that_was_kept_contains_is_no_leak() -> None:
    assert contained().leaked_in([Request(WHOLE)], ["whole"]) == frozenset()
    assert contained().leaked_in([Request(WHOLE)], ["trial", "blog"]) == {"whole"}
    assert contained().leaked_in([Request(TRIAL)], ["whole"]) == frozenset()


def test_what_a_model_wrote_itself_is_no_leak_of_a_contained_text() -> None:
    assert contained().leaked_in([Request(TRIAL, (TRIAL,))], []) == frozenset()


def test_of_two_equal_texts_one_explains_the_other() -> None:
    sight = Sight([Source("one", TRIAL), Source("other", TRIAL), Source("blog", BLOG)])
    assert sight.leaked_in([Request(TRIAL)], ["one"]) == frozenset()
    assert sight.leaked_in([Request(TRIAL)], ["blog"]) == {"one", "other"}


ASKED, FOUND, SAID = "What is new?", "The bill of May is due by the end of week two.", "I see to it now."


@pytest.mark.parametrize(
    ("sent", "kept", "is_leak"),
    [
        ([ASKED, FOUND], ["found"], False),
        ([ASKED, FOUND], [], True),
        ([ASKED, FOUND, SAID], ["found"], True),
        ([FOUND, SAID], ["found"], True),
        ([SAID, ASKED, FOUND], ["found"], False),
        ([ASKED, FOUND, ASKED, FOUND], ["found"], False),
    ],
)
def test_a_turn_is_no_leak_where_the_question_and_a_result_say_the_same(
    sent: list[str], kept: list[str], *, is_leak: bool
) -> None:
    turn = Source("turn", "\n".join([ASKED, FOUND, SAID]))
    sight = Sight([turn, Source("found", FOUND)], [ASKED])
    leaked = sight.leaked_in([Request("\n".join(sent))], kept)
    assert leaked - {"found"} == ({"turn"} if is_leak else set())


def test_a_turn_is_no_leak_where_a_model_ends_like_it() -> None:
    turn = Source("turn", "\n".join([FOUND, SAID]))
    sight = Sight([turn, Source("found", FOUND)])
    sent = "\n".join([FOUND, SAID])
    assert sight.leaked_in([Request(sent, (SAID,))], ["found"]) == frozenset()
    assert sight.leaked_in([Request(sent)], ["found"]) == {"turn"}


def test_orders_are_told_by_first_and_last_places_and_over_all_requests() -> None:
    def orders(*texts: str) -> set[tuple[str, ...]]:
        return set(Sight(BOTH).orders_in([Request(text) for text in texts]))

    assert (
        orders(f"{BLOG}\n{TRIAL}")
        == orders(f"{BLOG}\n{TRIAL}", BLOG) - {("blog",)}
        == {("blog", "trial")}
    )
    assert ("trial", "blog") in orders(f"{BLOG}\n{TRIAL}\n{BLOG}")
    assert orders(BLOG, TRIAL) == {("blog",), ("trial",), ("blog", "trial")}
