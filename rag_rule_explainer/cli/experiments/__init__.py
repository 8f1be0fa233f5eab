"""This package contains the commands ``rag-rules experiment``, which run the paper's evaluations."""

import typer

from ..groups import grouped
from ..screens import ScreenCommand, ScreenGroup
from .benchmark_models import HELP, benchmark_models
from .efficiency import efficiency
from .judge import judge
from .quality import quality
from .redteam import redteam
from .robustness import robustness

experiment = typer.Typer(
    name="experiment",
    cls=ScreenGroup,
    help="Run the paper's evaluations on any model, or on the offline reader.",
)


@experiment.callback()
def _main() -> None:
    pass


experiment.command("efficiency", cls=ScreenCommand)(grouped(efficiency))
experiment.command("redteam", cls=ScreenCommand)(grouped(redteam))
experiment.command("robustness", cls=ScreenCommand)(grouped(robustness))
experiment.command("judge", cls=ScreenCommand)(judge)
experiment.command("quality", cls=ScreenCommand)(grouped(quality))
experiment.command(
    "benchmark-models",
    cls=ScreenCommand,
    help=HELP,
    short_help="Measure how far models do what labels imply, and as they are told.",
)(grouped(benchmark_models))
