"""``rag-rules experiment``: the paper's evaluations, each a command."""

import typer

from .benchmark_models import HELP, benchmark_models
from .efficiency import efficiency
from .judge import judge
from .quality import quality
from .redteam import redteam
from .robustness import robustness

experiment = typer.Typer(
    name="experiment",
    help="Run the paper's evaluations on any model, or on the offline reader.",
    no_args_is_help=True,
)


@experiment.callback()
def _main() -> None:
    pass


experiment.command("efficiency")(efficiency)
experiment.command("redteam")(redteam)
experiment.command("robustness")(robustness)
experiment.command("judge")(judge)
experiment.command("quality")(quality)
experiment.command("benchmark-models", help=HELP)(benchmark_models)
