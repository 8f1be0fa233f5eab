"""Applications that show only the best few of what they retrieve: leaving one out brings in another."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, Limits
from tests.integrations.known import BAD, ids, omission, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts

Cut = Callable[[list[Document]], list[Document]]


def best(most: int) -> Cut:
    return lambda found: found[:most]


def within(characters: int) -> Cut:
    """As many as fit into a budget of characters."""

    def cut(found: list[Document]) -> list[Document]:
        lengths = [len(each.page_content) for each in found]
        return [each for place, each in enumerate(found) if sum(lengths[: place + 1]) <= characters]

    return cut


def known(names: str) -> Cut:
    """A filter by metadata, which no other document passes whatever is left out."""
    return lambda found: [each for each in found if each.id is not None and each.id in names]


def showing(cut: Cut) -> Callable[[str], str]:
    retriever, model = Counting(documents=facts("abcd")), Telling()

    def answer(question: str) -> str:
        shown = cut(retriever.invoke(question))
        return model.invoke("\n".join(each.page_content for each in shown) or "nothing").text

    return answer


def explained(cut: Cut, **parameters: Any) -> Explanation:
    settings: dict[str, Any] = {"predicate": BAD, **parameters}
    return RuleExplainer(showing(cut), **settings).explain("why?")


@pytest.mark.parametrize("cut", [best(2), within(180)], ids=["the best two", "a budget of characters"])
def test_what_moves_up_is_told_of_first_and_nothing_is_proved(cut: Cut) -> None:
    """With a left out, c moves up, and then d: no rule about a and b alone is true of the application."""
    explanation = explained(cut)
    assert ids(explanation) == ["a", "b"]
    assert explanation.rules
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert explanation.warnings[0].startswith("if sources are left out, the model is shown others")
    assert "showed it c and d when" in explanation.warnings[0]
    assert 'scope="retrieved"' in explanation.warnings[0]
    assert not explanation.complete
    assert "whatever is retrieved" not in str(explanation)


def test_the_way_out_gives_the_rules_of_the_application() -> None:
    explanation = explained(best(2), scope="retrieved")
    assert ids(explanation) == ["a", "b", "c", "d"]
    # Of b and d, the best two, a and c are before d: both have to be left out.
    assert (retention(explanation), omission(explanation)) == (set(), sets("b", "d"))
    assert all(rule.proved for rule in explanation.rules)


def test_what_does_not_move_up_takes_no_proof_away() -> None:
    explanation = explained(known("bd"))
    assert (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))
    assert all(rule.proved for rule in explanation.rules)
    assert not explanation.warnings


def test_replays_try_it_and_only_where_a_document_was_not_shown() -> None:
    """One with all that was shown left out, and one each with b alone and d alone."""
    counts = [explained(known(names)).counts for names in ("bd", "abcd")]
    assert [each.repeat_check - more for each, more in zip(counts, (3, 0), strict=True)] == [3, 3]


def test_it_stays_within_the_limits() -> None:
    for most in range(1, 6):
        explanation = explained(best(2), limits=Limits(replays=most))
        assert explanation.counts.replays <= most
        assert not [rule for rule in explanation.rules if most >= 3 and rule.proved]


def test_the_estimate_bounds_it() -> None:
    for cut in (best(2), known("bd")):
        explainer = RuleExplainer(showing(cut), predicate=BAD)
        estimate = explainer.estimate("why?")
        actual = explainer.explain("why?").counts.replays
        assert estimate.best.replays <= actual <= estimate.worst.replays
