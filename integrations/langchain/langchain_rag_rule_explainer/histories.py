"""This module isolates message histories. Each run starts with the messages that the baseline found.

A history in memory is copied for each run. The messages of a history in a file, a database or elsewhere
are read once, and each run adds its messages to its own list of them.
"""

import re
from collections.abc import Awaitable, Callable, Hashable, Sequence
from functools import wraps
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage
from typing_extensions import override

from rag_rule_explainer.instrumentation.copies.copying import described
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.isolation.redirecting import Isolation, untouched

from .ordinary import state_of_current_run
from .remembered import TWINS

_NAMES = re.compile(
    "messages|a?clear|aget_messages|a?add_messages|(add_)(message|user_message|ai_message)"
)


class HistoryOverlay(BaseChatMessageHistory):
    """This overlay takes the place of a real message history in one run.

    At first it has the messages from before the baseline. Only a run that the user made (no replay)
    changes the real history.
    """

    def __init__(self, real: BaseChatMessageHistory, state: State, key: Hashable) -> None:
        self._real: Any = real
        self._kind = type(real)
        self._state = state
        self._key = key
        self._held: list[BaseMessage] | None = None

    def attribute(self, name: str) -> Any:
        """Returns the attribute with this name: in a replay, that of this overlay; in a run that the
        user made, that of the real history.

        A run that the user made may change the real messages, so they are stored first. Replays start
        with the stored messages.
        """
        if not self._state.live:
            return getattr(self, name)
        if not name.startswith("aget") and not name.startswith("aadd") and name != "aclear":
            self.keep()
            return self._really(name)
        return self._awaiting(self._really(name))

    def set_attribute(self, name: str, value: Any) -> None:
        """Sets an attribute. In a replay, new ``messages`` replace the old ones for this replay only; in
        a run that the user made, they are set on the real history."""
        self.keep()
        with untouched():
            entry = getattr(self._kind, name, None)
            if self._state.live or (isinstance(entry, property) and entry.fset is None):
                setattr(self._real, name, value)  # this raises an error if the property has no setter
            else:
                self._held = list(value) if isinstance(entry, property) else value

    def keep(self) -> None:
        """Stores the messages that the history has now, because runs start with them. Does nothing if
        they are already stored."""
        self._state.read(self._key, self._reading)

    def _reading(self) -> list[BaseMessage]:
        with untouched():
            return list(self._real.messages)

    async def _areading(self) -> list[BaseMessage]:
        with untouched():
            return list(await self._real.aget_messages())

    def _really(self, name: str) -> Any:
        with untouched():
            return getattr(self._real, name)

    def _awaiting(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        @wraps(method)
        async def call(*args: Any, **kwargs: Any) -> Any:
            await self._state.aread(self._key, self._areading)
            return await method(*args, **kwargs)

        return call

    def _own(self) -> list[BaseMessage]:
        if self._held is None:
            self._held = list(self._state.read(self._key, self._reading))
        return self._held

    async def _aown(self) -> list[BaseMessage]:
        if self._held is None:
            found = list(await self._state.aread(self._key, self._areading))
            self._held = found if self._held is None else self._held
        return self._held

    @property
    def messages(self) -> list[BaseMessage]:  # pyright: ignore[reportIncompatibleVariableOverride] -- LangChain's own histories also define it as a property
        """Returns the messages from before the baseline, together with the changes of this run."""
        own = self._own()
        # If ``messages`` is a property of the real class, changes to the list that it returns do not
        # change the history. A copy is returned here for the same effect.
        return list(own) if isinstance(getattr(self._kind, "messages", None), property) else own

    @override
    async def aget_messages(self) -> list[BaseMessage]:
        await self._aown()
        return self.messages

    @override
    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        self._own().extend(messages)

    @override
    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        (await self._aown()).extend(messages)

    @override
    def clear(self) -> None:
        self._own()[:] = []

    @override
    async def aclear(self) -> None:
        (await self._aown())[:] = []


ISOLATION = Isolation(
    module="langchain_core.chat_history",
    owner="BaseChatMessageHistory",
    state=state_of_current_run,
    twins=TWINS,
    overlay=HistoryOverlay,
    overlaid=_NAMES,
    writes=re.compile("a?clear|a?add_.*"),
)


def keep_history(state: State, history: Any, key: Hashable = None) -> None:
    """Stores the messages that the history has now. Replays that explain the current run start with them.

    ``key``: identifies the history if other runs use another object for it; None if all runs use this
    object. Raises the errors of the history.
    """
    if key is not None:
        state.set_key(history, key)
    overlay = ISOLATION.keep(state, history)
    if isinstance(overlay, HistoryOverlay):
        overlay.keep()


def _merging(_name: str, method: Any) -> Any:
    @wraps(method)
    def merged(self: Any, *configs: Any) -> Any:
        config, state = method(self, *configs), state_of_current_run()
        if state is not None:
            configurable = dict(config["configurable"])
            history = configurable.pop("message_history")
            # The factory may make a new history object in each run, so the history is identified by a
            # key.
            state.set_key(history, history_key(self, configurable))
        return config

    return merged


def history_key(runnable: Any, configurable: object) -> Hashable:
    """Returns a key for the message history of one session. All runs compute the same key for one
    session."""
    return "history", id(runnable.get_session_history), described(configurable)


INTERCEPTIONS = (
    ISOLATION.interception,
    Interception(
        "langchain_core.runnables.history",
        "RunnableWithMessageHistory",
        re.compile("_merge_configs"),
        _merging,
    ),
)
