"""This module asks the user to agree to the cost of many replays."""

import sys

import typer

from ..errors import InvalidInput
from ..printable import amount
from .options import ASK_ABOVE
from .terminal import say


def agree_on_cost(replays: int, retries: int, *, yes: bool) -> None:
    """Prints the largest possible number of replays, and asks the user to agree if it is above
    ``ASK_ABOVE``. ``retries``: how often a failed replay is repeated. ``yes``: True if the user has
    agreed. Raises InvalidInput if the user does not agree, or cannot be asked."""
    more = f", and {retries} more of each that fails" if retries else ""
    say(f"at most {amount(replays)} replays of the model{more}")
    if yes or replays <= ASK_ABOVE:
        return
    if not is_interactive():
        raise InvalidInput(f"more than {ASK_ABOVE} replays need a yes; pass --yes to agree in a script")
    if not typer.confirm("Go on?", err=True):
        raise InvalidInput("nothing was asked; pass fewer sources, a smaller --top-k, or --max-replays")


def is_interactive() -> bool:
    """Returns True iff standard input is a terminal."""
    return bool(sys.stdin and sys.stdin.isatty())
