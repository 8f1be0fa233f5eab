"""This module defines the options that say how an application is recorded and replayed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from ..errors import InvalidInput
from ..instrumentation.explainer_options import explains_agent, for_agents, most_replays
from ..instrumentation.options import ReplayOf
from ..instrumentation.source_kinds.kinds import Omit, checked_source_kinds
from ..settings import Settings
from .options import ASK_ABOVE, BaselineFile, Ignored, NewQuery, NoRetrieval, ReplayBound, ScopeOption

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

    def __post_init__(self) -> None:
        kinds = checked_source_kinds(self._kinds)
        others = [each for each in kinds if each != "documents"]
        if self.omit == "blank" and not others:
            raise InvalidInput(
                "--omit blank is not about documents, which are always removed; name other sources by "
                "--source-kinds, such as tools, or leave it out"
            )
        if self.replay_of == "next_action" and self.on_new_tool_call == "live":
            raise InvalidInput(
                "--on-new-tool-call live needs whole runs, as no tool runs with --replay-of next_action; "
                "leave one of them out"
            )
        of_documents = {
            "--on-new-query": self.on_new_query,
            "--on-no-retrieval": _other_than("error", self.on_no_retrieval),
        }
        for option, given in of_documents.items():
            if given is not None and "documents" not in kinds:
                raise InvalidInput(
                    f"{option} is about retrieved documents, and --source-kinds has none; add documents "
                    "to it, or leave the option out"
                )

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
        """Returns the options that may be used only with an application, by name. The value of an option
        that was not given is None."""
        return {
            "--on-new-query": self.on_new_query,
            "--ignore": self.ignore or None,
            "--replay-bound": self.replay_bound,
            "--scope": _other_than("seen", self.scope),
            "--on-no-retrieval": _other_than("error", self.on_no_retrieval),
            **{f"--{name.replace('_', '-')}": given for name, given in self._of_agents()},
        }

    @property
    def most_replays(self) -> int:
        """Returns the maximum number of replays for one explanation. It applies if the user neither sets
        a limit nor agrees to pay without one."""
        return most_replays(self._kinds, self.replay_of, ASK_ABOVE)

    def of_agent(self, settings: Settings) -> Settings:
        """Returns the settings. If the application is an agent, "quick" replaces the miner "auto"."""
        return for_agents(settings) if explains_agent(self._kinds, self.replay_of) else settings

    @property
    def has_documents(self) -> bool:
        """Returns True iff the sources include retrieved documents, and not only, for example, results of
        tools."""
        return "documents" in self._kinds

    @property
    def _kinds(self) -> Any:
        kinds = _listed(self.source_kinds)
        return ("documents",) if kinds is None else kinds

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
