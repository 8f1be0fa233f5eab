"""MCP: sessions, and the tools that both frameworks make of a server, gated as they are."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from langchain.agents import create_agent
from langchain_rag_rule_explainer import RuleExplainer as ChainExplainer
from llama_index.core.agent.workflow import FunctionAgent
from llama_index_rag_rule_explainer import RuleExplainer as EngineExplainer

from rag_rule_explainer import NoSourcesCaptured, Store
from rag_rule_explainer.instrumentation.clients import mcp_content
from tests.integrations.known import BAD, TEXTS, blames_b_and_d, ids
from tests.integrations.langchain.zoo.agents import GIVEN, Calling
from tests.integrations.llama_index.models import Telling
from tests.integrations.raw.applications import FRAMEWORKS, GATES, aexplained

pytestmark = [
    pytest.mark.waits,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.asyncio(loop_scope="module"),
]
SERVER = Path(__file__).with_name("server_of_facts.py")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def session() -> AsyncGenerator[Any, None]:
    """A session with a server in a process of its own."""
    # Late: no other test is to wait for this import.
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(command=sys.executable, args=[str(SERVER), json.dumps(TEXTS)])
    ready, over = asyncio.get_running_loop().create_future(), asyncio.Event()

    async def connected() -> None:
        async with stdio_client(server) as streams, ClientSession(*streams) as made:
            await made.initialize()
            ready.set_result(made)
            await over.wait()

    # What is entered in one task is to be left in the same.
    holding = asyncio.create_task(connected())
    await asyncio.wait([ready, holding], return_when=asyncio.FIRST_COMPLETED)
    if holding.done():
        await holding
    yield await ready
    over.set()
    await holding


def of_content(found: Any) -> list[str]:
    texts = [getattr(block, "text", None) or block.resource.text for block in found.content]
    if found.structuredContent is not None:
        assert len(found.structuredContent["result"]) == len(found.content)
    return texts


async def test_a_session_whose_tools_return_facts_in_every_form(session: Any) -> None:
    for framework in FRAMEWORKS:
        call = GATES[framework](session.call_tool)
        for tool, names in {
            "named": list(TEXTS),
            "blocks": list(TEXTS),
            "resources": [f"file:///{name}.txt" for name in TEXTS],
        }.items():
            explanation = await aexplained(
                framework, lambda q, call=call, tool=tool: call(tool, {"query": q}), of_content
            )
            assert sorted(ids(explanation)) == names
            assert [sorted(rule.sources) for rule in explanation.retention_rules] == [names[1::2]]


def of_results(found: Any) -> list[str]:
    told = json.loads(found.content[0].text)
    structured = found.structuredContent
    assert structured in (told, {"result": found.content[0].text})
    results = told["hits"] if "hits" in told else told["results"]
    assert told.get("total", len(results)) == len(results)
    return [each.get("text") or each["content"] for each in results]


async def test_a_tool_whose_only_block_lists_results(session: Any) -> None:
    for framework in FRAMEWORKS:
        call = GATES[framework](session.call_tool)
        for tool in ("typed", "as_json"):
            explanation = await aexplained(
                framework, lambda q, call=call, tool=tool: call(tool, {"query": q}), of_results
            )
            assert blames_b_and_d(explanation)
            assert sorted(ids(explanation)) == list(TEXTS)


async def test_a_function_that_returns_the_call_itself(session: Any) -> None:
    for framework in FRAMEWORKS:
        search = GATES[framework](
            lambda q: session.call_tool("texts", {"query": q}), items_of=mcp_content
        )
        explanation = await aexplained(framework, search, of_content)
        assert explanation.ended
        (rule,) = explanation.retention_rules
        told = {source.text for source in explanation.sources if source.id in rule.sources}
        assert told == {TEXTS["b"], TEXTS["d"]}


async def test_one_text_is_one_source_and_is_missing_as_an_empty_one(session: Any) -> None:
    call, seen = GATES["langchain"](session.call_tool), list[Any]()

    def of_one(found: Any) -> list[str]:
        seen.append(found)
        return [found.structuredContent["result"]]

    explanation = await aexplained("langchain", lambda q: call("whole", {"query": q}), of_one)
    assert len(explanation.sources) == 1
    assert len(explanation.retention_rules) == 1
    assert {found.content[0].text for found in seen} == {"", "\n\n".join(TEXTS.values())}


async def test_what_a_tool_says_that_failed_is_no_source(session: Any) -> None:
    call = GATES["langchain"](session.call_tool)
    with pytest.raises(
        NoSourcesCaptured, match=r"an MCP tool failed \(isError\) and said '.*make the tool"
    ):
        await aexplained(
            "langchain",
            lambda q: call("failing", {"query": q}),
            lambda found: [found.content[0].text],
        )


@pytest.mark.parametrize(
    "name",
    [
        "named",
        "typed",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("resources", "as_json")),
    ],
)
async def test_a_tool_that_langchain_makes_of_the_server(name: str, session: Any) -> None:
    from langchain_mcp_adapters.tools import load_mcp_tools

    tools = {tool.name: tool for tool in await load_mcp_tools(session)}
    gated = GATES["langchain"](tools[name])
    assert (gated.name, gated.description) == (tools[name].name, tools[name].description)
    agent: Any = create_agent(Calling(tool=name), [gated])
    explanation = await ChainExplainer(agent, predicate=BAD).aexplain(GIVEN)
    (rule,) = explanation.retention_rules
    told = {source.text for source in explanation.sources if source.id in rule.sources}
    assert told == {TEXTS["b"], TEXTS["d"]}


async def test_ids_that_langchain_makes_anew_for_each_block_name_nothing(
    session: Any, tmp_path: Path
) -> None:
    from langchain_mcp_adapters.tools import load_mcp_tools

    tools = {tool.name: tool for tool in await load_mcp_tools(session)}
    agent: Any = create_agent(Calling(tool="texts"), [GATES["langchain"](tools["texts"])])
    store = Store(f"{tmp_path}/answers.db", namespace="facts")
    explainer: Any = ChainExplainer(agent, predicate=BAD, store=store)
    first, again = [await explainer.aexplain(GIVEN) for _ in range(2)]
    assert ids(first) == ids(again)
    assert [rule.sources for rule in first.rules] == [rule.sources for rule in again.rules]
    (rule,) = first.retention_rules
    assert {each.text for each in first.sources if each.id in rule.sources} == {TEXTS["b"], TEXTS["d"]}
    # But for the baseline, all answers are those of the first time.
    assert again.counts.replays == 1


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("name", ["named", "typed", pytest.param("as_json", marks=pytest.mark.slow)])
async def test_a_tool_that_llama_index_makes_of_the_server(name: str, session: Any) -> None:
    from llama_index.tools.mcp import McpToolSpec

    tools = {tool.metadata.name: tool for tool in await McpToolSpec(session).to_tool_list_async()}
    gated = GATES["llama_index"](tools[name])
    agent = FunctionAgent(tools=[gated], llm=Telling())
    assert blames_b_and_d(await EngineExplainer(agent, predicate=BAD).aexplain("why?"))
