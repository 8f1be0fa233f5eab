"""Chains in all forms of LCEL."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import (
    ConfigurableField,
    Runnable,
    RunnableBranch,
    RunnableGenerator,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from pydantic import BaseModel
from typing_extensions import override

from tests.integrations.known import TEXTS
from tests.integrations.langchain.chains import Counting, Scripted
from tests.integrations.langchain.models import facts
from tests.integrations.langchain.zoo.shapes import Built, Shape, asked, joined, model, retriever_of

PROMPT = ChatPromptTemplate.from_template("Context:\n{context}\n\nQuestion: {question}")
PARSED = StrOutputParser()
Chain = Runnable[Any, Any]


def answering(context: Any) -> Chain:
    """The chain of every tutorial around a runnable from question to context."""
    return {"context": context, "question": RunnablePassthrough()} | PROMPT | model() | PARSED


def over(make: Any, names: str = "abcd") -> Any:
    """A shape that is built around one retriever."""

    def build() -> Built:
        retriever = retriever_of(names)
        return Built(make(retriever), "why?", asked(retriever))

    return build


def declared(retriever: Counting) -> Chain:
    return answering(retriever | joined)


def assigned(retriever: Counting) -> Chain:
    found = RunnablePassthrough.assign(context=lambda given: joined(retriever.invoke(given["question"])))
    return RunnableLambda(lambda q: {"question": q}) | found | PROMPT | model() | PARSED


def bound(retriever: Counting) -> Chain:
    return {"context": retriever.bind() | joined, "question": RunnablePassthrough()} | (
        PROMPT | model().bind(stop=["END"]) | PARSED
    )


def configured(retriever: Counting) -> Chain:
    return answering(retriever.with_config(tags=["index"]) | joined).with_config(run_name="mine")


def retried(retriever: Counting) -> Chain:
    failed: set[str] = set()

    def unreliable(prompt: Any) -> Any:
        if str(prompt) not in failed:
            failed.add(str(prompt))
            raise ConnectionError("at first it is down")
        return prompt

    retrying = RunnableLambda(unreliable).with_retry(wait_exponential_jitter=False, stop_after_attempt=3)
    context = {"context": retriever | joined, "question": RunnablePassthrough()}
    return context | PROMPT | retrying | model() | PARSED


def fallen_back(retriever: Counting) -> Chain:
    def down(_: Any) -> Any:
        raise ConnectionError("always down")

    context = {"context": retriever | joined, "question": RunnablePassthrough()}
    return context | PROMPT | RunnableLambda(down).with_fallbacks([model()]) | PARSED


def branched(retriever: Counting) -> Chain:
    return RunnableBranch(
        (lambda question: "?" in question, declared(retriever)),
        RunnableLambda(lambda _: "ask me something"),
    )


def routed(retriever: Counting) -> Chain:
    chains = {True: declared(retriever), False: RunnableLambda(lambda _: "ask me something")}
    return RunnableLambda(lambda question: chains[question.endswith("?")])


def alternative(retriever: Counting) -> Chain:
    choice = ConfigurableField(id="index")
    other = retriever_of("")
    return answering(
        other.configurable_alternatives(choice, default_key="empty", full=retriever) | joined
    ).with_config(configurable={"index": "full"})


def with_fields() -> Built:
    """A configured retriever is made anew for every run: it is recognised by what it is made of."""
    queries: list[str] = []

    def script(query: str) -> Any:
        queries.append(query)
        return facts("abcd")

    empty = Scripted(script=lambda _: [])
    configurable = empty.configurable_fields(script=ConfigurableField(id="script"))
    chain = answering(configurable | joined).with_config(configurable={"script": script})
    return Built(chain, "why?", lambda: len(queries))


def closed_over(retriever: Counting) -> Chain:
    return RunnableLambda(
        lambda question: model().invoke(joined(retriever.invoke(question)) + question).text
    )


def taken_off(retriever: Counting) -> Chain:
    return answering(RunnableLambda(retriever.invoke) | joined)


class Custom(Runnable[str, str]):
    """A Runnable of the user's own."""

    def __init__(self, retriever: Counting) -> None:
        self._retriever = retriever

    @override
    def invoke(self, input: str, config: Any = None, **kwargs: Any) -> str:
        return model().invoke(joined(self._retriever.invoke(input, config)) + input, config).text


def generated(retriever: Counting) -> Chain:
    def generate(questions: Iterator[str]) -> Iterator[str]:
        question = "".join(questions)
        for chunk in model().stream(joined(retriever.invoke(question)) + question):
            yield chunk.text

    async def agenerate(questions: AsyncIterator[str]) -> AsyncIterator[str]:
        question = "".join([each async for each in questions])
        async for chunk in model().astream(joined(await retriever.ainvoke(question)) + question):
            yield chunk.text

    return RunnableGenerator(generate, agenerate)


def async_only(retriever: Counting) -> Chain:
    async def answer(question: str) -> str:
        found = await retriever.ainvoke(question)
        return (await model().ainvoke(joined(found) + question)).text

    return RunnableLambda(answer)


def in_parallel() -> Built:
    left, right = retriever_of("ab"), retriever_of("cd")
    found = RunnableParallel(left=left | joined, right=right | joined)
    chain = found | (lambda both: both["left"] + both["right"]) | model() | PARSED
    return Built(chain, "why?", asked(left, right))


def mapped() -> Built:
    queries: list[str] = []

    def script(query: str) -> Any:
        queries.append(query)
        return facts("ab" if query == "first" else "cd")

    each = Scripted(script=script).map()
    chain = (
        RunnableLambda(lambda _: ["first", "second"])
        | each
        | (lambda found: joined([document for batch in found for document in batch]))
        | model()
        | PARSED
    )
    return Built(chain, "why?", lambda: len(queries))


def conditional() -> Built:
    """Asks again, in other words, where it found too little: a new query in most replays."""
    queries: list[str] = []

    def script(query: str) -> Any:
        queries.append(query)
        return facts("abcd")

    retriever = Scripted(script=script)

    def answer(question: str) -> str:
        found = retriever.invoke(question)
        if len(found) < 3:
            found = retriever.invoke(f"in other words: {question}")
        return model().invoke(joined(found) + question).text

    return Built(RunnableLambda(answer), "why?", lambda: len(queries))


def without_ids() -> Built:
    retriever = Counting(
        documents=[
            document.model_copy(update={"id": None, "metadata": {"source": name, "score": 0.5}})
            for name, document in zip("abcd", facts("abcd"), strict=True)
        ]
    )
    return Built(declared(retriever), "why?", asked(retriever))


def structured(retriever: Counting) -> Chain:
    def judged(text: str) -> dict[str, Any]:
        return {"answer": text, "found": sorted(TEXTS)}

    return declared(retriever) | judged


def gathered() -> Built:
    """Two retrievers awaited at once."""
    one, two = retriever_of("ab"), retriever_of("cd")

    async def context(question: str) -> str:
        found = await asyncio.gather(one.ainvoke(question), two.ainvoke(question))
        return joined([document for each in found for document in each])

    return Built(answering(context), "why?", asked(one, two))


def a_message(retriever: Counting) -> Chain:
    return {"context": retriever | joined, "question": RunnablePassthrough()} | PROMPT | model()


class Verdict(BaseModel):
    """What a parser makes of the answer."""

    news: str
    is_bad: bool


def an_object() -> Built:
    retriever = retriever_of()
    chain = declared(retriever) | (lambda text: Verdict(news=text, is_bad="bad" in text))
    parameters = {"answer_of": lambda verdict: verdict.news}
    return Built(chain, "why?", asked(retriever), parameters)


def refined(retriever: Counting) -> Chain:
    """Shows its model one document at a time, beside its answer so far."""

    def answer(question: str) -> str:
        shown = ""
        for document in retriever.invoke(question):
            reply = model().invoke(f"So far: {shown}\n\n{document.page_content}\n\n{question}").text
            shown += document.page_content + reply
        return model().invoke(shown or question).text

    return RunnableLambda(answer)


SHAPES = (
    Shape("LCEL: dict, prompt, model, parser", over(declared)),
    Shape("LCEL: assign", over(assigned)),
    Shape("LCEL: bind", over(bound)),
    Shape("LCEL: with_config", over(configured)),
    Shape("LCEL: with_retry", over(retried)),
    Shape("LCEL: with_fallbacks", over(fallen_back)),
    Shape("LCEL: RunnableBranch", over(branched)),
    Shape("LCEL: router function", over(routed)),
    Shape("LCEL: configurable alternatives", over(alternative)),
    Shape("LCEL: configurable fields", with_fields),
    Shape("LCEL: two retrievers in parallel", in_parallel, live=2),
    Shape("LCEL: map over several queries", mapped, live=2),
    Shape("LCEL: two retrievers awaited at once", gathered, live=2),
    Shape("LCEL: message output", over(a_message)),
    Shape("LCEL: dict output", over(structured)),
    Shape("LCEL: output of a class of one's own, read by `answer_of`", an_object),
    Shape("function that closes over a retriever", over(closed_over)),
    Shape("`retriever.invoke`, taken off beforehand", over(taken_off)),
    Shape("custom Runnable", over(Custom)),
    Shape("generator", over(generated)),
    Shape("async function only", over(async_only)),
    Shape("refine: one document at a time", over(refined)),
    # The new query is searched for once, in the first replay that asks it.
    Shape("a second query where too little was found", conditional, live=2),
    Shape("documents without ids, with scores", without_ids),
)
