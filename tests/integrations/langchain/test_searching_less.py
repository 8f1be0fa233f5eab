"""Applications that search for more only if they found something before."""

from collections.abc import Callable, Sequence
from itertools import combinations, count
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD, omission, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts, sent_in

AT_ONCE, LATER = "ab", "cd"


def shown(documents: Sequence[Document]) -> str:
    return "\n".join(each.page_content for each in documents) or "nothing"


class Deciding(Telling):
    """Calls the second tool if the first one found b, and ``more`` agrees."""

    more: Callable[[], bool] = lambda: True

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        found = sum(each.type == "tool" for each in messages)
        if found == 0 or (found == 1 and "b" in sent_in(messages) and self.more()):
            name = "more" if found else "search"
            call = {"name": name, "args": {"query": name}, "id": str(found)}
            message = AIMessage("", tool_calls=[call])
            return ChatResult(generations=[ChatGeneration(message=message)])
        return super()._generate(messages, *args, **kwargs)


def an_agent(first: Counting, second: Counting, **settings: Any) -> Any:
    @tool
    def search(query: str) -> str:
        """Search."""
        return shown(first.invoke(query))

    @tool
    def more(query: str) -> str:
        """Search for more."""
        return shown(second.invoke(query))

    return create_agent(Deciding(**settings), [search, more])


def a_function(first: Counting, second: Counting) -> Callable[[str], str]:
    model = Telling()

    def answer(question: str) -> str:
        found = first.invoke(question)
        if any(each.id == "b" for each in found):
            found = [*found, *second.invoke(question)]
        return model.invoke(shown(found)).text

    return answer


def asking(make: Any, **settings: Any) -> tuple[Any, Any]:
    application = make(Counting(documents=facts(AT_ONCE)), Counting(documents=facts(LATER)), **settings)
    given = {"messages": [("user", "why?")]} if make is an_agent else "why?"
    return application, given


def explained(make: Any, *, check_repeatable: bool = True, **settings: Any) -> Explanation:
    options: dict[str, Any] = {"check_repeatable": check_repeatable}
    application, given = asking(make, **settings)
    return RuleExplainer(application, predicate=BAD, **options).explain(given)


@pytest.mark.parametrize("make", [an_agent, a_function])
def test_what_is_not_searched_for_is_what_the_application_does(make: Any) -> None:
    explanation = explained(make)
    assert (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))
    assert all(rule.proved and rule.minimal for rule in explanation.rules)
    assert explanation.complete
    without_b = [each for each in explanation.probes if "b" not in each.kept and "d" in each.kept]
    assert without_b
    assert all("the application did not search for it" in each.answers[0].note for each in without_b)


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("size", range(5))
def test_every_replay_answers_as_the_application_would(size: int) -> None:
    application, given = asking(a_function)
    explanation = RuleExplainer(application, predicate=BAD, miner="exhaustive").explain(given)
    answers = {frozenset(each.kept): each.answers[0].text for each in explanation.probes}
    for kept in map(set, combinations("abcd", size)):
        first, second = ([each for each in facts(names) if each.id in kept] for names in (AT_ONCE, LATER))
        really = a_function(Counting(documents=first), Counting(documents=second))
        assert answers[frozenset(kept)] == really("why?")


def test_without_a_replay_that_searches_as_the_baseline_it_is_not_known_whether_it_chose() -> None:
    """The application may know the later documents from the baseline, and need not search."""
    explanation = explained(a_function, check_repeatable=False)
    assert not explanation.complete
    without_b = [each for each in explanation.probes if "b" not in each.kept and "d" in each.kept]
    assert without_b
    assert all("not delivered: the replay did not retrieve it" in each.error for each in without_b)


def test_a_model_that_does_not_search_by_chance_gives_no_verdict() -> None:
    asked = count()
    # The baseline and the replay on all documents search twice, all others once.
    explanation = explained(an_agent, more=lambda: next(asked) < 2)
    by_chance = [each for each in explanation.probes if {"a", "b"} <= set(each.kept) < set("abcd")]
    assert by_chance
    for each in by_chance:
        if set(each.kept) != {"a", "b"}:
            assert "a model replied otherwise to a request that it was sent in the baseline" in each.error
    assert not explanation.complete
    assert sets("bd") != retention(explanation)
