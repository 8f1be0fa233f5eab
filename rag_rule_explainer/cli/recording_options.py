"""This module defines the options that say how an application is recorded and replayed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from ..instrumentation.options import ReplayOf
from ..instrumentation.source_kinds.kinds import Omit
from .options import BaselineFile, Ignored, NewQuery, NoRetrieval, ReplayBound, ScopeOption

SourceKinds = Annotated[
    str | None,
    typer.Option(
        metavar="KINDS",
        help="What is a source: documents, tools, turns, memory, instructions, examples; separate by "
        "commas.",
    ),
]
Omitted = Annotated[
    Omit, typer.Option(help="Whether an omitted source is not there, or has an empty text.")
]
Replayed = Annotated[
    ReplayOf, typer.Option(help="Whether a replay is a whole run, or one request: the next action.")
]
NewToolCallOption = Annotated[
    Literal["unknown", "live"] | None,
    typer.Option(
        help="For a tool call that the first run did not make: end the replay, or run the tool."
    ),
]
SafeTools = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="Tools that may run in replays; separate by commas."),
]
UnexecutedTools = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Tools for whose calls the application runs nothing; separate by commas.",
    ),
]


@dataclass(frozen=True, slots=True)
class RecordingOptions:
    """These options choose the run to explain, and say how an application is replayed."""

    baseline: BaselineFile = None
    scope: ScopeOption = "seen"
    on_new_query: NewQuery = None
    on_no_retrieval: NoRetrieval = "error"
    ignore: Ignored = None
    replay_bound: ReplayBound = None
    source_kinds: SourceKinds = None
    omit: Omitted = "remove"
    replay_of: Replayed = "whole_run"
    on_new_tool_call: NewToolCallOption = None
    safe_tools: SafeTools = None
    unexecuted_tools: UnexecutedTools = None

    @property
    def keywords(self) -> dict[str, Any]:
        """Returns the keywords of an application's ``RuleExplainer``. Settings of agents that were not
        given are left out."""
        return {
            "scope": self.scope,
            "on_new_query": self.on_new_query,
            "on_no_retrieval": self.on_no_retrieval,
            "ignore": self.ignore or (),
            **({} if self.replay_bound is None else {"replay_bound": self.replay_bound}),
            **{name: given for name, given in self._of_agents() if given is not None},
        }

    @property
    def of_applications(self) -> dict[str, object]:
        """Returns the options that go with an application only, by name; None for those that were not
        given."""
        return {
            "--on-new-query": self.on_new_query,
            "--ignore": self.ignore or None,
            "--replay-bound": self.replay_bound,
            "--scope": _other_than("seen", self.scope),
            "--on-no-retrieval": _other_than("error", self.on_no_retrieval),
            **{f"--{name.replace('_', '-')}": given for name, given in self._of_agents()},
        }

    @property
    def is_of_agent(self) -> bool:
        """Returns True iff an agent is explained, for which ``miner="auto"`` stands for "quick"."""
        kinds = _listed(self.source_kinds)
        return kinds not in (None, ["documents"]) or self.replay_of == "next_action"

    def _of_agents(self) -> Iterator[tuple[str, Any]]:
        yield "source_kinds", _listed(self.source_kinds)
        yield "omit", _other_than("remove", self.omit)
        yield "replay_of", _other_than("whole_run", self.replay_of)
        yield "on_new_tool_call", self.on_new_tool_call
        yield "safe_tools", _listed(self.safe_tools)
        yield "unexecuted_tools", _listed(self.unexecuted_tools)


def _listed(given: str | None) -> list[str] | None:
    return None if given is None else [each.strip() for each in given.split(",") if each.strip()]


def _other_than(usual: str, value: str) -> str | None:
    return None if value == usual else value
