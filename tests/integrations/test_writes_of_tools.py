"""No replay runs a tool, so what a tool writes besides its result is missing there. The error names the
tool, and not a memory that the application would have."""

import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import dynamic_prompt
from langchain.tools import ToolRuntime
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.store.memory import InMemoryStore
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.workflow import Context
from llama_index_rag_rule_explainer import RuleExplainer as OfLlamaIndex
from plain_rag_rule_explainer import RuleExplainer as OfPlain
from plain_rag_rule_explainer import offline_client
from plain_rag_rule_explainer import tool as marked
from typing_extensions import override

from rag_rule_explainer import StateShared, UntrueReplay, calls_tool, contains
from tests.integrations.llama_index.models import Telling

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]
MAILS = ["Lunch is at noon.", "Please pay our bill."]
LACKS = (
    "differs between the baseline and a replay.*the baseline ran '{0}'.*which no replay runs.*\\['{0}'\\]"
)


class Reading(BaseChatModel):
    """Reads the inbox, and pays where its prompt shows a bill."""

    @property
    @override
    def _llm_type(self) -> str:
        return "reading"

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        done = [each.name for each in messages if isinstance(each, ToolMessage)]
        pays = "our bill" in messages[0].text and "pay" not in done
        name = "inbox" if "inbox" not in done else "pay" if pays else ""
        made: Any = [{"name": name, "args": {}, "id": str(len(done))}] if name else []
        message = AIMessage("" if made else "All of it is done.", tool_calls=made)
        return ChatResult(generations=[ChatGeneration(message=message)])


@pytest.mark.parametrize("way", ["whole_run", "next_action"])
def test_a_store_that_a_tool_writes_and_the_prompt_reads(way: Any) -> None:
    @tool
    def inbox(runtime: ToolRuntime[None, Any]) -> str:
        """Read the inbox."""
        store: Any = runtime.store
        store.put(("mails",), "all", {"mails": MAILS})
        return "The mails are in the memory now."

    @tool
    def pay() -> str:
        """Pay."""
        return "It is paid."

    @dynamic_prompt
    def prompt(request: Any) -> str:
        item = request.runtime.store.get(("mails",), "all")
        return "Memory: " + ("\n".join(item.value["mails"]) if item else "nothing")

    agent = create_agent(Reading(), [inbox, pay], middleware=[prompt], store=InMemoryStore())
    explainer = RuleExplainer(agent, calls_tool("pay"), source_kinds=["tools"], replay_of=way)
    given: Any = {"messages": [("user", "What is new?")]}
    with pytest.raises(UntrueReplay, match=LACKS.format("inbox")) as caught:
        explainer.explain(given)
    assert not isinstance(caught.value, StateShared)


def test_a_context_that_a_tool_writes_and_other_code_reads() -> None:
    async def add_to_cart(ctx: Context, input: str) -> str:  # noqa: A002 -- the model of these tests calls it so
        """Add to the cart."""
        await ctx.store.set("cart", ["a lamp"])
        return "It was added."

    async def application(question: str) -> str:
        agent: Any = FunctionAgent(tools=[add_to_cart], llm=Telling(says=lambda _: "good news"))
        context = Context(agent)
        await agent.run(user_msg=question, ctx=context)
        cart = await context.store.get("cart", default=[])
        return str(await Telling(says=lambda _: "bad news of it").acomplete(f"The cart holds {cart}"))

    explainer = OfLlamaIndex(application, contains("bad"), source_kinds=["tools"])
    with pytest.raises(UntrueReplay, match=LACKS.format("add_to_cart")):
        explainer.explain("Buy a lamp.")


class Browsing:
    """Its tools are methods, so that a call of a replay is made on another object."""

    def __init__(self) -> None:
        self.client = offline_client(_says)

    @marked
    def read_page(self, url: str) -> list[str]:
        return MAILS

    def answer(self, question: str) -> str:
        messages: list[Any] = [{"role": "user", "content": question}]
        while True:
            reply = self.client.chat.completions.create(model="m", messages=messages).choices[0].message
            if not reply.tool_calls:
                return reply.content or ""
            messages.append(reply.model_dump(exclude_none=True))
            said = json.dumps(self.read_page(url="x"))
            messages.append({"role": "tool", "tool_call_id": "1", "content": said})


def _says(body: Any) -> Any:
    told = str([each["content"] for each in body["messages"] if each["role"] == "tool"])
    if "our bill" in told:
        return "There is a bill."
    function = {"name": "read_page", "arguments": json.dumps({"url": "x"})}
    return {"tool_calls": [{"id": "1", "type": "function", "function": function}]}


def test_a_replay_that_was_ended_early_is_the_reason() -> None:
    explainer = OfPlain(
        lambda question: Browsing().answer(question), contains("bill"), source_kinds=["tools"]
    )
    explanation = explainer.explain("What is new?")
    first = explanation.warnings[0]
    assert "the replay on all sources failed" in first
    assert "read_page(" in first
    assert "check_repeatable=False" not in first


def test_a_next_action_that_a_replay_does_not_reach() -> None:
    explainer = OfPlain(
        lambda question: Browsing().answer(question),
        contains("bill"),
        source_kinds=["tools"],
        replay_of="next_action",
    )
    with pytest.raises(UntrueReplay, match=r"was not sent in a replay on all sources.*read_page\("):
        explainer.explain("What is new?")
