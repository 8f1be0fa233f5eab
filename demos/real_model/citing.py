"""Asks the model to cite by number, and says which of its citations are real: ``make cite-model``.

Each answer is checked once: what is finished stands in a file, and what is paid in a store, so that a
study that was stopped goes on where it was.
"""

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_rag_rule_explainer import RuleExplainer

from demos.real_model.asked import FILE, Asked, read_questions
from demos.real_model.chain import USER, model_at
from demos.real_model.runtime import Endpoint, of_the_runtime, served, weights
from rag_rule_explainer import CitationClass, contains
from rag_rule_explainer.checking.figures import share
from rag_rule_explainer.predicates import PredicateLike

MORE = FILE.with_name("more_questions.jsonl")
"""Questions about the other documents: question, accepted answers, and the document that says so."""
SYSTEM = "Answer from the sources, in one short sentence. Cite the number of the source."
EXAMPLES = (
    (
        "[1] The zoo opens at ten.\n[2] A zebra has stripes.",
        "When does the zoo open?",
        "The zoo opens at ten [1].",
    ),
    (
        "[1] The train to Rome is red.\n[2] The shop sells tea.\n[3] The train to Rome takes two hours.",
        "How long does the train to Rome take?",
        "The train to Rome takes two hours [3].",
    ),
)
"""These examples stand first in each prompt. Without examples the model hardly ever cites."""
DRAWS = 2000
SHOWN = 3


@dataclass(frozen=True)
class Checked:
    """A ``Checked`` holds one answer.

    ``cited``: for each citation, the document, whether it is the right one, its class, the kind of claim,
    and what a check of support says: that the document has the words of the claim.
    """

    question: str
    answer: str
    is_right: bool
    order: Sequence[str]
    cited: Sequence[Mapping[str, Any]]
    replays: int


class ThreeDocuments(BaseRetriever):
    """Finds three documents of one question, among them the right one, in an order of their own."""

    asked: Asked

    def _get_relevant_documents(
        self,
        query: str,  # noqa: ARG002 -- the question is known
        *,
        run_manager: Any,  # noqa: ARG002 -- as BaseRetriever says
    ) -> list[Document]:
        random, texts = Random(self.asked.question), self.asked.documents  # noqa: S311 -- no secret
        others = [name for name in texts if name != self.asked.right]
        found = [self.asked.right, *random.sample(others, SHOWN - 1)]
        random.shuffle(found)
        return [Document(id=name, page_content=texts[name]) for name in found]


def all_questions() -> list[Asked]:
    """Returns one question for each document."""
    first = read_questions()
    groups = {name: asked.documents for asked in first for name in asked.documents}
    rows: list[Any] = [json.loads(line) for line in MORE.read_text(encoding="utf-8").splitlines()]
    more = [Asked(**row, documents=groups[row["right"]], fresh=True) for row in rows]
    return [*first, *more]


def numbered(documents: Sequence[Document]) -> str:
    return "\n".join(f"[{place}] {each.page_content}" for place, each in enumerate(documents, 1))


def told_first() -> list[tuple[str, str]]:
    """Returns what the model is told before the question: what to do, and the examples."""
    told: list[tuple[str, str]] = [("system", SYSTEM)]
    for context, question, answer in EXAMPLES:
        told += [("user", USER.format(context=context, question=question)), ("assistant", answer)]
    return told


def citing_chain(asked: Asked, endpoint: Endpoint) -> Runnable[str, str]:
    prompt = ChatPromptTemplate.from_messages([*told_first(), ("user", USER)])
    found: Runnable[str, Any] = ThreeDocuments(asked=asked)
    question: Runnable[str, str] = RunnablePassthrough()
    inputs = {"context": found | numbered, "question": question}
    return inputs | prompt | model_at(endpoint) | StrOutputParser()


def claimed(asked: Asked, said: str) -> str:
    """The words whose presence says that a statement is made: the right fact, or else all of them."""
    return asked.fact_in(said) or said


def checked(asked: Asked, endpoint: Endpoint, store: Path) -> Checked:
    # An answer that reaches its length limit is half a sentence, and cites all the same.
    explainer = RuleExplainer(citing_chain(asked, endpoint), allow_length=True, store=store)

    def states(said: str) -> PredicateLike:
        return contains(claimed(asked, said))

    cited = explainer.cite(asked.question, condition=states)
    texts = asked.documents
    return Checked(
        asked.question,
        cited.text,
        asked.is_right(cited.text),
        [each.id for each in cited.checks[0].explanation.sources] if cited.checks else [],
        [
            {
                "source": verdict.source,
                "right": verdict.source == asked.right,
                "class": verdict.citation_class.value,
                "claim": verdict.claim,
                "statement": check.statement,
                "support": claimed(asked, check.statement).lower()
                in texts.get(verdict.source or "", "").lower(),
            }
            for check in cited.checks
            for verdict in check.verdicts
        ],
        cited.replays,
    )


def study(questions: Sequence[Asked], endpoint: Endpoint, folder: Path) -> Iterator[Checked]:
    """Yields the check of each answer; those that the folder has already are not asked again."""
    file = folder / "answers.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    done = {row["question"]: Checked(**row) for row in map(json.loads, lines)}
    for asked in questions:
        found = done.get(asked.question)
        if found is None:
            found = checked(asked, endpoint, folder / "paid.db")
            with file.open("a", encoding="utf-8") as out:
                out.write(f"{json.dumps(asdict(found))}\n")
        yield found


def reported(found: Sequence[Checked]) -> Iterator[str]:
    """Yields the figures: accuracy, how many answers cite, and the share of each class."""
    right, citing = [each for each in found if each.is_right], [each for each in found if each.cited]
    yield f"Right: {share(len(right), len(found), 'nothing was asked')}."
    yield f"Cites at all: {share(len(citing), len(found), 'nothing was asked')}."
    of_citing = share(sum(each.is_right for each in citing), len(citing), "nothing cites")
    yield f"Right, of those that cite: {of_citing}."
    every = [(each.question, one) for each in found for one in each.cited]
    names = share(sum(one["right"] for _, one in every), len(every), "nothing is cited")
    yield f"Names the document with the answer: {names} of the citations."
    decided = [pair for pair in every if pair[1]["class"] != CitationClass.UNDECIDED.value]
    counts = Counter(one["class"] for _, one in decided)
    for each in CitationClass:
        if count := counts[each.value]:
            low, high = over_questions(decided, each.value)
            yield (
                f"  {each.mark} {each.value:26} {count} of {len(decided)}, {count / len(decided):.2f} "
                f"(95 % of draws of questions: {low:.2f} to {high:.2f})"
            )
    yield f"  ? undecided, in no share     {len(every) - len(decided)}"
    yield from against_support(decided)
    yield f"{sum(each.replays for each in found)} replays."


def over_questions(decided: Sequence[tuple[str, Mapping[str, Any]]], name: str) -> tuple[float, float]:
    """The middle 95 % of the class's share if questions are drawn anew, as the citations of one answer do
    not vary freely."""
    by_question = dict[str, list[bool]]()
    for question, one in decided:
        by_question.setdefault(question, []).append(one["class"] == name)
    random, groups = Random(1), list(by_question.values())  # noqa: S311 -- no secret
    shares = list[float]()
    for _ in range(DRAWS):
        drawn = [hit for group in random.choices(groups, k=len(groups)) for hit in group]
        shares.append(sum(drawn) / len(drawn))
    shares.sort()
    return shares[int(0.025 * DRAWS)], shares[int(0.975 * DRAWS)]


def against_support(decided: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
    """Yields what a check of support says of the citations that are not faithful, and of the others."""
    for faithful, name in ((True, "faithful"), (False, "unfaithful")):
        some = [one for _, one in decided if CitationClass(one["class"]).is_faithful is faithful]
        supported = share(sum(one["support"] for one in some), len(some), f"none is {name}")
        yield f"Of the {name} ones, the document has the words of the claim: {supported}."


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m demos.real_model.citing", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(".citing-study"), help="keeps what is paid")
    parser.add_argument("--most", type=int, default=80, help="how many questions are asked")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    gguf, found = weights(), list[Checked]()
    digest = hashlib.sha256(gguf.read_bytes()).hexdigest()
    print(f"{gguf.stem} (sha256 {digest[:16]}…), {of_the_runtime()}")
    questions = Random(7).sample(all_questions(), k=options.most)  # noqa: S311 -- no secret
    with served(gguf) as endpoint:
        for each in study(questions[: options.most], endpoint, options.folder):
            found.append(each)
            classes = ", ".join(f"{one['source']} {one['class']}" for one in each.cited)
            print(f"{'right' if each.is_right else 'WRONG'}  {' '.join(each.answer.split())}", flush=True)
            print(f"       {classes or 'cites nothing'}; {each.replays} replays", flush=True)
    print("\n".join(reported(found)))


if __name__ == "__main__":
    main()
