"""Explanations of applications of LangChain and LlamaIndex, offline."""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import Runnable
from langchain_rag_rule_explainer import OfflineChatModel, gate, lexical_chain
from langchain_rag_rule_explainer import RuleExplainer as ChainExplainer
from langchain_rag_rule_explainer import RuleExplanationHandler as ChainHandler
from langchain_rag_rule_explainer import explained as explained_chain
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import TextNode
from llama_index_rag_rule_explainer import BM25Retriever, OfflineLLM, lexical_engine
from llama_index_rag_rule_explainer import RuleExplainer as EngineExplainer
from llama_index_rag_rule_explainer import explained as explained_engine
from llama_index_rag_rule_explainer import gate as gate_nodes

from rag_rule_explainer import Explanation, contains
from tests.golden import normal
from tests.golden.commands import told_as_json
from tests.golden.goldens import Explanations, Write
from tests.golden.records import error_of
from tests.golden.running import rag_rules
from tests.golden.short import ids, rule, short

ASKED = "Which supplement should adults take for strong bones?"
TEXTS = {
    "guide": "Adults with strong bones need no supplement.",
    "blog": "For strong bones, adults should take the supplement calcium.",
    "leaflet": "Ask your doctor which supplement suits you.",
}
LOGGED = [{"id": name, "text": text} for name, text in TEXTS.items()]
UNSHOWN = 2
"""Documents that a model is shown where one more is retrieved."""


APPLICATION = '''"""An application that answers offline."""

from langchain_core.documents import Document
from langchain_rag_rule_explainer import lexical_chain

chain = lexical_chain(
    [
        Document(id="plaque", page_content="The iron tower was built in 1889."),
        Document(id="menu", page_content="Soup is served at noon, below the iron tower."),
    ],
    k=2,
)
'''


def documents() -> list[Document]:
    return [
        Document(id=name, page_content=text, metadata={"title": name.title()})
        for name, text in TEXTS.items()
    ]


def nodes() -> list[TextNode]:
    return [TextNode(id_=name, text=text) for name, text in TEXTS.items()]


def found_documents(question: str) -> list[Document]:
    return documents()


def found_nodes(question: str) -> list[TextNode]:
    return nodes()


def of_chain(chain: Callable[[], Any] | None = None, **fields: Any) -> ChainExplainer[Any, Any]:
    application = lexical_chain(documents(), k=3) if chain is None else chain()
    given: dict[str, Any] = {"predicate": contains("calcium"), "concurrency": 1, **fields}
    return ChainExplainer(application, **given)


def of_engine(engine: Callable[[], Any] | None = None, **fields: Any) -> EngineExplainer:
    application = lexical_engine(nodes(), k=3) if engine is None else engine()
    given: dict[str, Any] = {"predicate": contains("calcium"), "concurrency": 1, **fields}
    return EngineExplainer(application, **given)


def asking_a_model() -> Any:
    """A function that searches an API of its own, and shows what it found to a model."""
    search = gate(found_documents)

    def answer(question: str) -> str:
        context = "\n\n".join(each.page_content for each in search(question))
        return OfflineChatModel().invoke(f"Context:\n{context}\n\nQuestion: {question}").text

    return answer


def asking_no_model() -> Any:
    """What it does, no model reports."""
    search = gate(found_documents)

    def answer(question: str) -> str:
        return "calcium" if any("calcium" in each.page_content for each in search(question)) else "none"

    return answer


def showing_some() -> Any:
    """What it retrieves, but for the last."""
    search = gate(found_documents)

    def answer(question: str) -> str:
        context = "\n\n".join(each.page_content for each in search(question)[:UNSHOWN])
        return OfflineChatModel().invoke(f"Context:\n{context}\n\nQuestion: {question}").text

    return answer


def engine_of_its_own() -> RetrieverQueryEngine:
    cutoff = SimilarityPostprocessor(similarity_cutoff=0.0)
    retriever = BM25Retriever(nodes(), k=3)
    return RetrieverQueryEngine.from_args(retriever, llm=OfflineLLM(), node_postprocessors=[cutoff])


def asking_an_llm() -> Any:
    search = gate_nodes(found_nodes)

    def answer(question: str) -> str:
        context = "\n\n".join(each.text for each in search(question))
        return OfflineLLM().complete(f"Context:\n{context}\n\nQuestion: {question}").text

    return answer


def handled() -> Explanation:
    explainer = of_chain()
    handler = ChainHandler(explainer)
    application: Runnable[Any, Any] = explainer.application
    application.invoke(ASKED, {"callbacks": [handler]})
    return handler.explain()


EXPLANATIONS: Explanations = {
    "chain": lambda: of_chain().explain(ASKED),
    "chain-awaited": lambda: asyncio.run(of_chain().aexplain(ASKED)),
    "chain-same-answer": lambda: of_chain(predicate=None).explain(ASKED),
    "chain-handled": handled,
    "chain-pinned": lambda: of_chain().explain(ASKED, pinned=["leaflet"]),
    "chain-documents": lambda: of_chain().explain(ASKED, documents=LOGGED[:2]),
    "chain-logged-answer": lambda: of_chain().explain(
        ASKED, documents=LOGGED, baseline="Take vitamin D."
    ),
    "chain-without-sources": lambda: of_chain(answer_without_sources="N/A").explain(ASKED),
    "chain-limited": lambda: of_chain(limits=5).explain(ASKED),
    "chain-voted": lambda: of_chain(noise=3).explain(ASKED),
    "chain-gate": lambda: of_chain(asking_a_model).explain(ASKED),
    "chain-no-model": lambda: of_chain(asking_no_model).explain(ASKED),
    "chain-not-shown": lambda: of_chain(showing_some).explain(ASKED),
    "chain-as-retrieved": lambda: of_chain(showing_some, scope="retrieved").explain(ASKED),
    "engine": lambda: of_engine().explain(ASKED),
    "engine-awaited": lambda: asyncio.run(of_engine().aexplain(ASKED)),
    "engine-of-its-own": lambda: of_engine(engine_of_its_own).explain(ASKED),
    "engine-documents": lambda: of_engine().explain(ASKED, documents=LOGGED[:2], pinned=["guide"]),
    "engine-without-sources": lambda: of_engine(answer_without_sources="N/A").explain(ASKED),
    "engine-gate": lambda: of_engine(asking_an_llm).explain(ASKED),
}


def verified(make: Callable[[], Any]) -> Write:
    def write() -> Mapping[str, str]:
        found = make().verify({"guide"}, "omission", ASKED)
        told = [f"{found.kind.value} {ids(found.sources)}: holds {found.holds}"]
        told += [] if found.finding is None else [rule(found.finding)]
        explanation = normal.explanation(json.loads(found.explanation.model_dump_json()))
        return {
            "verification.txt": "\n".join([*told, short(found.explanation)]),
            "explanation.json": normal.laid_out(explanation),
        }

    return write


def carried_by_an_answer() -> Mapping[str, str]:
    chain = lexical_chain(documents(), k=3)
    carrying = explained_chain(chain, predicate=contains("calcium"), concurrency=1)
    answer: Any = carrying.invoke(ASKED)
    return {"rag_rules.json": normal.laid_out(_carried(answer.rag_rules))}


def carried_by_a_response() -> Mapping[str, str]:
    engine = lexical_engine(nodes(), k=3)
    response: Any = explained_engine(engine, predicate=contains("calcium"), concurrency=1).query(ASKED)
    return {"rag_rules.json": normal.laid_out(_carried(response.metadata["rag_rules"]))}


def _carried(told: Mapping[str, Any]) -> dict[str, Any]:
    return normal.explanation(json.loads(json.dumps(told)))


def remembering() -> Any:
    """An application whose second answer is made of its first."""
    search, said = gate(found_documents), list[str]()

    def answer(question: str) -> str:
        context = "\n\n".join(each.page_content for each in search(question))
        before = " ".join(said)
        told = OfflineChatModel().invoke(f"Said: {before}\n{context}\n\nQuestion: {question}").text
        said.append(f"{told} was said before, {len(said)} times")
        return told

    return answer


def asking_once() -> Any:
    """An application that retrieves in its first run alone."""
    search, found = gate(found_documents), list[Document]()

    def answer(question: str) -> str:
        found.extend([] if found else search(question))
        context = "\n\n".join(each.page_content for each in found)
        return OfflineChatModel().invoke(f"Context:\n{context}\n\nQuestion: {question}").text

    return answer


def leaking() -> Any:
    """An application that shows what nobody retrieved."""
    search = gate(found_documents)

    def answer(question: str) -> str:
        context = "\n\n".join([TEXTS["blog"], *(each.page_content for each in search(question))])
        return OfflineChatModel().invoke(f"Context:\n{context}\n\nQuestion: {question}").text

    return answer


def knowing() -> Any:
    """An application that retrieves nothing."""

    def answer(question: str) -> str:
        return "calcium"

    return answer


REFUSED: dict[str, Callable[[], object]] = {
    "no retrieval": lambda: of_chain(knowing).explain(ASKED),
    "no retrieval by an engine": lambda: of_engine(knowing).explain(ASKED),
    "retrieval in the first run alone": lambda: of_chain(asking_once).explain(ASKED),
    "a source that was left out": lambda: of_chain(leaking).explain(ASKED),
    "a memory": lambda: of_chain(remembering).explain(ASKED),
    "pinned that is not there": lambda: of_chain().explain(ASKED, pinned=["memo"]),
    "an unknown option": lambda: of_chain(scopes="seen"),
    "the condition is not met": lambda: of_chain(
        predicate=contains("zinc"), false_condition="error"
    ).explain(ASKED),
}


def refused() -> Mapping[str, str]:
    return {"errors.txt": "".join(f"{name}: {error_of(given)}\n" for name, given in REFUSED.items())}


def demonstrated() -> Mapping[str, str]:
    code, out = rag_rules("demo")
    return {"printed.out": normal.printed(out), "code.txt": f"exit code {code}\n"}


def of_a_command() -> Mapping[str, str]:
    Path("golden_application.py").write_text(APPLICATION, encoding="utf-8")
    given = ("--app", "golden_application:chain", "--predicate", "contains:1889")
    asked = "When was the iron tower built?"
    return told_as_json(*rag_rules("explain", *given, "--question", asked, "--json"))


WRITTEN: dict[str, Write] = {
    "chain-verified": verified(of_chain),
    "refusals": refused,
    "printed-demo": demonstrated,
    "chain-carries": carried_by_an_answer,
    "command-explain-application": of_a_command,
    "engine-verified": verified(of_engine),
    "engine-carries": carried_by_a_response,
}
