"""This module finds the option that a user meant when the written option does not exist."""

import re
import shlex
from collections.abc import Sequence

from .conditions import option_for

_NO_OPTION = re.compile(r"No such option:? '?(--[\w-]+)")
_PYTHON_NAMES = {
    "noise": "--samples",
    "limits": "--max-replays",
    "limit": "--max-replays",
    "documents": "--sources",
    "docs": "--sources",
}
"""Names of settings in Python, each with the option that stands for it."""
_KINDS = {
    **dict.fromkeys(("retained", "retention", "retain"), " --kind retention"),
    **dict.fromkeys(("omitted", "omission", "omit"), " --kind omission"),
    **dict.fromkeys(("antecedent", "ids", "sources-of"), ""),
}


def meant_instead(message: str, command: str, arguments: Sequence[str]) -> str:
    """Returns an error message that suggests the option that the user meant, for example for
    ``--contains TEXT`` the option ``--predicate contains:TEXT``.

    ``message``: the message of Typer; it is returned unchanged if it is about anything else.
    ``command``: the name of the command. ``arguments``: what the user wrote.
    """
    found = _NO_OPTION.match(message)
    if found is None:
        return message
    option = found[1]
    name, value = option.lstrip("-").replace("_", "-"), _value_of(option, arguments)
    if command.endswith("verify") and name in _KINDS:
        meant = f"--rule {shlex.quote(value) if value else 'IDS'}{_KINDS[name]}"
    else:
        meant = option_for(name, value) or _PYTHON_NAMES.get(name, "")
    return f"No such option: {option}. Did you mean {meant}?" if meant else message


def _value_of(option: str, arguments: Sequence[str]) -> str:
    """Returns the value after an option in the arguments; an empty text if nothing, or another option,
    follows the option."""
    for place, each in enumerate(arguments):
        if each.startswith(f"{option}="):
            return each.partition("=")[2]
        if each == option and not "".join(arguments[place + 1 : place + 2]).startswith("--"):
            return "".join(arguments[place + 1 : place + 2])
    return ""
