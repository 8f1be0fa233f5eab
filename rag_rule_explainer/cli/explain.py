"""``rag-rules explain``: one question, sources from a file, and the rules of its answer."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from ..errors import BaselineFailed, InvalidInput
from ..explainer import Explainer
from ..explanation import Explanation
from ..inquiry import INTERRUPTED
from ..probing.judging import described
from ..report import lines
from ..settings import Settings, choose
from .conditions import parsed
from .models import KEY, chat_model_replay, offline_replay
from .sources import load
from .terminal import print_json, print_lines, progress, say

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
    if not request.question.strip():
        raise InvalidInput("the question is empty; give one with --question")
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
        explainer = Explainer(
            replay,
            predicate=predicate,
            omission_predicate=omission,
            settings=settings,
            progress=teller,
        )
        try:
            explanation = explainer.explain(request.question, sources)
        except BaselineFailed as error:
            raise error if request.model is None else _without_answer(request, error) from error
    _show(explanation, as_json=request.json)
    if explanation.stop_reason == INTERRUPTED:
        raise typer.Exit(130)


def _agree_on_cost(replays: int, *, yes: bool) -> None:
    say(f"at most {replays} replays of the model")
    if yes or replays <= ASK_ABOVE:
        return
    if not (sys.stdin and sys.stdin.isatty()):
        raise InvalidInput(f"more than {ASK_ABOVE} replays need a yes; pass --yes to agree in a script")
    if not typer.confirm("Go on?", err=True):
        raise InvalidInput("nothing was asked; pass fewer sources, a smaller --top-k, or --max-replays")


def _without_answer(request: Request, error: BaselineFailed) -> BaselineFailed:
    place = f" at {request.base_url}" if request.base_url else ""
    return BaselineFailed(
        f"the model {request.model}{place} does not answer; check that its endpoint is up, and --model, "
        f"--base-url and {KEY}: {described(error.__cause__ or error)}"
    )


def _show(explanation: Explanation, *, as_json: bool) -> None:
    if as_json:
        # In ASCII: every encoding can write it, and no control character reaches a terminal.
        print_json(json.dumps(explanation.model_dump(mode="json"), indent=2))
    else:
        print_lines(lines(explanation))
