"""This module makes ``aquery`` and ``achat`` wait until the rules are attached to their response.

LlamaIndex reports the end of a run to span handlers by a sync call, in which a handler cannot await the
explanation. So the handler registers a callback by ``before_return``. The methods that replace ``aquery``
and ``achat`` await the callback before they return.
"""

import re
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from rag_rule_explainer.instrumentation.copies.patching import Interception, Patches


@dataclass(slots=True, eq=False)
class Entered:
    """An ``Entered`` is a call of ``aquery`` or ``achat`` that is running.

    ``awaited``: the callbacks to await at its end. ``returned``: True after the engine's own method has
    returned; no callback is accepted then.
    """

    engine: object
    awaited: list[Callable[[], Awaitable[None]]] = field(
        default_factory=list[Callable[[], Awaitable[None]]]
    )
    returned: bool = False


_entered: ContextVar[Entered | None] = ContextVar("rag_rule_entered", default=None)


def before_return(engine: object, call: Callable[[], Awaitable[None]]) -> bool:
    """Registers ``call`` to be awaited before the running ``aquery`` or ``achat`` of the engine returns.

    Returns False, and registers nothing, if no such call is running in the current context.
    """
    entered = _entered.get()
    if entered is None or entered.engine is not engine or entered.returned:
        return False
    entered.awaited.append(call)
    return True


def _entry(_name: str, method: Any) -> Any:
    @wraps(method)
    async def enter(engine: Any, *args: Any, **kwargs: Any) -> Any:
        entered = Entered(engine)
        token = _entered.set(entered)
        try:
            # LlamaIndex's decorator gets the engine for its span from the bound method, so the method is
            # bound.
            response = await method.__get__(engine, type(engine))(*args, **kwargs)
        finally:
            entered.returned = True
            _entered.reset(token)
        for call in entered.awaited:
            await call()
        return response

    return enter


entries = Patches(
    [
        Interception(
            "llama_index.core.base.base_query_engine", "BaseQueryEngine", re.compile("aquery"), _entry
        ),
        Interception("llama_index.core.chat_engine.types", "BaseChatEngine", re.compile("achat"), _entry),
    ]
)
"""The patches of ``aquery`` and ``achat``, applied while a handler with ``auto=True`` exists."""
