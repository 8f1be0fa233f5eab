"""``rag-rules experiment``: the paper's evaluations, each a command."""

import typer

experiment = typer.Typer(
    name="experiment", help="Run the paper's evaluations on any model, or on the offline reader."
)
