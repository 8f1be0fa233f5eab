"""This module loads an object that the user names by ``module:object`` or ``FILE.py:object``."""

import importlib
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from ..allowed import did_you_mean
from ..errors import InvalidInput
from ..probing.judging import error_text
from .integration import may_be_application

_SUFFIX = ".py"


def file_named(written: str, name: str, option: str = "--app") -> Path | None:
    """Returns the Python file that the user named before the colon; None if a module is named there.

    ``written``: the text before the colon. ``name``: the whole value of the option ``option``; both are
    for error messages. Raises InvalidInput if the file does not exist or cannot be imported by Python,
    and if the text is neither a file nor a module.
    """
    is_module = all(map(str.isidentifier, written.split(".")))
    if is_module and not written.endswith(_SUFFIX):
        return None
    file = Path(written).expanduser()
    if file.suffix != _SUFFIX:
        file = file.with_name(file.name + _SUFFIX)
        meant = f"such as {file}:{name.rpartition(':')[2]}" if file.is_file() else "such as app:chain"
        raise InvalidInput(
            f"{option} {name!r} names no module; write module:object or FILE.py:object, {meant}"
        )
    if not file.is_file():
        raise InvalidInput(
            f"{option} {name!r}: there is no file {str(file)!r}; run this in its folder, or give its path"
        )
    if not file.stem.isidentifier():
        meant = re.sub(r"\W", "_", file.stem)
        raise InvalidInput(
            f"{option} {name!r}: Python cannot import a file of that name; rename it, such as "
            f"{meant}{_SUFFIX}"
        )
    return file.resolve()


def imported_from(file: Path) -> tuple[str, str]:
    """Returns the folder from which Python must import the file, and the name of its module. A file in
    a package is imported as a module of the package."""
    folder, names = file.parent, [file.stem]
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        names.insert(0, folder.name)
        folder = folder.parent
    return str(folder), ".".join(names)


def check_imported(module: ModuleType, file: Path) -> None:
    """Raises InvalidInput if Python has imported another file instead of ``file``. This happens if a
    module of the same name was already imported."""
    found = getattr(module, "__file__", None)
    if found is None or not Path(found).resolve() == file:
        raise InvalidInput(
            f"--app: Python takes {file.name} for another module of the name {module.__name__}; rename "
            "the file"
        )


def load_object(name: str, option: str) -> Any:
    """Returns the object that ``module:object`` or ``FILE.py:object`` names. Modules in the current
    folder and in the file's folder can be imported. ``option``: the option that names the object.

    Raises InvalidInput if there is no such object, or if the import fails.
    """
    what = "no application" if option == "--app" else "no file and no object"
    written, colon, path = name.rpartition(":")
    if not (written and colon and path) or path.endswith(".py"):
        raise InvalidInput(
            f"{option} {name!r} names {what}; write module:object, such as app:chain, or FILE.py:object"
        )
    file = file_named(written, name, option)
    folder, module_name = (os.getcwd(), written) if file is None else imported_from(file)  # noqa: PTH109 -- sys.path needs a str
    if folder not in sys.path:
        sys.path.insert(0, folder)
    found: Any = _imported(module_name, option)
    if file is not None:
        check_imported(found, file)
    for attribute in path.split("."):
        if not hasattr(found, attribute):
            near = did_you_mean(attribute, _applications_in(found))
            wanted = "a chain or an engine" if option == "--app" else "an object"
            raise InvalidInput(
                f"{option}: {module_name} has no {path!r}; {near}name {wanted} that it defines"
            )
        found = getattr(found, attribute)
    return found


def _imported(module_name: str, option: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or module_name
        if missing == module_name or module_name.startswith(f"{missing}."):
            raise InvalidInput(
                f"{option}: there is no module {missing!r}; run this in its folder, or write "
                "FILE.py:OBJECT"
            ) from error
        raise InvalidInput(
            f"{option}: {module_name} imports {missing!r}, which is not installed"
        ) from error
    except (Exception, SystemExit) as error:
        raise InvalidInput(f"{option}: importing {module_name} failed: {error_text(error)}") from error


def _applications_in(owner: Any) -> list[str]:
    """Returns the names of the attributes of a module (or another object) that may be applications."""
    return [name for name in dir(owner) if may_be_application(getattr(owner, name, None))]
