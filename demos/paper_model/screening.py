"""This module finds the questions that the model answers right with all sources. No others are
explained."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from demos.paper_model.subject import Subject
from demos.real_model.asked import Asked
from rag_rule_explainer import Answer, Explainer, Explanation, Noise, condition
from rag_rule_explainer.experiments.examples import Example
from rag_rule_explainer.probing.limits import INTERRUPTED
from rag_rule_explainer.probing.replaying import Baseline
from rag_rule_explainer.settings import MinerName
from rag_rule_explainer.testing.reader import NO_ANSWER

Tell: TypeAlias = Callable[[str], object]
"""Is told what is being done."""


@dataclass(frozen=True)
class Screened:
    """A question, and how many of the answers from all of its sources were right."""

    asked: Asked
    right: int
    answers: int

    @property
    def is_right(self) -> bool:
        return self.answers > 0 and 2 * self.right >= self.answers


def screened(subject: Subject, tell: Tell) -> Sequence[Screened]:
    size = subject.inputs.size
    found = list[Screened]()
    for asked in subject.asked.values():
        example = subject.example(asked, size.sources)
        texts = votes_on_all(subject, asked, example)
        found.append(Screened(asked, sum(map(asked.is_right, texts)), len(texts)))
        tell(f"screening: {len(found)} of {len(subject.asked)} questions")
    return found


def votes_on_all(subject: Subject, asked: Asked, example: Example) -> list[str]:
    """Several answers from all sources. Where most of the first ones agree, the rest is not asked for."""
    everything = [source.id for source in example.sources]
    samples = subject.inputs.size.screened
    noise = Noise(samples, vote="every") if samples > 1 else None
    explainer = explainer_of(subject, asked, noise=noise)
    checked = explainer.verify(
        everything, "retention", example.question, example.sources, Baseline(Answer(example.answer))
    )
    ended = uninterrupted(checked.explanation)
    return [answer.text for probe in ended.probes for answer in probe.answers]


def explainer_of(
    subject: Subject,
    asked: Asked,
    miner: MinerName = "exact",
    noise: Noise | None = None,
    purpose: str = "answers",
) -> Explainer:
    """Rules of "the answer says the fact". Answers come out of the store as far as they are there."""
    return Explainer(
        subject.examined(purpose).replay,
        predicate=condition(lambda case: asked.is_right(case.answer.text), "says the fact"),
        settings=subject.settings(purpose).accepting(length=True),
        miner=miner,
        noise=noise or 1,
        check_repeatable=False,
        answer_without_sources=NO_ANSWER,
    )


def explained(explainer: Explainer, example: Example) -> Explanation:
    # The condition is about the truth, so no first run is needed.
    return uninterrupted(
        explainer.explain(example.question, example.sources, Baseline(Answer(example.answer)))
    )


def uninterrupted(explanation: Explanation) -> Explanation:
    """A search that Ctrl-C ended says so and returns; here it ends the run."""
    if explanation.stop_reason == INTERRUPTED:
        raise KeyboardInterrupt
    return explanation


def chosen(found: Sequence[Screened], most: int) -> list[Asked]:
    return [each.asked for each in found if each.is_right][:most]


def rules_in(explanation: Explanation) -> Iterator[tuple[str, frozenset[str]]]:
    for rule in explanation:
        yield rule.kind.value, frozenset(rule.sources)
