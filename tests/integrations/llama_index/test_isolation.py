"""What an application keeps in stores of every kind: each run has its own, and the real one is left."""

import asyncio
import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from itertools import count
from typing import Any

import pytest
from llama_index.core import Document, StorageContext, SummaryIndex, VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.indices.keyword_table import SimpleKeywordTableIndex
from llama_index.core.ingestion import IngestionCache, IngestionPipeline
from llama_index.core.memory import (
    BaseMemoryBlock,
    ChatMemoryBuffer,
    ChatSummaryMemoryBuffer,
    FactExtractionMemoryBlock,
    Memory,
    SimpleComposableMemory,
    VectorMemory,
)
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import TextNode, TransformComponent
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.storage.docstore.keyval_docstore import KVDocumentStore
from llama_index.core.storage.kvstore import SimpleKVStore
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import VectorStoreQuery
from llama_index_rag_rule_explainer import RuleExplainer, explained
from pydantic import PrivateAttr
from typing_extensions import override

from rag_rule_explainer import StateShared
from tests.integrations.known import BAD, TEXTS, blames_b_and_d, check_unexplained
from tests.integrations.llama_index.crossing import alternating, crossed
from tests.integrations.llama_index.engines import retriever_of
from tests.integrations.llama_index.keeping import (
    PAST,
    App,
    AsyncTurn,
    Client,
    Served,
    ServiceChatStore,
    ServiceKVStore,
    ServiceVectorStore,
    Turn,
    alike,
    attached_is_true,
    dump,
    embedding,
    explained_is_true,
)
from tests.integrations.llama_index.models import Telling, bad_where_both_are_shown
from tests.integrations.llama_index.zoo.agents import texts_of

pytestmark = pytest.mark.filterwarnings("ignore")
Built = tuple[App, Any]
"""An application, and the thing it remembers by."""


def said(messages: list[ChatMessage]) -> str:
    return "\n".join(str(message.content) for message in messages)


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def app(turn: Turn, aturn: AsyncTurn) -> App:
    return App(turn, aturn, [])


def chatting(store: Any) -> Built:
    """By the methods of a chat store."""

    def turn(question: str, answer: Callable[[str], str]) -> str:
        assert "s" in store.get_keys()
        store.add_message("s", user(question))
        reply = answer(said(store.get_messages("s")))
        store.add_message("s", user("to be deleted"))
        store.delete_last_message("s")
        store.set_messages("s", [*store.get_messages("s"), user(reply)])
        store.add_message("other", user(reply))
        assert set(store.get_keys()) == {"s", "other"}
        return reply

    async def aturn(question: str, answer: Callable[[str], str]) -> str:
        assert "s" in await store.aget_keys()
        await store.async_add_message("s", user(question))
        reply = answer(said(await store.aget_messages("s")))
        await store.async_add_message("s", user("to be deleted"))
        await store.adelete_last_message("s")
        await store.aset_messages("s", [*await store.aget_messages("s"), user(reply)])
        await store.async_add_message("other", user(reply))
        assert set(await store.aget_keys()) == {"s", "other"}
        await store.adelete_message("other", 0)
        await store.adelete_messages("gone")
        return reply

    return app(turn, aturn), store


def simple_chat_store() -> Built:
    return chatting(SimpleChatStore(store={"s": list(PAST)}))


def service_chat_store() -> Built:
    return chatting(ServiceChatStore({"s": list(PAST)}))


def bypassing() -> Built:
    """By what a chat store holds, without its methods; and by the store of a memory, without its own."""
    memory: Any = ChatMemoryBuffer.from_defaults(chat_history=list(PAST))

    def turn(question: str, answer: Callable[[str], str]) -> str:
        memory.chat_store.add_message("chat_history", user(question))
        reply = answer(said(memory.get_all()))
        memory.chat_store.store["chat_history"].append(user(reply))
        assert memory.get()[-1].content == reply
        return reply

    async def aturn(question: str, answer: Callable[[str], str]) -> str:
        return turn(question, answer)

    return app(turn, aturn), memory.chat_store


def replacing_the_store() -> Built:
    memory: Any = ChatMemoryBuffer.from_defaults(chat_history=list(PAST))

    def turn(question: str, answer: Callable[[str], str]) -> str:
        reply = answer(said(memory.get_all()))
        memory.chat_store = SimpleChatStore(store={"chat_history": [user(reply)]})
        assert [message.content for message in memory.get_all()] == [reply]
        return reply

    async def aturn(question: str, answer: Callable[[str], str]) -> str:
        return turn(question, answer)

    return app(turn, aturn), memory


def remembering(memory: Any) -> Built:
    def turn(question: str, answer: Callable[[str], str]) -> str:
        memory.put(user(question))
        reply = answer(said(memory.get(input="something")))
        memory.put_messages([user(reply)])
        return reply

    async def aturn(question: str, answer: Callable[[str], str]) -> str:
        await memory.aput(user(question))
        reply = answer(said(await memory.aget(input="something")))
        await memory.aput_messages([user(reply)])
        return reply

    return app(turn, aturn), memory


def buffered() -> Built:
    return remembering(ChatMemoryBuffer.from_defaults(chat_history=list(PAST)))


def over_a_service() -> Built:
    store = ServiceChatStore({"chat_history": list(PAST)})
    return remembering(ChatMemoryBuffer.from_defaults(chat_store=store))


def summarized() -> Built:
    llm = Telling(says=lambda _: "They greeted.")
    return remembering(
        ChatSummaryMemoryBuffer.from_defaults(chat_history=list(PAST), llm=llm, token_limit=12)
    )


def waterfall() -> Built:
    """What is old is archived in every run, and told to a block of memory."""
    facts = FactExtractionMemoryBlock(
        llm=Telling(says=lambda _: "<facts><fact>They greeted.</fact></facts>"), facts=["It is warm."]
    )
    memory = Memory.from_defaults(
        session_id="s", chat_history=list(PAST), token_limit=10, token_flush_size=1, memory_blocks=[facts]
    )
    application, _ = remembering(memory)
    ordinary, aordinary = application.turn, application.aturn

    def turn(question: str, answer: Callable[[str], str]) -> str:
        assert facts.facts == ["It is warm."]
        reply = ordinary(question, answer)
        assert "They greeted." in facts.facts
        return reply

    async def aturn(question: str, answer: Callable[[str], str]) -> str:
        assert facts.facts == ["It is warm."]
        reply = await aordinary(question, answer)
        assert "They greeted." in facts.facts
        return reply

    return app(turn, aturn), memory


def composed() -> Built:
    return remembering(
        SimpleComposableMemory.from_defaults(
            primary_memory=ChatMemoryBuffer.from_defaults(chat_history=list(PAST)),
            secondary_memory_sources=[ChatMemoryBuffer.from_defaults(chat_history=[user("Long ago.")])],
        )
    )


def indexed(index: Any) -> Built:
    """By documents that are put into an index."""

    def turn(question: str, answer: Callable[[str], str]) -> str:
        nodes: Any = index.docstore.get_nodes(sorted(index.docstore.docs))
        reply = answer("\n".join(node.text for node in nodes))
        index.insert(Document(text=f"heard {reply}", id_="heard"))
        index.insert_nodes([TextNode(text="a note", id_="note", embedding=[0.1] * 4)])
        index.delete_nodes(["old"], delete_from_docstore=True)
        index.refresh_ref_docs([Document(text="read again", id_="heard")])
        texts = {node.text for node in index.docstore.docs.values()}
        assert {"read again", "a note"} <= texts
        assert "an old one" not in texts
        struct = index.index_struct
        held = getattr(struct, "nodes_dict", None) or getattr(struct, "nodes", None) or struct.node_ids
        assert "note" in held
        assert "old" not in held
        return reply

    async def aturn(question: str, answer: Callable[[str], str]) -> str:
        nodes: Any = await index.docstore.aget_nodes(sorted(index.docstore.docs))
        reply = answer("\n".join(node.text for node in nodes))
        await index.ainsert(Document(text=f"heard {reply}", id_="heard"))
        await index.ainsert_nodes([TextNode(text="a note", id_="note", embedding=[0.1] * 4)])
        await index.adelete_nodes(["old"], delete_from_docstore=True)
        await index.adelete_ref_doc("heard", delete_from_docstore=True)
        return reply

    return app(turn, aturn), index


def whole() -> SentenceSplitter:
    """Nodes with the same ids each time."""
    return SentenceSplitter(id_func=lambda place, document: f"{document.node_id} {place}")


OLD = [TextNode(text="an old one", id_="old"), TextNode(text="another one", id_="another")]


def vector_indexed() -> Built:
    index = VectorStoreIndex(
        [node.model_copy() for node in OLD],
        embed_model=embedding(),
        store_nodes_override=True,
        transformations=[whole()],
    )
    index.set_index_id("of vectors")
    return indexed(index)


def summary_indexed() -> Built:
    index = SummaryIndex([node.model_copy() for node in OLD], transformations=[whole()])
    index.set_index_id("of summaries")
    return indexed(index)


def keyword_indexed() -> Built:
    index = SimpleKeywordTableIndex(
        [node.model_copy() for node in OLD], llm=Telling(), transformations=[whole()]
    )
    index.set_index_id("of keywords")
    return indexed(index)


def of_documents(kv: Any) -> Built:
    """By the documents of a document store, and what an ingestion leaves there and in its cache."""
    store = KVDocumentStore(kv)
    store.add_documents([node.model_copy() for node in OLD])
    pipeline = IngestionPipeline(
        transformations=[Shouting()], docstore=store, cache=IngestionCache(cache=kv)
    )

    def turn(question: str, answer: Callable[[str], str]) -> str:
        reply = answer("\n".join(node.get_content() for node in store.docs.values()))
        assert [node.get_content() for node in pipeline.run(documents=[noted(reply)])] == [reply.upper()]
        assert not pipeline.run(documents=[noted(reply)])
        store.delete_document("old")
        assert store.get_document_hash("heard")
        assert not store.document_exists("old")
        return reply

    async def aturn(question: str, answer: Callable[[str], str]) -> str:
        reply = answer("\n".join(node.get_content() for node in store.docs.values()))
        (shouted,) = await pipeline.arun(documents=[noted(reply)])
        assert shouted.get_content() == reply.upper()
        assert not await pipeline.arun(documents=[noted(reply)])
        await store.adelete_document("old")
        assert await store.aget_document_hash("heard")
        assert not await store.adocument_exists("old")
        return reply

    return app(turn, aturn), kv


def noted(text: str) -> Document:
    return Document(text=text, id_="heard")


class Shouting(TransformComponent):
    """A step of an ingestion."""

    @override
    def __call__(self, nodes: Any, **kwargs: Any) -> Any:
        return [TextNode(text=node.get_content().upper(), id_="shouted") for node in nodes]


def documents() -> Built:
    return of_documents(SimpleKVStore())


def documents_in_a_service() -> Built:
    return of_documents(ServiceKVStore())


def vectors_added() -> Built:
    """By what is added to a vector store in memory, and found there in the same run."""
    store = SimpleVectorStore()
    store.add([TextNode(text="x", id_="first", embedding=[1.0] * 4)])

    def found() -> list[str] | None:
        return store.query(VectorStoreQuery(query_embedding=[1.0] * 4, similarity_top_k=9)).ids

    def turn(question: str, answer: Callable[[str], str]) -> str:
        assert list(store.data.embedding_dict) == ["first"]
        reply = answer("")
        store.add([TextNode(text=reply, id_="heard", embedding=[1.0] * 4)])
        assert list(store.data.embedding_dict) == ["first", "heard"]
        store.clear()
        assert not store.data.embedding_dict
        return reply

    async def aturn(question: str, answer: Callable[[str], str]) -> str:
        reply = answer("")
        await store.async_add([TextNode(text=reply, id_="heard", embedding=[1.0] * 4)])
        await store.adelete("None")
        assert not store.data.embedding_dict
        return reply

    assert found() == ["first"]
    return app(turn, aturn), store


def vectors_held_back() -> Built:
    """By what is added to a vector store elsewhere, which nobody asks in the same run."""
    store = ServiceVectorStore()
    store.add([TextNode(text="x", id_="first")])

    def turn(question: str, answer: Callable[[str], str]) -> str:
        reply = answer("")
        assert store.add([TextNode(text=reply, id_="heard")]) == ["heard"]
        store.delete("first")
        return reply

    async def aturn(question: str, answer: Callable[[str], str]) -> str:
        reply = answer("")
        assert await store.async_add([TextNode(text=reply, id_="heard")]) == ["heard"]
        await store.adelete("first")
        return reply

    return app(turn, aturn), store


BUILT = [
    simple_chat_store,
    service_chat_store,
    bypassing,
    replacing_the_store,
    buffered,
    over_a_service,
    summarized,
    waterfall,
    composed,
    vector_indexed,
    summary_indexed,
    keyword_indexed,
    documents,
    documents_in_a_service,
    vectors_added,
    vectors_held_back,
]


EACH, OTHER = (alternating(BUILT, [False, True], start=start) for start in (0, 1))
"""Each of them in one way; and in the other one."""


@pytest.mark.spread(fast=3, slow=3)
@pytest.mark.parametrize(("build", "awaiting"), crossed(BUILT, [False, True], fast=EACH))
def test_each_run_has_its_own_and_the_real_one_is_left(
    build: Callable[[], Built], awaiting: bool
) -> None:
    application, thing = build()
    explained_is_true(application, thing, awaiting=awaiting)


@pytest.mark.spread(fast=3, slow=3)
@pytest.mark.parametrize(("build", "awaiting"), crossed(BUILT, [False, True], fast=OTHER))
def test_the_attached_form_leaves_what_one_run_leaves(build: Callable[[], Built], awaiting: bool) -> None:
    (application, thing), (twin, its) = build(), build()
    attached_is_true(application, twin, [thing], [its], awaiting=awaiting)


@pytest.mark.waits
@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    "build", [simple_chat_store, service_chat_store, buffered, summary_indexed, documents]
)
def test_other_traffic_goes_to_the_real_one(build: Callable[[], Built]) -> None:
    """A context that takes part in nothing writes in the middle of each run, and is seen by none."""
    application, thing = build()
    ordinary, runs = application.turn, count(1)
    with ThreadPoolExecutor(1) as elsewhere:
        elsewhere.submit(write, thing, "0").result()

        def turn(question: str, answer: Callable[[str], str]) -> str:
            reply = ordinary(question, answer)
            elsewhere.submit(Context().run, write, thing, str(next(runs))).result()
            return reply

        application.turn = turn
        explanation = RuleExplainer(application, predicate=BAD).explain("why?")
        assert blames_b_and_d(explanation)
        held = elsewhere.submit(dump, thing).result()
    assert all(f"elsewhere {number} " in held for number in range(explanation.counts.replays + 1))
    # None saw what was written meanwhile.
    assert not any("elsewhere 1 " in prompt for prompt in application.asked)
    assert "news" not in held


def write(thing: Any, number: str) -> None:
    text = f"elsewhere {number} "
    if isinstance(thing, (SimpleChatStore, ServiceChatStore)):
        thing.add_message("s", user(text))
    elif isinstance(thing, ChatMemoryBuffer):
        thing.put(user(text))
    elif isinstance(thing, SummaryIndex):
        thing.insert_nodes([TextNode(text=text, id_=text)])
    else:
        thing.put(text, {"text": text}, collection="foreign")


@pytest.mark.parametrize("awaiting", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("live", [False, True], ids=["copies", "live"])
def test_a_store_elsewhere_that_is_asked_after_a_write_is_refused(awaiting: bool, live: bool) -> None:
    store = ServiceVectorStore()
    store.add([TextNode(text="x", id_="first")])
    query = VectorStoreQuery(query_str="anything new", query_embedding=[1.0])
    retriever = retriever_of()
    llm = Telling(says=bad_where_both_are_shown)
    asked = list[str]()

    def answer(question: str) -> str:
        found = texts_of(retriever.retrieve(question))
        reply = str(llm.complete(found))
        store.add([TextNode(text=reply, id_="heard")])
        # What was never asked before is asked of the real store.
        asked.append(question)
        store.query(query.__class__(query_str=f"run {len(asked)}", query_embedding=[1.0]))
        return reply

    async def aanswer(question: str) -> str:
        found = texts_of(await retriever.aretrieve(question))
        reply = str(await llm.acomplete(found))
        await store.async_add([TextNode(text=reply, id_="heard")])
        asked.append(question)
        await store.aquery(query.__class__(query_str=f"run {len(asked)}", query_embedding=[1.0]))
        return reply

    application = aanswer if awaiting else answer
    explainer = RuleExplainer(application, predicate=BAD, on_new_query="filter")
    told = r"wrote to a ServiceVectorStore.*session id.*makes the app"
    if live:
        response: Any = explained(explainer).query("why?")
        check_unexplained(response.metadata["rag_rules"], StateShared, told)
        assert str(response).startswith("bad news")
    else:
        with pytest.raises(StateShared, match=told):
            explainer.explain("why?")
    assert list(store.client) == (["first", "heard"] if live else ["first"])


class Diary(BaseMemoryBlock[str]):
    """A block of the user's own, which writes to somewhere."""

    _lines: list[str] = PrivateAttr(default_factory=list[str])

    @override
    async def _aget(self, messages: Any = None, **kwargs: Any) -> str:
        return f"The diary has {len(self._lines)} lines."

    @override
    async def _aput(self, messages: list[ChatMessage]) -> None:
        self._lines.extend(str(message.content) for message in messages)


def test_a_block_of_memory_that_is_read_after_a_write_is_refused() -> None:
    diary = Diary(name="diary")
    memory = Memory.from_defaults(
        session_id="s", chat_history=list(PAST), token_limit=4, token_flush_size=1, memory_blocks=[diary]
    )
    application, _ = remembering(memory)
    with pytest.raises(StateShared, match="wrote to a Diary"):
        RuleExplainer(application, predicate=BAD).explain("why?")
    assert asyncio.run(diary.aget()) == "The diary has 0 lines."


def test_what_is_made_in_a_run_belongs_to_it() -> None:
    made: list[Any] = []

    def answer(question: str) -> str:
        found = retriever_of().retrieve(question)
        index = SummaryIndex([TextNode(text="something else")])
        index.insert(Document(text="and more"))
        store = SimpleChatStore()
        store.add_message("s", user(question))
        vectors = VectorStoreIndex.from_documents([Document(text="one more")], embed_model=embedding())
        kept = StorageContext.from_defaults()
        kept.docstore.add_documents([TextNode(text="kept")])
        made.append((index, store, vectors, kept))
        assert len(index.index_struct.nodes) == 2
        return str(Telling(says=bad_where_both_are_shown).complete(texts_of(found)))

    explanation = RuleExplainer(answer, predicate=BAD).explain("why?")
    assert blames_b_and_d(explanation)
    assert len(made) == explanation.counts.replays
    for index, store, vectors, kept in made:
        assert len(index.index_struct.nodes) == len(index.docstore.docs) == 2
        assert len(store.get_messages("s")) == 1
        assert len(vectors.index_struct.nodes_dict) == len(vectors.vector_store.data.embedding_dict) == 1
        assert len(kept.docstore.docs) == 1


def test_a_conversation_that_one_run_begins_and_another_goes_on_with_is_refused() -> None:
    begun: list[Any] = []

    def answer(question: str) -> str:
        found = texts_of(retriever_of().retrieve(question))
        if not begun:
            begun.append(ChatMemoryBuffer.from_defaults())
        begun[0].put(user(question))
        return str(Telling(says=bad_where_both_are_shown).complete(found))

    with pytest.raises(StateShared, match="a ChatMemoryBuffer that was made during one run was used"):
        RuleExplainer(answer, predicate=BAD).explain("why?")


def opening_a_service(_: Any) -> tuple[Callable[[], Any], Callable[[], list[str]]]:
    service = Served({"chat_history": list(PAST)})

    def opened() -> Any:
        return ChatMemoryBuffer.from_defaults(chat_store=ServiceChatStore(Client(service)))

    return opened, lambda: [str(message.content) for message in service["chat_history"]]


def opening_a_database(folder: Any) -> tuple[Callable[[], Any], Callable[[], list[str]]]:
    uri = f"sqlite+aiosqlite:///{folder}/memory.db"

    def opened() -> Any:
        return Memory.from_defaults(session_id="s", async_database_uri=uri)

    opened().put_messages(list(PAST))
    return opened, lambda: [str(message.content) for message in opened().get_all()]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("live", [False, True], ids=["copies", "live"])
@pytest.mark.parametrize("opening", [opening_a_service, opening_a_database])
def test_a_conversation_elsewhere_that_every_run_opens_anew_is_kept_apart(
    opening: Any, live: bool, tmp_path: Any
) -> None:
    opened, held = opening(tmp_path)
    before = held()

    def turn(question: str, answer: Callable[[str], str]) -> str:
        memory = opened()
        memory.put(user(question))
        reply = answer(said(memory.get()))
        memory.put(user(reply))
        assert said(memory.get_all()).endswith(reply)
        return reply

    async def aturn(question: str, answer: Callable[[str], str]) -> str:
        return turn(question, answer)

    application = app(turn, aturn)
    if live:
        explained(application, predicate=BAD).query("why?")
    else:
        assert blames_b_and_d(RuleExplainer(application, predicate=BAD).explain("why?"))
    alike(application)
    assert held() == [*before, *(("why?", "bad news") if live else ())]


def test_an_index_that_is_made_by_the_first_run_that_needs_it_is_fine() -> None:
    made: list[Any] = []

    def answer(question: str) -> str:
        if not made:
            nodes = [TextNode(text=text, id_=name) for name, text in TEXTS.items()]
            made.append(SummaryIndex(nodes))
        return str(made[0].as_query_engine(llm=Telling(says=bad_where_both_are_shown)).query(question))

    assert blames_b_and_d(RuleExplainer(answer, predicate=BAD).explain("why?"))


def test_a_struct_that_is_copied_in_a_run_is_the_runs_own() -> None:
    index = SummaryIndex([TextNode(text="one")])

    def answer(question: str) -> str:
        found = texts_of(retriever_of().retrieve(question))
        index.insert_nodes([TextNode(text="two")])
        struct: Any = index.index_struct
        assert len(copy.deepcopy(struct).nodes) == len(copy.copy(struct).nodes) == len(struct.nodes) == 2
        assert len(pickle.loads(pickle.dumps(struct)).nodes) == 2  # noqa: S301 -- our own
        return str(Telling(says=bad_where_both_are_shown).complete(found))

    assert blames_b_and_d(RuleExplainer(answer, predicate=BAD).explain("why?"))
    assert len(index.index_struct.nodes) == 1


def test_nothing_is_persisted_by_runs_on_copies(tmp_path: Any) -> None:
    index = SummaryIndex([TextNode(text="one")])

    def answer(question: str) -> str:
        found = texts_of(retriever_of().retrieve(question))
        index.storage_context.persist(str(tmp_path))
        return str(Telling(says=bad_where_both_are_shown).complete(found))

    assert blames_b_and_d(RuleExplainer(answer, predicate=BAD).explain("why?"))
    assert not [
        each for each in tmp_path.iterdir() if each.suffix == ".json" and "graph" not in each.name
    ]
    explained(answer, predicate=BAD).query("why?")
    assert (tmp_path / "docstore.json").exists()


def test_a_document_store_that_is_dumped_after_a_write_is_refused() -> None:
    store = SimpleDocumentStore()

    def answer(question: str) -> str:
        found = texts_of(retriever_of().retrieve(question))
        store.add_documents([TextNode(text="one")])
        store.to_dict()
        return str(Telling(says=bad_where_both_are_shown).complete(found))

    with pytest.raises(StateShared, match="to_dict"):
        RuleExplainer(answer, predicate=BAD).explain("why?")
    assert store.to_dict() == {}


def test_the_error_survives_pickling() -> None:
    error = StateShared("a list grew")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 -- our own


@pytest.mark.slow
def test_a_memory_of_vectors_finds_its_past_and_keeps_none_of_a_run() -> None:
    memory = VectorMemory.from_defaults(embed_model=embedding(), retriever_kwargs={"similarity_top_k": 9})
    for message in PAST:
        memory.put(message)

    def held() -> list[str]:
        return sorted(said(memory.get(input="x")).splitlines())

    before, batch = held(), memory.cur_batch_textnode.model_dump()

    def turn(question: str, answer: Callable[[str], str]) -> str:
        reply = answer("\n".join(held()))
        memory.put(user(question))
        memory.put(ChatMessage(role="assistant", content=reply))
        assert held() == sorted([*before, question, reply])
        return reply

    async def aturn(question: str, answer: Callable[[str], str]) -> str:
        reply = answer("\n".join(held()))
        await memory.aput(user(question))
        return reply

    application = app(turn, aturn)
    explained_is_true(application, awaiting=False)
    explained_is_true(application, awaiting=True)
    assert (held(), memory.cur_batch_textnode.model_dump()) == (before, batch)
    explained(application, predicate=BAD).query("why?")
    assert sorted([*before, "why?", "bad news"]) == held()
