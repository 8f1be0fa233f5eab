"""``RunnableWithMessageHistory``: every run is given a copy of the history it asks for."""

import re
from collections.abc import Hashable, Sequence
from functools import wraps
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage
from typing_extensions import override

from rag_rule_explainer.wrapping.copying import described
from rag_rule_explainer.wrapping.participation import participation
from rag_rule_explainer.wrapping.patching import Interception
from rag_rule_explainer.wrapping.state import State


class HistoryCopy(BaseChatMessageHistory):
    """Starts from another history's messages. A live one adds to that, too."""

    def __init__(self, real: BaseChatMessageHistory, state: State, key: Hashable) -> None:
        self._real = real
        self._state = state
        self._key = key
        self._added: list[BaseMessage] = []

    @property
    def messages(self) -> list[BaseMessage]:  # pyright: ignore[reportIncompatibleVariableOverride] -- a property, as in LangChain's own
        """What was there before, and what this run has added."""
        return [*self._state.read(self._key, lambda: list(self._real.messages)), *self._added]

    @override
    async def aget_messages(self) -> list[BaseMessage]:
        async def reading() -> list[BaseMessage]:
            return list(await self._real.aget_messages())

        return [*await self._state.aread(self._key, reading), *self._added]

    @override
    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        self._added.extend(messages)
        if self._state.live:
            self._real.add_messages(messages)

    @override
    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        self._added.extend(messages)
        if self._state.live:
            await self._real.aadd_messages(messages)

    @override
    def clear(self) -> None:
        raise NotImplementedError("a history is cleared by nobody who runs with it")


def _merging(_name: str, method: Any) -> Any:
    @wraps(method)
    def merged(self: Any, *configs: Any) -> Any:
        config, run = method(self, *configs), participation()
        if run is not None:
            configurable = config["configurable"]
            asked = {key: value for key, value in configurable.items() if key != "message_history"}
            key = history_key(self, asked)
            # Others may hold this dict: it is the caller's own config where nothing was merged.
            copy = HistoryCopy(configurable["message_history"], run.state, key)
            config["configurable"] = {**configurable, "message_history": copy}
        return config

    return merged


def history_key(runnable: Any, asked: object) -> Hashable:
    """How the history of one session is recognised by every run."""
    return "history", id(runnable.get_session_history), described(asked)


INTERCEPTIONS = (
    Interception(
        "langchain_core.runnables.history",
        "RunnableWithMessageHistory",
        re.compile("_merge_configs"),
        _merging,
    ),
)
