"""Applications that run a tool while a reply is streamed, or leave the stream before its end."""

from collections import Counter
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole, ToolCallBlock
from llama_index_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from rag_rule_explainer import InvalidInput
from tests.agents.zoo.of_llama_index import Scripted, tools_of
from tests.agents.zoo.shapes import PAYS, QUESTION

pytestmark = pytest.mark.filterwarnings("ignore")

ONCE = {"search_inbox": 1, "calendar": 1, "pay": 1}


class Chunked(Scripted):
    """Streams the blocks of its reply one after the other, and then an empty piece."""

    @override
    def _chunks(self, response: ChatResponse) -> Any:
        blocks = response.message.blocks
        for count in [*range(1, len(blocks) + 1), len(blocks)]:
            message = ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks[:count])
            yield ChatResponse(message=message, raw={}, delta="")


class Loop:
    """A loop that runs a call as soon as it has arrived. ``how``: in which way it pays; ``kind``: what it
    does with the stream then."""

    def __init__(self, how: str, kind: str, entry: str) -> None:
        self.ran = list[str]()
        self.how, self.kind, self.entry = how, kind, entry
        self.tools = {each.metadata.name: each for each in tools_of(self.ran)}
        self.held = list[Any]()

    def take(self, response: Any, results: list[ChatMessage]) -> bool:
        """Takes a piece. Returns True if the loop reads no more."""
        calls = [each for each in response.message.blocks if isinstance(each, ToolCallBlock)]
        for each in calls[len(results) :]:
            # Its arguments have no type.
            tool, given = self.tools[each.tool_name], dict[str, Any](each.tool_kwargs)  # type: ignore[arg-type]
            ways = {"function": object.__getattribute__(tool, "_fn"), "fn": tool.fn, "call": tool.call}
            said = str(ways[self.how if each.tool_name == "pay" else "call"](**given))
            beside = {"tool_call_id": each.tool_call_id, "name": each.tool_name}
            results.append(ChatMessage(role="tool", content=said, additional_kwargs=beside))
        return self.kind != "read whole" and bool(results)

    async def ask(self, question: str) -> Any:
        messages = [ChatMessage(role="user", content=question)]
        llm, last = Chunked(), None
        while True:
            results = list[ChatMessage]()
            if self.entry == "stream_chat":
                pieces: Any = llm.stream_chat(messages)
                self.hold(pieces)
                for last in pieces:
                    if self.take(last, results):
                        break
            else:
                pieces = await llm.astream_chat(messages)
                self.hold(pieces)
                async for last in pieces:
                    if self.take(last, results):
                        break
            del pieces
            assert last is not None
            messages += [last.message, *results]
            if not results:
                return str(last.message.content)

    def hold(self, pieces: Any) -> None:
        if self.kind == "left and held":
            self.held.append(pieces)


def explained(loop: Loop, **options: Any) -> Any:
    return RuleExplainer(loop.ask, PAYS, source_kinds=["tools"], **options).explain(QUESTION)


@pytest.mark.parametrize("entry", ["stream_chat", "astream_chat"])
@pytest.mark.parametrize("kind", ["read whole", "left", "left and held"])
class TestAToolThatRunsDuringTheReply:
    @pytest.mark.spread(fast="each")
    def test_is_refused_where_it_is_a_plain_function(self, kind: str, entry: str) -> None:
        loop = Loop("function", kind, entry)
        with pytest.raises(InvalidInput, match="run 'pay' again"):
            explained(loop)
        assert Counter(loop.ran) == ONCE

    @pytest.mark.spread(fast="each")
    @pytest.mark.parametrize("how", ["fn", "call"])
    def test_is_served_where_it_is_a_tool(self, how: str, kind: str, entry: str) -> None:
        loop = Loop(how, kind, entry)
        assert rules_of(explained(loop)) == rules_of(explained(Loop("call", "read whole", entry)))
        assert Counter(loop.ran) == ONCE

    @pytest.mark.spread(fast="each")
    @pytest.mark.parametrize("how", ["function", "fn", "call"])
    def test_does_not_run_in_replays_of_the_next_action(self, how: str, kind: str, entry: str) -> None:
        loop = Loop(how, kind, entry)
        assert rules_of(explained(loop, replay_of="next_action"))
        assert Counter(loop.ran) == ONCE


def rules_of(explanation: Any) -> set[Any]:
    found = {(each.kind, each.sources) for each in explanation.rules}
    assert {kind for kind, _ in found} >= {"retention", "omission"}
    return found
