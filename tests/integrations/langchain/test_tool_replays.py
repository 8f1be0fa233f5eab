"""No tool of an agent runs in a replay, unless it was named safe: calls get what the baseline's got."""

from collections import Counter
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.tools import InjectedState
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import InjectedToolCallId, ToolException, tool
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from typing_extensions import override

from rag_rule_explainer import (
    Explanation,
    InvalidInput,
    ToolCall,
    Verdict,
    calls_tool,
    contains,
    next_call,
    number_of_calls,
)
from tests.integrations.known import blames_b_and_d, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import facts, sent_in

ASKED: Any = {"messages": [("user", "why?")]}
PAYS = calls_tool("pay", to="evil")
Acts = Callable[[set[str], dict[str, str]], list[ToolCall]]


def when_told(shown: set[str], results: dict[str, str]) -> list[ToolCall]:
    """Looks the account up, and pays it where b and d are shown."""
    if "look_up" not in results:
        return [ToolCall("look_up", {"of": "evil"})]
    return [ToolCall("pay", {"to": "evil"})] if {"b", "d"} <= shown and "pay" not in results else []


def paying_others(shown: set[str], results: dict[str, str]) -> list[ToolCall]:
    """Pays another one where b or d is missing."""
    if "pay" in results:
        return []
    return [ToolCall("pay", {"to": "evil" if {"b", "d"} <= shown else "".join(sorted(shown)) or "none"})]


class Agent(BaseChatModel):
    """Searches first; then makes the calls of ``acts``, all in one reply; then says what tools said."""

    acts: Acts

    @property
    @override
    def _llm_type(self) -> str:
        return "agent"

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        results = {str(each.name): str(each.text) for each in messages if isinstance(each, ToolMessage)}
        calls = [ToolCall("search", {"query": "facts"})]
        if "search" in results:
            calls = self.acts(set(sent_in(messages)), results)
        told = [results[name] for name in ("look_up", "pay") if name in results]
        made: Any = [
            {"name": each.name, "args": each.arguments, "id": f"{len(messages)} {place}"}
            for place, each in enumerate(calls)
        ]
        message = AIMessage("" if calls else f"All is done. {told}", tool_calls=made)
        return ChatResult(generations=[ChatGeneration(message=message)])


def tools_of(ran: Counter[str], *, steady: bool = False) -> list[Any]:
    found = Counting(documents=facts("abcd"))

    @tool
    def search(query: str) -> str:
        """Search."""
        return "\n\n".join(each.page_content for each in found.invoke(query))

    @tool
    def look_up(of: str) -> str:
        """Look up; says otherwise each time."""
        ran["look_up"] += 1
        return f"{of} has account {ran['look_up']}"

    @tool
    def pay(to: str) -> str:
        """Pay; says otherwise each time."""
        ran["pay"] += 1
        return f"receipt of {to}" if steady else f"receipt {ran['pay']} of {to}"

    return [search, look_up, pay]


def by_hand(model: BaseChatModel, tools: list[Any]) -> Any:
    """A graph with a node for the model and one for the tools."""

    def think(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    def goes_on(state: MessagesState) -> str:
        last: Any = state["messages"][-1]
        return "tools" if last.tool_calls else END

    graph: Any = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", goes_on, ["tools", END])
    graph.add_edge("tools", "think")
    return graph.compile()


@pytest.mark.parametrize("made_by", [create_agent, by_hand])
class TestTheRecord:
    @pytest.mark.spread(fast=2)
    def test_answers_the_calls_of_replays(self, made_by: Any) -> None:
        ran = Counter[str]()
        agent = made_by(Agent(acts=when_told), tools_of(ran))
        told = contains("account 1") & contains("receipt 1 of evil") & PAYS
        assert blames_b_and_d(RuleExplainer(agent, told).explain(ASKED))
        assert ran == {"look_up": 1, "pay": 1}

    @pytest.mark.spread(fast=2)
    async def test_answers_them_in_async_replays(self, made_by: Any) -> None:
        ran = Counter[str]()
        agent = made_by(Agent(acts=when_told), tools_of(ran))
        told = contains("account 1") & PAYS
        assert blames_b_and_d(await RuleExplainer(agent, told).aexplain(ASKED))
        assert ran == {"look_up": 1, "pay": 1}

    def test_ends_a_replay_at_a_call_that_it_does_not_have(self, made_by: Any) -> None:
        ran = Counter[str]()
        agent = made_by(Agent(acts=paying_others), tools_of(ran))
        explanation = RuleExplainer(agent, number_of_calls(at_most=2)).explain(ASKED)
        assert ran == {"pay": 1}
        new = [each for each in explanation.probes if not {"b", "d"} <= set(each.kept)]
        for probe in new:
            (answer,) = probe.answers
            assert answer.calls is not None
            assert [each.name for each in answer.calls] == ["search", "pay"]
            assert {each.verdict for each in probe.verdicts.values()} == {Verdict.UNKNOWN}
        assert new
        assert "safe_tools=['pay'] lets the tool run" in explanation.unresolved[0].reason


def explained(
    acts: Acts, predicate: Any, *, steady: bool = False, **options: Any
) -> tuple[Explanation, Counter[str]]:
    ran = Counter[str]()
    agent = create_agent(Agent(acts=acts), tools_of(ran, steady=steady))
    return RuleExplainer(agent, predicate, **options).explain(ASKED), ran


class TestNewCalls:
    def test_calls_before_the_end_are_known(self) -> None:
        """That it pays somebody holds wherever it was asked to, whether or not that came to its end."""
        explanation, ran = explained(paying_others, calls_tool("pay"))
        assert retention(explanation) == sets("")
        assert ran == {"pay": 1}

    def test_what_may_yet_come_is_not_known(self) -> None:
        explanation, ran = explained(paying_others, PAYS)
        assert retention(explanation) == sets("bd")
        assert explanation.unresolved
        assert ran == {"pay": 1}

    def test_the_next_action_is_known(self) -> None:
        assert retention(explained(paying_others, next_call("search"))[0]) == sets("")

    def test_a_safe_tool_runs(self) -> None:
        explanation, ran = explained(paying_others, PAYS, safe_tools=["pay"], steady=True)
        assert blames_b_and_d(explanation)
        assert ran["pay"] > 1

    def test_all_tools_run_where_all_are_called_safe(self) -> None:
        explanation, ran = explained(paying_others, PAYS, on_new_tool_call="live", steady=True)
        assert blames_b_and_d(explanation)
        assert ran["pay"] > 1

    def test_a_function_answers(self) -> None:
        calls = list[ToolCall]()

        def answer(call: ToolCall) -> str:
            calls.append(call)
            return "no receipt"

        explanation, ran = explained(paying_others, PAYS, on_new_tool_call=answer)
        assert blames_b_and_d(explanation)
        assert ran == {"pay": 1}
        assert ToolCall("pay", {"to": "abc"}) in calls

    def test_a_condition_about_text_leaves_tools_as_they_were(self) -> None:
        explanation, ran = explained(paying_others, contains("evil"), steady=True)
        assert blames_b_and_d(explanation)
        assert ran["pay"] > 1
        assert any("on_new_tool_call='unknown'" in each for each in explanation.warnings)

    def test_unless_it_is_asked_for(self) -> None:
        explanation, ran = explained(paying_others, contains("evil"), on_new_tool_call="unknown")
        assert retention(explanation) == sets("bd")
        assert ran == {"pay": 1}
        assert not explanation.warnings
        assert all("no tool runs" in each.reason for each in explanation.unresolved)

    def test_a_stub_comes_before_the_record(self) -> None:
        _, ran = explained(paying_others, PAYS, stub_tools={"pay": "nothing"})
        assert ran == {}

    def test_bad_input(self) -> None:
        with pytest.raises(
            InvalidInput, match="give one of 'unknown', 'live', or a function of a ToolCall"
        ):
            explained(paying_others, PAYS, on_new_tool_call="ask")
        with pytest.raises(InvalidInput, match="safe_tools is 'pay'"):
            explained(paying_others, PAYS, safe_tools="pay")


class TestOddTools:
    @staticmethod
    def agent(acts: Acts, *more: Any) -> Any:
        return create_agent(Agent(acts=acts), [*tools_of(Counter())[:1], *more])

    def test_two_calls_of_one_reply(self) -> None:
        def acts(shown: set[str], results: dict[str, str]) -> list[ToolCall]:
            both = [ToolCall("look_up", {"of": "evil"}), ToolCall("pay", {"to": "evil"})]
            return both if {"b", "d"} <= shown and "pay" not in results else []

        explanation, ran = explained(acts, number_of_calls(at_least=3) & contains("receipt 1"))
        assert blames_b_and_d(explanation)
        assert [each.step for each in explanation.baseline.calls or ()] == [1, 2, 2]
        assert ran == {"look_up": 1, "pay": 1}

    def test_a_tool_that_fails(self) -> None:
        ran = Counter[str]()

        @tool
        def pay(to: str) -> str:
            """Pay."""
            ran["pay"] += 1
            raise ToolException(f"the bank of {to} is closed, {ran['pay']}")

        pay.handle_tool_error = True
        predicate = contains("is closed, 1") & PAYS
        assert blames_b_and_d(RuleExplainer(self.agent(when_paid, pay), predicate).explain(ASKED))
        assert ran == {"pay": 1}

    def test_a_tool_that_is_given_the_state_and_returns_a_command(self) -> None:
        ran = Counter[str]()

        @tool
        def pay(
            to: str,
            state: Annotated[Any, InjectedState],
            tool_call_id: Annotated[str, InjectedToolCallId],
        ) -> Any:
            """Pay."""
            ran["pay"] += "messages" in state
            message = ToolMessage(f"receipt {ran['pay']} of {to}", tool_call_id=tool_call_id, name="pay")
            return Command(update={"messages": [message]})

        predicate = contains("receipt 1") & PAYS
        explanation = RuleExplainer(self.agent(when_paid, pay), predicate).explain(ASKED)
        assert blames_b_and_d(explanation)
        assert ToolCall("pay", {"to": "evil"}, 2) in (explanation.baseline.calls or ())
        assert ran == {"pay": 1}

    def test_tools_of_an_agent_within_a_tool(self) -> None:
        ran = Counter[str]()
        inner: Any = create_agent(Agent(acts=when_paid), tools_of(ran))

        @tool
        def delegate(task: str) -> str:
            """Let another agent do it."""
            return inner.invoke({"messages": [("user", task)]})["messages"][-1].text

        class Boss(Agent):
            @override
            def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
                last = messages[-1]
                message = AIMessage(
                    "", tool_calls=[{"name": "delegate", "args": {"task": "go"}, "id": "1"}]
                )
                if isinstance(last, ToolMessage):
                    message = AIMessage(last.text)
                return ChatResult(generations=[ChatGeneration(message=message)])

        boss = create_agent(Boss(acts=when_paid), [delegate])
        explanation = RuleExplainer(boss, PAYS & contains("receipt 1")).explain(ASKED)
        assert blames_b_and_d(explanation)
        assert ran == {"pay": 1}
        names = [each.name for each in explanation.baseline.calls or ()]
        assert names == ["delegate", "search", "pay"]


def when_paid(shown: set[str], results: dict[str, str]) -> list[ToolCall]:
    """Pays where b and d are shown."""
    return [ToolCall("pay", {"to": "evil"})] if {"b", "d"} <= shown and "pay" not in results else []


def test_an_agent_makes_as_many_steps_in_a_replay_as_it_may() -> None:
    """The limit of an agent is its own, not LangChain's default of 25 steps."""

    def acts(shown: set[str], results: dict[str, str]) -> list[ToolCall]:
        number = int(results.get("count", "0"))
        return [ToolCall("count", {"number": number + 1})] if number < 13 else when_paid(shown, results)

    @tool
    def count(number: int) -> str:
        """Count."""
        return str(number)

    tools = [*tools_of(Counter()), count]
    # The newest LangGraph sets a limit of its own, the oldest none.
    agent = create_agent(Agent(acts=acts), tools).with_config({"recursion_limit": 100})
    explanation = RuleExplainer(agent, PAYS).explain(ASKED)
    assert len(explanation.baseline.calls or ()) > 12
    assert blames_b_and_d(explanation)
    assert not explanation.warnings
