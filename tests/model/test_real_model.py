"""On a real language model, over a real socket, the rules are those that all of its answers have.

Every subset is asked about twice: by the explained application, with the client of its framework, and
directly. The server has one slot and reuses no prompt; so both answers have to be the same text.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from demos.paper_model.brute_force import Subset, judged, minimal_rules, subsets_of
from demos.real_model.asked import Asked, read_questions
from demos.real_model.chain import SYSTEM, USER, chain_of, retriever_over
from demos.real_model.embeddings import BgeSmall
from demos.real_model.runtime import Endpoint
from rag_rule_explainer import Explanation, condition
from tests.model.asking import said_by

pytestmark = [pytest.mark.model, pytest.mark.timeout(1800), pytest.mark.filterwarnings("ignore")]

QUESTIONS = {each.right: each for each in read_questions()}
EXPLAINED = ("visitor-password", "lamps")
"""One whose rules are a careful reader's, and one that is read badly."""
Condition = Callable[[str], bool]


def conditions_of(asked: Asked, baseline: str) -> Mapping[str, Condition]:
    """Conditions that hold of the answer to all documents: a fact, and two that make odd rules."""
    middle = sorted(baseline)[len(baseline) // 2]
    return {
        "the fact": lambda answer: bool(asked.fact_in(answer)),
        "as long": lambda answer: abs(len(answer) - len(baseline)) <= len(baseline) // 4,
        "as often": lambda answer: answer.count(middle) >= baseline.count(middle),
    }


def compare(
    explained: Callable[[Condition], Explanation],
    asked: Asked,
    answers: Mapping[Subset, str],
    ids: Sequence[str],
) -> None:
    """For each condition, all rules of both kinds, and the answers that they rest on."""
    for name, holds in conditions_of(asked, answers[frozenset(ids)]).items():
        explanation = explained(holds)
        assert [source.id for source in explanation.sources] == list(ids)
        for probe in explanation.probes:
            assert [each.text for each in probe.answers] == [answers[frozenset(probe.kept)]], name
        retention, omission = minimal_rules(judged(answers, holds))
        found = {frozenset(rule.sources) for rule in explanation.retention_rules}
        missing = {frozenset(rule.sources) for rule in explanation.omission_rules}
        assert (found, missing) == (retention, omission), name
        assert all(rule.proved for rule in explanation), (name, explanation.warnings)
        print(
            f"{asked.right}, {name}: {len(found)} retention and {len(missing)} omission rules, all equal"
        )


@pytest.mark.parametrize("right", EXPLAINED)
def test_langchain_with_its_openai_client(right: str, endpoint: Endpoint, tmp_path: Path) -> None:
    from langchain_rag_rule_explainer import RuleExplainer

    asked = QUESTIONS[right]
    retriever = retriever_over(QUESTIONS.values(), BgeSmall())
    texts = {str(each.id): each.page_content for each in retriever.invoke(asked.question)}
    answers = {
        frozenset(kept): said_by(endpoint, messages("\n".join(texts[i] for i in reversed(kept)), asked))
        for kept in subsets_of([*texts])
    }

    def explained(holds: Condition) -> Explanation:
        return RuleExplainer(
            chain_of(retriever, endpoint),
            predicate=condition(lambda case: holds(case.answer.text), "holds"),
            allow_length=True,
            store=tmp_path / "answers.db",
        ).explain(asked.question)

    compare(explained, asked, answers, [*texts])


def messages(context: str, asked: Asked) -> list[tuple[str, str]]:
    return [("system", SYSTEM), ("user", USER.format(context=context, question=asked.question))]
