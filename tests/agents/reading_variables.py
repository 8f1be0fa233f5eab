"""This module holds agents whose tool reads an environment variable in a way that its code does not show,
and middlewares, or other tools, that set the variable."""

import os
import os.path
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import after_model, before_model, wrap_model_call, wrap_tool_call
from langchain_core.tools import tool

from tests.agents.reading import Omitted, Scripted, cut, policy_for, told
from tests.agents.reading_agents import agent_of, guilty, innocent

MARK = "RAG_RULES_TEST_VARIABLE"
VARIABLES = os.environ
READ = os.getenv


class _Settings:
    """These settings hold the environment, as those of some libraries do."""

    def __init__(self) -> None:
        self.source: Mapping[str, str] = os.environ

    def get(self) -> str:
        return self.source.get(MARK, "")


SETTINGS = _Settings()


def _set(text: str) -> None:
    os.environ["RAG_RULES_TEST_VARIABLE"] = text


@before_model
def _keeping(state: Any, runtime: Any) -> None:
    _set(told(state["messages"]))


def _with(omitted: Omitted, read: Any, middleware: Any = _keeping) -> Any:
    """An agent whose tool says what ``read`` returns."""
    os.environ.pop(MARK, None)

    @tool
    def policy() -> str:
        """Policy."""
        return cut("policy #1", policy_for(read()), omitted)

    return agent_of(omitted, policy, middleware)


@guilty
def variable_of_the_environment_under_another_name(omitted: Omitted) -> Any:
    return _with(omitted, lambda: VARIABLES.get("RAG_RULES_TEST_VARIABLE", ""))


@guilty
def variable_by_getenv_under_another_name(omitted: Omitted) -> Any:
    return _with(omitted, lambda: READ("RAG_RULES_TEST_VARIABLE", ""))


@guilty
def variable_by_an_object_that_holds_the_environment(omitted: Omitted) -> Any:
    return _with(omitted, SETTINGS.get)


@guilty
def variable_in_a_path_that_is_expanded(omitted: Omitted) -> Any:
    return _with(omitted, lambda: os.path.expandvars("$RAG_RULES_TEST_VARIABLE"))


@guilty
def variable_of_the_environment_by_getattr(omitted: Omitted) -> Any:
    return _with(omitted, lambda: getattr(os, "environ")["RAG_RULES_TEST_VARIABLE"])  # noqa: B009 -- this way is tested


@guilty
def variable_that_a_process_reads(omitted: Omitted) -> Any:
    def read() -> str:
        return subprocess.run(["printenv", MARK], capture_output=True, check=False).stdout.decode()

    return _with(omitted, read)


@guilty
def variables_that_are_counted(omitted: Omitted) -> Any:
    @before_model
    def keep(state: Any, runtime: Any) -> None:
        if "4711" in told(state["messages"]):
            _set("found")

    at_first = len({*os.environ} - {MARK})
    return _with(omitted, lambda: "4711" if len(VARIABLES) > at_first else "", keep)


def _read() -> str:
    return os.environ.get(MARK, "")


@guilty
def variable_that_is_set_around_the_model(omitted: Omitted) -> Any:
    @wrap_model_call
    def keep(request: Any, handler: Any) -> Any:
        _set(told(request.messages))
        return handler(request)

    return _with(omitted, _read, keep)


@guilty
def variable_that_is_set_after_the_model(omitted: Omitted) -> Any:
    @after_model
    def keep(state: Any, runtime: Any) -> None:
        _set(told(state["messages"]))

    return _with(omitted, _read, keep)


@guilty
def variable_that_is_set_around_a_tool(omitted: Omitted) -> Any:
    @wrap_tool_call
    def keep(request: Any, handler: Any) -> Any:
        found = handler(request)
        if request.tool_call["name"] == "inbox":
            _set(str(found.content))
        return found

    return _with(omitted, _read, keep)


# The tools below read nothing that depends on a source.


@innocent
def variable_that_a_process_does_not_get(omitted: Omitted) -> Any:
    def read() -> str:
        started = [sys.executable, "-c", "print(4711)"]
        return subprocess.run(started, env={}, capture_output=True, check=True).stdout.decode()

    return _with(omitted, read)


@innocent
def variable_under_another_name_that_stays(omitted: Omitted) -> Any:
    return _with(omitted, lambda: f"4711 {VARIABLES['PATH']}")


@innocent
def variable_that_the_tool_sets_itself(omitted: Omitted) -> Any:
    def read() -> str:
        os.environ["RAG_RULES_TEST_OWN"] = "4711"
        return VARIABLES.get("RAG_RULES_TEST_OWN", "")

    return _with(omitted, read)


@innocent
def variable_that_another_tool_has_set(omitted: Omitted) -> Any:
    os.environ.pop(MARK, None)

    @tool
    def rules() -> str:
        """Rules."""
        _set("account 4711")
        return cut("rules #1", "as ever", omitted)

    @tool
    def policy() -> str:
        """Policy."""
        return cut("policy #1", policy_for(_read()), omitted)

    @tool
    def block() -> str:
        """Block."""
        return cut("block #1", "blocked", omitted)

    return create_agent(Scripted(order=("rules", "policy")), [rules, policy, block])
