"""Kept = delivered = seen, and what happens where it is not so."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rag_rule_explainer import Answer, ReplayMissedGate, Source, SourceLeak, UnknownQuery
from rag_rule_explainer.instrumentation.recording.captured import Captured, OnNewQuery
from rag_rule_explainer.instrumentation.recording.exposure_checks import (
    NOT_RETRIEVED,
    SEEING_UNKNOWN,
    ExposureChecks,
)
from rag_rule_explainer.instrumentation.recording.retrievals import Retrieval
from rag_rule_explainer.instrumentation.recording.serving import SOURCE_KIND, Serving
from rag_rule_explainer.instrumentation.requests.source_recognition import Request
from rag_rule_explainer.probing.replaying import UnusableReply

TEXTS = {
    "a": "Amber is fossil tree resin that people have valued since the Neolithic for its colour.",
    "b": "Basalt columns form when thick lava flows cool slowly and crack from the surface down.",
    "c": "Copper roofs turn green over the decades because the metal slowly reacts with the air.",
}
SOURCES = [Source(name, text) for name, text in TEXTS.items()]


def identify(batches: Sequence[Sequence[str]]) -> list[list[Source]]:
    return [[Source(name, TEXTS.get(name, name)) for name in batch] for batch in batches]


def captured(on_new_query: OnNewQuery = "kept") -> Captured[str]:
    return Captured((Retrieval(("q",), ("a", "b", "c")),), identify, on_new_query)


def shown(*names: str) -> list[Request]:
    return [Request("\n\n".join(TEXTS[name] for name in names))]


def conduct(*seen: str, **more: Any) -> ExposureChecks:
    what: dict[str, Any] = {"scope": "seen", **more}
    return ExposureChecks.of(SOURCES, shown(*seen) if seen else [], **what)


def test_an_answer_that_no_model_was_asked_for_says_nothing_of_what_a_model_sees() -> None:
    with pytest.raises(UnusableReply, match="none was asked"):
        checked(conduct("a", "b", "c"), "ab", [])
    assert checked(conduct("a", "b", "c"), "", []).seen is None
    assert checked(conduct("a", "b", "c", scope="retrieved"), "ab", []).note == ""
    # Where no model reports what it is sent, there is nothing to compare with.
    assert checked(conduct(), "ab", []).note == ""


def checked(
    what: ExposureChecks, kept: str, requests: Sequence[Request], query: str | None = "q"
) -> Answer:
    sources = [source for source in SOURCES if source.id in kept]
    serving: Serving[Any] = Serving(captured(), sources)
    if query is not None:
        serving.serve((query,))
    return what.checked(Answer("yes", usage={"input_tokens": 7}), sources, serving, requests)


def ids(sources: Sequence[Source]) -> str:
    return "".join(source.id for source in sources)


def test_what_the_model_never_saw_is_held_out() -> None:
    what = conduct("a", "c")
    assert (ids(what.units), ids(what.held_out), what.scope) == ("ac", "b", "seen")
    assert what.notes[0].startswith("captured 3, the model saw 2")


def test_what_is_pinned_is_never_held_out() -> None:
    assert ids(conduct("a", pinned=["b"]).units) == "ab"


def test_all_that_was_retrieved_may_be_asked_for_and_the_note_says_what_that_means() -> None:
    what = conduct("a", "c", scope="retrieved")
    assert (ids(what.units), what.held_out, what.scope) == ("abc", (), "retrieved")
    assert "may promote another" in what.notes[0]
    assert conduct("a", "b", "c", scope="retrieved").notes == ()


def test_where_nothing_is_recognised_seeing_is_unknown_and_nothing_is_held_out() -> None:
    for requests in ([], [Request("A summary: some stones, some metals.")]):
        what = ExposureChecks.of(SOURCES, requests, scope="seen")
        assert (ids(what.units), what.scope, what.notes) == ("abc", "retrieved", (SEEING_UNKNOWN,))


def test_an_answer_says_what_was_delivered_and_seen() -> None:
    answer = checked(conduct("a", "b", "c"), "ab", shown("a", "b"))
    assert (answer.delivered, answer.seen, answer.note) == (("a", "b"), ("a", "b"), "")
    # No model reported a request: nobody knows.
    assert checked(conduct(), "ab", []).seen is None


def test_a_source_that_was_left_out_and_reached_the_model_is_a_leak() -> None:
    with pytest.raises(SourceLeak, match="the text of c was left out"):
        checked(conduct("a", "b", "c"), "ab", shown("a", "b", "c"))
    # Also one that is held out.
    with pytest.raises(SourceLeak, match="the text of b was left out"):
        checked(conduct("a", "c"), "ac", shown("a", "b"))


def test_sources_that_are_needed_unseen_are_told_in_the_singular_and_the_plural() -> None:
    assert str(conduct("a", "c").unseen_needed()).startswith("b was retrieved and shown to no model")
    told = str(conduct("a").unseen_needed())
    assert told.startswith("b, c were retrieved and shown to no model, so no replay is served them;")
    assert "they steer a further search" in told


def test_results_of_tools_that_are_needed_unseen_are_said_to_be_rewritten() -> None:
    of_tools = [replace(each, metadata={SOURCE_KIND: "tools"}) for each in SOURCES]
    what = ExposureChecks.of(of_tools, shown("a", "c"), scope="seen")
    told = str(what.unseen_needed())
    assert told.startswith("no model was shown b word for word, so no replay is served it;")
    assert "redacting" in told
    assert 'Pass scope="retrieved": then it is a source' in told
    assert "gate(" not in told
    assert "search" not in told.partition(". More")[0]


def test_a_replay_that_retrieved_nothing_missed_the_gate_unless_that_is_accepted() -> None:
    with pytest.raises(ReplayMissedGate, match=r"gate\(...\)"):
        checked(conduct("a"), "ab", [], query=None)
    answer = checked(replace(conduct("a"), on_no_retrieval="accept"), "ab", [], query=None)
    assert (answer.note, answer.delivered) == (NOT_RETRIEVED, ())


def test_a_source_that_was_kept_and_not_delivered_makes_no_answer_but_is_paid_for() -> None:
    two = Captured((Retrieval(("q",), ("a",)), Retrieval(("r",), ("b", "c"))), identify)
    serving: Serving[Any] = Serving(two, SOURCES)
    serving.serve(("q",))
    with pytest.raises(UnusableReply, match="b, c not delivered") as caught:
        conduct("a", "b").checked(Answer("yes", usage={"input_tokens": 7}), SOURCES, serving, [])
    assert caught.value.usage == {"input_tokens": 7}


def test_a_source_that_was_delivered_and_not_seen_is_remarked_on() -> None:
    answer = checked(conduct("a", "b", "c"), "ab", shown("a"))
    assert answer.note == "b was retained and did not reach the model"
    assert answer.seen == ("a",)
    # An application that answers without its model does so of its own accord.
    assert checked(conduct("a", "b", "c"), "ab", [Request("Hello!")]).note == ""


def test_a_query_that_was_never_asked_may_be_an_error_also_where_the_application_swallows_it() -> None:
    serving: Serving[Any] = Serving(captured("error"), SOURCES)
    with pytest.raises(UnknownQuery, match="'new one'"):
        serving.serve(("new",), "new one")
    with pytest.raises(UnknownQuery, match="'new one'"):
        conduct("a").checked(Answer("fine"), SOURCES, serving, [])


def test_of_a_live_retrieval_only_what_is_kept_is_served() -> None:
    serving: Serving[Any] = Serving(captured("filter"), SOURCES[:1])
    assert serving.serve(("new",)) is None
    assert serving.filtered(["c", "a", "unheard of"]) == ["a"]
    assert serving.delivered == {"a"}


def test_one_that_comes_by_another_id_at_every_call_is_known_by_its_text() -> None:
    def random_ids(batches: Sequence[Sequence[str]]) -> list[list[Source]]:
        return [[Source(f"{name}-{n}", TEXTS[name]) for name in batch] for n, batch in enumerate(batches)]

    what = Captured((Retrieval(("q",), ("a", "b")),), random_ids, "filter")
    serving: Serving[Any] = Serving(what, what.sources[:1])
    assert serving.serve(("new",)) is None
    assert serving.filtered(["b", "a"]) == ["a"]
    assert serving.delivered == {"a-0"}


def test_what_is_brought_answers_every_query_without_a_remark() -> None:
    brought = Captured[str].brought(["a", "b"], identify)
    serving = Serving(brought, brought.sources[1:])
    assert serving.serve(("whatever",)) == serving.serve(("else",)) == ["b"]
    assert serving.remarks == set()


def test_a_gate_may_be_for_some_retrievers_only() -> None:
    mine, other = object(), object()
    serving = Serving(Captured((), identify, only=(mine,)), ())
    assert serving.concerns(mine)
    assert not serving.concerns(other)
    assert Serving(captured(), ()).concerns(other)
