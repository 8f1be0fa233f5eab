"""What reasons for the end of a reply mean, and what is wrong with replies."""

from enum import Enum
from types import SimpleNamespace

import pytest

from rag_rule_explainer import InvalidInput, Settings
from rag_rule_explainer.probing.finish_reasons import reason_in
from rag_rule_explainer.probing.wholeness import (
    ANY,
    CALLS,
    CUT_OFF,
    EMPTY_REPLY,
    HALF,
    Ending,
    Said,
    answer_fault,
    ending_of,
    fault_of,
)


class FinishReason(str, Enum):
    """As google-genai has it."""

    STOP = "STOP"
    SAFETY = "SAFETY"
    MAX_TOKENS = "MAX_TOKENS"


MEANT = {
    Ending.WHOLE: [
        "stop",
        "STOP",
        "end_turn",
        "stop_sequence",
        "eos_token",
        "COMPLETE",
        "completed",
        "normal",
        "FINISH_REASON_STOP",
        "REASON_STOP",
        "ALTERNATIVE_STATUS_FINAL",
    ],
    Ending.CALLS: ["tool_calls", "tool_use", "function_call", "TOOL_CALL"],
    Ending.LENGTH: [
        "length",
        "max_tokens",
        "max-tokens",
        "MAX_TOKENS",
        "maxTokens",
        "max_output_tokens",
        "model_length",
        "model_context_window_exceeded",
        "token_limit",
        "REASON_MAX_LEN",
        "ALTERNATIVE_STATUS_TRUNCATED_FINAL",
    ],
    Ending.FILTERED: [
        "content_filter",
        "content_filtered",
        "CONTENT_FILTERED",
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "MODEL_ARMOR",
        "guardrail_intervened",
        "ERROR_TOXIC",
        "block_reason OTHER",
    ],
    Ending.REFUSED: ["refusal"],
    Ending.UNFINISHED: [
        "pause_turn",
        "incomplete",
        "in_progress",
        "failed",
        "cancelled",
        "error",
        "OTHER",
        "LANGUAGE",
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "malformed_model_output",
        "malformed_tool_use",
        "insufficient_system_resource",
    ],
    Ending.UNSAID: [None, "", " ", "null", "None", "FINISH_REASON_UNSPECIFIED"],
    Ending.UNKNOWN: ["wobbly", "UNKNOWN_23", "stopped by a wobble", "停止", "???", "10", "11"],
}


@pytest.mark.parametrize(
    ("reason", "meant"), [(reason, meant) for meant, reasons in MEANT.items() for reason in reasons]
)
def test_a_reason_means_the_same_however_it_is_written(reason: str | None, meant: Ending) -> None:
    assert ending_of(reason) is meant
    if isinstance(reason, str) and reason.isascii():
        for written in (reason.upper(), reason.lower(), reason.replace("_", "-"), f" {reason}"):
            assert ending_of(written) is meant


def test_enumerations_and_numbers_are_read() -> None:
    assert ending_of(FinishReason.SAFETY) is ending_of("FinishReason.SAFETY") is Ending.FILTERED
    assert [ending_of(number) for number in range(6)] == [
        Ending.UNSAID,
        Ending.WHOLE,
        Ending.LENGTH,
        Ending.FILTERED,
        Ending.FILTERED,
        Ending.UNKNOWN,
    ]


def test_reasons_that_streams_have_run_together_are_taken_apart_and_the_worst_counts() -> None:
    assert ending_of("STOPSTOP") is ending_of("FINISH_REASON_UNSPECIFIEDSTOP") is Ending.WHOLE
    assert ending_of("stopcontent_filter") is Ending.FILTERED
    assert ending_of("stopwobbly") is Ending.UNKNOWN


def test_the_worst_reason_of_a_providers_data_is_found() -> None:
    assert reason_in({"choices": [{"finish_reason": "content_filter"}]}) == "content_filter"
    responses = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    assert reason_in(responses) == reason_in({"response": responses}) == "max_output_tokens"
    assert reason_in({"status": "completed", "incomplete_details": None}) == "completed"
    assert reason_in({"finish_reason": "stop"}, {"stopReason": "guardrail_intervened"}) == (
        "guardrail_intervened"
    )
    assert reason_in({"candidates": [{"finish_reason": FinishReason.MAX_TOKENS}]}) == "MAX_TOKENS"
    assert reason_in({"prompt_feedback": {"block_reason": FinishReason.SAFETY}}) == "block_reason SAFETY"
    assert reason_in({"delta": SimpleNamespace(stop_reason="refusal")}) == "refusal"
    assert reason_in({"finishReason": {"reason": "endoftext"}}) == "endoftext"
    # A status of something else, and nothing at all.
    assert reason_in({"status": "success"}, {"done": True}, None, "text", 3) is None


class Metadata(dict[str, object]):
    """Knows what it is asked for."""

    def __init__(self, **told: object) -> None:
        super().__init__(**told)
        self.asked: list[object] = []

    def get(self, key: object, default: object = None, /) -> object:
        self.asked.append(key)
        return super().get(key, default)  # type: ignore[call-overload] -- as a mapping of a provider


def test_of_a_reply_only_what_it_has_is_looked_at() -> None:
    """Each replay's reply is: there are eighteen places where some provider puts a reason."""
    metadata = Metadata(finish_reason="stop", model_name="m", choices=[Metadata(finish_reason="length")])
    assert reason_in(metadata, None, Metadata(id="1")) == "length"
    assert metadata.asked == ["finish_reason", "status", "choices"]


def test_what_is_wrong_with_a_reply_is_said_with_its_reason() -> None:
    assert fault_of(Said("bad", "stop")) == fault_of(Said("bad")) == ""
    assert fault_of(Said(" ", "stop")) == EMPTY_REPLY
    assert fault_of(Said("bad", reports=True)) == HALF
    assert fault_of(Said("bad", "length")) == CUT_OFF
    assert "content filter (finish reason 'SAFETY')" in fault_of(Said("bad", "SAFETY"))
    assert "not whole (finish reason 'pause_turn')" in fault_of(Said("bad", "pause_turn"))
    assert "accept_finish_reasons=('wobbly',)" in fault_of(Said("bad", "wobbly"))
    assert "refused" in fault_of(Said("", "stop", refuses=True))
    assert "refused" in fault_of(Said("I cannot", "refusal"))
    # In the middle of a run, a tool may be called.
    assert fault_of(Said("", "tool_use")) == fault_of(Said("", "stop", calls=True)) == ""
    # Even what calls a tool, or is an image, may be cut off.
    assert fault_of(Said("", "max_tokens", calls=True)) == CUT_OFF
    assert fault_of(Said("", "stop", more=True)) == ""


def test_what_a_reason_says_is_printed_safely() -> None:
    told = fault_of(Said("bad", "\x1b[2J" + "x" * 500))
    assert "\x1b" not in told
    assert len(told) < 400


def test_reasons_are_accepted_by_name() -> None:
    assert fault_of(Said("bad", "MAX_TOKENS"), ("length",)) == ""
    assert fault_of(Said("bad", "Wobbly"), ("wobbly",)) == ""
    assert fault_of(Said("bad", "shaky"), ("wobbly",))
    assert fault_of(Said("bad", "shaky"), (ANY,)) == ""
    assert fault_of(Said("bad", "SAFETY"), ("length", ANY))
    assert fault_of(Said("", "length"), ("length",)) == EMPTY_REPLY


def test_an_answer_that_says_why_it_ended_is_taken_at_its_word() -> None:
    assert answer_fault("stop", structured=False) == answer_fault(None, structured=False) == ""
    assert answer_fault("tool_calls", structured=False) == CALLS
    assert answer_fault("tool_calls", structured=True) == ""
    assert "accept_finish_reasons=('length',)" in answer_fault("max_tokens", structured=False)
    assert answer_fault("max_tokens", structured=False, accepts=("length",)) == ""


@pytest.mark.parametrize(
    "given", [("content_filter",), ("refusal",), ("pause_turn",), (1,), ("",), 3, ("length", None)]
)
def test_only_reasons_that_may_be_those_of_whole_replies_can_be_accepted(given: object) -> None:
    with pytest.raises(InvalidInput, match="accept_finish_reasons"):
        # A mistake, on purpose.
        Settings(accept_finish_reasons=given)  # pyright: ignore[reportArgumentType]


def test_one_reason_may_be_accepted_without_a_tuple() -> None:
    # The type has a tuple, and one reason does as well.
    assert Settings(accept_finish_reasons="wobbly").accept_finish_reasons == ("wobbly",)  # pyright: ignore[reportArgumentType]
    assert Settings().accepting(length=True).accepting(length=True).accept_finish_reasons == ("length",)
