"""This module imports the application that ``module:object`` names."""

import importlib
import os
import sys
from typing import Any

from ..allowed import did_you_mean
from ..errors import InvalidInput
from ..probing.judging import error_text
from .application_files import check_imported, file_named, imported_from
from .integration import may_be_application


def load_application(name: str) -> Any:
    """Returns the object that ``module:object`` or ``FILE.py:object`` names. Modules in the current
    folder and in the file's folder can be imported.

    Raises InvalidInput if there is no such object, or if the import fails.
    """
    written, colon, path = name.rpartition(":")
    if not (written and colon and path) or path.endswith(".py"):
        raise InvalidInput(
            f"--app {name!r} names no application; write module:object, such as app:chain, or "
            "FILE.py:object"
        )
    file = file_named(written, name)
    folder, module_name = (os.getcwd(), written) if file is None else imported_from(file)  # noqa: PTH109
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or module_name
        if missing == module_name or module_name.startswith(f"{missing}."):
            raise InvalidInput(
                f"--app: there is no module {missing!r}; run this in its folder, or write FILE.py:OBJECT"
            ) from error
        raise InvalidInput(f"--app: {module_name} imports {missing!r}, which is not installed") from error
    except (Exception, SystemExit) as error:
        raise InvalidInput(f"--app: importing {module_name} failed: {error_text(error)}") from error
    if file is not None:
        check_imported(found, file)
    for attribute in path.split("."):
        if not hasattr(found, attribute):
            near = did_you_mean(attribute, _applications_in(found))
            raise InvalidInput(
                f"--app: {module_name} has no {path!r}; {near}name a chain or an engine that it defines"
            )
        found = getattr(found, attribute)
    return found


def _applications_in(owner: Any) -> list[str]:
    """Returns the names of the attributes of a module (or another object) that may be applications."""
    return [name for name in dir(owner) if may_be_application(getattr(owner, name, None))]
