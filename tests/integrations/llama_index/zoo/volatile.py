"""What differs from run to run, of which some matters and most does not."""

import asyncio
import random
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from llama_index.core import PromptTemplate
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.async_utils import run_jobs
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step
from typing_extensions import override

from tests.integrations.known import shown_in
from tests.integrations.llama_index.engines import Counting, engine_of, retriever_of
from tests.integrations.llama_index.models import Telling, nodes
from tests.integrations.llama_index.zoo.agents import sync_tool, texts_of
from tests.integrations.llama_index.zoo.derived import bad_with_notes
from tests.integrations.llama_index.zoo.heeding import anew
from tests.integrations.stateful import SHARED, Made, Stateful

settings: dict[str, Any] = {"language": "English", "tone": "short"}


class Ranking(BaseRetriever):
    """Finds all, in an order that depends on the words."""

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        first = len(query_bundle.query_str) % 4
        return [NodeWithScore(node=each, score=0.5) for each in nodes("abcdabcd"[first : first + 4])]


class Sampling(Telling):
    """Words its query differently every time."""

    chance: Any

    @override
    def _chat(self, messages: Any, tools: Any = ()) -> Any:
        words = ["why", "reason", "cause", "explanation", "because", "motive"]
        self.query = f"{' '.join(self.chance.sample(words, 3))} {self.chance.randint(1, 999)}"
        return super()._chat(messages, tools)


def sampling_agent() -> Made:
    retriever: Any = Ranking()
    llm = Sampling(chance=random.Random(20))
    return Made(FunctionAgent(tools=[sync_tool(retriever)], llm=llm))


def sampling_query() -> Made:
    """A model writes the query, in other words every time, outside of any agent."""
    chance, retriever, llm = random.Random(21), Ranking(), Telling()
    writer = Telling(says=lambda _: f"why {chance.randint(1, 999)}")

    def answer(question: str) -> str:
        found = retriever.retrieve(str(writer.complete(f"Write a query for: {question}")))
        return str(llm.complete(f"{texts_of(found)}\n\n{question}"))

    return Made(answer)


def telling(line: Callable[[], str]) -> Made:
    """An application with a line of its own in its prompt."""
    retriever, llm = retriever_of(), Telling()

    def answer(question: str) -> str:
        found = texts_of(retriever.retrieve(question))
        return str(llm.complete(f"{line()}\n\nContext:\n{found}\n\nQuestion: {question}"))

    return Made(answer)


def turns(parameters: Any = None) -> Made:
    number = count(1)
    made = telling(lambda: f"This is turn {next(number)} of our conversation.")
    return Made(made.application, parameters=parameters or {})


def requests(parameters: Any = None) -> Made:
    number = count(4711)
    made = telling(lambda: f"Request no. {next(number)}")
    return Made(made.application, parameters=parameters or {})


def now() -> Made:
    return telling(lambda: f"It is {datetime.now(timezone.utc).isoformat()}.")


def spelled_out() -> Made:
    return telling(lambda: datetime.now(timezone.utc).strftime("Today is %A, %d %B %Y, %H:%M:%S.%f"))


def epoch() -> Made:
    return telling(lambda: f"timestamp={time.time_ns()}")


def ids() -> Made:
    return telling(lambda: f"Conversation {uuid4()}, request req_{secrets.token_hex(12)}")


def dated_template() -> Made:
    """The time comes into an engine's template by a function of its own."""
    template = PromptTemplate(
        "Now: {now}\n{context_str}\n{query_str}\n",
        function_mappings={"now": lambda **_: datetime.now(timezone.utc).strftime("%H:%M:%S.%f")},
    )
    return Made(engine_of(retriever_of(), text_qa_template=template))


def limited() -> Made:
    retriever, llm, calls, recent = retriever_of(), Telling(), count(1), list[float]()

    def answer(question: str) -> str:
        recent.append(time.monotonic())
        if next(calls) > 10_000 or len(recent) > 10_000:
            raise RuntimeError("too many requests")
        return str(llm.complete(texts_of(retriever.retrieve(question)) or question))

    return Made(answer)


def logged() -> Made:
    """A list and a file, written to and never read."""
    retriever, llm, log, folder = retriever_of(), Telling(), list[dict[str, str]](), TemporaryDirectory()
    path = Path(folder.name) / "answers.log"

    def answer(question: str) -> str:
        reply = str(llm.complete(texts_of(retriever.retrieve(question)) or question))
        log.append({"question": question, "answer": reply})
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{question}\t{reply}\n")
        return reply

    return Made(answer, after=folder.cleanup)


class Counted(Workflow):
    """Counts in an attribute what no prompt has."""

    def __init__(self, retriever: Counting) -> None:
        super().__init__()
        self.retriever, self.llm = retriever, Telling()
        self.asked, self.last_answer = 0, ""

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        self.asked += 1
        found = texts_of(await self.retriever.aretrieve(ev.query))
        self.last_answer = str(await self.llm.acomplete(f"{found}\n\n{ev.query}"))
        return StopEvent(result=self.last_answer)


def counted() -> Made:
    return Made(Counted(retriever_of()), {"query": "why?"})


def configured() -> Made:
    return telling(lambda: f"Answer in {settings['language']}, {settings['tone']}.")


def notes_or_news(prompt: str) -> str:
    """Notes of each document that it is shown which one it is, and answers from such notes."""
    if shown := shown_in(prompt):
        return " ".join(f"noted-{name}" for name in shown)
    return bad_with_notes(prompt)


def noting() -> Telling:
    return Telling(says=notes_or_news)


def gathered() -> Made:
    """Notes of all documents at once, in an order that is another one in every run."""
    chance, retriever, llm = random.Random(22), retriever_of(), noting()

    async def answer(question: str) -> str:
        found = await retriever.aretrieve(question)
        chance.shuffle(found)
        notes = await asyncio.gather(*(llm.acomplete(f"Note: {each.text}") for each in found))
        return str(await llm.acomplete("\n".join([*sorted(map(str, notes)), question])))

    return Made(answer)


def jobs() -> Made:
    """LlamaIndex's own way to run several at once."""
    retriever, llm = retriever_of(), noting()

    async def answer(question: str) -> str:
        found = await retriever.aretrieve(question)
        notes = await run_jobs([llm.acomplete(f"Note: {each.text}") for each in found], workers=2)
        return str(await llm.acomplete("\n".join([*sorted(map(str, notes)), question])))

    return Made(answer)


def in_threads() -> Made:
    chance, retriever, llm = random.Random(23), retriever_of(), noting()

    def answer(question: str) -> str:
        prompts = [f"Note: {each.text}" for each in retriever.retrieve(question)]
        chance.shuffle(prompts)
        with ThreadPoolExecutor(4) as threads:
            notes = sorted(map(str, threads.map(llm.complete, prompts)))
        return str(llm.complete("\n".join([*notes, question])))

    return Made(answer)


def in_to_thread() -> Made:
    retriever, llm = retriever_of(), noting()

    async def answer(question: str) -> str:
        found = await asyncio.to_thread(retriever.retrieve, question)
        notes = await asyncio.gather(
            *(asyncio.to_thread(llm.complete, f"Note: {each.text}") for each in found)
        )
        return str(await llm.acomplete("\n".join([*map(str, notes), question])))

    return Made(answer)


def refined() -> Made:
    retriever, llm = retriever_of(), noting()

    def answer(question: str) -> str:
        notes = ""
        for each in retriever.retrieve(question):
            notes += f"{llm.complete(f'So far: {notes} Refine with: {each.text}')} "
        return str(llm.complete(f"{notes}\n\n{question}"))

    return Made(answer)


class Note(Event):
    text: str


class Noted(Event):
    note: str


class Mapping(Workflow):
    """A step for each document, four at once, and one that collects."""

    def __init__(self, retriever: Counting) -> None:
        super().__init__()
        self.retriever, self.llm = retriever, noting()

    @step
    async def search(self, ctx: Context, ev: StartEvent) -> Note | Noted | None:
        found = await self.retriever.aretrieve(ev.query)
        await ctx.store.set("expected", len(found) + 1)
        for each in found:
            ctx.send_event(Note(text=each.text))
        return Noted(note="begun")

    @step(num_workers=4)
    async def note(self, ev: Note) -> Noted:
        return Noted(note=str(await self.llm.acomplete(f"Note: {ev.text}")))

    @step
    async def answer(self, ctx: Context, ev: Noted) -> StopEvent | None:
        notes = ctx.collect_events(ev, [Noted] * await ctx.store.get("expected"))
        if notes is None:
            return None
        return StopEvent(result=str(await self.llm.acomplete("\n".join(each.note for each in notes))))


def fanned_out() -> Made:
    return Made(Mapping(retriever_of()), {"query": "why?"})


IGNORING_TURNS: Any = {"ignore": [r"turn \d+"]}
IGNORING_NUMBERS: Any = {"ignore": [r"Request no\. \d+"]}

SHAPES = (
    Stateful("volatile: an agent that words its queries anew", sampling_agent),
    Stateful("volatile: turns, counted in the prompt", turns, SHARED, lambda: turns(IGNORING_TURNS)),
    Stateful(
        "volatile: requests, counted in the prompt", requests, SHARED, lambda: requests(IGNORING_NUMBERS)
    ),
    Stateful("volatile: turns, of an application made anew", anew(turns)),
    Stateful("volatile: the time, in ISO format", now),
    Stateful("volatile: the time, spelled out", spelled_out),
    Stateful("volatile: the time, as a number", epoch),
    Stateful("volatile: ids", ids),
    Stateful("volatile: the time, in a template", dated_template),
    Stateful("harmless: counts for a limit", limited),
    Stateful("harmless: logs", logged),
    Stateful("harmless: an attribute of a workflow", counted),
    Stateful("harmless: a global configuration", configured),
    Stateful("volatile: a query in other words every time", sampling_query),
    Stateful("order: notes gathered in any order", gathered),
    Stateful("order: notes by run_jobs", jobs),
    Stateful("order: notes in bare threads", in_threads),
    Stateful("order: notes in asyncio.to_thread", in_to_thread),
    Stateful("order: refine", refined),
    Stateful("order: a workflow with several workers", fanned_out),
)
