"""All experiments, one after the other, through one store."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from demos.paper_model.agreement import Agreement, agreement
from demos.paper_model.attacks import Attacked, attacked
from demos.paper_model.judge import Checked, judge_checked
from demos.paper_model.screening import Screened, Tell, chosen, screened
from demos.paper_model.subject import Subject
from demos.paper_model.votes import Voted, by_votes
from demos.real_model.asked import Asked
from rag_rule_explainer.experiments.benchmark import BenchmarkOutcome, BenchmarkPlan, measure_models
from rag_rule_explainer.experiments.efficiency import (
    EfficiencyOutcome,
    EfficiencyPlan,
    measure_efficiency,
)
from rag_rule_explainer.experiments.outcome import ExperimentOutcome
from rag_rule_explainer.experiments.robustness import (
    RobustnessOutcome,
    RobustnessPlan,
    measure_robustness,
)
from rag_rule_explainer.experiments.running import ProgressCallback
from rag_rule_explainer.experiments.subsets import SubsetAsking
from rag_rule_explainer.probing.limiter import Limiter

Finished = TypeVar("Finished", bound=ExperimentOutcome)


@dataclass
class Measured:
    """These are all results. ``asked``: the questions that the model answers right with all sources."""

    screened: Sequence[Screened]
    asked: Sequence[Asked]
    efficiency: EfficiencyOutcome = field(default_factory=EfficiencyOutcome)
    agreement: Sequence[Agreement] = ()
    robustness: RobustnessOutcome = field(default_factory=RobustnessOutcome)
    benchmark: BenchmarkOutcome = field(default_factory=BenchmarkOutcome)
    votes: Sequence[Voted] = ()
    attacked: Sequence[Attacked] = ()
    judge: Checked | None = None


def measured(subject: Subject, tell: Tell) -> Measured:
    """Raises Unanswered if the model could not be reached, and KeyboardInterrupt after Ctrl-C. What was
    answered is in the store by then."""
    size = subject.inputs.size
    screening = screened(subject, tell)
    subject.reach.check()
    found = Measured(screening, chosen(screening, size.questions))
    if not found.asked:
        return found
    model, settings = subject.examined(), subject.settings()
    examples = [subject.example(each, size.sources) for each in found.asked]
    asking = SubsetAsking(model, settings, Limiter(1), subject.facts)
    plan = EfficiencyPlan("the real model", tuple(range(1, size.sources + 1)))
    progress = told("efficiency", tell)
    found.efficiency = whole(measure_efficiency(examples, asking, plan, progress))
    found.agreement = agreement(subject, found.asked)
    benchmark = BenchmarkPlan(size.sources)
    found.benchmark = whole(measure_models(examples, [model], benchmark, settings, subject.facts))
    robust = RobustnessPlan(size.sources, size.samples)
    progress = told("robustness", tell)
    outcome = measure_robustness(examples, [model], robust, settings, subject.facts, progress)
    found.robustness = whole(outcome)
    if found.robustness.judged:
        found.judge = judge_checked(subject, found.robustness.judged)
        tell("judge: done")
    found.attacked = attacked(subject, tell)
    found.votes = by_votes(subject, chosen(screening, size.voted), tell)
    subject.reach.check()
    return found


def whole(outcome: Finished) -> Finished:
    if outcome.interrupted:
        raise KeyboardInterrupt
    return outcome


def told(what: str, tell: Tell) -> ProgressCallback:
    return lambda done, of: tell(f"{what}: {done} of {of}")
