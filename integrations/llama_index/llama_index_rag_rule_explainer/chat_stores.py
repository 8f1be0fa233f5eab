"""This module isolates chat stores: every run finds the conversations as they were before the first run.

A store keeps one conversation for each key. ``SimpleChatStore`` keeps them in an attribute, and each run
has a copy of this attribute. Of any other store, the messages of a key are read once, and all methods
work on copies of these messages. ``AsyncDBChatStore``, which ``Memory`` uses, also distinguishes active
and archived messages.
"""

import re
from collections.abc import Generator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from sqlalchemy.engine import make_url

from rag_rule_explainer import StateShared
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.isolation.attributes import (
    born,
    data_copy,
    not_carried_over,
    shared_key_of,
)
from rag_rule_explainer.instrumentation.isolation.isolating import MADE, Real, Use, arguments
from rag_rule_explainer.instrumentation.run_context import refused

from .uses import Replacement, same

Message: TypeAlias = tuple[ChatMessage, MessageStatus]


@dataclass(slots=True, eq=False)
class ChatsByKey:
    """This class holds the messages of a chat store by key, each with its status (active or archived)."""

    of: dict[str, list[Message]] = field(default_factory=dict[str, list[Message]])

    def put(self, key: str, messages: list[Message]) -> list[Message]:
        """Stores copies of the messages, unless the key already has messages. Returns the messages
        that the key then has."""
        return self.of.setdefault(key, _copied(messages))


def _copied(messages: Any) -> Any:
    return data_copy(messages, (ChatMessage,))


def _async_form(name: str) -> str:
    return "async_add_message" if name == "add_message" else f"a{name}"


def _of_any(name: str, method: Any) -> Any:
    if name == "__init__":
        return born(method, outside=True)
    is_async = name.startswith("a") and name != "add_message"
    plain = name.removeprefix("async_" if name.startswith("async_") else "a") if is_async else name
    return Replacement(_using, plain, _async_form, _is_simple).of(method, is_async=is_async)


def _of_a_database(name: str, method: Any) -> Any:
    if name == "__init__":
        return born(method, outside=True)
    return Replacement(_using_database, name, same, _is_in_memory).of(method, is_async=True)


def _is_simple(store: object) -> bool:
    return isinstance(store, SimpleChatStore)


def _is_in_memory(store: object) -> bool:
    """Returns True iff the store is in memory. A ``Memory`` that was made without a database keeps its
    messages in such a store."""
    if not isinstance(store, SQLAlchemyChatStore):
        return False
    engine: object = store._async_engine  # pyright: ignore[reportPrivateUsage] -- no public attribute holds the engine
    url = make_url(store.async_database_uri) if engine is None else getattr(engine, "url", None)
    # The texts of equal URLs differ: an engine writes ``:memory:`` as ``%3Amemory%3A``.
    return (
        url is not None and url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:")
    )


def _using(
    state: State, store: Any, name: str, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Use:
    not_carried_over(state, store)
    if state.live or isinstance(store, SimpleChatStore):
        if not isinstance(store, SimpleChatStore) and name not in ("get_keys", "persist"):
            yield from _first(state, store, arguments(method, store, *args, **kwargs)["key"])
        held_back = name == "persist" and not state.live
        return None if held_back else (yield MADE)
    if name == "persist":
        return None
    if name == "get_keys":
        return (yield from _keys(state, store))
    given = arguments(method, store, *args, **kwargs)
    messages = [message for message, _ in (yield from _own(state, store, given["key"]))]
    result = _done(name, messages, given)
    if name != "get_messages":
        own: ChatsByKey = state.own(("chats", shared_key_of(state, store)), ChatsByKey)
        own.of[given["key"]] = _active(messages)
    return result


def _done(name: str, messages: list[ChatMessage], given: dict[str, Any]) -> Any:
    """Applies a method of a chat store to ``messages`` instead of the store's conversation, and returns
    the method's result.

    ``messages``: this run's own messages of the key, which are changed in place. ``given``: the arguments
    of the method.
    """
    if name == "get_messages":
        return _copied(messages)
    if name == "set_messages":
        messages[:] = given["messages"]
    elif name == "add_message":
        place = given.get("idx")
        messages.insert(len(messages) if place is None else place, given["message"])
    elif name == "delete_messages":
        deleted, messages[:] = list(messages), []
        return deleted or None
    elif name == "delete_message":
        return messages.pop(given["idx"]) if given["idx"] < len(messages) else None
    elif messages:
        return messages.pop()
    return None


def _using_database(
    state: State, store: Any, name: str, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Use:
    not_carried_over(state, store)
    if name == "get_keys":
        return (yield MADE) if state.live else (yield from _keys(state, store))
    given = arguments(method, store, *args, **kwargs)
    key: str = given["key"]
    if state.live:
        yield from _first(state, store, key, statuses=True)
        return (yield MADE)
    messages = yield from _own(state, store, key, statuses=True)
    if name == "delete_message":
        seen = f"{type(store).__name__}.delete_message names a row of the real store"
        raise refused(StateShared(seen))
    return _done_in_database(name, messages, given)


def _done_in_database(name: str, messages: list[Message], given: dict[str, Any]) -> Any:
    status: MessageStatus | None = given.get("status")
    if name in ("get_messages", "count_messages"):
        found = [message for message, its in messages if status in (None, its)]
        if name == "count_messages":
            return len(found)
        start, limit = given.get("offset") or 0, given.get("limit")
        return _copied(list(islice(found, start, None if limit is None else start + limit)))
    if name in ("delete_oldest_messages", "archive_oldest_messages"):
        active = [each for each in messages if each[1] == MessageStatus.ACTIVE][: given["n"]]
        for each in active:
            place = next(place for place, other in enumerate(messages) if other is each)
            messages[place : place + 1] = (
                [(each[0], MessageStatus.ARCHIVED)] if name.startswith("archive") else []
            )
        return [message for message, _ in active]
    if name == "delete_messages":
        messages[:] = [each for each in messages if status not in (None, each[1])]
        return None
    if name == "set_messages":
        messages.clear()
    put = [given["message"]] if name == "add_message" else given["messages"]
    messages.extend((message, status or MessageStatus.ACTIVE) for message in _copied(list(put)))
    return None


def _own(
    state: State, store: Any, key: str, *, statuses: bool = False
) -> Generator[Real, Any, list[Message]]:
    """Returns this run's own messages of a key.

    If they must first be read from the real store, this generator yields the calls that read them. The
    code that runs the generator makes each call and sends its result back.
    """
    own: ChatsByKey = state.own(("chats", shared_key_of(state, store)), ChatsByKey)
    if key not in own.of:
        own.put(key, _left(state, (yield from _first(state, store, key, statuses=statuses))))
    return own.of[key]


def _left(state: State, messages: list[Message]) -> list[Message]:
    """Returns the messages without those of the turns that the run omits."""
    said = [message for message, _ in messages]
    left: list[ChatMessage] = state.edited(said)
    if len(left) == len(said):
        return [(message, status) for message, (_, status) in zip(left, messages, strict=True)]
    kept = {id(message) for message in left}
    return [each for each in messages if id(each[0]) in kept]


def _first(
    state: State, store: Any, key: str, *, statuses: bool = False
) -> Generator[Real, Any, list[Message]]:
    """Returns the messages that a key had before the first run.

    If they must first be read from the real store, this generator yields the calls that read them.
    ``statuses``: True if the store marks messages as active or archived; otherwise, all messages count
    as active.
    """
    before: ChatsByKey = state.kept(("chats", shared_key_of(state, store)), ChatsByKey)
    if key not in before.of:
        if statuses:
            archived = yield Real("get_messages", (key, MessageStatus.ARCHIVED))
            found = _merged(archived, (yield Real("get_messages", (key, None))))
        else:
            found = _active((yield Real("get_messages", (key,))))
        before.put(key, found)
        # A stored answer is used again only if the conversation, on which it depends, is still the same.
        said = [message.model_dump(mode="json") for message, _ in before.of[key]]
        state.before.setdefault(("chats", shared_key_of(state, store), key), said)
    return before.of[key]


def _active(messages: list[ChatMessage]) -> list[Message]:
    return [(message, MessageStatus.ACTIVE) for message in messages]


def _merged(archived: list[ChatMessage], every: list[ChatMessage]) -> list[Message]:
    """Returns all messages in their order, each with its status.

    ``archived``: the archived messages among ``every``, in the same order.
    """
    left, merged = list(archived), list[Message]()
    for message in every:
        if left and left[0] == message:
            left.pop(0)
            merged.append((message, MessageStatus.ARCHIVED))
        else:
            merged.append((message, MessageStatus.ACTIVE))
    return merged


def _keys(state: State, store: Any) -> Generator[Real, Any, list[str]]:
    found: list[str] = yield Real("get_keys")
    before: ChatsByKey = state.kept(("chats", shared_key_of(state, store)), ChatsByKey)
    own: ChatsByKey = state.own(("chats", shared_key_of(state, store)), ChatsByKey)
    seen = {**before.of, **own.of}
    return [
        *(key for key in found if seen.get(key, True)),
        *(key for key, messages in seen.items() if messages and key not in found),
    ]


_ANY = re.compile(
    "__init__|persist|a?(set_messages|get_messages|delete_messages|delete_message|delete_last_message|get_keys)"
    "|(async_)?add_message"
)
_DATABASE = re.compile(
    "__init__|(get|count|add|set|delete)_messages|(add|delete)_message|(delete|archive)_oldest_messages|get_keys"
)
CHAT_STORE = ("llama_index.core.storage.chat_store.base", "BaseChatStore")
DATABASE = ("llama_index.core.storage.chat_store.base_db", "AsyncDBChatStore")
INTERCEPTIONS = (
    Interception(*CHAT_STORE, _ANY, _of_any, added=("__init__",)),
    Interception(*DATABASE, _DATABASE, _of_a_database, added=("__init__",)),
)
