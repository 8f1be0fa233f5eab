"""Real questions, explained by the offline reader: the command line and a chain agree."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from langchain_rag_rule_explainer import OfflineChatModel, RuleExplainer

from rag_rule_explainer import Explanation, same_answer

pytestmark = pytest.mark.waits

COMMAND = "from rag_rule_explainer.cli import main; main()"
PROMPT = ChatPromptTemplate.from_template(
    "Use these sources.\n\n{context}\n\nQuestion: {question}\nAnswer:"
)


class Fixed(BaseRetriever):
    """Retrieves the same documents whatever is asked, and counts how often."""

    documents: list[Document]
    times: int = 0

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        self.times += 1
        return self.documents


def context(documents: list[Document]) -> str:
    return "\n\n".join(f"<source>\n{document.page_content}\n</source>" for document in documents)


def by_command(record: dict[str, Any], folder: Path) -> Explanation:
    file = folder / "sources.jsonl"
    lines = (json.dumps({"title": s["title"], "text": s["text"]}) for s in record["sources"])
    file.write_text("\n".join(lines), encoding="utf-8")
    asked = ["explain", "--question", record["question"], "--sources", str(file), "--json"]
    run = subprocess.run(
        [sys.executable, "-c", COMMAND, *asked], capture_output=True, text=True, check=True
    )
    return Explanation.model_validate_json(run.stdout)


def by_chain(record: dict[str, Any]) -> Explanation:
    documents = [
        Document(id=f"D{place}", page_content=f"{source['title']}\n{source['text']}")
        for place, source in enumerate(record["sources"], start=1)
    ]
    retriever = Fixed(documents=documents)
    question = {"context": retriever | context, "question": RunnablePassthrough[str]()}
    chain = question | PROMPT | OfflineChatModel() | StrOutputParser()
    explanation = RuleExplainer(chain, predicate=same_answer(), miner="exact").explain(record["question"])
    assert retriever.times == 1
    return explanation


@pytest.mark.spread(slow=3)
@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 7, 20, 45])
def test_the_command_line_and_a_chain_give_the_same_rules(
    number: int, real_data: Path, tmp_path: Path
) -> None:
    lines = (real_data / "hotpotqa_train.jsonl").read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[number])
    told, chained = by_command(record, tmp_path), by_chain(record)
    assert told.complete
    assert chained.complete
    assert told.baseline.text == chained.baseline.text
    assert told.rules == chained.rules
    assert told.rules
