"""This module finds the tracers that are bound to an application, and hides replays from all tracers
if the setting ``trace_replays`` is False.

A tracer may be bound to a chain or to a model, or be passed by the application's own code. LangChain
gives all tracers to a callback manager, and this module removes them there. Handlers that are no tracers
stay, because they may be part of the application.
"""

import re
from collections.abc import Mapping
from functools import wraps
from typing import Any, cast

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.runnables import RunnableBinding, RunnableConfig
from langchain_core.runnables.config import merge_configs
from langchain_core.tracers.base import AsyncBaseTracer, BaseTracer
from langchain_core.tracers.log_stream import LogStreamCallbackHandler
from langchain_core.tracers.root_listeners import AsyncRootListenersTracer, RootListenersTracer
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.run_context import participation
from rag_rule_explainer.instrumentation.shared_state.per_class import per_class

_OF_APPLICATIONS = (
    AsyncRootListenersTracer,
    LogStreamCallbackHandler,
    RootListenersTracer,
    RunCollectorCallbackHandler,
)
"""Tracers that report runs to the application itself and not to a service. They are never removed. If a
replay lacked such a tracer, an application that reads its collected runs would find those of the
baseline instead."""


def with_bound_tracers(application: object, config: RunnableConfig | None) -> RunnableConfig | None:
    """Returns a config that also has the tracers which ``with_config`` has bound to the application. If
    no tracers are bound, returns the config unchanged (None if it is None).

    The root run of the explanation uses the returned config. If the config lacked a bound tracer, this
    tracer would not receive the root run, and would record each replay as a run without a parent.
    """
    if not isinstance(config, Mapping | None):  # pyright: ignore[reportUnnecessaryIsInstance] -- a wrong config gets its error later
        return config
    bound: list[BaseCallbackHandler] = []
    while True:
        own: Any = getattr(application, "config", None)
        callbacks = cast("Mapping[str, Any]", own).get("callbacks") if isinstance(own, Mapping) else None
        handlers: Any = getattr(callbacks, "inheritable_handlers", callbacks) or ()
        bound += [each for each in handlers if _is_silenced(each) and each not in bound]
        if not isinstance(application, RunnableBinding):
            break
        application = cast("RunnableBinding[Any, Any]", application).bound
    given: Any = (config or {}).get("callbacks")
    known: Any = getattr(given, "handlers", given) or ()
    added: RunnableConfig = {"callbacks": [each for each in bound if each not in known]}
    return merge_configs(config, added) if added["callbacks"] else config


def _is_silenced(handler: BaseCallbackHandler) -> bool:
    return _is_of_silenced(handler.__class__)


@per_class
def _is_of_silenced(kind: type) -> bool:
    # LangChain makes dozens of managers in each run, and a check of an abstract class is slow.
    return issubclass(kind, (BaseTracer, AsyncBaseTracer)) and not issubclass(kind, _OF_APPLICATIONS)


def _is_hidden() -> bool:
    run = participation()
    return run is not None and not run.traced


def _made(_: str, init: Any) -> Any:
    @wraps(init)
    def made(self: BaseCallbackManager, *args: Any, **kwargs: Any) -> None:
        # A library that instruments LangChain may have replaced ``__init__`` by an object that is not a
        # function. Calling it without binding it to the manager would fail.
        init.__get__(self, type(self))(*args, **kwargs)
        if _is_hidden():
            self.handlers = _left(self.handlers)
            self.inheritable_handlers = _left(self.inheritable_handlers)

    return made


def _left(handlers: list[BaseCallbackHandler]) -> list[BaseCallbackHandler]:
    return [each for each in handlers if not _is_silenced(each)]


def _added(_: str, add: Any) -> Any:
    @wraps(add)
    def added(self: BaseCallbackManager, handler: BaseCallbackHandler, *args: Any, **kwargs: Any) -> None:
        if not (_is_hidden() and _is_silenced(handler)):
            add.__get__(self, type(self))(handler, *args, **kwargs)

    return added


_MODULE, _OWNER = "langchain_core.callbacks.base", "BaseCallbackManager"
INTERCEPTIONS = [
    Interception(_MODULE, _OWNER, re.compile("__init__"), _made),
    Interception(_MODULE, _OWNER, re.compile("add_handler"), _added),
]
"""The methods that are replaced during an explanation."""
