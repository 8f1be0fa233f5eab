"""This module imports each command of ``rag-rules`` only when it is used.

A process runs one command. Importing the modules of all other commands, and letting Typer read their
options, would take about as long as explaining the answer to a small question.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.main import get_command, get_group
from typing_extensions import override

from .groups import grouped
from .screens import ScreenCommand


class CommandPlace(NamedTuple):
    """A ``CommandPlace`` says where a command is defined.

    ``module``: its module, relative to this package. ``name``: the name of the function, or of the
    ``Typer`` of a group of commands. ``is_grouped``: True if the options are declared in groups.
    ``settings``: Typer's settings of the command.
    """

    module: str
    name: str
    is_grouped: bool = True
    settings: Mapping[str, Any] = {}


class LateCommands(MutableMapping[str, Any]):
    """A ``LateCommands`` contains commands by name, and imports each when it is read.

    ``places``: where each command is defined, in the order of the help.
    """

    def __init__(self, places: Mapping[str, CommandPlace]) -> None:
        self._places = dict(places)
        self._made: dict[str, Any] = {}

    @override
    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _made(name, self._places[name])
        return self._made[name]

    @override
    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    @override
    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self._places.pop(name, None)
        self._made.pop(name, None)

    @override
    def __contains__(self, name: object) -> bool:
        return name in self._places or name in self._made

    @override
    def __iter__(self) -> Iterator[str]:
        return iter({**self._places, **self._made})

    @override
    def __len__(self) -> int:
        return len({**self._places, **self._made})


def _made(name: str, place: CommandPlace) -> Any:
    found: Any = getattr(import_module(place.module, __package__), place.name)
    if isinstance(found, typer.Typer):
        return get_group(found)
    alone = typer.Typer(add_completion=False)
    function = grouped(found) if place.is_grouped else found
    alone.command(name, cls=ScreenCommand, context_settings=dict(place.settings) or None)(function)
    return get_command(alone)
