from collections.abc import Sequence

from rag_rule_explainer import Source
from rag_rule_explainer.instrumentation.recording.current import going_on, taking_part
from rag_rule_explainer.instrumentation.recording.recorder import Recording
from rag_rule_explainer.instrumentation.recording.remarks import NEW_RETRIEVAL, NO_TURN
from rag_rule_explainer.instrumentation.recording.serving import Serving


def sources(documents: Sequence[str]) -> list[Source]:
    return [Source(document, document) for document in documents]


def identify(batches: Sequence[Sequence[str]]) -> list[list[Source]]:
    return [sources(batch) for batch in batches]


def test_every_document_is_one_source_in_order_of_first_appearance() -> None:
    recording = Recording[str](identify)
    recording.record(("first",), ["b", "a"], None)
    recording.record(("second",), ["a", "c", "a"], None)
    assert [source.id for source in recording.captured().sources] == ["b", "a", "c"]


def test_a_replay_is_served_the_kept_ones_of_the_same_retrieval() -> None:
    recording = Recording[str](identify)
    recording.record(("q1",), ["a", "b"], None)
    recording.record(("q2",), ["b", "c"], None)
    captured = recording.captured()
    serving = Serving(captured, [source for source in captured.sources if source.id != "b"])
    assert serving.serve(("q2",)) == ["c"]
    assert serving.serve(("q1",)) == ["a"]
    assert serving.served == 2


def test_a_less_specific_key_serves_where_the_specific_one_is_new() -> None:
    recording = Recording[str](identify)
    recording.record(("instance 1", "class"), ["a"], None)
    recording.record(("instance 2", "class"), ["b"], None)
    captured = recording.captured()
    serving = Serving(captured, captured.sources)
    assert serving.serve(("instance 2", "class")) == ["b"]


def test_where_the_baseline_had_several_results_each_turn_is_served_what_it_had() -> None:
    recording = Recording[str](identify)
    recording.record(("instance 1", "class"), ["a", "c"], None)
    recording.record(("instance 2", "class"), ["b", "c"], None)
    recording.record(("instance 3", "other"), ["c"], None)
    captured = recording.captured()
    serving = Serving(captured, sources(["a", "b"]))
    assert not captured.several
    assert serving.serve(("instance 7", "class")) == ["a"]
    assert serving.serve(("instance 3", "other")) == []
    assert serving.serve(("instance 8", "class")) == ["b"]
    assert captured.several
    assert not serving.undecided
    # Nobody knows what a third one would have had.
    assert serving.serve(("instance 9", "class")) == ["a", "b"]
    assert serving.undecided == NO_TURN


def test_where_retrievals_overlap_nobody_knows_whose_turn_it_is() -> None:
    recording = Recording[str](identify)
    first, second = recording.begin(), recording.begin()
    recording.record(("q",), ["a"], None, began=first)
    recording.record(("q",), ["b"], None, began=second)
    serving = Serving(recording.captured(), sources(["a", "b"]))
    assert serving.serve(("q",)) == ["a", "b"]
    assert serving.undecided == NO_TURN


def test_the_same_result_several_times_is_no_question() -> None:
    recording = Recording[str](identify)
    for _ in range(3):
        recording.record(("q",), ["a", "b"], None)
    serving = Serving(recording.captured(), sources(["b"]))
    assert serving.serve(("q",)) == ["b"]
    assert serving.remarks == set()


def test_a_retrieval_that_was_never_recorded_gets_everything_kept() -> None:
    recording = Recording[str](identify)
    recording.record(("q1",), ["a", "b"], None)
    recording.record(("q2",), ["b", "c"], None)
    captured = recording.captured()
    serving = Serving(captured, captured.sources[1:])
    assert serving.serve(("new",)) is None
    assert serving.settled(("new",), None, None) == ["b", "c"]
    assert serving.remarks == {NEW_RETRIEVAL}


def test_a_recording_that_has_ended_records_nothing_more() -> None:
    recording = Recording[str](identify)
    with taking_part(recording):
        assert going_on() is recording
    with taking_part(recording):
        # As a worker that was started in the baseline sees it.
        assert going_on() is None


def test_the_recorded_list_is_a_copy() -> None:
    recording, documents = Recording[str](identify), ["a"]
    recording.record(("q",), documents, None)
    documents.append("b")
    assert [source.id for source in recording.captured().sources] == ["a"]


def test_nothing_goes_on_outside_and_a_closed_replay_is_inert() -> None:
    captured = Recording[str](identify).captured()
    serving = Serving(captured, [])
    assert going_on() is None
    with taking_part(serving):
        assert going_on() is serving
        with taking_part(None):
            assert going_on() is None
        assert going_on() is serving
    assert going_on() is None
    assert serving.closed
    with taking_part(serving):
        # As a background task that kept the context of an ended replay sees it.
        assert going_on() is None


def test_what_is_kept_is_served_in_the_order_asked_for() -> None:
    recording = Recording[str](identify)
    recording.record(("first",), ["a", "b", "c"], None)
    recording.record(("second",), ["c", "a"], None)
    captured = recording.captured()
    serving = Serving(captured, sources(["c", "b"]))
    assert serving.serve(("first",)) == ["c", "b"]
    assert (serving.order, serving.handed) == (("c", "b"), ["c", "b"])
    # Each search as it was recorded, where what is kept is in the recorded order.
    plain = Serving(captured, sources(["a", "c"]))
    assert (plain.serve(("second",)), plain.order) == (["c", "a"], ())
