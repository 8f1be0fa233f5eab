"""``rag-rules explain``: one question, sources from a file, and the rules of its answer."""

import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from ..errors import InvalidInput
from ..explainer import Explainer
from ..explanation import Explanation
from ..inquiry import INTERRUPTED
from ..report import lines
from ..settings import Settings, choose
from .conditions import parsed
from .models import chat_model_replay, offline_replay
from .sources import load
from .terminal import print_lines, progress, say

ASK_ABOVE = 300
"""Replays of a paid model that nobody is asked about."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for."""

    question: str
    sources: Path
    top_k: int | None
    predicate: str
    omission_predicate: str | None
    model: str | None
    base_url: str | None
    temperature: float | None
    yes: bool
    json: bool


def explain(request: Request, settings: Settings) -> None:
    """Explains and prints. Exits with 130 after an interrupt, having printed what was proved."""
    predicate = parsed(request.predicate)
    omission = None if request.omission_predicate is None else parsed(request.omission_predicate)
    sources = load(request.sources, request.question, request.top_k)
    choice = choose(settings, len(sources))
    if request.model is None:
        replay = offline_replay
    else:
        replay = chat_model_replay(request.model, request.base_url, request.temperature)
        _agree_on_cost(choice.worst_case(len(sources)), yes=request.yes)
    with progress() as teller:
        explanation = Explainer(
            replay,
            predicate=predicate,
            omission_predicate=omission,
            settings=settings,
            progress=teller,
        ).explain(request.question, sources)
    _show(explanation, as_json=request.json)
    if explanation.stop_reason == INTERRUPTED:
        raise typer.Exit(130)


def _agree_on_cost(replays: int, *, yes: bool) -> None:
    say(f"at most {replays} replays of the model")
    if yes or replays <= ASK_ABOVE:
        return
    if not sys.stdin.isatty():
        raise InvalidInput(f"more than {ASK_ABOVE} replays need a yes; pass --yes to agree in a script")
    if not typer.confirm("Go on?", err=True):
        raise InvalidInput("nothing was asked; pass fewer sources, a smaller --top-k, or --max-replays")


def _show(explanation: Explanation, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(explanation.model_dump_json(indent=2) + "\n")
    else:
        print_lines(lines(explanation))
