"""Tools of agents whose sources are turns or instructions, or that are called with a text alone."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool, Tool
from langchain_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from rag_rule_explainer import InvalidInput, calls_in_order, calls_tool, contains
from tests.integrations.known import omission, retention
from tests.integrations.langchain.models import Telling

PAY = "Pay all that is asked of you at once."
TURNS = [
    ("user", "What is the rule here?"),
    ("assistant", PAY),
    ("user", "Who?"),
    ("assistant", "Ann from here."),
]
SYSTEM = f"# Tone\nBe kind to all people here.\n# Money\n{PAY}\n"
MAIL = "The weather zz9q is fine in the north of the country."


class Payer(BaseChatModel):
    """Pays where it is told to, after it has looked; quotes what it has seen."""

    @property
    @override
    def _llm_type(self) -> str:
        return "payer"

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        text = "\n".join(str(each.text) for each in messages)
        told = [each for each in messages if isinstance(each, ToolMessage)]
        step = 0 if not told else 1 if len(told) == 1 else 2
        pays = step == 1 and (PAY in text or "zz9q" in text)
        name = "look" if step == 0 else "pay" if pays else ""
        said = f"It says: {MAIL}" if pays and MAIL in text else ""
        return self._saying(
            AIMessage(said if name else "All of it is paid.", tool_calls=calling(name, step))
        )

    def _saying(self, message: AIMessage) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=message)])


def calling(name: str, step: int) -> list[Any]:
    return [{"name": name, "args": {}, "id": f"c{step}"}] if name else []


def tools(ran: list[str], found: str) -> list[BaseTool]:
    def look() -> str:
        """Looks."""
        ran.append("look")
        return found

    def pay() -> str:
        """Pays."""
        ran.append("pay")
        return "A receipt was printed for the whole sum."

    return [StructuredTool.from_function(look), StructuredTool.from_function(pay)]


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("kinds", [["turns"], ["instructions"], ["documents", "turns"]])
@pytest.mark.parametrize("condition", [contains("is paid"), calls_tool("pay")], ids=str)
def test_no_tool_runs_again_whatever_is_a_source(kinds: Any, condition: Any) -> None:
    ran = list[str]()
    system = SYSTEM if kinds == ["instructions"] else None
    agent = create_agent(Payer(), tools(ran, "Nothing of note was found."), system_prompt=system)
    asked: Any = {"messages": [*([] if system else TURNS), ("user", "Pay my bill.")]}
    explanation = RuleExplainer(agent, condition, source_kinds=kinds).explain(asked)
    assert ran == ["look", "pay"]
    assert explanation.counts.replays > 2
    if condition == calls_tool("pay"):
        blamed = {frozenset({"instructions: Money" if system else "turn 1"})}
        assert retention(explanation) == omission(explanation) == blamed


@pytest.mark.parametrize("made", [Tool, StructuredTool.from_function])
@pytest.mark.parametrize("awaited", [False, True])
def test_a_tool_that_is_called_with_a_text(made: Any, awaited: bool) -> None:
    ran = list[str]()

    def search(text: str) -> list[str]:
        """Searches."""
        ran.append(text)
        return ["Lunch is at noon tomorrow for all.", MAIL]

    tool = made(name="search", func=search, description="Searches.")
    model = Telling(says=lambda messages: "bad news" if "zz9q" in str(messages) else "good news")

    def application(asked: str) -> str:
        return model.invoke(f"{tool.invoke('today')}\n{asked}").text

    async def waiting(asked: str) -> str:
        return (await model.ainvoke(f"{await tool.ainvoke('today')}\n{asked}")).text

    chain = RunnableLambda(waiting if awaited else application)
    explainer = RuleExplainer(chain, contains("bad"), source_kinds=["tools"])
    explanation = explainer.explain("What is new?")
    assert retention(explanation) == omission(explanation) == {frozenset({"search #1, item 2"})}
    assert ran == ["today"]


def test_nothing_is_proved_where_a_recorded_reply_repeats_an_omitted_source() -> None:
    """It is in the request whose reply is explained, whatever is omitted."""
    ran = list[str]()
    agent = create_agent(Payer(), tools(ran, MAIL))
    asked: Any = {"messages": [("user", "What is new?")]}
    options: Any = {"source_kinds": ["tools"], "replay_of": "next_action"}
    named = 'replies of the model before the explained action repeat "look #1"'
    quoted = RuleExplainer(agent, contains("is paid"), **options).explain(asked)
    assert named in quoted.warnings[0]
    assert quoted.rules
    assert not any(each.proved for each in quoted.rules)
    calls = RuleExplainer(agent, calls_tool("pay"), **options).explain(asked)
    assert not any(named in each for each in (*calls.notes, *calls.warnings))
    assert all(each.proved for each in calls.rules)


class Mixing(Payer):
    """Sends and pays in one reply, with arguments for the payment that are no JSON."""

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        if any(isinstance(each, ToolMessage) for each in messages):
            return self._saying(AIMessage("All of it is paid."))
        broken: Any = {
            "type": "invalid_tool_call",
            "name": "pay",
            "args": "{",
            "id": "p",
            "error": "no JSON",
        }
        return self._saying(AIMessage("", tool_calls=calling("look", 0), invalid_tool_calls=[broken]))


@pytest.mark.parametrize("order", [("look", "pay"), ("pay", "look")])
def test_the_order_of_calls_that_langchain_lists_apart_is_not_known(order: tuple[str, str]) -> None:
    agent = create_agent(Mixing(), tools([], "Nothing of note was found."), system_prompt=SYSTEM)
    asked: Any = {"messages": [("user", "Pay my bill.")]}
    options: Any = {"source_kinds": ["instructions"], "unexecuted_tools": ["pay"]}
    explainer = RuleExplainer(agent, calls_in_order(*order), **options)
    assert not explainer.explain(asked).rules
    one_reply = RuleExplainer(agent, calls_in_order(*order), replay_of="next_action", **options)
    with pytest.raises(InvalidInput, match="of one it cannot be told, as it has arguments that are no"):
        one_reply.explain(asked)
