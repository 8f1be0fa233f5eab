"""Agents that deepagents makes, which plan, keep files and delegate."""

from typing import Any

from rag_rule_explainer import ToolCall
from tests.agents.zoo.of_langchain import Scripted, asked, tools_of
from tests.agents.zoo.scripts import ONE_BY_ONE, PAY, Script, Step, World
from tests.agents.zoo.shapes import READS, Built, Clients, Shape


def made(script: Script, tools: list[Any], **parameters: Any) -> Any:
    # Late: only the environment of ``make agents`` has it.
    from deepagents import create_deep_agent

    return create_deep_agent(Scripted(script=script), tools, **parameters)


def plain(_: Clients) -> Built:
    return Built(made(ONE_BY_ONE, tools_of(ran := [])), asked(), ran)


TASK = ToolCall("task", {"description": "Read all of it.", "subagent_type": "reader"})
DELEGATES = Script((Step((TASK,)), Step((PAY,), ("bd",))))
DELEGATED = World({"task": {"task #1": "abd"}, "pay": {"pay #1": ""}})


def delegating(_: Clients, **options: Any) -> Built:
    *reading, paying = tools_of(ran := [])
    reader: Any = {
        "name": "reader",
        "description": "Reads.",
        "system_prompt": "Read.",
        "tools": reading,
        "model": Scripted(script=READS),
    }
    return Built(made(DELEGATES, [paying], subagents=[reader]), asked(), ran, options=options)


def opened(_: Clients) -> Built:
    return delegating(_, safe_tools=["task"])


SHAPES = (
    Shape("`create_deep_agent`", plain),
    Shape("`create_deep_agent`: a sub-agent", delegating, DELEGATED, DELEGATES),
    Shape("`create_deep_agent`: a sub-agent, named safe", opened, ways=("whole_run",)),
)
