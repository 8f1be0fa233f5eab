"""This module finds the Python module for a file that the user names by ``--app FILE.py:object``."""

import re
from pathlib import Path
from types import ModuleType

from ..errors import InvalidInput

_SUFFIX = ".py"


def file_named(written: str, name: str) -> Path | None:
    """Returns the Python file that stands before the colon of ``--app``; None if a module stands there.

    ``written``: the text before the colon. ``name``: the whole value of the option, for error messages.
    Raises InvalidInput if the file does not exist or cannot be imported by Python, and if the text is
    neither a file nor a module.
    """
    is_module = all(map(str.isidentifier, written.split(".")))
    if is_module and not written.endswith(_SUFFIX):
        return None
    file = Path(written).expanduser()
    if file.suffix != _SUFFIX:
        file = file.with_name(file.name + _SUFFIX)
        meant = f"such as {file}:{name.rpartition(':')[2]}" if file.is_file() else "such as app:chain"
        raise InvalidInput(
            f"--app {name!r} names no module; write module:object or FILE.py:object, {meant}"
        )
    if not file.is_file():
        raise InvalidInput(
            f"--app {name!r}: there is no file {str(file)!r}; run this in its folder, or give its path"
        )
    if not file.stem.isidentifier():
        meant = re.sub(r"\W", "_", file.stem)
        raise InvalidInput(
            f"--app {name!r}: Python cannot import a file of that name; rename it, such as "
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
