"""This module explains an agent's action, and compares the explanation with the truth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from langchain.agents import create_agent
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Estimate, Explanation, ToolCall, Verdict, calls_tool
from tests.agents.gullible import GullibleModel, Script
from tests.agents.trying import Tried, Turn


class World(Protocol):
    """Tools, and the calls of them that were executed."""

    executed: list[ToolCall]

    @property
    def tools(self) -> Sequence[Any]: ...


@dataclass(frozen=True)
class Explained:
    """``executed_again``: how many tools ran in replays."""

    explanation: Explanation
    executed_again: int

    @property
    def rules(self) -> Tried:
        retention = frozenset(frozenset(each.sources) for each in self.explanation.retention_rules)
        omission = frozenset(frozenset(each.sources) for each in self.explanation.omission_rules)
        return Tried(retention, omission)

    @property
    def replays(self) -> int:
        return self.explanation.counts.replays

    @property
    def unknown(self) -> tuple[int, int]:
        """The probes without a verdict, and all of them."""
        probes = self.explanation.probes
        without = [each for each in probes if Verdict.UNKNOWN in each.verdicts.values()]
        return len(without), len(probes)


def explained(
    world: World, script: Script, prompt: str, turns: Sequence[Turn], wanted: ToolCall, **options: Any
) -> Explained:
    """Explains why an agent in a new ``world`` makes the call. ``turns``: those of its run."""
    explanation = _explainer(world, script, wanted, **options).explain(_given(prompt))
    assert [each.name for each in world.executed[: len(turns)]] == [each.call.name for each in turns]
    return Explained(explanation, len(world.executed) - len(turns))


def estimated(world: World, script: Script, prompt: str, wanted: ToolCall, **options: Any) -> Estimate:
    """Returns what is said before of what the explanation will take."""
    return _explainer(world, script, wanted, **options).estimate(_given(prompt))


def _explainer(world: World, script: Script, wanted: ToolCall, **options: Any) -> RuleExplainer[Any, Any]:
    agent: Any = create_agent(GullibleModel(script=script), list(world.tools))
    # Any names of arguments.
    predicate = calls_tool(wanted.name, **dict(wanted.arguments))  # pyright: ignore[reportCallIssue, reportArgumentType]
    return RuleExplainer(agent, predicate, source_kinds=["tools"], **options)


def _given(prompt: str) -> Any:
    return {"messages": [("user", prompt)]}
