"""Applications that go on until they have what they want."""

from collections.abc import Callable
from typing import Any

from llama_index.core import Settings
from llama_index.core.evaluation import EvaluationResult
from llama_index.core.query_engine import RetryQueryEngine
from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step

from tests.integrations.known import shown_in
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import Telling
from tests.integrations.llama_index.zoo.agents import texts_of
from tests.integrations.llama_index.zoo.heeding import Rationed
from tests.integrations.stateful import Made, Stateful

NOT_AVAILABLE: Any = {"answer_without_sources": "N/A"}


def rewriting(most: int = 1000) -> Rationed:
    return Rationed(lambda prompt: f"more precisely: {prompt[-40:]}", most)


class Search(Event):
    query: str
    tries: int


class Graded(Event):
    texts: list[str]
    query: str
    tries: int


class Corrective(Workflow):
    """Retrieves, grades, and rewrites until something is relevant, or it was tried enough."""

    def __init__(self, rewriter: Telling, grader: Telling, llm: Telling, tries: int | None) -> None:
        super().__init__(timeout=None)
        self.retriever, self.rewriter, self.grader, self.llm = retriever_of(), rewriter, grader, llm
        self.tries = tries

    @step
    async def begin(self, ev: StartEvent) -> Search:
        return Search(query=ev.query, tries=0)

    @step
    async def search(self, ev: Search) -> Graded:
        texts: list[str] = []
        for found in await self.retriever.aretrieve(ev.query):
            grade = await self.grader.acomplete(f"Is this relevant?\n\n{found.node.get_content()}")
            if str(grade) == "yes":
                texts.append(found.node.get_content())
        return Graded(texts=texts, query=ev.query, tries=ev.tries)

    @step
    async def answer(self, ev: Graded) -> Search | StopEvent:
        if not ev.texts and (self.tries is None or ev.tries < self.tries):
            better = await self.rewriter.acomplete(f"Rewrite: {ev.query}")
            return Search(query=str(better), tries=ev.tries + 1)
        context = "\n\n".join(ev.texts)
        return StopEvent(result=str(await self.llm.acomplete(f"{context}\n\n{ev.query}")))


def corrective(*, tries: int | None, parameters: Any = None) -> Made:
    rationed, grader, llm = rewriting(), Telling(says=lambda _: "yes"), Telling()
    return Made(
        Corrective(Telling(says=rationed), grader, llm, tries),
        {"query": "why?"},
        parameters=parameters or {},
        requests=lambda: rationed.asked + len(grader.asked) + len(llm.asked),
    )


def rewriting_function(parameters: Any = None) -> Made:
    """A while loop, until something was found."""
    rationed, retriever, llm = rewriting(), retriever_of(), Telling()
    rewriter = Telling(says=rationed)

    def answer(question: str) -> str:
        while not (found := retriever.retrieve(question)):
            question = str(rewriter.complete(f"Rewrite: {question}"))
        return str(llm.complete(f"{texts_of(found)}\n\n{question}"))

    return Made(answer, parameters=parameters or {}, requests=lambda: rationed.asked + len(llm.asked))


def grounded_function(parameters: Any = None) -> Made:
    """Answers until a judge says that the answer is grounded in what was found."""
    rationed = Rationed(lambda prompt: "yes" if shown_in(prompt) else "no", 1000)
    retriever, llm, judge = retriever_of(), Telling(), Telling(says=rationed)

    async def answer(question: str) -> str:
        while True:
            context = texts_of(await retriever.aretrieve(question))
            reply = str(await llm.acomplete(f"{context}\n\n{question}"))
            verdict = await judge.acomplete(f"Facts: {context}\n\nIs this grounded: {reply}")
            if str(verdict) == "yes":
                return reply

    return Made(answer, parameters=parameters or {}, requests=lambda: rationed.asked + len(llm.asked))


class Hesitant:
    """Evaluates a first response as failing, and any to a rewritten question as passing."""

    def evaluate_response(self, query: str, *_: Any, **__: Any) -> EvaluationResult:
        return EvaluationResult(passing="feedback" in str(query), feedback="Say it again.", response="r")


def retried() -> Made:
    evaluator: Any = Hesitant()
    program: Any = Settings  # which is asked for its model by an attribute that would make one
    before, program.llm = program._llm, Telling()

    def restore() -> None:
        program._llm = before

    return Made(RetryQueryEngine(engine_of(retriever_of()), evaluator, max_retries=2), after=restore)


def fallback() -> Made:
    """Where nothing is relevant, it says what a search of the web says."""
    retriever, grader, llm = retriever_of(), Telling(says=lambda _: "yes"), Telling()

    def web(question: str) -> str:
        return f"Nobody on the web has asked {question} before."

    def answer(question: str) -> str:
        texts = [
            each.node.get_content()
            for each in retriever.retrieve(question)
            if str(grader.complete(f"Is this relevant?\n\n{each.node.get_content()}")) == "yes"
        ]
        return str(llm.complete("\n\n".join(texts or [web(question)])))

    return Made(answer)


def multi_hop() -> Made:
    """Asks a model what to search for next, until it says that this is enough."""
    retriever, llm = retriever_of(), Telling()
    planner = Telling(says=lambda prompt: "enough" if prompt.count("Hop") > 2 else "what lies behind it?")

    def answer(question: str) -> str:
        notes, query = "", question
        while query != "enough":
            notes += f"Hop: {query}\n{texts_of(retriever.retrieve(query))}\n"
            query = str(planner.complete(f"{notes}\n\nWhat next?"))
        return str(llm.complete(f"{notes}\n\n{question}"))

    return Made(answer)


def criticized() -> Made:
    retriever, llm, critic = (
        retriever_of(),
        Telling(),
        Telling(says=lambda prompt: f"Length {len(prompt) % 7}."),
    )

    async def answer(question: str) -> str:
        context, draft = texts_of(await retriever.aretrieve(question)), "none"
        for _ in range(2):
            draft = str(await llm.acomplete(f"{context}\n\nDraft: {draft}\n\n{question}"))
            advice = await critic.acomplete(f"Criticize: {draft}")
            draft = str(await llm.acomplete(f"{context}\n\nAdvice: {advice}\n\n{question}"))
        return draft

    return Made(answer)


def unbounded(build: Callable[..., Made], name: str) -> Stateful:
    """A shape that has no answer where nothing was found: what needs one is left open."""
    return Stateful(name, build, way_out=lambda: build(parameters=NOT_AVAILABLE), in_part=True, most=600)


SHAPES = (
    Stateful("loop: a corrective workflow, three tries", lambda: corrective(tries=3)),
    unbounded(
        lambda **given: corrective(tries=None, **given), "loop: a corrective workflow without a bound"
    ),
    unbounded(rewriting_function, "loop: a question rewritten until something is found"),
    unbounded(grounded_function, "loop: answers until one is grounded"),
    Stateful("loop: RetryQueryEngine", retried),
    Stateful("loop: another source where nothing is relevant", fallback),
    Stateful("loop: several hops until it is enough", multi_hop),
    Stateful("loop: an answer that is criticized twice", criticized),
)
