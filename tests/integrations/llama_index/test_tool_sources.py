"""Results of tools as sources of LlamaIndex's agents: known rules, and no tool runs again."""

import json
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import TextBlock
from llama_index.core.tools import FunctionTool, ToolOutput
from llama_index_rag_rule_explainer import RuleExplainer
from llama_index_rag_rule_explainer.results import result_content

from rag_rule_explainer import Explanation, calls_tool
from rag_rule_explainer.instrumentation.source_kinds.result_fields import fields_left
from rag_rule_explainer.instrumentation.source_kinds.result_parts import parts_of_result
from tests.integrations.known import TEXTS, omission, retention, shown_in
from tests.integrations.llama_index.models import Telling
from tests.integrations.llama_index.test_wire import llm_at
from tests.support.completions import Completion
from tests.support.messages import Body
from tests.support.openai_server import OpenAIServer

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]


def called(name: str, identity: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": identity, "type": "function", "function": function}


READS = called("search_inbox", "1", of="today"), called("calendar", "2")


def gullible(body: Body) -> Completion:
    """Reads the inbox, then the calendar; pays where it is shown b and d."""
    results = [str(each.get("content")) for each in body["messages"] if each["role"] == "tool"]
    if len(results) < 2:
        return Completion(None, "tool_calls", (READS[len(results)],))
    if {"b", "d"} <= set(shown_in("\n".join(results))) and len(results) < 3:
        return Completion(None, "tool_calls", (called("pay", "3", to="evil"),))
    return Completion("All of it is done.")


def writing(prompt: str) -> str:
    """Does the same, and writes its calls as text."""
    told = prompt.rpartition("what is new?")[2]
    answer = "Thought: I can answer without using any more tools.\nAnswer: All of it is done."
    if "Observation" not in told:
        return 'Thought: I look.\nAction: search_inbox\nAction Input: {"of": "today"}'
    if told.count("Observation") == 1:
        return "Thought: I look.\nAction: calendar\nAction Input: {}"
    if {"b", "d"} <= set(shown_in(told)) and "receipt" not in told:
        return 'Thought: I pay.\nAction: pay\nAction Input: {"to": "evil"}'
    return answer


def tools_of(ran: list[str]) -> list[Any]:
    def search_inbox(of: str) -> list[Any]:
        """Searches."""
        ran.append("search_inbox")
        return [{"from": "a@b.de", "body": TEXTS[each]} for each in "abc"]

    def calendar() -> str:
        """Looks into the calendar."""
        ran.append("calendar")
        return TEXTS["d"]

    def pay(to: str) -> str:
        """Pays."""
        ran.append("pay")
        return f"Here is the receipt of the sum that was paid to {to} today."

    return [FunctionTool.from_defaults(each) for each in (search_inbox, calendar, pay)]


def is_right(explanation: Explanation, ran: list[str]) -> None:
    told = {"search_inbox #1, item 2", "calendar #1"}
    assert retention(explanation) == {frozenset(told)}
    assert omission(explanation) == {frozenset({each}) for each in told}
    assert explanation.ended
    assert sorted(ran) == ["calendar", "pay", "search_inbox"]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("is_workflow", [False, True])
def test_of_function_calling_agents(is_workflow: bool) -> None:
    ran = list[str]()
    with OpenAIServer(gullible) as server, llm_at(server.base_url, keep_alive=False) as llm:
        agent: Any = FunctionAgent(name="one", description="One.", tools=tools_of(ran), llm=llm)
        if is_workflow:
            agent = AgentWorkflow(agents=[agent], root_agent="one")
        explainer = RuleExplainer(agent, calls_tool("pay"), source_kinds=["tools"])
        is_right(explainer.explain("what is new?"), ran)


async def test_of_an_agent_that_writes_its_calls_as_text() -> None:
    agent = ReActAgent(tools=tools_of(ran := []), llm=Telling(says=writing))
    explainer = RuleExplainer(agent, calls_tool("pay"), source_kinds=["tools"], omit="blank")
    is_right(await explainer.aexplain("what is new?"), ran)


def output(raw: Any, *texts: str) -> ToolOutput:
    return ToolOutput("t", blocks=[TextBlock(text=each) for each in texts], raw_input={}, raw_output=raw)


@pytest.mark.parametrize(
    ("result", "content", "changed", "shown"),
    [
        (output([1, "x"], "[1, 'x']"), [1, "x"], [1], "[1]"),
        (output("said", "said"), "said", "", ""),
        (output({"a": 1}, "written otherwise"), "written otherwise", "less", "less"),
        (output(None, "one", "two"), ["one", "two"], ["two"], "two"),
        ("plain", "plain", "", ""),
    ],
)
def test_what_a_model_is_shown(result: Any, content: Any, changed: Any, shown: str) -> None:
    found = result_content(result)
    assert found.content == content
    assert found.put(found.content) is result
    assert str(found.put(changed)) == shown


def test_an_object_beside_the_text_loses_the_omitted_items_or_is_doubted() -> None:
    mails = [TEXTS[each] for each in "abc"]
    for raw, left in (({"found": mails}, {"found": [mails[0], mails[2]]}), ({"urgent": True}, None)):
        whole = result_content(output(raw, json.dumps(mails)))
        parts = parts_of_result(whole.content)
        assert parts is not None
        found = fields_left(whole.fields, parts, [1], "remove")
        assert bool(found.doubtful) is (left is None)
        changed = whole.with_fields(whole.put(parts.without([1], "remove")), found.fields)
        assert changed.raw_output == left
        assert json.loads(str(changed)) == [mails[0], mails[2]]
