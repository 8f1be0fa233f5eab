"""On a real language model, the classes of citations are those that all of its answers have."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from demos.paper_model.brute_force import Subset, judged, minimal_rules, subsets_of
from demos.real_model.asked import Asked
from demos.real_model.chain import USER
from demos.real_model.citing import (
    ThreeDocuments,
    all_questions,
    checked,
    claimed,
    numbered,
    told_first,
)
from demos.real_model.runtime import Endpoint
from rag_rule_explainer import CitationClass
from tests.model.asking import said_by

pytestmark = [pytest.mark.model, pytest.mark.timeout(1800), pytest.mark.filterwarnings("ignore")]

QUESTIONS = {each.right: each for each in all_questions()}
CITING = ("bridge-year", "tram-lines")
"""One that cites the right document, and one that cites another one as well."""


def answers_to(asked: Asked, endpoint: Endpoint) -> dict[Subset, str]:
    """What the model says of each subset of the documents, asked without the package."""
    documents = {str(each.id): each for each in ThreeDocuments(asked=asked).invoke(asked.question)}
    answers = dict[Subset, str]()
    for kept in subsets_of([*documents]):
        context = numbered([documents[name] for name in kept])
        question = ("user", USER.format(context=context, question=asked.question))
        answers[frozenset(kept)] = said_by(endpoint, [*told_first(), question])
    return answers


def class_of(made: Mapping[Subset, bool], source: str, cited: Subset) -> CitationClass:
    """The classes as the documentation words them."""
    rules, _ = minimal_rules(made)
    if frozenset() in rules:
        return CitationClass.FROM_MEMORY
    needing = [rule for rule in rules if source in rule]
    if not needing:
        return CitationClass.DECORATIVE
    if not any(rule <= cited for rule in needing):
        return CitationClass.NEEDS_A_PARTNER
    if len(needing) < len(rules):
        return CitationClass.ONE_OF_SEVERAL
    alone = any(kept for kept, is_made in made.items() if is_made and source not in kept)
    return (
        CitationClass.DECISIVE_IN_FULL_CONTEXT if alone or made[frozenset()] else CitationClass.DECISIVE
    )


@pytest.mark.parametrize("right", CITING)
def test_each_class_is_the_one_of_all_answers(right: str, endpoint: Endpoint, tmp_path: Path) -> None:
    asked, answers = QUESTIONS[right], answers_to(QUESTIONS[right], endpoint)
    found = checked(asked, endpoint, tmp_path / "answers.db")
    assert found.answer == answers[frozenset(found.order)]
    assert found.cited
    cited = frozenset(one["source"] for one in found.cited)
    for one in found.cited:
        words = claimed(asked, str(one["statement"]).rstrip(".")).lower()
        made = judged(answers, lambda answer: words in answer.lower())  # noqa: B023 -- used at once
        assert one["class"] == class_of(made, one["source"], cited).value
        assert one["claim"] == "proved"
