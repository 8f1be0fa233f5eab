"""This module makes agents of LangGraph with a tool ``policy``."""

from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentState
from langchain_core.tools import tool

from tests.agents.reading import MAILS, Omitted, Scripted, cut

GUILTY: list[Callable[[Omitted], Any]] = []
INNOCENT: list[Callable[[Omitted], Any]] = []
SEEN: list[str] = []


def guilty(make: Callable[[Omitted], Any]) -> Callable[[Omitted], Any]:
    GUILTY.append(make)
    return make


def innocent(make: Callable[[Omitted], Any]) -> Callable[[Omitted], Any]:
    INNOCENT.append(make)
    return make


class WithUser(AgentState[Any]):
    user_id: str
    risk: str


def agent_of(
    omitted: Omitted, policy: Any, *middleware: Any, more: Any = (), model: Any = None, **options: Any
) -> Any:
    @tool
    def inbox() -> list[str]:
        """Read."""
        return cut("inbox #1", MAILS, omitted)

    @tool
    def block() -> str:
        """Block."""
        return cut("block #1", "blocked", omitted)

    model = model or Scripted(noting=bool(more))
    return create_agent(model, [inbox, policy, block, *more], middleware=list(middleware), **options)


def asking(agent: Any, **given: Any) -> Callable[[Any], Any]:
    return lambda question: agent.invoke({**question, **given})
