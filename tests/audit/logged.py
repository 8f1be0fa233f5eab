"""What is known of a log by brute force, and what methods say of it.

Every subset of what is shown for a question is read, so it is known which documents turn an answer bad
anywhere. Noise turns a verdict round, with a chance that is the same everywhere, so what is true of the
reader is what is true without noise.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations

from rag_rule_explainer import Answer, Case, Explainer, Explanation, RuleKind, Source
from rag_rule_explainer.audit.blame import BlameList, blame_list
from rag_rule_explainer.audit.blame_plan import plan_blame
from rag_rule_explainer.audit.pivots import suspects_of
from rag_rule_explainer.verdicts import Verdict
from tests.audit.shared_corpora import Asked, Corpus, read

Kept = frozenset[str]


@dataclass(frozen=True)
class Told:
    """A question of the log with the documents shown for it, and all that can be known."""

    corpus: Corpus
    asked: Asked
    shown: tuple[Source, ...]

    @cached_property
    def answers(self) -> dict[Kept, str]:
        sizes = range(len(self.shown) + 1)
        subsets = chain.from_iterable(combinations(self.shown, size) for size in sizes)
        return {frozenset(e.id for e in each): read(self.asked.question, each) for each in subsets}

    @cached_property
    def bad(self) -> frozenset[Kept]:
        """The subsets with a bad answer."""
        return frozenset(kept for kept, answer in self.answers.items() if self._is_bad(answer))

    def _is_bad(self, text: str) -> bool:
        answer = Answer(text)
        return self.corpus.is_bad(Case(self.asked.question, answer, answer, self.shown))

    @property
    def everything(self) -> Kept:
        return frozenset(each.id for each in self.shown)

    @property
    def answers_badly(self) -> bool:
        return self.everything in self.bad

    @cached_property
    def to_blame(self) -> frozenset[str]:
        """The truth: documents with which some subset turns bad."""
        return frozenset(each for kept in self.bad for each in kept if kept - {each} not in self.bad)

    @cached_property
    def is_scored(self) -> bool:
        if not self.answers_badly:
            return False
        clean = self.corpus.shown_without_planted(self.asked.question, len(self.shown))
        return not self.corpus.answers_badly(self.asked.question, clean)


def told(corpora: Sequence[Corpus], top_k: int) -> list[Told]:
    every = [
        Told(corpus, asked, tuple(corpus.shown(asked.question, top_k)))
        for corpus in corpora
        for asked in corpus.asked
    ]
    return [each for each in every if each.shown]


class NoisyReader:
    """It gives a bad answer for a good one, and the other way round, with a chance."""

    def __init__(self, log: Sequence[Told], chance: float, seed: int) -> None:
        self._log = {each.asked.id: each for each in log}
        self._by_question = {each.asked.question: each for each in log}
        self._chance, self._draw = chance, random.Random(seed)
        self.replays = 0

    def __call__(self, question: str, sources: Sequence[Source]) -> str:
        one, kept = self._by_question[question], frozenset(each.id for each in sources)
        if self._is_bad(one, kept) is (kept in one.bad):
            return one.answers[kept]
        return "not so" if kept in one.bad else one.corpus.wrong_answer(question)

    def verdict(self, identity: str, kept: Sequence[str]) -> Verdict:
        return Verdict.of(self._is_bad(self._log[identity], frozenset(kept)))

    def _is_bad(self, one: Told, kept: Kept) -> bool:
        self.replays += 1
        return (kept in one.bad) is not (self._draw.random() < self._chance)


def searched(log: Sequence[Told], reader: NoisyReader, samples: int) -> dict[str, Explanation]:
    """Explanations of all questions whose answer is bad the first time that they are asked."""
    found: dict[str, Explanation] = {}
    for each in log:
        answer = reader(each.asked.question, each.shown)
        explainer = Explainer(
            reader, each.corpus.is_bad, noise=samples, concurrency=1, check_repeatable=False
        )
        case = Case(each.asked.question, Answer(answer), Answer(answer), each.shown)
        if each.corpus.is_bad(case):
            found[each.asked.id] = explainer.explain(each.asked.question, each.shown, answer)
    return found


def blamed(
    explanations: dict[str, Explanation], reader: NoisyReader, fdr: float, seed: int = 0
) -> BlameList:
    plan = plan_blame(suspects_of(explanations.items()), fdr, seed=seed)
    outcomes = {each: reader.verdict(each.pair.question, each.kept) for each in plan.trials()}
    assert len(outcomes) == plan.replays
    return blame_list(plan, outcomes)


def named_by_leaving_one_out(one: Told) -> list[str]:
    return [each.id for each in one.shown if one.everything - {each.id} not in one.bad]


def most_retrieved(log: Sequence[Told]) -> dict[str, str]:
    """By question, the document shown that most questions of the log were shown."""
    times = Counter((each.corpus.name, source.id) for each in log for source in each.shown)
    return {
        each.asked.id: max(each.shown, key=lambda source: times[each.corpus.name, source.id]).id
        for each in log
    }


def explained(one: Told) -> Explanation:
    """The explanation of the answer without noise."""
    explainer = Explainer(read, one.corpus.is_bad, miner="exact", concurrency=1, check_repeatable=False)
    return explainer.explain(one.asked.question, one.shown)


def suspects_in(explanation: Explanation) -> tuple[str, ...]:
    """Returns the documents that rules of the bad outcome name, the one to suspect most first: by its
    Shapley index among retention rules, then among omission rules, then in the order shown."""
    named = {name for rule in explanation.rules for name in rule.sources}
    power = {(each.source, each.kind): each.shapley for each in explanation.importance}
    rank = {source.id: place for place, source in enumerate(explanation.sources)}

    def order(name: str) -> tuple[float, float, int]:
        retained, omitted = (
            power.get((name, kind), 0.0) for kind in (RuleKind.RETENTION, RuleKind.OMISSION)
        )
        return -retained, -omitted, rank[name]

    return tuple(sorted(named, key=order))
