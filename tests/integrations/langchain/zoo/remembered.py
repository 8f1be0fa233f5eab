"""What LangGraph and vector stores keep of conversations."""

from typing import Any
from uuid import uuid4

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.tools import ToolRuntime, tool
from langchain_classic.memory import VectorStoreRetrieverMemory
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from typing_extensions import override

from tests.integrations.known import sets
from tests.integrations.langchain.models import Telling
from tests.integrations.langchain.zoo.agents import GIVEN, Calling
from tests.integrations.langchain.zoo.heeding import (
    GREETING,
    PAST,
    contents,
    greeted,
    heeding,
    heeds,
    heeds_the_past,
    text_of,
    vectors,
)
from tests.integrations.langchain.zoo.shapes import Store, joined, retriever_of
from tests.integrations.stateful import Made, Stateful

THREAD: Any = {"configurable": {"thread_id": "t"}}
USER = ("u", "memories")


def thread() -> Made:
    """A chat graph on a thread, in the middle of a conversation."""
    retriever, llm = retriever_of(), greeted()

    def respond(state: MessagesState) -> Any:
        context = joined(retriever.invoke(state["messages"][-1].text))
        return {"messages": [llm.invoke([SystemMessage(f"Context:\n{context}"), *state["messages"]])]}

    graph: Any = StateGraph(MessagesState)
    graph.add_node("respond", respond)
    graph.add_edge(START, "respond")
    graph.add_edge("respond", END)
    compiled = graph.compile(checkpointer=InMemorySaver())
    compiled.update_state(THREAD, {"messages": list(PAST)}, as_node="respond")
    return Made(
        compiled,
        GIVEN,
        config=THREAD,
        memory=lambda: [message.text for message in compiled.get_state(THREAD).values["messages"]],
    )


def wrapped_thread() -> Made:
    """The graph is hidden in a function, which knows the thread."""
    inner = thread()

    def chat(question: str) -> str:
        given = {"messages": [HumanMessage(question)]}
        return inner.application.invoke(given, THREAD)["messages"][-1].text

    return Made(RunnableLambda(chat), memory=inner.memory)


def previous() -> Made:
    """The functional API, with what it returned before."""
    retriever, llm = retriever_of(), heeding()

    @entrypoint(checkpointer=InMemorySaver())
    def chat(question: str, *, previous: Any = None) -> Any:
        past: list[BaseMessage] = previous or []
        context = joined(retriever.invoke(question))
        reply = llm.invoke([*past, HumanMessage(f"{context}\n\n{question}")])
        return entrypoint.final(value=reply.text, save=[*past, HumanMessage(question), reply])

    return Made(chat, config=THREAD, memory=lambda: chat.get_state(THREAD).values)


def items(store: InMemoryStore) -> list[Any]:
    return [item.value for item in store.search(USER)]


def long_term() -> Made:
    """A graph with a store, which a node reads and writes."""
    retriever, llm, store = retriever_of(), greeted(), InMemoryStore()
    store.put(USER, "m1", {"text": "You met. Good morning to you."})

    def respond(state: MessagesState, *, store: BaseStore) -> Any:
        question = state["messages"][-1].text
        known = "\n".join(item.value["text"] for item in store.search(USER))
        context = joined(retriever.invoke(question))
        reply = llm.invoke(f"You know:\n{known}\n\nContext:\n{context}\n\n{question}")
        store.put(USER, uuid4().hex, {"text": f"{question} You said: {reply.text}"})
        return {"messages": [reply]}

    graph: Any = StateGraph(MessagesState)
    graph.add_node("respond", respond)
    graph.add_edge(START, "respond")
    graph.add_edge("respond", END)
    return Made(graph.compile(store=store), GIVEN, memory=lambda: items(store))


def long_term_by_hand() -> Made:
    """The same store, without a graph, awaited."""
    retriever, llm, store = retriever_of(), heeding(), InMemoryStore()

    async def chat(question: str) -> str:
        last = await store.aget(USER, "last")
        context = joined(await retriever.ainvoke(question))
        past = last.value["text"] if last else "nothing"
        reply = await llm.ainvoke(f"Last time: {past}\n\n{context}\n\n{question}")
        await store.aput(USER, "last", {"text": reply.text})
        return reply.text

    return Made(RunnableLambda(chat), memory=lambda: items(store))


class Profiling(AgentMiddleware[Any, Any]):
    """Puts what the store knows before the conversation, and the last answer into the store."""

    @override
    def before_model(self, state: Any, runtime: Any) -> Any:
        if any(isinstance(message, SystemMessage) for message in state["messages"]):
            return None
        known = "; ".join(item.value["text"] for item in runtime.store.search(USER))
        return {"messages": [SystemMessage(f"Known of the user: {known}")]}

    @override
    def after_agent(self, state: Any, runtime: Any) -> Any:
        runtime.store.put(USER, uuid4().hex, {"text": state["messages"][-1].text})


def profiled_agent() -> Made:
    retriever, store = retriever_of(), InMemoryStore()
    search = create_retriever_tool(retriever, "search", "Search the index.")
    llm = Calling(tool="search", says=heeds)
    agent = create_agent(llm, [search], middleware=[Profiling()], store=store)
    return Made(agent, GIVEN, memory=lambda: items(store))


class Noting(Telling):
    """Looks into its notes, searches, notes what it concludes, and says so."""

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        result = super()._generate(messages, *args, **kwargs)
        message = result.generations[0].message
        done = sum(isinstance(each, ToolMessage) for each in messages)
        calls = [("recall", {}), ("search", {"query": "why?"}), ("note", {"text": message.text})]
        if done < len(calls):
            name, arguments = calls[done]
            call = {"name": name, "args": arguments, "id": f"call-{done}"}
            result.generations[0].message = AIMessage("", tool_calls=[call])
        return result


def noting_agent() -> Made:
    """An agent with tools for its own memory, on a thread."""
    retriever, store = retriever_of(), InMemoryStore()

    @tool
    def recall(runtime: ToolRuntime[None, Any]) -> str:
        """What was noted before."""
        assert runtime.store is not None
        return "; ".join(item.value["text"] for item in runtime.store.search(USER)) or "nothing"

    @tool
    def note(text: str, runtime: ToolRuntime[None, Any]) -> str:
        """Note it for later."""
        assert runtime.store is not None
        runtime.store.put(USER, uuid4().hex, {"text": text})
        return "noted"

    search = create_retriever_tool(retriever, "search", "Search the index.")
    agent = create_agent(
        Noting(says=heeds), [recall, search, note], store=store, checkpointer=InMemorySaver()
    )
    return Made(agent, GIVEN, config=THREAD, memory=lambda: items(store))


def trimmed_thread() -> Made:
    """An agent in the middle of a conversation, without middleware."""
    retriever = retriever_of()
    search = create_retriever_tool(retriever, "search", "Search the index.")
    llm = Calling(tool="search", says=heeds_the_past)
    agent: Any = create_agent(llm, [search], checkpointer=InMemorySaver())
    agent.update_state(THREAD, {"messages": list(PAST)}, as_node="model")
    return Made(
        agent,
        GIVEN,
        config=THREAD,
        memory=lambda: [message.text for message in agent.get_state(THREAD).values["messages"]],
    )


def vector_memory() -> Made:
    """What was said is put into a vector store, and found again by the next question."""
    store, memory, llm = Store(), vectors(), greeted()
    memory.add_documents(
        [Document(id="m", page_content=f"When you two met last week, you said: {GREETING}")]
    )

    def chat(question: str) -> str:
        said = memory.similarity_search(question, k=9)
        found = store.similarity_search(question, k=4)
        prompt = f"Earlier:\n{joined(said)}\n\nContext:\n{joined(found)}\n\n{question}"
        reply = llm.invoke(prompt).text
        memory.add_texts([f"Human: {question} You: {reply}"])
        return reply

    async def achat(question: str) -> str:
        said = await memory.asimilarity_search(question, k=9)
        found = await store.asimilarity_search(question, k=4)
        prompt = f"Earlier:\n{joined(said)}\n\nContext:\n{joined(found)}\n\n{question}"
        reply = (await llm.ainvoke(prompt)).text
        await memory.aadd_texts([f"Human: {question} You: {reply}"])
        return reply

    return Made(RunnableLambda(chat, achat), memory=lambda: contents(memory))


def empty_vector_memory() -> Made:
    """The same before the first conversation."""
    store, memory, llm = Store(), vectors(), heeding()

    def chat(question: str) -> str:
        said = memory.as_retriever(search_kwargs={"k": 9}).invoke(question)
        found = store.similarity_search(question, k=4)
        reply = llm.invoke(f"Earlier:\n{joined(said)}\n\nContext:\n{joined(found)}\n\n{question}").text
        memory.add_documents([Document(page_content=f"Human: {question} You: {reply}")])
        return reply

    return Made(RunnableLambda(chat), memory=lambda: contents(memory))


def beside_the_documents() -> Made:
    """What was said goes to where the documents are."""
    store, llm = Store(), heeding()

    def chat(question: str) -> str:
        found = store.similarity_search(question, k=100)
        reply = llm.invoke(f"Context:\n{joined(found)}\n\n{question}").text
        store.add_texts([f"Human: {question} You: {reply}"])
        return reply

    return Made(RunnableLambda(chat), memory=lambda: contents(store))


def retriever_memory() -> Made:
    """Classic LangChain's memory over a vector store, by hand."""
    retriever, llm, store = retriever_of(), heeding(), vectors()
    memory = VectorStoreRetrieverMemory(retriever=store.as_retriever(search_kwargs={"k": 9}))

    def chat(question: str) -> str:
        said = memory.load_memory_variables({"input": question})["history"]
        context = joined(retriever.invoke(question))
        reply = llm.invoke(f"{said}\n\nContext:\n{context}\n\nHuman: {question}").text
        memory.save_context({"input": question}, {"output": reply})
        return reply

    return Made(RunnableLambda(chat), memory=lambda: contents(store))


def summarized_thread() -> Made:
    """A thread whose messages are summed up and removed by a node."""
    retriever, llm = retriever_of(), heeding()
    summarizer = Telling(says=lambda messages: f"So far: {text_of(messages)[-120:]}")

    class State(MessagesState, total=False):
        summary: str

    def respond(state: State) -> Any:
        question = state["messages"][-1].text
        context = joined(retriever.invoke(question))
        prompt = f"Summary: {state.get('summary', '')}\n\nContext:\n{context}\n\n{question}"
        return {"messages": [llm.invoke(prompt)]}

    def sum_up(state: State) -> Any:
        said = "\n".join(message.text for message in state["messages"][-2:])
        return {"summary": summarizer.invoke(f"{state.get('summary', '')}\n{said}").text}

    graph: Any = StateGraph(State)
    graph.add_node("respond", respond)
    graph.add_node("sum_up", sum_up)
    graph.add_edge(START, "respond")
    graph.add_edge("respond", "sum_up")
    graph.add_edge("sum_up", END)
    compiled = graph.compile(checkpointer=InMemorySaver())
    return Made(compiled, GIVEN, config=THREAD, memory=lambda: compiled.get_state(THREAD).values)


SHAPES = (
    Stateful("LangGraph: a thread in the middle of a conversation", thread),
    Stateful("LangGraph: a thread inside a function", wrapped_thread),
    Stateful("LangGraph: a thread that is summed up", summarized_thread),
    Stateful("LangGraph: entrypoint with previous", previous),
    Stateful("LangGraph: a store in a node", long_term),
    Stateful("LangGraph: a store by hand, awaited", long_term_by_hand),
    Stateful("agent: a store in middleware", profiled_agent),
    Stateful("agent: tools over a store, and a thread", noting_agent),
    Stateful("agent: a thread in the middle of a conversation", trimmed_thread),
    Stateful("vectors: what was said is added, and found again", empty_vector_memory),
    Stateful(
        "vectors: after an earlier conversation, which is a source",
        vector_memory,
        # Whoever was not greeted is told nothing.
        retention=sets("bdm"),
        omission=sets("b", "d", "m"),
    ),
    Stateful("vectors: what was said goes to the documents", beside_the_documents),
    Stateful("vectors: VectorStoreRetrieverMemory by hand", retriever_memory),
)
