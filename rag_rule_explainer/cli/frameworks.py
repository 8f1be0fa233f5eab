"""Which framework an application is built with, and the integration that explains it."""

import inspect
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any, Literal, TypeAlias, cast

from ..errors import InvalidInput, MissingExtra

Framework: TypeAlias = Literal["langchain", "llama-index"]

_INTEGRATIONS: dict[Framework, str] = {
    "langchain": "langchain_rag_rule_explainer",
    "llama-index": "llama_index_rag_rule_explainer",
}
_ROOTS: dict[str, Framework] = {
    "langchain_core": "langchain",
    "langchain": "langchain",
    "langgraph": "langchain",
    "llama_index": "llama-index",
    "workflows": "llama-index",
}


class Integration:
    """What the command line uses of an integration."""

    def __init__(self, framework: Framework) -> None:
        self.framework: Framework = framework
        try:
            # Late: optional, and a second to import.
            self._package = import_module(_INTEGRATIONS[framework])
            self._reading = import_module(f"{_INTEGRATIONS[framework]}.reading")
        except ImportError as error:
            raise MissingExtra.naming(framework, "--app") from error

    @classmethod
    def of(cls, application: Any, chosen: Framework | None) -> "Integration":
        """That of the framework chosen, else of the one the application is built with."""
        return cls(chosen or _framework_of(application))

    def explainer(self, application: Any, name: str, **parameters: Any) -> Any:
        """A ``RuleExplainer``. Raises InvalidInput for what is no application of this framework."""
        kind = type(cast("object", application)).__name__
        if _built_with(application) is None and not (callable(application) or kind == "dict"):
            raise InvalidInput(
                f"--app {name} is of type {kind}; name a LangChain Runnable, a "
                "LlamaIndex engine or workflow, or a function of one input"
            )
        if _built_with(application) not in {None, self.framework}:
            raise InvalidInput(
                f"--app {name} is of type {kind}, which is not of {self.framework}; leave --framework out"
            )
        return self._package.RuleExplainer(application, **parameters)

    def question_in(self, given: Any) -> str:
        """The question in an input."""
        return self._reading.question_in(given)


def _framework_of(application: Any) -> Framework:
    """By its class; a function's by what its module has imported, else by what it makes if it takes
    nothing, else LangChain's."""
    framework = _built_with(application)
    if framework is not None:
        return framework
    module = sys.modules.get(getattr(application, "__module__", None) or "")
    used = set(_used_by(module)) if module is not None else set[Framework]()
    if len(used) != 1 and callable(application) and _needs_nothing(application):
        with suppress(Exception):  # which explaining will tell
            return _built_with(application()) or "langchain"
    return "llama-index" if used == {"llama-index"} else "langchain"


def _built_with(application: Any) -> Framework | None:
    known: list[Framework] = [
        _ROOTS[root] for root in map(_root, type(application).__mro__) if root in _ROOTS
    ]
    return known[0] if known else None


def _used_by(module: ModuleType) -> Iterator[Framework]:
    for value in list(vars(module).values()):
        kind = value if isinstance(value, (type, ModuleType)) else type(value)
        if (framework := _ROOTS.get(_root(kind))) is not None:
            yield framework


def _root(kind: Any) -> str:
    name: Any = kind.__name__ if isinstance(kind, ModuleType) else getattr(kind, "__module__", "")
    root = str(name).split(".", 1)[0]
    # Our own integrations are named after the frameworks that they are for.
    return root.removesuffix("_rag_rule_explainer")


def _needs_nothing(function: Any) -> bool:
    try:
        return not inspect.signature(function).parameters
    except (TypeError, ValueError):  # some built-in ones do not say
        return False
