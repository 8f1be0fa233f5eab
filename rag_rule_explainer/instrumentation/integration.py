"""This module chooses the integration that explains an application.

The framework of the application decides. If the application uses no framework, the integration for plain
functions is chosen.
"""

import inspect
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any, cast

from ..allowed import did_you_mean
from ..errors import InvalidInput, MissingExtra
from .registered import frameworks, integrations


class Integration:
    """This class imports one integration for the command line, and makes its explainers.

    ``name``: the name of the integration. The package's extra that installs it has the same name.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._installed = _package_of(name)
        try:
            # An integration is imported only when it is needed: it is optional, and the import takes
            # about a second.
            self._package = import_module(self._installed)
            self._reading = import_module(f"{self._installed}.reading")
        except ImportError as error:
            raise MissingExtra.naming(name, "--app") from error

    @classmethod
    def of(cls, application: Any, chosen: str | None) -> "Integration":
        """Returns the integration with the name ``chosen``. If ``chosen`` is None, returns the
        integration that fits the application."""
        return cls(chosen or _name_of(_found_for(application)))

    def explainer(self, application: Any, name: str, **parameters: Any) -> Any:
        """Returns the integration's ``RuleExplainer`` of the application.

        ``name``: how the user named the application, for error messages. ``parameters``: the keywords of
        ``RuleExplainer``. Raises InvalidInput if the integration cannot explain the object.
        """
        kind = type(cast("object", application)).__name__
        built_with = _built_with(application)
        if built_with not in {None, self._installed}:
            raise InvalidInput(
                f"--app {name} is of type {kind}, which is not of {self.name}; leave --framework out"
            )
        if built_with is None and not (callable(application) or kind == "dict"):
            known = ", ".join(sorted(map(_name_of, set(frameworks().values()))))
            raise InvalidInput(
                f"--app {name} is of type {kind}; name what is asked, built with a framework that is "
                f"known here ({known}), or a function of one input"
            )
        return self._package.RuleExplainer(application, **parameters)

    def question_in(self, given: Any) -> str:
        """Returns the question that an application's input contains."""
        return self._reading.question_in(given)


def may_be_application(value: Any) -> bool:
    """Returns False for an object that no integration can explain, such as a module or a class."""
    if isinstance(value, (ModuleType, type)):
        return False
    return callable(value) or _built_with(value) is not None


def _package_of(name: str) -> str:
    known = integrations()
    if name not in known:
        raise InvalidInput(
            f"--framework {name!r} is no integration that is installed; {did_you_mean(name, known)}give "
            f"one of {', '.join(sorted(known)) or 'none: install this package again'}"
        )
    return known[name]


def _name_of(package: str) -> str:
    return next((name for name, each in integrations().items() if each == package), package)


def _found_for(application: Any) -> str:
    """Returns the name of the package that integrates the application's framework. The following ways are
    tried, in this order:

    - If the application's class belongs to a framework, this framework decides.
    - For a function, the imports of its module decide, if they name exactly one integration, or no
      integration and exactly one framework.
    - A function without parameters is called, and the class of its result decides.

    If nothing decides, raises InvalidInput if the module imports several integrations or frameworks.
    Otherwise returns the integration for plain functions; empty if it is not installed.
    """
    found = _built_with(application)
    if found is not None:
        return found
    module = sys.modules.get(getattr(application, "__module__", None) or "")
    used = set(_used_by(module)) if module is not None else set[str]()
    installed = set(integrations().values())
    named = {each for each in used if each in installed}
    built_with = {found for found in map(_of_framework, used) if found is not None}
    packages = named or built_with
    if len(packages) == 1:
        return packages.pop()
    made = _made_with(application)
    if made is not None:
        return made
    if packages:
        names = " and ".join(sorted(map(_name_of, packages)))
        raise InvalidInput(
            f"--app names a function of a module that uses {names}, so nothing says which of them "
            "explains it; say so with --framework"
        )
    return next(iter(sorted(installed - set(frameworks().values()))), "")


def _built_with(application: Any) -> str | None:
    roots = (_root_of(kind.__module__) for kind in type(application).__mro__)
    return next((found for found in map(_of_framework, roots) if found is not None), None)


def _made_with(function: Any) -> str | None:
    """Calls a function without parameters, and returns the package of the integration for its result.

    Returns None if the function has parameters, or if its result belongs to no framework.
    """
    try:
        needs = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some built-in functions have no signature
        return None
    # An error is ignored, because the explanation will call the function too and will report the error.
    with suppress(Exception):
        return None if needs else _built_with(function())
    return None


def _of_framework(root: str) -> str | None:
    """Returns the package of the integration for ``root``; None if there is none. ``root``: the package
    of a framework, or of an integration itself."""
    return root if root in integrations().values() else frameworks().get(root)


def _used_by(module: ModuleType) -> Iterator[str]:
    """Yields the names of the packages from which the objects in a module were imported."""
    for value in vars(module).copy().values():
        if isinstance(value, ModuleType):
            yield _root_of(value.__name__)
        else:
            yield _root_of((value if isinstance(value, (type, FunctionType)) else type(value)).__module__)


def _root_of(name: object) -> str:
    return str(name).partition(".")[0]
