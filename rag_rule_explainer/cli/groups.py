"""Commands that take their options in groups: a dataclass, each field of which is an option or a group.

What commands have in common is said once, and reaches them as one value that has been checked. A group
with a ``PANEL`` has its options under that heading in the help.
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
    """The command as typer is to see it: in place of each parameter that is a dataclass, its fields.

    These are annotated as typer's parameters are. No two of them may have one name.
    """

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
    """The annotation of an option as the help is to have it; the option may stand elsewhere as well."""
    kind, *written = get_args(hint) or (hint,)
    if not (written and isinstance(option := written[0], OptionInfo)):
        return hint
    placed = copy(option)
    placed.rich_help_panel = panel
    if kind is bool:
        placed.metavar = " "  # a flag takes no value, and would be said to take a <bool>
    return Annotated[kind, placed]


def _filled(taker: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """What it takes, made of the options given."""
    return {
        parameter.name: hint(**_filled(hint, given)) if _is_group(hint) else given[parameter.name]
        for parameter, hint in _parameters(taker)
    }


def _parameters(taker: Callable[..., Any]) -> Iterator[tuple[Parameter, Any]]:
    # Before Python 3.11, get_type_hints wraps what has None as its default in another Optional.
    for parameter in inspect.signature(taker, eval_str=True).parameters.values():
        yield parameter, parameter.annotation


def _is_group(hint: Any) -> bool:
    return isinstance(hint, type) and is_dataclass(hint)
