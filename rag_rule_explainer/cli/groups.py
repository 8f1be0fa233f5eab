"""This module groups the options of commands: each field of a dataclass is an option or another group.
Commands thus share options, and receive them as one validated value. The options of a group with a
``PANEL`` have that heading in the help."""

import inspect
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import is_dataclass
from functools import wraps
from inspect import Parameter, Signature
from typing import Annotated, Any, get_args

from typer.models import OptionInfo


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Returns the command for typer: each parameter that is a dataclass is replaced by the options of
    its fields. The fields have typer's annotations. No two options may have the same name."""

    @wraps(command)
    def flat(**given: Any) -> None:
        command(**_filled(command, given))

    signature = Signature(list(_options(command)))
    flat.__signature__ = signature  # pyright: ignore[reportAttributeAccessIssue] -- it is for inspect
    flat.__annotations__ = {name: each.annotation for name, each in signature.parameters.items()}
    return flat


def _options(taker: Callable[..., Any]) -> Iterator[Parameter]:
    panel: str | None = getattr(taker, "PANEL", None)
    for parameter, hint in _parameters(taker):
        if _is_group(hint):
            yield from _options(hint)
        else:
            yield parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=_shown(hint, panel))


def _shown(hint: Any, panel: str | None) -> Any:
    """Returns the annotation of an option with its heading in the help; the option itself is not
    changed."""
    kind, *written = get_args(hint) or (hint,)
    if not (written and isinstance(option := written[0], OptionInfo)):
        return hint
    placed = copy(option)
    placed.rich_help_panel = panel
    if kind is bool:
        placed.metavar = " "  # the help would show <bool>, but a flag takes no value
    return Annotated[kind, placed]


def _filled(taker: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of ``taker``, made from the values of the options."""
    return {
        parameter.name: hint(**_filled(hint, given)) if _is_group(hint) else given[parameter.name]
        for parameter, hint in _parameters(taker)
    }


def _parameters(taker: Callable[..., Any]) -> Iterator[tuple[Parameter, Any]]:
    # Before Python 3.11, get_type_hints makes a parameter with the default None Optional.
    for parameter in inspect.signature(taker, eval_str=True).parameters.values():
        yield parameter, parameter.annotation


def _is_group(hint: Any) -> bool:
    return isinstance(hint, type) and is_dataclass(hint)
