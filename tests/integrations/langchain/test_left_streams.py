"""Applications that run a tool while a reply is streamed, or leave the stream before its end."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.tools import StructuredTool
from langchain_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from rag_rule_explainer import InvalidInput
from tests.integrations.langchain.test_plain_functions_as_tools import PAYS, Calling, answer, next_calls

ITEMS = {("read #1, item 2", "read #1, item 3"), ("read #1, item 2",), ("read #1, item 3",)}


class Streamed(Calling):
    """Makes the same calls, in chunks: the name comes before the arguments."""

    @override
    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[Any]:
        calls = next_calls(messages)
        for place, (name, given) in enumerate(calls):
            head = {"name": name, "args": "", "id": f"{len(messages)} {place}", "index": place}
            rest = {"name": None, "args": json.dumps(given), "id": None, "index": place}
            for each in (head, rest):
                # A plain dict, as it comes.
                piece: Any = AIMessageChunk(content="", tool_call_chunks=[each])  # type: ignore[list-item]
                yield ChatGenerationChunk(message=piece)
        yield ChatGenerationChunk(message=AIMessageChunk(content="" if calls else "All is done."))


class Loop:
    """A loop that runs a call as soon as its arguments are there. ``leaves``: then it reads no more of
    the stream; ``holds``: it keeps the stream, so that nothing closes it."""

    def __init__(self, how: str, *, leaves: bool, holds: bool = False) -> None:
        self.ran, self.how, self.leaves, self.holds = Counter[str](), how, leaves, holds
        self.tools = {
            each.__name__: StructuredTool.from_function(each, description="x")
            for each in (self.read, self.pay, self.warn)
        }
        self.held: list[Any] = []

    def read(self) -> str:
        self.ran["read"] += 1
        return '["mail a", "mail b", "mail c", "mail d"]'

    def pay(self, to: str) -> str:
        self.ran["pay"] += 1
        return "done"

    def warn(self) -> str:
        return "warned"

    def take(self, chunk: Any, so_far: list[Any], results: list[Any]) -> bool:
        """Takes a chunk. Returns True if the loop reads no more."""
        so_far[:] = [so_far[0] + chunk if so_far else chunk]
        for call in so_far[0].tool_calls[len(results) :]:
            if call["name"] in ("read", "warn") or call["args"]:
                how = self.how if call["name"] == "pay" else "invoke"
                results.append(answer(call, how, self.tools[call["name"]]))
        return self.leaves and bool(results)

    def invoke(self, question: str) -> str:
        messages: list[Any] = [HumanMessage(question)]
        while True:
            so_far, results = list[Any](), list[Any]()
            stream = Streamed().stream(messages)
            self.held.extend([stream] if self.holds else [])
            for chunk in stream:
                if self.take(chunk, so_far, results):
                    break
            del stream
            messages += [AIMessage(so_far[0].content, tool_calls=so_far[0].tool_calls), *results]
            if not results:
                return str(so_far[0].content)

    async def ainvoke(self, question: str) -> str:
        messages: list[Any] = [HumanMessage(question)]
        while True:
            so_far, results = list[Any](), list[Any]()
            stream = Streamed().astream(messages)
            self.held.extend([stream] if self.holds else [])
            async for chunk in stream:
                if self.take(chunk, so_far, results):
                    break
            messages += [AIMessage(so_far[0].content, tool_calls=so_far[0].tool_calls), *results]
            if not results:
                return str(so_far[0].content)


def explained(loop: Loop, entry: str, **options: Any) -> Any:
    options = {"source_kinds": ["tools"], **options}
    if entry == "invoke":
        return RuleExplainer(loop.invoke, PAYS, **options).explain("go")
    return asyncio.run(RuleExplainer(loop.ainvoke, PAYS, **options).aexplain("go"))


def loops(how: str) -> Iterator[Loop]:
    yield Loop(how, leaves=False)
    yield Loop(how, leaves=True)
    yield Loop(how, leaves=True, holds=True)


@pytest.mark.parametrize("entry", ["invoke", "ainvoke"])
@pytest.mark.parametrize("kind", range(3), ids=["read whole", "left", "left and held"])
class TestAToolThatRunsDuringTheReply:
    @pytest.mark.spread(fast="each")
    def test_is_refused_where_it_is_a_plain_function(self, kind: int, entry: str) -> None:
        loop = list(loops("function"))[kind]
        with pytest.raises(InvalidInput, match="run 'pay' again"):
            explained(loop, entry)
        assert loop.ran == {"read": 1, "pay": 1}

    @pytest.mark.spread(fast="each")
    @pytest.mark.parametrize("how", ["func", "invoke"])
    def test_is_served_where_it_is_a_tool(self, how: str, kind: int, entry: str) -> None:
        loop = list(loops(how))[kind]
        explanation = explained(loop, entry, safe_tools=["warn"])
        assert {each.sources for each in explanation.rules} == ITEMS
        assert loop.ran == {"read": 1, "pay": 1}

    @pytest.mark.spread(fast="each")
    @pytest.mark.parametrize("how", ["function", "func", "invoke"])
    def test_does_not_run_in_replays_of_the_next_action(self, how: str, kind: int, entry: str) -> None:
        loop = list(loops(how))[kind]
        explanation = explained(loop, entry, replay_of="next_action")
        assert {each.sources for each in explanation.rules} == ITEMS
        assert loop.ran == {"read": 1, "pay": 1}
