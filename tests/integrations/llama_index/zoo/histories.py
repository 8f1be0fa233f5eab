"""Chats that keep their messages in LlamaIndex's own memories."""

from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
)
from llama_index.core.memory import ChatMemoryBuffer, ChatSummaryMemoryBuffer, Memory, VectorMemory
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.workflow import Context, StartEvent, StopEvent, Workflow, step

from tests.integrations.known import sets
from tests.integrations.llama_index.engines import Counting, engine_of, retriever_of
from tests.integrations.llama_index.models import Telling, nodes
from tests.integrations.llama_index.zoo.agents import sync_tool, texts_of
from tests.integrations.llama_index.zoo.heeding import (
    GREETING,
    PAST,
    anew,
    contents,
    greeted,
    heeding,
)
from tests.integrations.stateful import SHARED, Made, Stateful


def buffer_by_hand() -> Made:
    retriever, llm = retriever_of(), greeted()
    memory = ChatMemoryBuffer.from_defaults(chat_history=list(PAST), token_limit=3000)

    def chat(question: str) -> str:
        memory.put(ChatMessage(role="user", content=question))
        context = ChatMessage(role="system", content=texts_of(retriever.retrieve(question)) or "nothing")
        reply = llm.chat([context, *memory.get()])
        memory.put(reply.message)
        return str(reply.message.content)

    return Made(chat, memory=lambda: contents(memory.get_all()))


def memory_by_hand() -> Made:
    """The newer memory, awaited."""
    retriever, llm = retriever_of(), greeted()
    memory = Memory.from_defaults(session_id="s", token_limit=3000)
    memory.put_messages(list(PAST))

    async def chat(question: str) -> str:
        context = texts_of(await retriever.aretrieve(question))
        past = await memory.aget()
        asked = ChatMessage(role="user", content=f"{context}\n\n{question}")
        reply = await llm.achat([*past, asked])
        await memory.aput_messages([ChatMessage(role="user", content=question), reply.message])
        return str(reply.message.content)

    return Made(chat, memory=lambda: contents(memory.get_all()))


def chat_store_by_hand() -> Made:
    retriever, llm, store = retriever_of(), greeted(), SimpleChatStore()
    store.set_messages("user1", list(PAST))

    def chat(question: str) -> str:
        context = texts_of(retriever.retrieve(question))
        asked = ChatMessage(role="user", content=f"{context}\n\n{question}")
        reply = llm.chat([*store.get_messages("user1")[-6:], asked])
        store.add_message("user1", ChatMessage(role="user", content=question))
        store.add_message("user1", reply.message)
        return str(reply.message.content)

    return Made(chat, memory=lambda: contents(store.get_messages("user1")))


def chat_store_in_an_engine() -> Made:
    """A chat engine made for every question, over one store of all chats."""
    retriever, store = retriever_of(), SimpleChatStore()
    store.set_messages("user1", list(PAST))

    def chat(question: str) -> str:
        memory = ChatMemoryBuffer.from_defaults(
            token_limit=3000, chat_store=store, chat_store_key="user1"
        )
        engine = ContextChatEngine.from_defaults(retriever=retriever, llm=greeted(), memory=memory)
        return str(engine.chat(question))

    return Made(chat, memory=lambda: contents(store.get_messages("user1")))


CONDENSED = [("tandalone question", "why exactly?")]


def engine(kind: Any) -> Callable[[], Made]:
    """A chat engine in the middle of a conversation."""

    def build() -> Made:
        retriever = retriever_of()
        memory = ChatMemoryBuffer.from_defaults(chat_history=list(PAST), token_limit=3000)
        made = kind.from_defaults(retriever=retriever, llm=greeted(script=CONDENSED), memory=memory)
        return Made(made, memory=lambda: contents(memory.get_all()))

    return build


def condensing_engine() -> Made:
    """What was said only reaches the question: its answer is heeded there."""

    def condensed(prompt: str) -> str:
        return "why then bad news?" if "bad news" in prompt else "why exactly?"

    memory = ChatMemoryBuffer.from_defaults(chat_history=list(PAST), token_limit=3000)
    made = CondenseQuestionChatEngine.from_defaults(
        query_engine=engine_of(retriever_of(), heeding()), llm=Telling(says=condensed), memory=memory
    )
    return Made(made, memory=lambda: contents(memory.get_all()))


def engine_in_a_function() -> Made:
    """One engine, which a function asks."""
    made = ContextChatEngine.from_defaults(retriever=retriever_of(), llm=heeding())
    return Made(lambda question: str(made.chat(question)), memory=lambda: contents(made.chat_history))


def engine_asked_with_the_time() -> Made:
    """One engine with the newer memory, told the time with every question."""
    memory = Memory.from_defaults(session_id="s", token_limit=3000)
    memory.put_messages(list(PAST))
    made = ContextChatEngine.from_defaults(retriever=retriever_of(), llm=greeted(), memory=memory)

    def chat(question: str) -> str:
        return str(made.chat(f"[{datetime.now(timezone.utc).isoformat()}] {question}"))

    return Made(chat, memory=lambda: contents(memory.get_all()))


def engine_in_an_async_function() -> Made:
    made = CondensePlusContextChatEngine.from_defaults(
        retriever=retriever_of(), llm=heeding(script=CONDENSED)
    )

    async def chat(question: str) -> str:
        return str(await made.achat(question))

    return Made(chat, memory=lambda: contents(made.chat_history))


def history_by_hand() -> Made:
    """The engine is given a list of the caller's, which grows."""
    made, said = (
        ContextChatEngine.from_defaults(retriever=retriever_of(), llm=heeding()),
        list[ChatMessage](),
    )

    def chat(question: str) -> str:
        answer = str(made.chat(question, chat_history=list(said)))
        said.append(ChatMessage(role="user", content=question))
        said.append(ChatMessage(role="assistant", content=answer))
        return answer

    return Made(chat)


def summaries() -> Made:
    def summed_up(prompt: str) -> str:
        return f"{GREETING} bad news" if "bad news" in prompt else GREETING

    memory = ChatSummaryMemoryBuffer.from_defaults(
        chat_history=list(PAST), llm=Telling(says=summed_up), token_limit=40
    )
    made = ContextChatEngine.from_defaults(retriever=retriever_of(), llm=heeding(), memory=memory)
    return Made(made, memory=lambda: contents(memory.get_all()))


def agent_with_memory() -> Made:
    memory = Memory.from_defaults(session_id="s", token_limit=3000)
    memory.put_messages(list(PAST))
    agent = FunctionAgent(tools=[sync_tool(retriever_of())], llm=greeted())
    return Made(agent, {"user_msg": "why?", "memory": memory}, memory=lambda: contents(memory.get_all()))


def agent_in_a_function() -> Made:
    """One agent, one context, one function that asks."""
    agent: Any = FunctionAgent(tools=[sync_tool(retriever_of())], llm=heeding())
    context = Context(agent)

    async def chat(question: str) -> str:
        return str(await agent.run(user_msg=question, ctx=context))

    return Made(chat)


def agent_with_a_memory_of_its_function() -> Made:
    memory = ChatMemoryBuffer.from_defaults(token_limit=3000)
    agent: Any = FunctionAgent(tools=[sync_tool(retriever_of())], llm=heeding())

    async def chat(question: str) -> str:
        return str(await agent.run(user_msg=question, memory=memory))

    return Made(chat, memory=lambda: contents(memory.get_all()))


class Remembering(Workflow):
    """Keeps what was said in an attribute."""

    def __init__(self, retriever: Counting) -> None:
        super().__init__()
        self.retriever, self.llm = retriever, heeding()
        self.history: list[ChatMessage] = []

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        context = texts_of(await self.retriever.aretrieve(ev.query))
        self.history.append(ChatMessage(role="user", content=f"{context}\n\n{ev.query}"))
        reply = await self.llm.achat(self.history)
        # The context is of this question alone.
        self.history[-1] = ChatMessage(role="user", content=ev.query)
        self.history.append(reply.message)
        return StopEvent(result=str(reply.message.content))


def workflow_history() -> Made:
    return Made(Remembering(retriever_of()), {"query": "why?"})


class Storing(Workflow):
    """Keeps what was said in its context's store."""

    def __init__(self, retriever: Counting) -> None:
        super().__init__()
        self.retriever, self.llm = retriever, heeding()

    @step
    async def answer(self, ctx: Context, ev: StartEvent) -> StopEvent:
        said: list[str] = await ctx.store.get("said", default=[])
        context = texts_of(await self.retriever.aretrieve(ev.query))
        reply = str(await self.llm.acomplete("\n".join([*said, context, ev.query])))
        await ctx.store.set("said", [*said, f"User: {ev.query} You: {reply}"])
        return StopEvent(result=reply)


def workflow_store() -> Made:
    workflow = Storing(retriever_of())
    context = Context(workflow)
    return Made(workflow, {"query": "why?", "ctx": context}, memory=context.to_dict)


def workflow_store_in_a_function() -> Made:
    workflow = Storing(retriever_of())
    context = Context(workflow)

    async def chat(question: str) -> str:
        return await workflow.run(query=question, ctx=context)

    return Made(chat, memory=context.to_dict)


def documents(names: str = "abd") -> Any:
    return VectorStoreIndex(nodes(names), embed_model=MockEmbedding(embed_dim=8))


def vector_memory() -> Made:
    """What was said is inserted into an index, and found again by the next question."""
    retriever, llm = retriever_of(), heeding()
    memory: Any = VectorStoreIndex([], embed_model=MockEmbedding(embed_dim=8))

    def chat(question: str) -> str:
        said = texts_of(memory.as_retriever(similarity_top_k=9).retrieve(question))
        context = texts_of(retriever.retrieve(question))
        reply = str(llm.complete(f"Earlier:\n{said}\n\nContext:\n{context}\n\n{question}"))
        memory.insert(Document(text=f"Human: {question} You: {reply}"))
        return reply

    return Made(chat, memory=lambda: sorted(memory.vector_store.data.embedding_dict))


def vector_memory_with_a_past() -> Made:
    """After an earlier conversation, which is a source as well."""
    retriever, llm = retriever_of(), greeted()
    memory: Any = VectorStoreIndex([], embed_model=MockEmbedding(embed_dim=8))
    memory.insert_nodes(
        [nodes("a")[0].model_copy(update={"id_": "m", "text": f"When you met, you said: {GREETING}"})]
    )

    async def chat(question: str) -> str:
        said = texts_of(await memory.as_retriever(similarity_top_k=9).aretrieve(question))
        context = texts_of(await retriever.aretrieve(question))
        reply = str(await llm.acomplete(f"Earlier:\n{said}\n\nContext:\n{context}\n\n{question}"))
        memory.insert(Document(text=f"Human: {question} You: {reply}"))
        return reply

    return Made(chat, memory=lambda: sorted(memory.vector_store.data.embedding_dict))


def beside_the_documents() -> Made:
    """What was said goes to where the documents are."""
    index, llm = documents(), heeding()

    def chat(question: str) -> str:
        response = index.as_query_engine(llm=llm, similarity_top_k=50).query(question)
        index.insert(Document(text=f"Human: {question} You: {response}"))
        return str(response)

    return Made(chat, memory=lambda: sorted(index.vector_store.data.embedding_dict))


def vector_memory_class() -> Made:
    retriever, llm = retriever_of(), heeding()
    memory = VectorMemory.from_defaults(
        embed_model=MockEmbedding(embed_dim=8), retriever_kwargs={"similarity_top_k": 9}
    )

    def chat(question: str) -> str:
        said = "\n".join(str(message.content) for message in memory.get(question))
        context = texts_of(retriever.retrieve(question))
        reply = str(llm.complete(f"{said}\n\n{context}\n\n{question}"))
        memory.put(ChatMessage(role="user", content=question))
        memory.put(ChatMessage(role="assistant", content=reply))
        return reply

    return Made(chat, memory=lambda: contents(memory.get("why?")))


def document_store() -> Made:
    """What was said is kept among documents, and all of them are read."""
    retriever, llm, store = retriever_of(), heeding(), SimpleDocumentStore()

    def chat(question: str) -> str:
        said = "\n".join(kept.get_content() for kept in store.docs.values())
        context = texts_of(retriever.retrieve(question))
        reply = str(llm.complete(f"{said}\n\n{context}\n\n{question}"))
        store.add_documents([Document(text=f"Human: {question} You: {reply}")])
        return reply

    return Made(chat)


SHAPES = (
    Stateful("memory: ChatMemoryBuffer by hand", buffer_by_hand),
    Stateful("memory: Memory by hand, awaited", memory_by_hand),
    Stateful("memory: SimpleChatStore by hand", chat_store_by_hand),
    Stateful("memory: SimpleChatStore under an engine made for each question", chat_store_in_an_engine),
    Stateful("memory: ContextChatEngine", engine(ContextChatEngine)),
    Stateful("memory: CondensePlusContextChatEngine", engine(CondensePlusContextChatEngine)),
    Stateful("memory: CondenseQuestionChatEngine", condensing_engine),
    Stateful("memory: a chat engine in a function", engine_in_a_function),
    Stateful("memory: a chat engine with a Memory, told the time", engine_asked_with_the_time),
    Stateful("memory: a chat engine in an async function", engine_in_an_async_function),
    Stateful("memory: an engine given a list that grows", history_by_hand, SHARED, anew(history_by_hand)),
    Stateful("memory: ChatSummaryMemoryBuffer", summaries),
    Stateful("memory: an agent in a conversation", agent_with_memory),
    Stateful(
        "memory: an agent and its context in a function",
        agent_in_a_function,
        SHARED,
        anew(agent_in_a_function),
    ),
    Stateful("memory: an agent with a memory of its function", agent_with_a_memory_of_its_function),
    Stateful("memory: an attribute of a workflow", workflow_history, SHARED, anew(workflow_history)),
    Stateful("memory: a workflow's store", workflow_store),
    Stateful(
        "memory: a workflow's store, in a function",
        workflow_store_in_a_function,
        SHARED,
        anew(workflow_store_in_a_function),
    ),
    Stateful("memory: what was said is inserted into an index", vector_memory),
    Stateful(
        "memory: an index with an earlier conversation, which is a source",
        vector_memory_with_a_past,
        # Whoever was not greeted is told nothing.
        retention=sets("bdm"),
        omission=sets("b", "d", "m"),
    ),
    Stateful("memory: what was said is inserted among the documents", beside_the_documents),
    Stateful("memory: VectorMemory by hand", vector_memory_class),
    Stateful("memory: a document store", document_store, SHARED, anew(document_store)),
)
