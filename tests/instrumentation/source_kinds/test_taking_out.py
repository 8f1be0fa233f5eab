"""Turns and sections taken out of inputs and memories of many forms."""

from copy import deepcopy
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from llama_index.core.base.llms.types import ChatMessage, TextBlock
from pydantic import BaseModel

from rag_rule_explainer.instrumentation.source_kinds.prompt_sections import PromptMessage
from rag_rule_explainer.instrumentation.source_kinds.prompt_sources import PromptSources
from rag_rule_explainer.instrumentation.source_kinds.taking_out import TakingOut
from tests.instrumentation.source_kinds.test_prompt_sources import as_turn

SYSTEM = "# Tone\nBe kind.\n# Facts\nIt rains.\n"
FIRST = [
    ("system", SYSTEM),
    ("user", "Where is it?"),
    ("assistant", "Here."),
    ("user", "Who has it?"),
    ("assistant", "Ann."),
    ("user", "So?"),
]
KNOWN = PromptSources.of(
    [PromptMessage(*each) for each in FIRST], as_turn("turns"), ["turns", "instructions"], "remove"
)
BLANK = PromptSources.of(
    [PromptMessage(*each) for each in FIRST], as_turn("turns"), ["turns", "instructions"], "blank"
)
TURN_IDS = ["turn 1", "turn 2"]


class Kept(NamedTuple):
    version: int
    messages: list[Any]


@dataclass
class Own:
    messages: list[Any] = field(default_factory=list[Any])
    name: str = "me"


class Model(BaseModel):
    history: list[tuple[str, str]]


def of_langchain() -> list[Any]:
    kinds = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    return [kinds[role](text) for role, text in FIRST]


def of_llama_index() -> list[Any]:
    return [ChatMessage(text, role=role) for role, text in FIRST]


def in_blocks() -> list[Any]:
    return [{"role": role, "content": [{"type": "text", "text": text}]} for role, text in FIRST]


PAIRS = [("Where is it?", "Here."), ("Who has it?", "Ann.")]
FORMS: dict[str, Any] = {
    "tuples": list(FIRST),
    "a tuple of tuples": tuple(FIRST),
    "lists": [list(each) for each in FIRST],
    "dicts": [{"role": role, "content": text} for role, text in FIRST],
    "dicts with blocks": in_blocks(),
    "messages of LangChain": of_langchain(),
    "messages of LlamaIndex": of_llama_index(),
    "in a dict": {"messages": list(FIRST), "user": "me"},
    "deep inside": {"state": [{"values": {"messages": of_langchain()}}]},
    "a named tuple": Kept(1, list(FIRST)),
    "an object": Own(list(FIRST)),
    "a pydantic model": Model(history=[each for each in FIRST if each[0] != "system"]),
    "pairs": PAIRS,
    "pairs in dicts": [{"asked": one, "said": two} for one, two in PAIRS],
    "texts": ["Where is it?", "Here.", "Who has it?", "Ann."],
    "several lists": {"one": list(FIRST), "two": [list(FIRST)]},
}


def texts_in(given: Any) -> str:
    return str(given)


@pytest.mark.parametrize("known", [KNOWN, BLANK], ids=["remove", "blank"])
@pytest.mark.parametrize("name", FORMS)
def test_a_turn_is_taken_out_of_every_form(name: str, known: PromptSources) -> None:
    given, before = FORMS[name], deepcopy(FORMS[name])
    marks = {"turn 1": ("Where", "Here."), "turn 2": ("Who", "Ann.")}
    for size in range(3):
        for omitted in combinations(TURN_IDS, size):
            taking = TakingOut(known, frozenset(omitted))
            left = texts_in(taking.edited(given))
            assert taking.taken == set(omitted)
            for identity, words in marks.items():
                assert all((word in left) is (identity not in omitted) for word in words)
            assert given == before
            if not omitted:
                assert taking.edited(given) is given


@pytest.mark.parametrize("name", ["tuples", "dicts", "messages of LangChain", "messages of LlamaIndex"])
def test_a_section_is_taken_out_of_the_instructions_of_the_input(name: str) -> None:
    given = FORMS[name]
    tone, both = (
        TakingOut(KNOWN, frozenset({"instructions: Tone"})),
        TakingOut(KNOWN, frozenset({"instructions: Tone", "instructions: Facts"})),
    )
    left = tone.edited(given)
    assert tone.taken == {"instructions: Tone"}
    assert "Tone" not in texts_in(left)
    assert "It rains." in texts_in(left)
    assert len(left) == len(given)
    assert len(both.edited(given)) == len(given) - 1


@pytest.mark.parametrize(
    "given",
    [
        "Where is it? Here.",
        ["Where is it?"],
        [("user", "Where is it?"), ("assistant", "There.")],
        [("user", "Where is it?"), ("user", "Here.")],
        [*FIRST[1:3], *FIRST[1:3]],
        {"text": "user: Where is it?\nassistant: Here."},
        [("Who is it?", "Where is it?"), ("Here.", "Ok.")],
        None,
        7,
    ],
)
def test_what_is_not_certainly_the_turn_stays(given: Any) -> None:
    taking = TakingOut(KNOWN, frozenset({"turn 1"}))
    assert taking.edited(given) is given
    assert not taking.taken


@pytest.mark.parametrize("is_first", [True, False])
def test_a_turn_that_stands_in_a_single_text_as_well_is_not_gone(*, is_first: bool) -> None:
    """Such as where the input has the messages and a transcript of them."""
    copies: dict[str, Any] = {"transcript": "user: Where is it?\nassistant: Here.\n"}
    lists: dict[str, Any] = {"messages": list(FIRST), "question": "Where is it?"}
    taking = TakingOut(KNOWN, frozenset(TURN_IDS))
    left = taking.edited({**copies, **lists} if is_first else {**lists, **copies})
    assert len(left["messages"]) == 2
    assert taking.taken == {"turn 2"}


def test_of_equal_turns_the_right_one_is_taken_out() -> None:
    said = [*FIRST[1:3], *FIRST[3:5], *FIRST[1:3], FIRST[-1]]
    known = PromptSources.of(
        [PromptMessage(*each) for each in said], as_turn("turns"), ["turns"], "remove"
    )
    assert TakingOut(known, frozenset({"turn 3"})).edited(said) == [*said[:4], said[-1]]
    assert TakingOut(known, frozenset({"turn 1"})).edited(said) == said[2:]


def test_calls_and_results_of_tools_belong_to_a_turn() -> None:
    call: Any = {"name": "look", "args": {}, "id": "1"}
    messages = [
        HumanMessage("Where is it?"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("Here.", tool_call_id="1"),
        AIMessage([{"type": "text", "text": "It is "}, {"type": "text", "text": "here."}]),
        HumanMessage("So?"),
    ]
    known = PromptSources.of(
        [PromptMessage(each.type, str(each.text)) for each in messages],
        as_turn("turns"),
        ["turns"],
        "remove",
    )
    assert TakingOut(known, frozenset({"turn 1"})).edited(messages) == messages[-1:]
    wire = [
        {"role": "user", "content": "Where is it?"},
        {"type": "function_call", "call_id": "1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "Here."},
        {"role": "assistant", "content": "It is here."},
        {"role": "user", "content": "So?"},
    ]
    assert TakingOut(known, frozenset({"turn 1"})).edited(wire) == wire[-1:]


def test_objects_of_frameworks_in_an_input_are_not_copied() -> None:
    held = ChatMessage(blocks=[TextBlock(text="Where is it?")])
    given = {"one": held, "messages": list(FIRST)}
    assert TakingOut(KNOWN, frozenset({"turn 1"})).edited(given)["one"] is held
