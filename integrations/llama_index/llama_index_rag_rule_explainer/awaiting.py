"""Lets ``aquery`` and ``achat`` return once the rules of their run are attached to their response.

Span handlers are told of a run's end by a plain call, in which nothing can be awaited, so the entry
itself waits. It does so only where a handler asked it to in that very call.
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
    """One call of an async entry, while it goes on, and what is to be awaited before it returns."""

    engine: object
    awaited: list[Callable[[], Awaitable[None]]] = field(
        default_factory=list[Callable[[], Awaitable[None]]]
    )
    returned: bool = False


_entered: ContextVar[Entered | None] = ContextVar("rag_rule_entered", default=None)


def before_return(engine: object, call: Callable[[], Awaitable[None]]) -> bool:
    """Returns True iff the context is inside an entry of the engine, which then awaits the call."""
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
            # Bound, or its span would not say whose it is.
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
"""Replaced for as long as there is a handler that explains every run."""
