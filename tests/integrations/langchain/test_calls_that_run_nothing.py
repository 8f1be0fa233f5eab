"""Calls that LangChain itself answers, so that nothing runs for them: they are no tools that ran."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    LLMToolEmulator,
    ToolCallLimitMiddleware,
    ToolRetryMiddleware,
    wrap_tool_call,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from rag_rule_explainer import InvalidInput, calls_tool
from tests.agents.zoo.of_langchain import REPORTS, Report, Scripted, asked, tools_of
from tests.agents.zoo.scripts import ONE_BY_ONE, Script, Step
from tests.agents.zoo.shapes import INBOX, functions
from tests.integrations.known import omission, retention

PAYS = calls_tool("pay", to="evil")


def agent(ran: list[str], script: Script = ONE_BY_ONE, **options: Any) -> Any:
    return create_agent(Scripted(script=script), tools_of(ran), **options)


def emulated(ran: list[str]) -> Any:
    emulator = LLMToolEmulator(tools=["pay"], model=Scripted(script=Script(())))
    return agent(ran, middleware=[emulator])


def limited(ran: list[str]) -> Any:
    try:
        limit: Any = ToolCallLimitMiddleware(tool_name="pay", run_limit=0, exit_behavior="continue")
    except ValueError:
        pytest.skip("older releases of LangChain end the run at the limit")
    return agent(ran, middleware=[limit])


def in_a_form(ran: list[str]) -> Any:
    form = ToolStrategy(Report, tool_message_content="Thank you.")
    return agent(ran, REPORTS, response_format=form)


def of_an_unknown_tool(ran: list[str]) -> Any:
    *known, _ = tools_of(ran)
    return create_agent(Scripted(script=ONE_BY_ONE), known)


def rejected(ran: list[str]) -> Any:
    human = HumanInTheLoopMiddleware(interrupt_on={"pay": True})
    made = agent(ran, middleware=[human], checkpointer=InMemorySaver())
    no = Command(resume={"decisions": [{"type": "reject", "message": "Not this one."}]})
    numbers = iter(range(99))

    def ask(given: Any) -> Any:
        config: Any = {"configurable": {"thread_id": str(next(numbers))}}
        output = made.invoke(given, config)
        return made.invoke(no, config) if "__interrupt__" in output else output

    return RunnableLambda(ask)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", [emulated, limited, in_a_form, of_an_unknown_tool, rejected])
def test_what_langchain_answers_itself_is_not_refused(shape: Any) -> None:
    ran = list[str]()
    explainer = RuleExplainer(shape(ran), PAYS, source_kinds=["tools"], miner="exact")
    explanation = explainer.explain(asked())
    rules = (retention(explanation), omission(explanation))
    assert rules == INBOX.rules(ONE_BY_ONE, "pay", "whole_run")
    assert max(Counter(ran).values()) == 1


def instead_of_pay(ran: list[str], says: Callable[[Any, str], ToolMessage]) -> Any:
    """A middleware of the user's, which runs a function in place of the tool. ``says``: makes the
    message, of the call and of what the function returned."""

    @wrap_tool_call
    def instead(request: Any, handler: Any) -> Any:
        call = request.tool_call
        if call["name"] != "pay":
            return handler(request)
        return says(call, functions(ran)["pay"](**call["args"]))

    return instead


def short_cut(ran: list[str]) -> Any:
    """The result of the function is the tool's."""
    instead = instead_of_pay(ran, lambda call, result: ToolMessage(result, tool_call_id=call["id"]))
    return agent(ran, middleware=[instead])


def failing(ran: list[str]) -> Any:
    """A middleware runs the function itself and fails; another one makes a message of the error."""

    def fails(call: Any, result: str) -> ToolMessage:
        raise ValueError("It broke.")

    retry = ToolRetryMiddleware(max_retries=0, on_failure="continue")
    return agent(ran, middleware=[retry, instead_of_pay(ran, fails)])


def quoting(ran: list[str]) -> Any:
    """The user's own words are LangChain's."""

    def quotes(call: Any, result: str) -> ToolMessage:
        said = "Error: pay is not a valid tool, try one of [calendar]."
        return ToolMessage(said, tool_call_id=call["id"], status="error")

    return agent(ran, middleware=[instead_of_pay(ran, quotes)])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", [short_cut, failing, quoting])
def test_what_the_applications_own_middleware_runs_is_refused(shape: Any) -> None:
    ran = list[str]()
    with pytest.raises(InvalidInput, match="run 'pay' again"):
        RuleExplainer(shape(ran), PAYS, source_kinds=["tools"]).explain(asked())
    assert Counter(ran)["pay"] == 1


def test_a_structured_answer_by_a_call_is_no_tool() -> None:
    """``with_structured_output`` makes the model call a function that there is not."""
    ran, form = list[str](), Scripted(script=Script((Step(REPORTS.steps[-1].calls),)))
    made = agent(ran)

    def run(given: Any) -> Any:
        output = made.invoke(given)
        return {**output, "report": form.bind(**{FORM: FORMAT}).invoke("Report.").tool_calls[0]["args"]}

    explainer = RuleExplainer(RunnableLambda(run), PAYS, source_kinds=["tools"], miner="exact")
    explanation = explainer.explain(asked())
    assert retention(explanation) == INBOX.rules(ONE_BY_ONE, "pay", "whole_run")[0]
    assert not any("nothing shows" in each for each in explanation.notes)


FORM = "ls_structured_output_format"
FORMAT = {"kwargs": {"method": "function_calling"}, "schema": Report}
