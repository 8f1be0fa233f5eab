"""This module imports the application that ``module:object`` names."""

from typing import Any

from .application_files import load_object


def load_application(name: str) -> Any:
    """Returns the application that ``module:object`` or ``FILE.py:object`` names. Modules in the current
    folder and in the file's folder can be imported.

    Raises InvalidInput if there is no such object, or if the import fails.
    """
    return load_object(name, "--app")
