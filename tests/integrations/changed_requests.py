"""Applications whose second request is another one without the second turn, and a model that decides by
exactly that. What comes of it is in its reply alone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer
from langchain_rag_rule_explainer.spoken_texts import whole_message as of_langchain
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index_rag_rule_explainer import RuleExplainer as OfLlamaIndex
from plain_rag_rule_explainer import RuleExplainer as OfPlain
from plain_rag_rule_explainer import offline_client
from pydantic import TypeAdapter, ValidationError

from rag_rule_explainer import Explanation, contains
from rag_rule_explainer.instrumentation.requests.volatile import Steady
from rag_rule_explainer.instrumentation.source_kinds.asked_models import BesideTexts, SentRequest
from rag_rule_explainer.instrumentation.source_kinds.prompt_sections import PromptMessage
from rag_rule_explainer.instrumentation.source_kinds.recorded_requests import RecordedRequests
from rag_rule_explainer.instrumentation.source_kinds.request_faults import Fault
from rag_rule_explainer.instrumentation.source_kinds.whole_messages import WholeMessage, whole_of
from tests.integrations.langchain.models import Telling
from tests.integrations.later_shapes import QUESTION, TURNS
from tests.integrations.llama_index.models import Telling as LlamaIndexTelling
from tests.integrations.request_changes import DAY, UUID, changed, with_swapped
from tests.integrations.test_texts_made_of_turns import as_dicts, pairs

KNOWN, CHECK = "Bonn", "Check it."
OPTIONS: Any = {"source_kinds": ["turns"], "replay_of": "next_action", "miner": "exact"}
GOOD, BAD = "It is good.", "It is bad."
Ask = Callable[[Any, dict[str, Any]], str]
"""Sends messages with parameters, and returns the reply."""

_KINDS = {"system": SystemMessage, "human": HumanMessage, "ai": AIMessage, "tool": ToolMessage}
PARAMETERS: dict[str, Any] = {"temperature": 0.1, "labels": {"of": f"{DAY}", "id": UUID}}
_PARTS = [
    {"type": "text", "text": f"Look at this of {DAY}."},
    {"type": "image_url", "image_url": {"url": f"https://a.example/{DAY}/{UUID}.png"}},
]
OF_LANGCHAIN: list[dict[str, Any]] = [
    {"type": "system", "content": f"Today is {DAY}.\nBe brief."},
    {"type": "human", "content": _PARTS, "name": "ann", "id": "m1"},
    {
        "type": "ai",
        "content": "I look.",
        "tool_calls": [
            {"name": "look", "args": {"of": f"Ann {DAY}", "n": 1}, "id": "call_1", "type": "tool_call"},
            {"name": "look", "args": {"of": UUID}, "id": "call_2", "type": "tool_call"},
        ],
    },
    {"type": "tool", "content": "It is red.", "tool_call_id": "call_1", "status": "success"},
    {"type": "tool", "content": "It is blue.", "tool_call_id": "call_2", "name": "look"},
    {"type": "human", "content": CHECK},
]
OF_PLAIN: list[dict[str, Any]] = [
    {"role": "system", "content": f"Today is {DAY}.\nBe brief."},
    {"role": "user", "content": _PARTS, "name": "ann"},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {
                "type": "function",
                "id": f"call_{place}",
                "function": {"name": "look", "arguments": arguments},
            }
            for place, arguments in enumerate((f'{{"of": "Ann {DAY}"}}', f'{{"of": "{UUID}"}}'), 1)
        ],
    },
    {"role": "tool", "content": "It is red.", "tool_call_id": "call_1"},
    {"role": "tool", "content": "It is blue.", "tool_call_id": "call_2"},
    {"role": "user", "content": CHECK},
]
OF_LLAMA_INDEX: list[dict[str, Any]] = [
    {"role": "system", "blocks": [{"block_type": "text", "text": f"Today is {DAY}.\nBe brief."}]},
    {
        "role": "user",
        "blocks": [
            {"block_type": "text", "text": f"Look at this of {DAY}."},
            {"block_type": "image", "url": f"https://a.example/{DAY}/{UUID}.png", "detail": "low"},
        ],
        "additional_kwargs": {"name": "ann"},
    },
    {
        "role": "assistant",
        "blocks": [
            {
                "block_type": "tool_call",
                "tool_call_id": f"call_{place}",
                "tool_name": "look",
                "tool_kwargs": {"of": of},
            }
            for place, of in enumerate((f"Ann {DAY}", UUID), 1)
        ],
    },
    {
        "role": "tool",
        "blocks": [{"block_type": "text", "text": "It is red."}],
        "additional_kwargs": {"tool_call_id": "call_1", "is_error": False},
    },
    {
        "role": "tool",
        "blocks": [{"block_type": "text", "text": "It is blue."}],
        "additional_kwargs": {"tool_call_id": "call_2"},
    },
    {"role": "user", "blocks": [{"block_type": "text", "text": CHECK}]},
]
RECORDED: dict[str, list[dict[str, Any]]] = {
    "langchain": OF_LANGCHAIN,
    "llama_index": OF_LLAMA_INDEX,
    "plain": OF_PLAIN,
}


def as_langchain(messages: Any) -> list[BaseMessage]:
    return [_KINDS[each["type"]](**each) for each in messages]


def as_llama_index(messages: Any) -> list[ChatMessage]:
    return TypeAdapter(list[ChatMessage]).validate_python(messages)


MADE: dict[str, Callable[[Any], list[Any]]] = {
    "langchain": as_langchain,
    "llama_index": as_llama_index,
}


def shown(framework: str, messages: Any) -> Any:
    """Returns the messages as a model of the framework gets them."""
    if framework == "plain":
        return messages
    made = as_langchain(messages) if framework == "langchain" else as_llama_index(messages)
    return [each.model_dump() for each in made]


def is_possible(framework: str, messages: Any) -> bool:
    try:
        is_other = shown(framework, messages) != shown(framework, RECORDED[framework])
    except (ValidationError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return is_other and CHECK in str(messages)


def changes_of(framework: str) -> Iterator[tuple[str, Any, Any]]:
    """Yields the name, the messages and the parameters of each request that differs in one field."""
    recorded = RECORDED[framework]
    several = [*changed(recorded), ("swapped ids", with_swapped(recorded[:3], "call_1", "call_2"))]
    several[-1] = several[-1][0], [*several[-1][1], *recorded[3:]]
    for name, messages in several:
        if is_possible(framework, messages):
            yield name, messages, PARAMETERS
    for name, parameters in changed(PARAMETERS, "parameters"):
        yield name, recorded, parameters


def _decides(framework: str, messages: Any, parameters: Any) -> str:
    """The scripted model: it says that only the recorded request is good."""
    if CHECK not in str(messages):
        return "It is paid." if GOOD in str(messages) else "It is open."
    is_known = messages == shown(framework, RECORDED[framework]) and parameters == PARAMETERS
    return GOOD if is_known else BAD


class Langchain(Telling):
    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        dumped = [each.model_dump() for each in messages]
        self.says = lambda _: _decides("langchain", dumped, kwargs)
        return super()._generate(messages, stop, run_manager)


class LlamaIndex(LlamaIndexTelling):
    @llm_chat_callback()
    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        said = _decides("llama_index", [each.model_dump() for each in messages], kwargs)
        return ChatResponse(message=ChatMessage(said, role=MessageRole.ASSISTANT), raw={})


def asking(framework: str) -> tuple[Ask, Any]:
    """Returns a function that asks the model of a framework, and the framework's explainer."""
    if framework == "langchain":
        model = Langchain()
        return lambda messages, given: model.invoke(as_langchain(messages), **given).text, RuleExplainer
    if framework == "llama_index":
        llm = LlamaIndex()
        return (
            lambda messages, given: llm.chat(as_llama_index(messages), **given).message.content or "",
            OfLlamaIndex,
        )

    def reply(body: Mapping[str, Any]) -> str:
        left = {key: each for key, each in body.items() if key not in ("model", "messages")}
        return _decides("plain", body["messages"], left)

    client = offline_client(reply)

    def ask(messages: Any, given: dict[str, Any]) -> str:
        made: Any = client.chat.completions.create(model="m", messages=messages, extra_body=given)
        return str(made.choices[0].message.content)

    return ask, OfPlain


def spoken(framework: str, messages: list[tuple[str, str]]) -> list[dict[str, Any]]:
    if framework == "langchain":
        kinds = {"user": "human", "assistant": "ai"}
        return [{"type": kinds[role], "content": text} for role, text in messages]
    if framework == "llama_index":
        return [
            {"role": role, "blocks": [{"block_type": "text", "text": text}]} for role, text in messages
        ]
    return as_dicts(messages)


def explained(framework: str, messages: Any, parameters: Any) -> Explanation:
    """Explains an application that makes this request without the second turn, otherwise the recorded
    one."""
    ask, explainer = asking(framework)

    def application(given: Any) -> str:
        said = pairs(given)
        has = KNOWN in str(said)
        ask(spoken(framework, said), {})
        checked = ask(RECORDED[framework], PARAMETERS) if has else ask(messages, parameters)
        return ask(spoken(framework, [*said[:-1], ("user", checked)]), {})

    of_question: Any = {} if framework == "langchain" else {"question_of": str}
    made: Any = RunnableLambda(application) if framework == "langchain" else application
    explaining = explainer(made, contains("is paid"), **OPTIONS, **of_question)
    return explaining.explain(as_dicts([*TURNS, QUESTION]))


def compared(framework: str, messages: Any) -> Fault | None:
    """Returns why these messages are not the recorded ones."""
    whole: dict[str, Callable[[Any], WholeMessage]] = {
        "langchain": of_langchain,
        "llama_index": lambda each: whole_of(each.model_dump()),
    }
    sides = list[tuple[list[PromptMessage], BesideTexts]]()
    for each in (RECORDED[framework], messages):
        made = each if framework == "plain" else MADE[framework](each)
        described = list(map(whole.get(framework, whole_of), made))
        told = [PromptMessage(one.parts, "\n".join(one.texts)) for one in described]
        sides.append((told, BesideTexts(None, described)))
    (known, of_known), (sent, of_sent) = sides
    recorded = RecordedRequests([SentRequest(0, tuple(known), tuple(of_known.whole))], Steady())
    return recorded.fault(sent, [each.text for each in sent], _uncut, of_sent)


def _uncut(messages: Sequence[PromptMessage]) -> list[str | None]:
    return [each.text for each in messages]


def is_false(explanation: Explanation) -> bool:
    """Returns True iff a rule is proved although a probe has the verdict of another request."""
    without = [each for each in explanation.probes if "turn 2" not in each.kept]
    wrong = [each for each in without if "holds" in str(each.verdicts).lower()]
    return bool(wrong) and any(str(each.claim) == "proved" for each in explanation.rules)
