"""This module holds agents with a tool that changes something, and one whose code comes to it by another
way than its name: by another variable, by a function that gets or returns it, or out of a collection."""

import json
import queue
from collections.abc import Callable
from contextvars import ContextVar
from operator import methodcaller
from typing import Any

import numpy as np
from langchain.agents import create_agent
from langchain.agents.middleware import dynamic_prompt
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from pydantic import BaseModel, computed_field, field_serializer

from tests.agents.reading import Omitted
from tests.agents.reading_agents import guilty, innocent
from tests.agents.reading_notes import NOTE, agent_with_notes


class Clerk(BaseChatModel):
    """A ``Clerk`` calls ``limit`` once if it has that tool, and then says all that it was told."""

    has_tool: bool = False

    @property
    def _llm_type(self) -> str:
        return "clerk"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        asks = self.has_tool and not any(isinstance(each, ToolMessage) for each in messages)
        calls: list[Any] = [{"name": "limit", "args": {}, "id": "c1"}] if asks else []
        said = "" if asks else "\n".join(str(each.content) for each in messages)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(said, tool_calls=calls))])


class Job(BaseModel):
    n: int = 0

    def view(self) -> dict[str, Any]:
        return self.model_dump()


class Row:
    def __init__(self) -> None:
        self.n = 0

    def as_json(self) -> str:
        return json.dumps(self.__dict__)


class Desk:
    def __init__(self) -> None:
        self.job = Job()

    def current(self) -> Job:
        return self.job


def printed(thing: BaseModel) -> str:
    return passed_on(thing)


def passed_on(thing: BaseModel) -> str:
    return thing.model_dump_json()


def with_count(omitted: Omitted, thing: Any, read: Callable[[], Any]) -> Any:
    """Returns an agent with a tool that counts in an attribute of a thing."""

    def write(_: str) -> None:
        thing.n = 1

    return agent_with_notes(omitted, write, lambda: NOTE if "1" in str(read()) else "")


@guilty
def by_another_variable(omitted: Omitted) -> Any:
    job = Job()

    def read() -> Any:
        same = job
        return same.model_dump()

    return with_count(omitted, job, read)


@guilty
def by_its_attributes(omitted: Omitted) -> Any:
    row = Row()
    return with_count(omitted, row, row.as_json)


@guilty
def by_a_method_in_a_variable(omitted: Omitted) -> Any:
    job = Job()
    view = job.view
    return with_count(omitted, job, lambda: view())


@guilty
def by_a_function_that_gets_it(omitted: Omitted) -> Any:
    desk = Desk()
    return with_count(omitted, desk.job, lambda: printed(desk.job))


@guilty
def by_a_function_that_returns_it(omitted: Omitted) -> Any:
    desk = Desk()
    return with_count(omitted, desk.job, lambda: desk.current().model_dump())


@guilty
def by_a_function_in_a_dict(omitted: Omitted) -> Any:
    job = Job()
    actions = {"view": lambda: job.model_dump()}
    return with_count(omitted, job, lambda: actions["view"]())


@guilty
def by_an_attribute_of_a_function(omitted: Omitted) -> Any:
    def counted() -> None: ...

    counted.n = 0  # pyright: ignore[reportFunctionMemberAccess] -- functions have such attributes
    return with_count(omitted, counted, lambda: counted.n)  # pyright: ignore[reportFunctionMemberAccess] -- as above


def with_limit(omitted: Omitted, read_with: Callable[[dict[str, int]], Callable[[], bool]]) -> Any:
    """Returns an agent with a tool that sets a limit in a dict. ``read_with``: makes a function that
    returns True iff the limit is set."""
    limits = {"budget": 0}
    read = read_with(limits)
    return agent_with_notes(
        omitted, lambda _: limits.update({"budget": 1}), lambda: NOTE if read() else ""
    )


@guilty
def functions_in_a_list(omitted: Omitted) -> Any:
    def made(limits: dict[str, int]) -> Callable[[], bool]:
        checks = [lambda: True, lambda: limits["budget"] > 0]
        return lambda: all(each() for each in checks)

    return with_limit(omitted, made)


@guilty
def objects_in_a_list(omitted: Omitted) -> Any:
    def made(limits: dict[str, int]) -> Callable[[], bool]:
        class Rule:
            def applies(self) -> bool:
                return limits["budget"] > 0

        rules = [Rule()]
        return lambda: any(each.applies() for each in rules)

    return with_limit(omitted, made)


@guilty
def function_of_an_object_in_a_list(omitted: Omitted) -> Any:
    class Step:
        def __init__(self, check: Callable[[], bool]) -> None:
            self.check = check

        def __call__(self) -> bool:
            return self.check()

    def made(limits: dict[str, int]) -> Callable[[], bool]:
        steps = [Step(lambda: limits["budget"] > 0)]
        return lambda: steps[0]()

    return with_limit(omitted, made)


@guilty
def property_of_a_class(omitted: Omitted) -> Any:
    def made(limits: dict[str, int]) -> Callable[[], bool]:
        class OfConfig(type):
            @property
            def is_risky(cls) -> bool:
                return limits["budget"] > 0

        class Config(metaclass=OfConfig):
            pass

        return lambda: Config.is_risky

    return with_limit(omitted, made)


@guilty
def field_that_is_computed(omitted: Omitted) -> Any:
    def made(limits: dict[str, int]) -> Callable[[], bool]:
        class Total(BaseModel):
            @computed_field
            @property
            def amount(self) -> int:
                return limits["budget"]

        total = Total()
        return lambda: total.model_dump()["amount"] > 0

    return with_limit(omitted, made)


@guilty
def tools_in_a_dict(omitted: Omitted) -> Any:
    def made(limits: dict[str, int]) -> Callable[[], bool]:
        @tool
        def limit() -> int:
            """The limit."""
            return limits["budget"]

        tools = {"limit": limit}
        return lambda: bool(tools["limit"].invoke({}))

    return with_limit(omitted, made)


@guilty
def tool_of_an_agent_in_a_tool(omitted: Omitted) -> Any:
    def made(limits: dict[str, int]) -> Callable[[], bool]:
        @tool
        def limit() -> str:
            """The limit."""
            return f"limit {limits['budget']}"

        clerk = create_agent(Clerk(has_tool=True), [limit])
        return lambda: "limit 1" in str(clerk.invoke({"messages": [HumanMessage("What is it?")]}))

    return with_limit(omitted, made)


@guilty
def prompt_of_an_agent_in_a_tool(omitted: Omitted) -> Any:
    def made(limits: dict[str, int]) -> Callable[[], bool]:
        @dynamic_prompt
        def prompt(_: Any) -> str:
            return f"limit {limits['budget']}"

        clerk = create_agent(Clerk(), [], middleware=[prompt])
        return lambda: "limit 1" in str(clerk.invoke({"messages": [HumanMessage("What is it?")]}))

    return with_limit(omitted, made)


@guilty
def object_in_a_context_variable(omitted: Omitted) -> Any:
    current: ContextVar[Row] = ContextVar("current")
    current.set(row := Row())
    return with_count(omitted, row, lambda: current.get().n)


@guilty
def method_by_a_part_of_its_name(omitted: Omitted) -> Any:
    row = Row()

    def read(kind: str = "json") -> Any:
        return getattr(row, f"as_{kind}")()

    return with_count(omitted, row, read)


@guilty
def method_by_its_name(omitted: Omitted) -> Any:
    row = Row()
    return with_count(omitted, row, lambda: methodcaller("as_json")(row))


@guilty
def attribute_of_a_pattern(omitted: Omitted) -> Any:
    row = Row()

    def read() -> str:
        match row:
            case Row(n=number):
                return str(number)
            case _:
                return ""

    return with_count(omitted, row, read)


@guilty
def field_that_is_written_otherwise(omitted: Omitted) -> Any:
    def made(limits: dict[str, int]) -> Callable[[], bool]:
        class Total(BaseModel):
            amount: int = 0

            @field_serializer("amount")
            def written(self, _: int) -> int:
                return limits["budget"]

        total = Total()
        return lambda: total.model_dump()["amount"] > 0

    return with_limit(omitted, made)


@guilty
def listeners_in_a_list(omitted: Omitted) -> Any:
    seen = dict[str, str]()

    def listen(text: str) -> None:
        seen["last"] = text

    listeners = [listen]

    def write(text: str) -> None:
        for each in listeners:
            each(text)

    return agent_with_notes(omitted, write, lambda: seen.get("last", ""))


@guilty
def array_in_a_dict(omitted: Omitted) -> Any:
    arrays = {"sales": np.zeros(1)}

    def write(_: str) -> None:
        arrays["sales"][0] = 1

    return agent_with_notes(omitted, write, lambda: NOTE if arrays["sales"].sum() else "")


@guilty
def queue_in_a_dict(omitted: Omitted) -> Any:
    queues = {"open": queue.Queue[str]()}
    return agent_with_notes(
        omitted, lambda text: queues["open"].put(text), lambda: NOTE if queues["open"].qsize() else ""
    )


@innocent
def objects_in_a_list_that_only_read(omitted: Omitted) -> Any:
    class Rule:
        def applies(self) -> bool:
            return True

    rules, seen = [Rule()], list[str]()
    return agent_with_notes(
        omitted, seen.append, lambda: NOTE if all(each.applies() for each in rules) else ""
    )


@innocent
def other_attribute_of_an_object_that_a_function_gets(omitted: Omitted) -> Any:
    desk = Desk()
    row = Row()

    def write(_: str) -> None:
        row.n = 1

    return agent_with_notes(omitted, write, lambda: NOTE + printed(desk.job))
