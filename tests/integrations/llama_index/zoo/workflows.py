"""Workflows: events of their own, stores, resources, branches, and workflows in workflows."""

from collections.abc import Callable
from typing import Annotated, Any

from llama_index.core import SummaryIndex
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step
from llama_index.core.workflow.resource import Resource
from pydantic import BaseModel, Field

from tests.integrations.llama_index.engines import Counting, retriever_of
from tests.integrations.llama_index.models import Telling, nodes
from tests.integrations.llama_index.zoo.agents import texts_of
from tests.integrations.public import Public
from tests.integrations.stateful import QUESTION, Made


class Ask(StartEvent):
    question: str
    top_k: int = 4
    tags: list[str] = Field(default_factory=list[str])


class Cited(BaseModel):
    number: int
    text: str


class Answered(StopEvent):
    answer: str
    citations: list[Cited]


class Progress(Event):
    told: str


class Retrieved(Event):
    found: list[NodeWithScore]


class Citing(Workflow):
    """Started and ended by events of its own; its sources are numbered nodes that it makes itself."""

    def __init__(self, retriever: Counting) -> None:
        super().__init__()
        self.retriever, self.llm = retriever, Telling()

    @step
    async def search(self, ctx: Context, ev: Ask) -> Retrieved:
        ctx.write_event_to_stream(Progress(told=f"searching {', '.join(ev.tags)}"))
        await ctx.store.set("question", ev.question)
        return Retrieved(found=(await self.retriever.aretrieve(ev.question))[: ev.top_k])

    @step
    async def answer(self, ctx: Context, ev: Retrieved) -> Answered:
        numbered = [
            Cited(number=number, text=f"Source {number}:\n{each.node.get_content()}")
            for number, each in enumerate(ev.found, start=1)
        ]
        told = "\n\n".join(each.text for each in numbered)
        said = await self.llm.acomplete(f"{told}\n\n{await ctx.store.get('question')}")
        return Answered(answer=str(said), citations=numbered)


class Everything(Workflow):
    """LlamaIndex's own example: it is run with what it searches, by name, in a plain StartEvent."""

    @step
    async def search(self, ctx: Context, ev: StartEvent) -> Retrieved | None:
        if not ev.get("index"):
            return None
        await ctx.store.set("query", ev.get("query"))
        retriever = ev.index.as_retriever()
        return Retrieved(found=await retriever.aretrieve(ev.get("query")))

    @step
    async def synthesize(self, ctx: Context, ev: Retrieved) -> StopEvent:
        said = await Telling().acomplete(f"{texts_of(ev.found)}\n\n{await ctx.store.get('query')}")
        return StopEvent(result=str(said))


class Notes(BaseModel):
    """What a run knows."""

    notes: list[str] = Field(default_factory=list[str])
    wanted: int = 0


class Look(Event):
    query: str


class Looked(Event):
    text: str


class Branching(Workflow):
    """Searches with several queries at once, and writes when all are back."""

    def __init__(self, retriever: Counting) -> None:
        super().__init__()
        self.retriever, self.llm = retriever, Telling()

    @step
    async def plan(self, ctx: Context[Notes], ev: StartEvent) -> Look | None:
        queries = [f"{ev.topic}: {part}" for part in ("causes", "effects", "cures")]
        async with ctx.store.edit_state() as state:
            state.wanted = len(queries)
        for query in queries:
            ctx.send_event(Look(query=query))
        return None

    @step(num_workers=3)
    async def look(self, ctx: Context[Notes], ev: Look) -> Looked:
        text = texts_of(await self.retriever.aretrieve(ev.query))
        async with ctx.store.edit_state() as state:
            state.notes.append(ev.query)
        return Looked(text=text)

    @step
    async def write(self, ctx: Context[Notes], ev: Looked) -> StopEvent | None:
        state = await ctx.store.get_state()
        looked = ctx.collect_events(ev, [Looked] * state.wanted)
        if looked is None:
            return None
        told = "\n\n".join(sorted(each.text for each in looked))
        return StopEvent(
            result=str(await self.llm.acomplete(f"{told}\n\nof {len(state.notes)} searches"))
        )


class One(Event):
    text: str


class Graded(Event):
    text: str


class Mapping(Workflow):
    """Grades each node in a branch of its own: without nodes, no branch comes back."""

    def __init__(self, retriever: Counting, *, ends: bool) -> None:
        super().__init__(timeout=None)
        self.retriever, self.llm, self.ends = retriever, Telling(), ends

    @step
    async def search(self, ctx: Context, ev: StartEvent) -> One | StopEvent | None:
        found = await self.retriever.aretrieve(ev.query)
        await ctx.store.set("wanted", len(found))
        for each in found:
            ctx.send_event(One(text=each.node.get_content()))
        return StopEvent(result="I have found nothing.") if self.ends and not found else None

    @step(num_workers=4)
    async def grade(self, ev: One) -> Graded:
        grade = await Telling(says=lambda _: "yes").acomplete(f"Is this relevant? {ev.text}")
        return Graded(text=ev.text if str(grade) == "yes" else "")

    @step
    async def answer(self, ctx: Context, ev: Graded) -> StopEvent | None:
        graded = ctx.collect_events(ev, [Graded] * await ctx.store.get("wanted"))
        if graded is None:
            return None
        told = "\n\n".join(sorted(each.text for each in graded))
        return StopEvent(result=str(await self.llm.acomplete(told)))


class Reflecting(Workflow):
    """Has a draft criticized by another workflow, until that is content."""

    def __init__(self, retriever: Counting) -> None:
        super().__init__()
        self.retriever, self.llm, self.critic = retriever, Telling(), Criticizing()

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        context = texts_of(await self.retriever.aretrieve(ev.query))
        draft, advice = "", "none"
        while advice != "fine":
            draft = str(await self.llm.acomplete(f"{context}\n\nDraft: {draft}\n\nAdvice: {advice}"))
            advice = await self.critic.run(draft=draft, turn=advice)
        return StopEvent(result=draft)


class Criticizing(Workflow):
    @step
    async def criticize(self, ev: StartEvent) -> StopEvent:
        says = "fine" if ev.turn != "none" else "say it in fewer words"
        said = await Telling(says=lambda _: says).acomplete(f"Criticize: {ev.draft}")
        return StopEvent(result=str(said))


class Searching(Workflow):
    """Is handed to another workflow, and searches for it."""

    def __init__(self, retriever: Counting) -> None:
        super().__init__()
        self.retriever = retriever

    @step
    async def search(self, ev: Ask) -> StopEvent:
        return StopEvent(result=texts_of(await self.retriever.aretrieve(ev.question)))


class Delegating(Workflow):
    """Runs another workflow for each part of a question, all at once."""

    def __init__(self, search: Workflow) -> None:
        super().__init__()
        self.search, self.llm = search, Telling()

    @step
    async def plan(self, ctx: Context, ev: StartEvent) -> Look | None:
        for part in ("who", "where"):
            ctx.send_event(Look(query=f"{ev.user_input} {part}"))
        return None

    @step
    async def delegate(self, ev: Look) -> Looked:
        return Looked(text=await self.search.run(start_event=Ask(question=ev.query)))

    @step
    async def join(self, ctx: Context, ev: Looked) -> StopEvent | None:
        looked = ctx.collect_events(ev, [Looked, Looked])
        if looked is None:
            return None
        told = "\n\n".join(sorted(each.text for each in looked))
        return StopEvent(result={"answer": str(await self.llm.acomplete(told)), "parts": len(looked)})


def with_resources(names: str) -> Made:
    """What its steps work with is made by functions, which are its resources."""
    retriever, llm = retriever_of(names), Telling()

    def searcher() -> Counting:
        return retriever

    def writer() -> Telling:
        return llm

    class Given(Workflow):
        @step
        async def answer(
            self,
            ev: StartEvent,
            search: Annotated[Counting, Resource(searcher)],
            write: Annotated[Telling, Resource(writer)],
        ) -> StopEvent:
            found = texts_of(await search.aretrieve(ev.query))
            return StopEvent(result=str(await write.acomplete(found or "nothing")))

    return Made(Given(), QUESTION)


def over(flow: Callable[[Counting], Any], given: Any) -> Callable[[str], Made]:
    return lambda names: Made(flow(retriever_of(names)), given)


def over_an_index(names: str) -> Made:
    index = SummaryIndex([TextNode(id_=each.node_id, text=each.text) for each in nodes(names)])
    return Made(Everything(), {"query": QUESTION, "index": index})


SHAPES = (
    Public(
        "workflow: events of its own, and numbered sources",
        over(Citing, Ask(question=QUESTION, tags=["geology"])),
    ),
    Public("workflow: a plain StartEvent with a query and an index", over_an_index),
    Public("workflow: several queries at once, and typed state", over(Branching, {"topic": QUESTION})),
    Public(
        "workflow: a branch for each node, and an end without any",
        over(lambda retriever: Mapping(retriever, ends=True), {"query": QUESTION}),
    ),
    Public("workflow: criticized by another one", over(Reflecting, {"query": QUESTION})),
    Public(
        "workflow: another one for each part of a question",
        over(lambda retriever: Delegating(Searching(retriever)), {"user_input": QUESTION}),
    ),
    Public("workflow: resources", with_resources),
)
