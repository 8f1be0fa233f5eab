"""Asks all questions, explains some of the answers, and prints what came out, as it came out."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from os import environ
from pathlib import Path
from time import monotonic

from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from langchain_rag_rule_explainer import RuleExplainer

from demos.real_model.asked import Asked, read_questions
from demos.real_model.chain import chain_of, retriever_over
from demos.real_model.embeddings import BgeSmall
from demos.real_model.runtime import Endpoint, of_the_runtime, served, weights
from rag_rule_explainer import Explanation, contains
from rag_rule_explainer.checking.figures import share
from rag_rule_explainer.rules import RuleKind

EXPLAINED = 3


@dataclass(frozen=True)
class Answered:
    """A question, the documents that were found, and what the model says with all of them."""

    asked: Asked
    found: Sequence[str]
    answer: str

    @property
    def is_right(self) -> bool:
        return self.asked.is_right(self.answer)

    @property
    def condition(self) -> str:
        """Returns the words that the condition looks for: the known mistake if the model makes it, else
        the right fact."""
        wrong = self.asked.wrong
        return wrong if wrong and wrong in self.answer.lower() else self.asked.fact_in(self.answer)


def main() -> None:
    options = arguments()
    began = monotonic()
    questions = read_questions()
    retriever = retriever_over(questions, BgeSmall())
    with nullcontext(options.endpoint) if options.endpoint else served(options.gguf) as endpoint:
        print(
            f"{endpoint.name}, at {endpoint.url} ({of_the_runtime() if options.gguf else 'your server'})"
        )
        chain = chain_of(retriever, endpoint)
        answered = [ask(chain, retriever, each) for each in questions]
        print("\n".join(accuracy(answered)), flush=True)
        chosen = [each for each in answered if each.condition][: options.explain]
        read = [explain(chain, each) for each in chosen]
    print("\n".join(summed_up(read)))
    print(f"\n{monotonic() - began:.0f} seconds, with {len(questions)} questions.")


def ask(chain: Runnable[str, str], retriever: BaseRetriever, asked: Asked) -> Answered:
    found = [str(each.id) for each in retriever.invoke(asked.question)]
    return Answered(asked, found, chain.invoke(asked.question))


def accuracy(answered: Sequence[Answered]) -> Iterator[str]:
    """Yields what the model answers with all documents that were found."""
    yield "\nWith all four documents it says:\n"
    for each in answered:
        yield f"{'right' if each.is_right else 'WRONG'}  {each.asked.question}"
        yield f"       {' '.join(each.answer.split())}"
    seen = [each for each in answered if not each.asked.fresh]
    fresh = [each for each in answered if each.asked.fresh]
    there = sum(each.asked.right in each.found for each in answered)
    yield f"\nRight on {counted(fresh)} of questions that its prompt was not tuned on."
    yield f"Right on {counted(seen)} of those that it was tuned on, which flatters it."
    yield f"The document with the answer was among the four for {there} of {len(answered)} questions."
    yield "Rules are about what this model says. Where it reads badly, they show how it reads."


def counted(answered: Sequence[Answered]) -> str:
    return str(share(sum(each.is_right for each in answered), len(answered), "nothing was asked"))


def explain(chain: Runnable[str, str], answered: Answered) -> bool | None:
    """Prints the rules. Returns whether a careful reader would have the same ones; None for an answer
    that no careful reader gives."""
    # An answer that reaches its length limit is half a sentence, which may be right all the same.
    explainer = RuleExplainer(chain, predicate=contains(answered.condition), allow_length=True)
    began = monotonic()
    explanation = explainer.explain(answered.asked.question)
    seconds = monotonic() - began
    print(f"\n{answered.asked.question}", flush=True)
    for source in explanation.sources:
        print(f"  {source.id}: {source.text}")
    print(f"Answer: {' '.join(explanation.baseline.text.split())}")
    print(explanation)
    alike = reads_well(explanation, answered.asked.right) if answered.is_right else None
    print(f"({explanation.counts.replays} replays in {seconds:.1f} s.) {verdict(alike, answered)}")
    return alike


def reads_well(explanation: Explanation, right: str) -> bool:
    """Returns True iff this one document makes the model say the fact, and no other document does."""
    named = {(rule.kind, rule.sources) for rule in explanation}
    return named == {(kind, (right,)) for kind in RuleKind}


def verdict(alike: bool | None, answered: Answered) -> str:
    if alike is None:
        return "The answer is wrong; the rules say which documents it comes from."
    if alike:
        return "A careful reader has the same rules."
    return f"It reads badly: for a careful reader, {answered.asked.right} alone decides."


def summed_up(read: Sequence[bool | None]) -> Iterator[str]:
    judged = [each for each in read if each is not None]
    careful = share(sum(judged), len(judged), "no right answer was explained")
    yield f"\nRight answers with the rules of a careful reader: {careful}."


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m demos.real_model", description=__doc__)
    parser.add_argument("--gguf", type=Path, help="weights of another model, in llama.cpp's format")
    parser.add_argument(
        "--url", help="an OpenAI-compatible server instead, such as http://localhost:11434/v1"
    )
    parser.add_argument("--name", help="what the model is called there")
    parser.add_argument("--explain", type=int, default=EXPLAINED, help="how many answers are explained")
    options = parser.parse_args()
    if bool(options.url) != bool(options.name):
        parser.error("--url and --name belong together: where the server is, and what it calls the model")
    if options.gguf and not options.gguf.is_file():
        parser.error(f"there is no file {options.gguf}")
    key = environ.get("OPENAI_API_KEY", "none")
    options.endpoint = Endpoint(options.url, options.name, key) if options.url else None
    options.gguf = None if options.url else options.gguf or weights()
    return options


if __name__ == "__main__":
    main()
