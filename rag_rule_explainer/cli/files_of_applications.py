"""This module finds the module that a file of an application is, for ``--app FILE.py:object``."""

import re
from pathlib import Path
from types import ModuleType

from ..errors import InvalidInput

_SUFFIX = ".py"


def file_named(written: str, name: str) -> Path | None:
    """Returns the Python file that is written before the colon of ``--app``; None for a module.

    ``name``: the whole value of the option, for messages. Raises InvalidInput for a file that does not
    exist, or that Python cannot import, and for anything else that is no module.
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
        raise InvalidInput(f"--app {name!r}: there is no file {str(file)!r}; is this its folder?")
    if not file.stem.isidentifier():
        meant = re.sub(r"\W", "_", file.stem)
        raise InvalidInput(
            f"--app {name!r}: Python cannot import a file of that name; rename it, such as "
            f"{meant}{_SUFFIX}"
        )
    return file.resolve()


def imported_from(file: Path) -> tuple[str, str]:
    """Returns the folder that the file's module is imported from, and the module's name there: a file of
    a package is imported as a part of it."""
    folder, names = file.parent, [file.stem]
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        names.insert(0, folder.name)
        folder = folder.parent
    return str(folder), ".".join(names)


def check_imported(module: ModuleType, file: Path) -> None:
    """Raises InvalidInput if the module is of another file: it has the name of one that Python has
    already imported."""
    found = getattr(module, "__file__", None)
    if found is None or not Path(found).resolve() == file:
        raise InvalidInput(
            f"--app: Python takes {file.name} for another module of the name {module.__name__}; rename "
            "the file"
        )
