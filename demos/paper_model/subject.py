"""The questions, the model as experiments want it, and what a right answer is."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, cast

from demos.paper_model.reach import Ask, Reach
from demos.paper_model.sizes import Inputs
from demos.real_model.asked import Asked
from demos.real_model.runtime import Endpoint as Served
from demos.real_model.runtime import of_the_runtime
from rag_rule_explainer import Settings, Source, Store
from rag_rule_explainer.experiments.examples import Example
from rag_rule_explainer.experiments.list_judge import ListJudge
from rag_rule_explainer.experiments.models import USUAL_KEY, Endpoint, Examined
from rag_rule_explainer.experiments.prompts import JudgePrompt, PromptTemplate
from rag_rule_explainer.predicates import Judge, JudgeReply, JudgeRequest

PROMPT = PromptTemplate(
    "short", "{sources}\n\nAnswer from the text above, in one short sentence.\nQuestion: {question}"
)
"""A model of this size repeats the paper's prompt, and the project's own, instead of following it."""
JUDGING = JudgePrompt(
    "short",
    "Question: {question}\nRight answer: {truth}\nGiven answer: {candidates}\n"
    "Does the given answer say the same as the right answer? "
    "Reply with True or False, and with nothing else.",
)


class Identity(NamedTuple):
    """An ``Identity`` names all that answers depend on: the model, its weights and its runtime, but not
    the address where it is served."""

    model: str
    weights: str
    runtime: str

    @classmethod
    def of(cls, served: Served, gguf: Path | None) -> "Identity":
        if gguf is None:
            return cls(served.name, "of a server", served.url)
        return cls(served.name, sha256(gguf.read_bytes()).hexdigest(), of_the_runtime())

    def __str__(self) -> str:
        return f"{self.model}, weights {self.weights[:16]}, {self.runtime}"


@dataclass(frozen=True, eq=False)
class Facts:
    """A judge of a few words of code: an answer is consistent with the truth if it says the invented
    fact. It costs nothing."""

    asked: Mapping[str, Asked]
    judge_name: str = "says the fact"

    def __call__(self, request: JudgeRequest) -> JudgeReply:
        asked = self.asked[request.matter.question]
        return JudgeReply({each.id: asked.is_right(each.answer) for each in request.candidates})


@dataclass(frozen=True)
class Subject:
    """The model, and what it is asked."""

    inputs: Inputs
    identity: Identity
    endpoint: Endpoint
    asked: Mapping[str, Asked]
    """The questions, by their text."""
    reach: Reach = field(default_factory=Reach)

    @classmethod
    def of(cls, inputs: Inputs, identity: Identity, served: Served, asked: Sequence[Asked]) -> "Subject":
        os.environ.setdefault(USUAL_KEY, served.key)
        endpoint = Endpoint(
            served.name,
            served.url,
            temperature=inputs.temperature,
            max_tokens=inputs.tokens,
            prompt=PROMPT,
        )
        return cls(inputs, identity, endpoint, {each.question: each for each in asked})

    @property
    def facts(self) -> Facts:
        return Facts(self.asked)

    def examined(self, purpose: str = "answers") -> Examined:
        """The model. ``purpose``: answers are shared by what has one purpose, and by nothing else."""
        found = self.endpoint.examined()
        parts = (
            str(self.identity),
            f"temperature {self.inputs.temperature}",
            f"{self.inputs.tokens} tokens",
        )
        return replace(
            found,
            namespace=", ".join((f"paper: {purpose}", *parts, PROMPT.digest)),
            replay=self.reach.watching(cast("Ask", found.replay)),
        )

    def judge(self) -> Judge:
        """The model as a judge of one answer at a time, with a prompt of its own."""
        judge = cast("ListJudge", self.endpoint.judge(JUDGING))
        ask = self.reach.watching(judge.ask)
        return replace(judge, judge_name=f"{self.identity}, prompt {JUDGING.digest}", ask=ask)

    def settings(self, purpose: str = "answers") -> Settings:
        store = Store(str(self.inputs.out / "answers.sqlite"), self.examined(purpose).namespace)
        return Settings(store=store, concurrency=1, timeout=600, retries=3)

    def example(self, asked: Asked, count: int) -> Example:
        """The question with ``count`` sources: its own documents, the right one first, then those of the
        next questions."""
        questions = list(self.asked.values())
        at = questions.index(asked)
        around = [*questions[at:], *questions[:at]]
        texts = {name: text for each in around for name, text in each.documents.items()}
        first = sorted(texts, key=lambda name: name != asked.right)[:count]
        sources = tuple([Source(name, texts[name]) for name in first])
        return Example(asked.right, asked.question, asked.accepted[0], sources, (asked.right,), 1)
