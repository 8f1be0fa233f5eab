"""This module refuses objects that are no applications, such as retrievers, and advises what to pass
instead."""

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, cast

from langchain_core.output_parsers import (
    BaseCumulativeTransformOutputParser,
    BaseLLMOutputParser,
    StrOutputParser,
)
from langchain_core.prompts import BasePromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import (
    Runnable,
    RunnableBinding,
    RunnableLambda,
    RunnableSequence,
    RunnableWithFallbacks,
)
from langchain_core.runnables.base import RunnableBindingBase, coerce_to_runnable
from langchain_core.vectorstores import VectorStore

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.instrumentation.checks import with_article

_CHAIN = "retriever | format_documents | prompt | model"
_PARTS: tuple[tuple[type, str], ...] = (
    (BaseRetriever, f"a retriever, which finds documents and answers nothing; pass the chain: {_CHAIN}"),
    (VectorStore, f"a vector store, which finds documents and answers nothing; pass the chain: {_CHAIN}"),
    (BasePromptTemplate, f"a prompt template, which only words a request; pass the chain: {_CHAIN}"),
)


def as_application(given: Any, *, reads_answers: bool) -> Runnable[Any, Any]:
    """Returns the application as a Runnable.

    ``reads_answers``: True if the user passed ``answer_of``. Then a part of a chain, such as a retriever,
    is allowed, because ``answer_of`` can read an answer from its output. Raises InvalidInput, with
    advice, for an object that answers no questions.
    """
    name = type(cast("object", given)).__name__
    if isinstance(given, type):
        raise InvalidInput(
            f"this is the class {given.__name__}, not an instance of it; pass {given.__name__}(...), or "
            "a function of one input"
        )
    of_langgraph = type(cast("object", given)).__module__.startswith("langgraph.")
    if of_langgraph and not isinstance(given, Runnable) and callable(getattr(given, "compile", None)):
        raise InvalidInput(f"this {name} is not compiled; pass what its compile() returns")
    if type(cast("object", given)).__module__.startswith("llama_index."):
        raise InvalidInput(f"this {name} is LlamaIndex's; explain it with llama_index_rag_rule_explainer")
    for kind, description in () if reads_answers else _PARTS:
        if isinstance(given, kind):
            raise InvalidInput(f"this {name} is {description}")
    if given == {}:
        raise InvalidInput("this dict is empty, so it answers no questions; pass a chain")
    function = cast("Any", given) if inspect.isfunction(cast("object", given)) else None
    if function is not None and not inspect.signature(function).parameters:
        return _made_anew(function)
    try:
        return coerce_to_runnable(cast("Any", given))
    except TypeError:
        raise InvalidInput(
            f"this is {'None' if given is None else with_article(name)}, which LangChain cannot run; "
            "pass a chain, a compiled graph, an agent, or a function of one input"
        ) from None


def _made_anew(make: Callable[[], Any]) -> Runnable[Any, Any]:
    """Returns a Runnable that calls ``make`` in every run, and runs the chain that ``make`` returns."""

    def made(_given: Any) -> Runnable[Any, Any]:
        chain = make()
        kind = type(cast("object", chain)).__name__
        if isinstance(chain, Coroutine):
            cast("Coroutine[Any, Any, Any]", chain).close()
        called: Any = getattr(cast("object", chain), "__call__", None)  # noqa: B004 -- the method itself is needed, not whether it exists
        if inspect.isfunction(cast("object", chain)):
            chain = RunnableLambda(cast("Callable[[Any], Any]", chain))
        elif inspect.ismethod(called) and not isinstance(chain, Runnable):
            chain = RunnableLambda(cast("Callable[[Any], Any]", called))
        if not isinstance(chain, Runnable):
            raise InvalidInput(
                f"{make.__name__}() takes no input, and returned {with_article(kind)}; pass a "
                "function of one input that answers, or one of none that returns a chain or "
                "such a function"
            )
        # When a function returns a Runnable, LangChain runs it on the same input.
        return as_application(chain, reads_answers=True)

    return RunnableLambda(made, name=make.__name__)


def in_place_of_an_answer(output: Any) -> str:
    """Returns advice to the user if the application returned something in place of an answer, such as a
    coroutine that must be awaited; else an empty text."""
    name = type(cast("object", output)).__name__
    if isinstance(output, Coroutine):
        output.close()
        return (
            "the application returned a coroutine in place of an answer; make it an async function that "
            "awaits it, and ask with aexplain or explain"
        )
    if isinstance(output, (Iterator, AsyncIterator)):
        return (
            f"the application returned {with_article(name)}, which was not read, in place of an answer; "
            "return the whole text, such as ''.join(chain.stream(question)), or pass the chain itself"
        )
    if isinstance(output, Runnable):
        return (
            f"the application returned {with_article(name)} in place of an answer; invoke it there: "
            "return chain.invoke(question)"
        )
    return ""


def ends_in_parser(application: Runnable[Any, Any]) -> bool:
    """Returns True iff the last step of an application is an output parser whose output may be a dict or
    a list. Returns False for a ``StrOutputParser``, whose output is a text."""
    last = _last_step(application)
    return isinstance(last, BaseLLMOutputParser) and not isinstance(last, StrOutputParser)


def streams_ever_more(application: Runnable[Any, Any]) -> bool:
    """Returns True iff each chunk of a streamed output contains the chunks before it, as with a
    ``JsonOutputParser``."""
    last = _last_step(application)
    return isinstance(last, BaseCumulativeTransformOutputParser) and not last.diff


def _last_step(application: Any) -> Any:
    while True:
        if isinstance(application, RunnableBindingBase):
            application = cast("RunnableBindingBase[Any, Any]", application).bound
        elif isinstance(application, RunnableSequence):
            application = cast("RunnableSequence[Any, Any]", application).last
        elif isinstance(application, RunnableWithFallbacks):
            application = cast("RunnableWithFallbacks[Any, Any]", application).runnable
        else:
            return application


def instance_of(retriever: object) -> object:
    """Returns the retriever itself, without any ``RunnableBinding`` around it that adds a config."""
    while isinstance(retriever, RunnableBinding):
        retriever = cast("RunnableBinding[Any, Any]", retriever).bound
    return retriever
