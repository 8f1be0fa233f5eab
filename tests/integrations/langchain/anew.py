"""Explains an agent whose checkpointer is filled anew in each process.

Run as a program, with a dict of settings as JSON; prints the counts and the rules as JSON.
"""

import json
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.checkpoint.memory import InMemorySaver

from rag_rule_explainer import Explanation, calls_tool


class Paying(BaseChatModel):
    """Pays what is due."""

    @property
    def _llm_type(self) -> str:
        return "paying"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        return self.bind(tools=[{"name": each.name, "about": each.description} for each in tools])

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        asked = max(n for n, each in enumerate(messages) if isinstance(each, HumanMessage))
        told = " ".join(str(each.text) for each in messages)
        results = sum(isinstance(each, ToolMessage) for each in messages[asked:])
        names = ["read_inbox", "pay"] if "due" in told else ["read_inbox"]
        calls = [{"name": each, "args": {}, "id": each} for each in names[results : results + 1]]
        reply = AIMessage("" if calls else "Done.", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=reply)])


class Dying(Paying):
    """Kills its process after ``left`` requests."""

    left: list[int]

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        if self.left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left[0] -= 1
        return super()._generate(messages)


def explained(store: str, **given: Any) -> Explanation:
    """``given``: ``earlier``, ``thread`` and ``about``, what is remembered, where, and the description of
    the tool; ``dies``: the number of requests before the process kills itself."""

    def read_inbox() -> list[str]:
        return ["The lunch is late.", "The bill is due."]

    def pay() -> str:
        return "Paid."

    about = given.get("about", "Reads mails.")
    tools = [StructuredTool.from_function(each, description=about) for each in (read_inbox, pay)]
    model = Dying(left=[given["dies"]]) if "dies" in given else Paying()
    agent = create_agent(model, tools, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": given.get("thread", "1")}}
    earlier = [HumanMessage("Who was it?"), AIMessage(given.get("earlier", "It was Ann."))]
    agent.update_state(config, {"messages": earlier}, as_node="model")
    explainer = RuleExplainer(
        agent,
        calls_tool("pay"),
        source_kinds=["tools", "memory"],
        miner="exact",
        store=store,
        concurrency=1,
    )
    return explainer.explain({"messages": [HumanMessage("What is new?")]}, config)


def told(**given: Any) -> dict[str, Any]:
    """What is paid and taken from the store, and the rules."""
    explanation = explained(**given)
    counts, rules = explanation.counts, sorted(map(str, explanation.rules))
    return {"paid": counts.replays, "stored": counts.stored, "rules": rules}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(told(**json.loads(sys.argv[1]))))
