"""The numbers of the paper's setup are the usual ones here."""

import inspect
from pathlib import Path

from rag_rule_explainer.cli.experiments.efficiency import EfficiencyRequest
from rag_rule_explainer.cli.experiments.judge import judge
from rag_rule_explainer.cli.experiments.redteam import Attacking
from rag_rule_explainer.cli.experiments.shared_options import Drawing, Endpoints, JudgingOptions, Running
from rag_rule_explainer.experiments.examples import Criteria
from rag_rule_explainer.experiments.models import Endpoint
from rag_rule_explainer.experiments.paper import FACTS, stated
from rag_rule_explainer.experiments.redteam import MOST_GROUPS
from rag_rule_explainer.experiments.robustness import RobustnessPlan


def test_the_usual_numbers_are_the_papers() -> None:
    criteria = Criteria()
    assert criteria.longest_answer == stated("HotpotQA longest answer")
    assert criteria.fewest_necessary == criteria.most_necessary == stated("HotpotQA necessary sources")
    assert Drawing().examples == stated("HotpotQA examples")
    request = inspect.signature(EfficiencyRequest).parameters
    sizes = f"{stated('fewest sources')}-{stated('most sources')}"
    assert request["sizes"].default == sizes
    assert request["necessary"].default == stated("synthetic necessary sources")
    synthetic = EfficiencyRequest(Endpoints(), JudgingOptions(), Running(out=Path("out")))
    assert len(synthetic.drawn(2)) == stated("synthetic examples")
    plan = RobustnessPlan()
    assert plan.sources == stated("robustness sources")
    assert plan.counts == tuple(range(1, stated("robustness most samples") + 1))
    assert Attacking().sources == stated("red-team sources")
    assert stated("most sources") == MOST_GROUPS
    assert inspect.signature(judge).parameters["count"].default == stated("judge judgments")
    endpoint, options = Endpoint("m"), Endpoints()
    assert endpoint.temperature == options.temperature == FACTS["temperature"].value
    assert endpoint.max_tokens == options.max_output_tokens == stated("most tokens")
