"""This module lists the commands of ``rag-rules``."""

from typing import Annotated, Any

import typer
from typer.exceptions import Abort
from typing_extensions import override

from ..version import __version__
from .late_commands import CommandPlace, LateCommands
from .screens import ScreenGroup
from .terminal import print_lines

_COMMANDS = {
    "demo": CommandPlace(".demo", "demo", is_grouped=False),
    "explain": CommandPlace(".explain_commands", "explain_one"),
    "estimate": CommandPlace(".explain_commands", "estimate_one"),
    "audit": CommandPlace(".audit", "audit_questions"),
    "check": CommandPlace(".check", "check_questions"),
    "cite": CommandPlace(".cite", "cite_questions"),
    "diff": CommandPlace(".differences", "print_diff", is_grouped=False),
    "doctor": CommandPlace(".doctor", "examine"),
    "help": CommandPlace(
        ".explained", "explain_names", is_grouped=False, settings={"ignore_unknown_options": True}
    ),
    "judge-check": CommandPlace(".judge_check", "judge_check"),
    "mcp": CommandPlace(".serving", "serve_mcp"),
    "recheck": CommandPlace(".recheck", "recheck_answer"),
    "schema": CommandPlace(".schema", "print_schema", is_grouped=False),
    "show": CommandPlace(".showing", "show_saved"),
    "verify": CommandPlace(".verify", "verify"),
    "store": CommandPlace(".stores", "store"),
    "experiment": CommandPlace(".experiments", "experiment"),
}


class _Commands(ScreenGroup):
    """This class runs the commands, and imports the code of a command only when it is used. It turns
    Ctrl-C into an ``Abort``, which ``main`` reports to the user, because Typer itself would end the
    program without a message."""

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        self.commands = LateCommands(_COMMANDS)

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
