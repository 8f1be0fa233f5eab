"""This module declares the commands ``rag-rules explain`` and ``rag-rules estimate``."""

from dataclasses import dataclass

from ..session.estimate.assumptions import Assumptions
from .annotated import AnnotateOptions
from .explain import estimate
from .explaining import explain
from .options import AnswerTokens, Json, SecondsPerReplay
from .printing import PrintedOptions
from .requests import SearchRequest
from .searching import SearchOptions

_USUAL = Assumptions()


def explain_one(
    request: SearchRequest, search: SearchOptions, printed: PrintedOptions, annotating: AnnotateOptions
) -> None:
    """Explain the answer to one question, from given sources or of an application.

    Without --app and --model, the offline reader answers: an extractive reader that needs no key.

    Examples:
      rag-rules explain --question "..." --sources texts/ --predicate contains:25
      rag-rules explain --question "..." --app my_module:chain --out report.html
      rag-rules explain --trace trace.json --app my_module:chain

    Environment:
      OPENAI_API_KEY   key of --model and --judge-model (or see --key)
      OPENAI_BASE_URL  their endpoint

    Exit codes:
      0    explained, with rules or without
      2    bad input; a model or application that fails; a condition not met
      130  interrupted; the rules found so far are printed
    """
    explain(request, search.settings(free=request.is_free), printed, annotating)


@dataclass(frozen=True, slots=True)
class _Assumed:
    answer_tokens: AnswerTokens = _USUAL.answer_tokens
    seconds_per_replay: SecondsPerReplay = _USUAL.seconds_per_replay
    json: Json = False


def estimate_one(request: SearchRequest, search: SearchOptions, assumed: _Assumed) -> None:
    """Estimate the lowest, typical and highest cost of an explanation, before anything is spent.

    The options are those of explain. With --app, the application retrieves once, but no model is called
    with the sources. No judge is called. --model selects the --price to use.

    Examples:
      rag-rules estimate --question "..." --sources texts/ --price '*=0.15,0.6'
      rag-rules estimate --question "..." --app my_module:chain --miner exact
      rag-rules estimate --question "..." --sources a.jsonl --samples 9 --json

    Exit codes:
      0    estimated
      2    bad input; an application that fails
      130  interrupted
    """
    assuming = Assumptions(assumed.answer_tokens, assumed.seconds_per_replay, request.asking.model)
    estimate(request, search.settings(), assuming, as_json=assumed.json)
