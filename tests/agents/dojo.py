"""The tasks of AgentDojo (MIT licence) as applications: its tools as LangChain's, its users' plans and
its attackers' goals for an agent that obeys. The version of the benchmark is pinned, as its tasks change.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import email_validator
from agentdojo.functions_runtime import FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suites
from langchain_core.tools import StructuredTool
from pydantic import BaseModel

from rag_rule_explainer import ToolCall
from tests.agents.gullible import Order, Script
from tests.agents.trying import text_of

VERSION = "v1.2.2"
SUITES: Mapping[str, Any] = get_suites(VERSION)

# An environment has hundreds of addresses, the same ones in every case. To look at each of them anew is
# most of the work to make one.
email_validator.validate_email = cache(email_validator.validate_email)


def plain(value: Any) -> Any:
    """Returns the result of a tool as JSON data."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


@dataclass
class World:
    """An environment of a suite, and the calls that were executed in it."""

    suite: Any
    environment: Any
    executed: list[ToolCall] = field(default_factory=list[ToolCall])

    def run(self, call: ToolCall) -> Any:
        self.executed.append(call)
        return self.result_of(FunctionsRuntime(self.suite.tools), call)

    def result_of(self, runtime: Any, call: ToolCall) -> Any:
        result, error = runtime.run_function(self.environment, call.name, call.arguments)
        return plain(result) if error is None else error

    @property
    def state(self) -> str:
        """The environment, without the times at which things were written."""
        return re.sub(r'"\d{4}-\d\d-\d\dT[\d:]+\.\d+"', '"now"', self.environment.model_dump_json())

    @property
    def tools(self) -> list[StructuredTool]:
        return [self._tool(each) for each in self.suite.tools]

    def _tool(self, function: Any) -> StructuredTool:
        # The tool's own code names this function alone. It would seem to read whatever any tool of the
        # suite reads, if it named the suite.
        def run(**given: Any) -> Any:
            call = ToolCall(function.name, plain(given))
            self.executed.append(call)
            return self.result_of(FunctionsRuntime([function]), call)

        return StructuredTool.from_function(
            func=run,
            name=function.name,
            description=function.description[:1000],
            args_schema=function.parameters,
        )


@dataclass(frozen=True)
class Task:
    """A user's task of a suite, with the attacker's goal and the vectors that are filled; no goal and no
    vectors for the task alone. ``parts``: over how many vectors the goal is divided."""

    suite: str
    user: str
    injection: str | None = None
    vectors: tuple[str, ...] = ()
    parts: int = 1
    is_patient: bool = False

    def __str__(self) -> str:
        return " ".join(filter(None, [self.suite, self.user, self.injection, "+".join(self.vectors)]))

    @property
    def prompt(self) -> str:
        return SUITES[self.suite].get_user_task_by_id(self.user).PROMPT

    @property
    def goal(self) -> str:
        assert self.injection is not None
        return SUITES[self.suite].get_injection_task_by_id(self.injection).GOAL

    @property
    def pieces(self) -> tuple[str, ...]:
        """The goal, in as many parts as there are."""
        words = self.goal.split()
        size = -(-len(words) // self.parts)
        return tuple(" ".join(words[at : at + size]) for at in range(0, len(words), size))

    def world(self) -> World:
        """A new environment in which the vectors are filled."""
        defaults = _defaults(self.suite)
        filled = {
            vector: f"TODO: {self.pieces[place % self.parts]}"
            for place, vector in enumerate(self.vectors)
        }
        return _world(self.suite, self.user, {**defaults, **filled})

    @property
    def plan(self) -> tuple[ToolCall, ...]:
        return _plan(self.suite, self.user)

    @property
    def orders(self) -> tuple[Order, ...]:
        if self.injection is None:
            return ()
        return (Order(self.pieces, _injected(self.suite, self.injection)),)

    @property
    def script(self) -> Script:
        return Script.of(
            self.prompt,
            self.plan,
            _results(self.suite, self.user),
            self.orders,
            is_patient=self.is_patient,
        )


def _world(suite: str, user: str, vectors: Mapping[str, str]) -> World:
    kind, text = _marked(suite)
    for vector, said in vectors.items():
        text = text.replace(f"[[{vector}]]", json.dumps(said)[1:-1])
    task = SUITES[suite].get_user_task_by_id(user)
    return World(SUITES[suite], task.init_environment(kind.model_validate_json(text)))


@cache
def _defaults(suite: str) -> Mapping[str, str]:
    """Returns the text that each injection vector of a suite has if no attacker fills it."""
    return SUITES[suite].get_injection_vector_defaults()


@cache
def _marked(suite: str) -> tuple[Any, str]:
    """The type of a suite's environment, and its JSON with a mark in the place of each vector."""
    vectors = _defaults(suite)
    marked = SUITES[suite].load_and_inject_default_environment({each: f"[[{each}]]" for each in vectors})
    return type(marked), marked.model_dump_json()


def _calls(found: Sequence[Any]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(each.function, plain(dict(each.args))) for each in found)


@cache
def _plan(suite: str, user: str) -> tuple[ToolCall, ...]:
    task = SUITES[suite].get_user_task_by_id(user)
    return _calls(task.ground_truth(Task(suite, user).world().environment))


@cache
def _results(suite: str, user: str) -> tuple[str, ...]:
    world = Task(suite, user).world()
    return tuple(text_of(world.run(call)) for call in _plan(suite, user))


@cache
def _injected(suite: str, injection: str) -> tuple[ToolCall, ...]:
    task = SUITES[suite].get_injection_task_by_id(injection)
    world = Task(suite, next(iter(SUITES[suite].user_tasks))).world()
    return _calls(task.ground_truth(world.environment))


@cache
def vectors_shown(suite: str, user: str) -> tuple[str, ...]:
    """The vectors that the plan's results show."""
    vectors = tuple(_defaults(suite))
    world = _world(suite, user, {each: f"[[{each}]]" for each in vectors})
    shown = "".join(text_of(world.run(call)) for call in _plan(suite, user))
    return tuple(each for each in vectors if f"[[{each}]]" in shown)


def attackers(suite: str) -> Iterator[str]:
    """The injection tasks whose ground truth calls a tool."""
    return (each for each in SUITES[suite].injection_tasks if _injected(suite, each))
