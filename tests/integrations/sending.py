"""Functions that other processes can import. ``send`` is the function of a tool: it writes a line to the
file that the environment variable ``SENDING`` names, so that its runs in all processes are counted."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def send(what: str) -> str:
    with Path(os.environ["SENDING"]).open("a") as file:
        file.write(f"{what}\n")
    return "sent"


def through(what: str) -> str:
    """Calls the tool's function by its name."""
    return send(what)


def called(work: Callable[[str], Any], what: str) -> Any:
    return work(what)


def parsed(text: str) -> str:
    """Does the work of an innocent pool."""
    return text.upper()


class Office:
    """Holds the tool's function, and parses texts as well."""

    def __init__(self) -> None:
        self.sending = send

    def sends(self, what: str) -> str:
        return self.sending(what)

    def parses(self, text: str) -> str:
        return text.upper()
