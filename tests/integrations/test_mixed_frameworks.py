"""Objects of one framework in an application that is explained by the integration of another one."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.stores import InMemoryByteStore
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore

from tests.integrations.known import BAD
from tests.integrations.leaving.parts import Answer, Ask, Search, mode_of, written
from tests.integrations.noticing.modes import Channel, ever, rarely
from tests.integrations.test_passing_state import of_langchain, of_llama_index


def a_chat_memory() -> tuple[Callable[[], object], Callable[[], object]]:
    memory = ChatMemoryBuffer.from_defaults(token_limit=999, tokenizer_fn=str.split)
    return lambda: memory.put(ChatMessage("two")), lambda: memory.get_all()


def a_document_store() -> tuple[Callable[[], object], Callable[[], object]]:
    store = SimpleDocumentStore()
    return lambda: store.add_documents([TextNode(id_="two", text="x")]), lambda: len(store.docs)


def a_byte_store() -> tuple[Callable[[], object], Callable[[], object]]:
    store = InMemoryByteStore()
    return lambda: store.mset([("two", b"1")]), lambda: store.mget(["two"])[0]


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("mode", [ever, rarely])
@pytest.mark.parametrize(
    ("of", "channel"),
    [
        (of_langchain, a_chat_memory),
        (of_langchain, a_document_store),
        (of_llama_index, a_byte_store),
    ],
)
def test_nothing_rests_on_what_another_frameworks_object_keeps(
    of: Callable[..., Any], channel: Channel, mode: Any
) -> None:
    with of(lambda search, ask: mode(channel, search, ask), predicate=BAD) as explainer:
        explanation = explainer.explain("What is new?")
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert explanation.warnings[0].startswith("fidelity not checked")


def a_splitter(search: Search, ask: Ask) -> Answer:
    splitter = SentenceSplitter(chunk_size=512)

    def answer(question: str) -> str:
        found = search(question)
        parts = [part for each in found for part in splitter.split_text(each)]
        return written(ask, mode_of(found), parts)

    return answer


def a_memory_that_is_only_written(search: Search, ask: Ask) -> Answer:
    memory = ChatMemoryBuffer.from_defaults(token_limit=999, tokenizer_fn=str.split)

    def answer(question: str) -> str:
        found = search(question)
        memory.put(ChatMessage(mode_of(found)))
        return written(ask, mode_of(found), found)

    return answer


@pytest.mark.parametrize("build", [a_splitter, a_memory_that_is_only_written])
def test_what_nothing_goes_by_is_proved(build: Any) -> None:
    with of_langchain(build, predicate=BAD) as explainer:
        explanation = explainer.explain("What is new?")
    assert {rule.claim for rule in explanation.rules} == {"proved"}, explanation.warnings
