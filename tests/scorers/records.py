"""Twenty questions with documents and answers that are known, and what each scorer has to say of them.

What has to be said is found by trying every subset, with every verdict that an unknown one may have.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_rag_rule_explainer import RuleExplainer
from scorers_rag_rule_explainer import (
    RuleScorer,
    citations_decisive,
    no_forbidden_rule,
    right_documents_decide,
    stable_rules,
)

from rag_rule_explainer import contains

NAMES = ("D1", "D2", "D3")
FORBIDDEN = "HASH"
Subset = frozenset[str]
Answers = Callable[[Subset], str | None]
"""The answer from these documents; None where the model is away."""


@dataclass(frozen=True, slots=True)
class Record:
    question: str
    answers: Answers
    right: tuple[str, ...]
    was: Answers | None = None
    """What it answered when its golden file was saved; None as today."""


def pays(*enough: Sequence[str], cited: str = "D1", away: Sequence[Sequence[str]] = ()) -> Answers:
    """Says HASH, and cites, iff one of these sets is there."""

    def answer(shown: Subset) -> str | None:
        if shown in map(frozenset, away):
            return None
        found = any(shown.issuperset(each) for each in enough)
        return f"Pay the invoice by {FORBIDDEN} [{cited}]." if found else "Ask the treasurer."

    return answer


D1, D2, D3 = (("D1",), ("D2",), ("D3",))
PAIR, ALL = ("D1", "D2"), NAMES
ANSWERS: tuple[tuple[Answers, tuple[str, ...], Answers | None], ...] = (
    (pays(D1), D1, None),
    (pays(D1), D2, None),
    (pays(D1), PAIR, pays(PAIR)),
    (pays(D2, cited="D2"), D2, None),
    (pays(D2, cited="D1"), D2, pays(D2, cited="D1")),
    (pays(D1, D2), D1, None),
    (pays(D1, D2), PAIR, pays(D1)),
    (pays(PAIR), PAIR, None),
    (pays(PAIR), D1, pays(ALL)),
    (pays(PAIR, D3), PAIR, None),
    (pays(ALL), ALL, None),
    (pays(ALL), D3, pays(PAIR)),
    (pays(()), D1, None),
    (pays(()), ALL, pays(D1)),
    (pays(PAIR, ("D2", "D3"), cited="D2"), D2, None),
    (pays(D1, away=[("D1",)]), D1, pays(D1)),
    (pays(D1, away=[()]), D1, pays(D1)),
    (pays(D1, away=[("D2",), ("D3",), ()]), D1, pays(D1)),
    (pays(ALL, away=[("D1",), ("D2",), ("D3",), PAIR, ("D1", "D3"), ("D2", "D3"), ()]), ALL, pays(ALL)),
    (pays(PAIR, away=[("D1",), ("D1", "D3")]), PAIR, pays(PAIR)),
)
RECORDS = tuple(
    Record(f"How is invoice {number:02} paid?", *each) for number, each in enumerate(ANSWERS, start=1)
)


class Search(BaseRetriever):
    """Finds the same three documents for every question."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(f"Page {name} about: {query}", id=name) for name in NAMES]


class Model(BaseChatModel):
    """Answers as the record of its question says, by the documents that it is shown."""

    is_older: bool = False

    @property
    def _llm_type(self) -> str:
        return "of-records"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        prompt = str(messages[0].content)
        record = next(each for each in RECORDS if each.question in prompt)
        answers = (record.was or record.answers) if self.is_older else record.answers
        answer = answers(frozenset(each for each in NAMES if f"Page {each} " in prompt))
        if answer is None:
            raise ConnectionError("the model is away")
        return ChatResult(generations=[ChatGeneration(message=AIMessage(answer))])


def _prompt(given: dict[str, Any]) -> str:
    pages = "\n".join(each.page_content for each in given["pages"])
    return f"{pages}\nAnswer: {given['question']}"


def chain_of(model: Model) -> Runnable[Any, Any]:
    begun: dict[str, Any] = {"pages": Search(), "question": RunnablePassthrough()}
    return begun | RunnableLambda(_prompt) | model | StrOutputParser()


SHOP, OLDER = chain_of(Model()), chain_of(Model(is_older=True))
"""The application today, and when the golden files were saved."""

SUBSETS = [
    frozenset(each) for each in chain.from_iterable(combinations(NAMES, size) for size in range(4))
]


def worlds(record: Record) -> Iterator[dict[Subset, bool]]:
    """What may be true: each subset with its verdict, and in turn every verdict of those without one."""
    given = {each: record.answers(each) for each in SUBSETS}
    open_ones = [each for each, answer in given.items() if answer is None]
    for guessed in product((False, True), repeat=len(open_ones)):
        told = dict(zip(open_ones, guessed, strict=True))
        yield {
            each: told[each] if answer is None else FORBIDDEN in answer for each, answer in given.items()
        }


def in_all(record: Record, says: Callable[[dict[Subset, bool]], bool]) -> float | None:
    """1 or 0 if every world says so, else None."""
    found = {says(world) for world in worlds(record)}
    return None if len(found) > 1 else float(found.pop())


def rules(world: dict[Subset, bool]) -> set[tuple[bool, Subset]]:
    """All minimal rules: whether of retention, and the named documents."""
    everything = frozenset(NAMES)
    found = set[tuple[bool, Subset]]()
    for retains in (True, False):

        def holds(kept: Subset, *, retains: bool = retains) -> bool:
            return world[kept if retains else everything - kept] is retains

        valid = [named for named in SUBSETS if all(holds(each) for each in SUBSETS if named <= each)]
        found |= {(retains, each) for each in valid if not any(other < each for other in valid)}
    return found


def no_single_document(record: Record) -> float | None:
    """Whether no document brings it about alone, and no rule names nothing."""
    return in_all(
        record, lambda world: not any(retains and len(named) < 2 for retains, named in rules(world))
    )


def decide(record: Record, names: Sequence[str]) -> float | None:
    """Whether it is always said with these documents, and never without."""
    named = frozenset(names)

    def says(world: dict[Subset, bool]) -> bool:
        always = all(world[each] for each in SUBSETS if named <= each)
        return always and not any(world[each] for each in SUBSETS if not named & each)

    return in_all(record, says)


def cited_decides(record: Record) -> float | None:
    answer = record.answers(frozenset(NAMES)) or ""
    return decide(record, [answer.rpartition("[")[2].rstrip("].")])


def same_rules(record: Record) -> float | None:
    before = Record(record.question, record.was or record.answers, record.right)
    (saved,) = map(rules, worlds(before))
    return in_all(record, lambda world: rules(world) == saved)


TRUTH: dict[str, dict[str, float | None]] = {
    "no_forbidden_rule": {each.question: no_single_document(each) for each in RECORDS},
    "right_documents_decide": {each.question: decide(each, each.right) for each in RECORDS},
    "citations_decisive": {each.question: cited_decides(each) for each in RECORDS},
    "stable_rules": {each.question: same_rules(each) for each in RECORDS},
}
"""For each scorer and question the score; None where there must be none."""


def expected_of(record: Record, folder: Path) -> dict[str, Any]:
    """What a row of a data set says beside the question."""
    number = RECORDS.index(record) + 1
    return {"documents": list(record.right), "golden": str(folder / f"{number}.json")}


def scorers() -> list[RuleScorer]:
    """All four, of the application of today."""
    says: Any = contains(FORBIDDEN)
    once: Any = {"retries": 0}
    return [
        no_forbidden_rule(SHOP, says, max_size=1, **once),
        right_documents_decide(SHOP, says, **once),
        citations_decisive(SHOP, **once),
        stable_rules(SHOP, says, **once),
    ]


def save_goldens(folder: Path) -> None:
    """Saves the explanation of each answer that the older application gave."""
    explainer = RuleExplainer(OLDER, predicate=contains(FORBIDDEN), retries=0)
    for number, record in enumerate(RECORDS, start=1):
        explainer.explain(record.question).save(folder / f"{number}.json")
