"""What differs from run to run, of which some matters and most does not."""

import asyncio
import contextvars
import random
import secrets
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.runnables.config import ContextThreadPoolExecutor
from langchain_core.tools import create_retriever_tool

from tests.integrations.langchain.chains import Scripted
from tests.integrations.langchain.models import Telling, bad_with_b_and_d, facts
from tests.integrations.langchain.zoo.agents import GIVEN, Calling
from tests.integrations.langchain.zoo.classic import Noting
from tests.integrations.langchain.zoo.heeding import anew, text_of
from tests.integrations.langchain.zoo.lcel import PARSED
from tests.integrations.langchain.zoo.shapes import joined, model, retriever_of
from tests.integrations.stateful import SHARED, Made, Stateful

settings: dict[str, Any] = {"language": "English", "tone": "short"}


def sampling_agent() -> Made:
    """Its model words its query differently every time, and the index ranks by the words."""
    chance = random.Random(20)

    def query() -> str:
        words = ["why", "reason", "cause", "explanation", "because", "motive"]
        return " ".join(chance.sample(words, 3)) + f" {chance.randint(1, 999)}"

    def ranked(query: str) -> list[Document]:
        first = len(query) % 4
        return facts("abcdabcd"[first : first + 4])

    search = create_retriever_tool(Scripted(script=ranked), "search", "Search the index.")
    return Made(create_agent(Calling(tool="search", query=query), [search]), GIVEN)


def sampling_reply() -> Made:
    """Its model words the same answer differently every time."""
    chance, retriever = random.Random(21), retriever_of()

    def says(messages: list[BaseMessage]) -> str:
        return chance.choice(["It is {}.", "I found {}.", "So: {}!"]).format(bad_with_b_and_d(messages))

    draft, final = Telling(says=says), model()

    def answer(question: str) -> str:
        context = joined(retriever.invoke(question))
        first = draft.invoke(f"{context}\n\n{question}").text
        return final.invoke(f"Improve this draft: {first}\n\n{context}\n\n{question}").text

    return Made(RunnableLambda(answer))


def telling(line: Any) -> Made:
    """An application with a line of its own in its prompt."""
    retriever, llm = retriever_of(), model()

    def answer(question: str) -> str:
        context = joined(retriever.invoke(question))
        return llm.invoke(f"{line()}\n\nContext:\n{context}\n\nQuestion: {question}").text

    return Made(RunnableLambda(answer))


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
    """The time comes into the template as a partial variable, as LangChain's guide has it."""
    prompt = ChatPromptTemplate.from_template(
        "Now: {now}\n\n{context}\n\n{question}",
        partial_variables={"now": lambda: datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")},
    )
    retriever = retriever_of()
    chain = {"context": retriever | joined, "question": RunnableLambda(str)} | prompt | model() | PARSED
    return Made(chain)


def limited() -> Made:
    """Counts its requests to stay below a limit; no prompt has the count."""
    retriever, llm, calls, recent = retriever_of(), model(), count(1), list[float]()

    def answer(question: str) -> str:
        recent.append(time.monotonic())
        if next(calls) > 10_000 or len(recent) > 10_000:
            raise RuntimeError("too many requests")
        return llm.invoke(joined(retriever.invoke(question)) or question).text

    return Made(RunnableLambda(answer))


def logged() -> Made:
    """A list and a file, written to and never read."""
    retriever, llm, log, folder = retriever_of(), model(), list[dict[str, str]](), TemporaryDirectory()
    path = Path(folder.name) / "answers.log"

    def answer(question: str) -> str:
        reply = llm.invoke(joined(retriever.invoke(question)) or question).text
        log.append({"question": question, "answer": reply})
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{question}\t{reply}\n")
        return reply

    return Made(RunnableLambda(answer), after=folder.cleanup)


def counted() -> Made:
    """Statistics in an object, read by others."""
    retriever, llm = retriever_of(), model()

    class Service:
        def __init__(self) -> None:
            self.asked: dict[str, int] = {}
            self.last_answer = ""

        def answer(self, question: str) -> str:
            self.asked[question] = self.asked.get(question, 0) + 1
            self.last_answer = llm.invoke(joined(retriever.invoke(question)) or question).text
            return self.last_answer

    return Made(RunnableLambda(Service().answer))


def configured() -> Made:
    """Reads what the whole program was configured with."""
    return telling(lambda: f"Answer in {settings['language']}, {settings['tone']}.")


def mapped(documents: Iterable[Document]) -> list[Any]:
    return [f"Note what this says: {document.page_content}" for document in documents]


def gathered() -> Made:
    """Notes of all documents at once, in an order that is another one in every run."""
    chance, retriever, llm = random.Random(22), retriever_of(), Noting()

    async def answer(question: str) -> str:
        prompts = mapped(await retriever.ainvoke(question))
        chance.shuffle(prompts)
        notes = await asyncio.gather(*(llm.ainvoke(prompt) for prompt in prompts))
        said = sorted(note.text for note in notes)
        return (await llm.ainvoke("\n".join([*said, question]))).text

    return Made(RunnableLambda(answer))


def batched() -> Made:
    retriever, llm = retriever_of(), Noting()

    def answer(question: str) -> str:
        notes = llm.batch(mapped(retriever.invoke(question)))
        return llm.invoke("\n".join([*(note.text for note in notes), question])).text

    async def aanswer(question: str) -> str:
        notes = await llm.abatch(mapped(await retriever.ainvoke(question)))
        return (await llm.ainvoke("\n".join([*(note.text for note in notes), question]))).text

    return Made(RunnableLambda(answer, aanswer))


def in_threads() -> Made:
    """Threads that know what is going on around them."""
    chance, retriever, llm = random.Random(23), retriever_of(), Noting()

    def answer(question: str) -> str:
        prompts = mapped(retriever.invoke(question))
        chance.shuffle(prompts)
        with ContextThreadPoolExecutor(4) as threads:
            notes = sorted(note.text for note in threads.map(llm.invoke, prompts))
        return llm.invoke("\n".join([*notes, question])).text

    return Made(RunnableLambda(answer))


def in_copied_contexts() -> Made:
    retriever, llm = retriever_of(), Noting()

    def answer(question: str) -> str:
        with ThreadPoolExecutor(4) as threads:
            futures = [
                threads.submit(contextvars.copy_context().run, llm.invoke, prompt)
                for prompt in mapped(retriever.invoke(question))
            ]
        return llm.invoke("\n".join([*(future.result().text for future in futures), question])).text

    return Made(RunnableLambda(answer))


def in_bare_threads() -> Made:
    retriever, llm = retriever_of(), Noting()

    def answer(question: str) -> str:
        with ThreadPoolExecutor(4) as threads:
            notes = list(threads.map(llm.invoke, mapped(retriever.invoke(question))))
        return llm.invoke("\n".join([*(note.text for note in notes), question])).text

    return Made(RunnableLambda(answer))


def refined() -> Made:
    """One document after the other, each beside the answer so far."""
    retriever, llm = retriever_of(), Noting()

    def answer(question: str) -> str:
        notes = ""
        for document in retriever.invoke(question):
            notes += llm.invoke(f"So far: {notes}\n\nRefine with: {document.page_content}").text + " "
        return llm.invoke(f"{notes}\n\n{question}").text

    return Made(RunnableLambda(answer))


def branches() -> Made:
    """Three branches of a chain at once, each with a model of its own, and one that decides."""
    retriever = retriever_of()
    parts = RunnableParallel(
        optimist=RunnableLambda(lambda text: f"See the good in: {text}") | model() | PARSED,
        pessimist=RunnableLambda(lambda text: f"See the bad in: {text}") | model() | PARSED,
        neutral=RunnableLambda(lambda text: f"See: {text}") | model() | PARSED,
    )
    judge = Telling(
        says=lambda messages: max(text_of(messages).splitlines(), key=text_of(messages).count)
    )
    chain = (retriever | joined) | parts | (lambda said: "\n".join(said.values())) | judge | PARSED
    return Made(chain)


def many_parts() -> Made:
    """Each document is judged twice at once, and the votes are counted."""
    retriever, llm = retriever_of(), Noting()

    async def judged(document: Document) -> str:
        one, two = await asyncio.gather(
            llm.ainvoke(f"First: {document.page_content}"),
            llm.ainvoke(f"Second: {document.page_content}"),
        )
        return f"{one.text} {two.text}"

    async def answer(question: str) -> str:
        notes = await asyncio.gather(*(judged(each) for each in await retriever.ainvoke(question)))
        return (await llm.ainvoke("\n".join([*notes, question]))).text

    return Made(RunnableLambda(answer))


IGNORING_TURNS: Any = {"ignore": [r"turn \d+"]}
IGNORING_NUMBERS: Any = {"ignore": [r"Request no\. \d+"]}

SHAPES = (
    Stateful("volatile: an agent that words its queries anew", sampling_agent),
    Stateful("volatile: a draft in other words every time", sampling_reply),
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
    Stateful("harmless: statistics", counted),
    Stateful("harmless: a global configuration", configured),
    Stateful("order: notes gathered in any order", gathered),
    Stateful("order: notes by batch", batched),
    Stateful("order: notes in LangChain's threads", in_threads),
    Stateful("order: notes in threads with a copied context", in_copied_contexts),
    Stateful("order: notes in bare threads", in_bare_threads),
    Stateful("order: refine", refined),
    Stateful("order: branches of a chain", branches),
    Stateful("order: gathered within gathered", many_parts),
)
