"""This module lets commands declare their options in groups, which several commands can share.

A group is a dataclass. Each of its fields is an option or another group. The command gets an instance of
the dataclass with all values, which the dataclass has validated.
"""

import inspect
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import is_dataclass
from functools import wraps
from inspect import Parameter, Signature
from typing import Annotated, Any, get_args

from typer.models import OptionInfo


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Returns the command in the form that Typer needs, with one parameter for each option.

    Each parameter that is a group is replaced by the options in the group's fields. No two options may
    have the same name.
    """

    @wraps(command)
    def flat(**given: Any) -> None:
        command(**_filled(command, given))

    signature = Signature(list(_options(command)))
    flat.__signature__ = signature  # pyright: ignore[reportAttributeAccessIssue] -- inspect reads this attribute
    flat.__annotations__ = {name: each.annotation for name, each in signature.parameters.items()}
    return flat


def _options(taker: Callable[..., Any]) -> Iterator[Parameter]:
    for parameter, hint in _parameters(taker):
        if _is_group(hint):
            yield from _options(hint)
        else:
            yield parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=_shown(hint))


def _shown(hint: Any) -> Any:
    """Returns the annotation of an option: for a flag, changed so that the help shows no type after its
    name; otherwise unchanged. The option of a flag is copied, because several commands may share it.
    """
    kind, *written = get_args(hint) or (hint,)
    if kind is not bool or not (written and isinstance(option := written[0], OptionInfo)):
        return hint
    placed = copy(option)
    placed.metavar = " "  # The help would otherwise show <bool>, although a flag takes no value.
    return Annotated[kind, placed]


def _filled(taker: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of ``taker``, which is a command or a group. ``given``: the values of all
    options, by name."""
    return {
        parameter.name: hint(**_filled(hint, given)) if _is_group(hint) else given[parameter.name]
        for parameter, hint in _parameters(taker)
    }


def _parameters(taker: Callable[..., Any]) -> Iterator[tuple[Parameter, Any]]:
    # ``get_type_hints`` is not used: before Python 3.11, it adds Optional to a parameter whose default is
    # None.
    for parameter in inspect.signature(taker, eval_str=True).parameters.values():
        yield parameter, parameter.annotation


def _is_group(hint: Any) -> bool:
    return isinstance(hint, type) and is_dataclass(hint)
