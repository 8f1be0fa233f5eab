"""Type hints survive ``explained``: those that a type checker reads, and those that a program reads.

What ``assert_type`` says is checked by Pyright, which reads this file in ``make check``.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_rag_rule_explainer import RuleExplainer, explained
from langchain_rag_rule_explainer.outputs import Explained
from pydantic import BaseModel
from typing_extensions import assert_type

from tests.integrations.langchain.chains import retriever_of
from tests.integrations.langchain.models import Telling


class Asked(BaseModel):
    question: str


class Dose(BaseModel):
    amount: int


def dose_for(asked: Asked) -> Dose:
    return Dose(amount=len(asked.question))


async def dose_later(asked: Asked) -> Dose:
    return dose_for(asked)


typed: Runnable[Asked, Dose] = RunnableLambda(dose_for)
prompted = (
    {"context": retriever_of("ab") | (lambda found: len(found)), "question": RunnablePassthrough()}
    | ChatPromptTemplate.from_template("{context} {question}")
    | Telling()
    | StrOutputParser()
)


def test_a_type_checker_sees_the_chains_own_types() -> None:
    chain = explained(typed)
    assert_type(chain, Runnable[Asked, Dose])
    assert_type(explained(dose_for), Runnable[Asked, Dose])
    assert_type(explained(dose_later), Runnable[Asked, Dose])
    assert_type(explained(RuleExplainer(typed)), Runnable[Asked, Dose])
    assert_type(explained(prompted), Runnable[Any, str])
    assert_type(explained(retriever_of("ab"), answer_of=str), Runnable[str, list[Document]])
    assert_type(RuleExplainer(typed), RuleExplainer[Asked, Dose])

    def sync(asked: Asked) -> None:
        assert_type(chain.invoke(asked), Dose)
        assert_type(chain.batch([asked]), list[Dose])
        assert_type(chain.stream(asked), Iterator[Dose])
        assert_type(RuleExplainer(typed).invoke(asked), Explained[Dose])
        assert_type((chain | RunnableLambda(str)).invoke(asked), str)

    async def awaited(asked: Asked) -> None:
        assert_type(await chain.ainvoke(asked), Dose)
        assert_type(await chain.abatch([asked]), list[Dose])
        assert_type(chain.astream(asked), AsyncIterator[Dose])

    assert callable(sync)
    assert callable(awaited)


CHAINS: dict[str, Runnable[Any, Any]] = {
    "typed": typed,
    "a coroutine function": RunnableLambda(dose_later),
    "prompted": prompted,
    "assigning": RunnablePassthrough.assign(context=lambda given: given["question"]),
    "model": Telling(),
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_program_sees_the_chains_own_types(name: str) -> None:
    chain = CHAINS[name]
    attached, explainer = explained(chain), RuleExplainer(chain)
    assert attached.InputType == explainer.InputType == chain.InputType
    assert attached.OutputType == chain.OutputType
    schema = chain.get_input_jsonschema()
    assert attached.get_input_jsonschema() == explainer.get_input_jsonschema() == schema
    assert attached.get_output_jsonschema() == chain.get_output_jsonschema()


@pytest.mark.filterwarnings("ignore:.*in beta")
def test_what_a_chain_is_asked_stays_what_its_tool_is_asked() -> None:
    tool = explained(typed).as_tool(name="dose", description="Knows the dose.")
    assert set(tool.args) == {"question"}
