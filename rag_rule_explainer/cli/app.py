"""This module registers the commands of ``rag-rules``."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.exceptions import Abort
from typing_extensions import override

from ..session.estimate.assumptions import Assumptions
from ..version import __version__
from .annotated import AnnotateOptions
from .audit import audit_questions
from .check import check_questions
from .cite import cite_questions
from .demo import demo
from .differences import print_diff
from .doctor import examine
from .experiments import experiment
from .explain import estimate
from .explained import explain_names
from .explaining import explain
from .groups import grouped
from .judge_check import judge_check
from .options import AnswerTokens, Json, SecondsPerReplay
from .printing import PrintedOptions
from .recheck import recheck_answer
from .requests import SearchRequest
from .schema import print_schema
from .screens import ScreenCommand, ScreenGroup
from .searching import SearchOptions
from .serving import serve_mcp
from .showing import show_saved
from .stores import store
from .terminal import print_lines
from .verify import verify


class _Commands(ScreenGroup):
    """This class runs the commands. It turns Ctrl-C into an ``Abort``, which ``main`` reports to the
    user, because Typer itself would end the program without a message."""

    @override
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise Abort from interrupt


app = typer.Typer(
    name="rag-rules",
    cls=_Commands,
    help="Explain the answers of a RAG application by rules over its retrieved sources.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(store)
app.add_typer(experiment)

_USUAL = Assumptions()


@app.command("demo", cls=ScreenCommand)
def _demo() -> None:
    """Explain two wrong answers offline: one document causes the first, a pair the second."""
    demo()


@app.command("explain", cls=ScreenCommand)
@grouped
def _explain(
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


@app.command("estimate", cls=ScreenCommand)
@grouped
def _estimate(request: SearchRequest, search: SearchOptions, assumed: _Assumed) -> None:
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


app.command("audit", cls=ScreenCommand)(grouped(audit_questions))
app.command("check", cls=ScreenCommand)(grouped(check_questions))
app.command("cite", cls=ScreenCommand)(grouped(cite_questions))
app.command("diff", cls=ScreenCommand)(print_diff)
app.command("doctor", cls=ScreenCommand)(grouped(examine))
app.command("help", cls=ScreenCommand, context_settings={"ignore_unknown_options": True})(explain_names)
app.command("judge-check", cls=ScreenCommand)(judge_check)
app.command("mcp", cls=ScreenCommand)(grouped(serve_mcp))
app.command("recheck", cls=ScreenCommand)(grouped(recheck_answer))
app.command("schema", cls=ScreenCommand)(print_schema)
app.command("show", cls=ScreenCommand)(grouped(show_saved))
app.command("verify", cls=ScreenCommand)(grouped(verify))


@app.callback(invoke_without_command=True)
def _main(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print_lines([__version__])
        raise typer.Exit
    if context.invoked_subcommand is None:
        print_lines([context.get_help()])
