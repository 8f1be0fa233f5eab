"""Memos that are keyed by what is asked: refused by name; explained if every run empties them."""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import pytest
from langchain_core.messages import BaseMessage
from langchain_rag_rule_explainer import RuleExplainer, explained

from rag_rule_explainer import StateShared
from tests.integrations.known import BAD, omission, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, bad_with_b_and_d, facts


class Memoised(NamedTuple):
    application: Callable[[str], Any]
    emptied: Callable[[str], Any]


def says(messages: list[BaseMessage]) -> str:
    """Grades one document, or answers."""
    text = messages[-1].text
    return "yes" if text.startswith("Grade: ") else bad_with_b_and_d(messages)


def answering(graded: Callable[[Any], bool]) -> Callable[[str], str]:
    retriever, model = Counting(documents=facts("abd")), Telling(says=says)

    def answer(question: str) -> str:
        kept = [each.page_content for each in retriever.invoke(question) if graded(each)]
        return model.invoke("\n".join(kept) or "nothing").text

    return answer


def a_dict_of_grades() -> Memoised:
    grades: dict[str, str] = {}
    model = Telling(says=says)

    def graded(document: Any) -> bool:
        if document.id not in grades:
            grades[document.id] = model.invoke(f"Grade: {document.page_content}").text
        return grades[document.id] == "yes"

    answer = answering(graded)
    return Memoised(answer, lambda given: [grades.clear(), answer(given)][1])


def an_lru_cache() -> Memoised:
    model = Telling(says=says)

    @lru_cache(maxsize=1000)
    def grade(text: str) -> str:
        return model.invoke(f"Grade: {text}").text

    answer = answering(lambda document: grade(document.page_content) == "yes")
    return Memoised(answer, lambda given: [grade.cache_clear(), answer(given)][1])


def by_a_hash() -> Memoised:
    known: dict[str, str] = {}
    retriever, model = Counting(documents=facts("abd")), Telling()

    def answer(question: str) -> str:
        prompt = "\n".join(each.page_content for each in retriever.invoke(question)) or "nothing"
        key = hashlib.sha256(prompt.encode()).hexdigest()
        if key not in known:
            known[key] = model.invoke(prompt).text
        return known[key]

    return Memoised(answer, lambda given: [known.clear(), answer(given)][1])


MEMOS = [a_dict_of_grades, an_lru_cache, by_a_hash]


@pytest.mark.parametrize("made", MEMOS, ids=lambda made: made.__name__)
def test_a_memo_is_refused_by_name_and_the_way_out_works(made: Callable[[], Memoised]) -> None:
    application, emptied = made()
    with pytest.raises(StateShared) as refusal:
        RuleExplainer(application, predicate=BAD).explain("why?")
    assert "RuleExplainer(lambda given: [cache.clear(), app(given)][1])" in str(refusal.value)
    assert "More: " in str(refusal.value)
    explanation = RuleExplainer(emptied, predicate=BAD).explain("why?")
    assert (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))
    assert all(rule.proved for rule in explanation.rules)
    assert explanation.complete


@pytest.mark.parametrize("live", [False, True])
def test_a_refusal_says_which_runs_wrote_and_where_it_stays(
    live: bool, caplog: pytest.LogCaptureFixture
) -> None:
    history: list[str] = []
    retriever, model = Counting(documents=facts("abd")), Telling()

    def answer(question: str) -> str:
        found = "\n".join(each.page_content for each in retriever.invoke(question))
        reply = model.invoke(f"{found}\n{history}").text
        history.extend([question, reply])
        return reply

    if live:
        explained(answer, predicate=BAD).invoke("why?")
        told = caplog.text
    else:
        with pytest.raises(StateShared) as refusal:
            RuleExplainer(answer, predicate=BAD).explain("why?")
        told = str(refusal.value)
    assert "The baseline and 1 replay have changed 'history', which answer() uses" in told
    assert "what they left stays there after this call" in told
    assert len(history) == 4
