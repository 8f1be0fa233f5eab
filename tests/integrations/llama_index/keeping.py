"""Things that an application remembers by, what they hold, and applications that use them."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core import MockEmbedding
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.indices.base import BaseIndex
from llama_index.core.memory.types import BaseMemory
from llama_index.core.schema import BaseNode
from llama_index.core.storage.chat_store import BaseChatStore, SimpleChatStore
from llama_index.core.storage.kvstore import SimpleKVStore
from llama_index.core.storage.kvstore.types import BaseKVStore
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    VectorStoreQuery,
    VectorStoreQueryResult,
)
from llama_index_rag_rule_explainer import RuleExplainer, explained
from pydantic import PrivateAttr
from typing_extensions import override

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD, blames_b_and_d
from tests.integrations.llama_index.engines import retriever_of
from tests.integrations.llama_index.models import Telling, bad_where_both_are_shown
from tests.integrations.llama_index.zoo.agents import texts_of

PAST = [
    ChatMessage(role="user", content="Good morning."),
    ChatMessage(role="assistant", content="Good morning to you."),
]


class ServiceChatStore(BaseChatStore):
    """Keeps its messages where no copy reaches: think of Redis."""

    _kept: dict[str, list[ChatMessage]] = PrivateAttr()
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, kept: "dict[str, list[ChatMessage]] | Client") -> None:
        super().__init__()
        self._kept = kept.service if isinstance(kept, Client) else Served(kept)

    @override
    def set_messages(self, key: str, messages: list[ChatMessage]) -> None:
        self._kept[key] = list(messages)

    @override
    def get_messages(self, key: str) -> list[ChatMessage]:
        return list(self._kept.get(key, []))

    @override
    def add_message(self, key: str, message: ChatMessage) -> None:
        self._kept.setdefault(key, []).append(message)

    @override
    def delete_messages(self, key: str) -> list[ChatMessage] | None:
        return self._kept.pop(key, None)

    @override
    def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        return self._kept[key].pop(idx)

    @override
    def delete_last_message(self, key: str) -> ChatMessage | None:
        return self._kept[key].pop()

    @override
    def get_keys(self) -> list[str]:
        return list(self._kept)


class Served(dict[str, Any]):
    """A dict that stands for a service: it is the same one for all who talk to it."""

    def __copy__(self) -> "Served":
        return self

    @override
    def __reduce__(self) -> Any:
        raise TypeError("a service cannot be copied")


class Client:
    """What a service is reached by."""

    def __init__(self, service: Served) -> None:
        self.service = service


class ServiceKVStore(BaseKVStore):
    """Another one, of keys and values."""

    def __init__(self) -> None:
        self.kept: Any = Served()

    @override
    def put(self, key: str, val: dict[str, Any], collection: str = "data") -> None:
        self.kept.setdefault(collection, {})[key] = dict(val)

    @override
    async def aput(self, key: str, val: dict[str, Any], collection: str = "data") -> None:
        self.put(key, val, collection)

    @override
    def get(self, key: str, collection: str = "data") -> dict[str, Any] | None:
        return self.kept.get(collection, {}).get(key)

    @override
    async def aget(self, key: str, collection: str = "data") -> dict[str, Any] | None:
        return self.get(key, collection)

    @override
    def get_all(self, collection: str = "data") -> dict[str, dict[str, Any]]:
        # As some do, by way of its own methods.
        return {key: self.get(key, collection) or {} for key in self.kept.get(collection, {})}

    @override
    async def aget_all(self, collection: str = "data") -> dict[str, dict[str, Any]]:
        return self.get_all(collection)

    @override
    def delete(self, key: str, collection: str = "data") -> bool:
        return self.kept.get(collection, {}).pop(key, None) is not None

    @override
    async def adelete(self, key: str, collection: str = "data") -> bool:
        return self.delete(key, collection)


class ServiceVectorStore(BasePydanticVectorStore):
    """Another one, of nodes; every query finds them all."""

    stores_text: bool = True
    _kept: Any = PrivateAttr(default_factory=lambda: Served())

    @property
    @override
    def client(self) -> Any:
        return self._kept

    @override
    def add(self, nodes: Sequence[BaseNode], **add_kwargs: Any) -> list[str]:
        self._kept.update({node.node_id: node for node in nodes})
        return [node.node_id for node in nodes]

    @override
    def delete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        self._kept.pop(ref_doc_id, None)

    @override
    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        nodes = list(self._kept.values())
        return VectorStoreQueryResult(nodes=nodes, similarities=[1.0] * len(nodes), ids=list(self._kept))


def dump(thing: Any) -> str:
    """All that a thing holds, as text."""
    return next(told(thing) for kind, told in _DUMPS if isinstance(thing, kind))


def _of_an_index(index: Any) -> str:
    context = index.storage_context
    stores = json.dumps([context.docstore.to_dict(), context.index_store.to_dict()], sort_keys=True)
    return f"{stores}{index.index_struct}{dump(context.vector_store)}"


def _of_a_memory(memory: Any) -> str:
    facts = [getattr(block, "facts", None) for block in getattr(memory, "memory_blocks", ())]
    return repr([memory.get_all(), facts, memory.__pydantic_private__])


_DUMPS: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (SimpleChatStore, lambda store: repr(store.__dict__)),
    (ServiceChatStore, lambda store: repr(dict(store._kept))),
    (ServiceVectorStore, lambda store: repr(list(store.client))),
    (ServiceKVStore, lambda store: repr(dict(store.kept))),
    (SimpleKVStore, lambda store: json.dumps(store.to_dict(), sort_keys=True)),
    (
        SimpleVectorStore,
        lambda store: json.dumps(store.data.to_dict(), sort_keys=True) + repr(store.model_fields_set),
    ),
    (BaseIndex, _of_an_index),
    (BaseMemory, _of_a_memory),
)


def embedding() -> MockEmbedding:
    return MockEmbedding(embed_dim=4)


Turn = Callable[[str, Callable[[str], str]], str]
"""(question, what makes an answer of the conversation so far) -> the answer."""
AsyncTurn = Callable[[str, Callable[[str], str]], Awaitable[str]]


@dataclass
class App:
    """An application around a way to remember. ``asked``: the prompts of its model."""

    turn: Turn
    aturn: AsyncTurn
    asked: list[str]

    def answer_of(self, question: str, past: str) -> str:
        found = texts_of(retriever_of().retrieve(question))
        return str(self._llm().complete(f"{past}\n\n{question}\n\n{found}"))

    def _llm(self) -> Telling:
        def says(prompt: str) -> str:
            self.asked.append(prompt)
            return bad_where_both_are_shown(prompt)

        return Telling(says=says)

    def __call__(self, question: str) -> str:
        return self.turn(question, lambda past: self.answer_of(question, past))

    def asynchronous(self) -> Callable[[str], Awaitable[str]]:
        async def answer(question: str) -> str:
            return await self.aturn(question, lambda past: self.answer_of(question, past))

        return answer


def explained_is_true(app: App, *things: Any, awaiting: bool) -> Explanation:
    """That the known rules come out, every run was alike, and the things are byte for byte as before."""
    before = [dump(thing) for thing in things]
    explainer = RuleExplainer(app.asynchronous() if awaiting else app, predicate=BAD)
    explanation = asyncio.run(explainer.aexplain("why?")) if awaiting else explainer.explain("why?")
    assert blames_b_and_d(explanation)
    assert [dump(thing) for thing in things] == before
    alike(app)
    return explanation


def attached_is_true(
    app: App, twin: App, things: Sequence[Any], twins: Sequence[Any], *, awaiting: bool
) -> None:
    """The same where the rules are attached, but that the things are as after one ordinary run."""
    if awaiting:
        asyncio.run(_await(twin.asynchronous()("why?")))
        engine: Any = explained(app.asynchronous(), predicate=BAD)
        response = asyncio.run(_await(engine.aquery("why?")))
    else:
        twin("why?")
        engine = explained(app, predicate=BAD)
        response = engine.query("why?")
    rules = response.metadata["rag_rules"]
    assert [rule["sources"] for rule in rules["retention_rules"]] == [["b", "d"]]
    assert [rule["sources"] for rule in rules["omission_rules"]] == [["b"], ["d"]]
    assert [dump(thing) for thing in things] == [dump(thing) for thing in twins]
    alike(app)


async def _await(made: Any) -> Any:
    return await made


def alike(app: App) -> None:
    """That each prompt was the same but for the sources."""
    assert {prompt.count("why?") for prompt in app.asked} == {app.asked[0].count("why?")}
    assert not any("news" in prompt for prompt in app.asked)
    assert len({prompt.split("why?")[0] for prompt in app.asked}) == 1
