"""A number means the place in what the model was shown, also if a search found it in another order."""

import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import plain_rag_rule_explainer as plain
import pytest
from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer as LangChainExplainer
from openai import OpenAI

from rag_rule_explainer import CitationClass, Explanation, UnseenSourcesNeeded, contains
from tests.citations.oracles import DECISIVE, QUESTION, TEXTS, UNDECIDED
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling

Order = Callable[[list[str]], list[str]]
ORDERS: dict[str, Order] = {
    "as found": lambda names: names,
    "reversed": lambda names: names[::-1],
    "by their ends": lambda names: sorted(names, key=lambda each: TEXTS[each][-9:]),
}


def told(prompt: str) -> str:
    """What an honest model says, which cites the guideline by its number in the prompt."""
    found = re.search(rf"^(\d+): {TEXTS['D2']}$", prompt, re.MULTILINE)
    return f"It takes six weeks [{found[1]}]." if found else "It is not known."


def prompt_of(names: list[str]) -> str:
    return "\n".join([*(f"{place}: {TEXTS[name]}" for place, name in enumerate(names, 1)), QUESTION])


def chain(order: Order) -> Any:
    documents = [Document(id=name, page_content=text) for name, text in TEXTS.items()]

    def prompt(found: list[Document]) -> str:
        return prompt_of(order([str(each.id) for each in found]))

    def text_of(said: Any) -> str:
        return str(said.text)

    model = Telling(says=lambda messages: told(str(messages[-1].text)))
    found: Runnable[str, Any] = Counting(documents=documents)
    return LangChainExplainer(
        found | RunnableLambda(prompt) | model | RunnableLambda(text_of),
        predicate=contains("six weeks"),
    )


def function(order: Order) -> Any:
    def reply(request: httpx.Request) -> httpx.Response:
        said = told(json.loads(request.content)["messages"][-1]["content"])
        message = {"role": "assistant", "content": said}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        return httpx.Response(200, json=body)

    http = httpx.Client(transport=httpx.MockTransport(reply))
    client = OpenAI(base_url="http://127.0.0.1:9/v1", api_key="none", max_retries=0, http_client=http)

    @plain.gate
    def search(question: str) -> list[dict[str, str]]:
        return [{"id": name, "text": text} for name, text in TEXTS.items()]

    def ask(question: str) -> str | None:
        names = order([each["id"] for each in search(question)])
        messages: Any = [{"role": "user", "content": prompt_of(names)}]
        return client.chat.completions.create(model="m", messages=messages).choices[0].message.content

    return plain.RuleExplainer(ask, predicate=contains("six weeks"))


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("explainer", [chain, function], ids=["langchain", "plain"])
def test_a_number_means_the_place_in_the_prompt(explainer: Callable[[Order], Any], order: str) -> None:
    asked = explainer(ORDERS[order])
    (check,) = asked.cite(QUESTION).checks
    assert {each.source: each.citation_class for each in check.verdicts} == {"D2": DECISIVE}
    explanation: Explanation = asked.explain(QUESTION)
    explanation = getattr(explanation, "explanation", explanation)
    stored = Explanation.model_validate_json(explanation.model_dump_json())
    assert stored.citations().of("D2").citation_class is CitationClass.DECISIVE


NAMES = [*TEXTS]
BACKWARDS = NAMES[::-1]
PIPELINES: dict[str, tuple[list[list[str]], int, bool]] = {
    "reranked, then answered": ([NAMES, BACKWARDS], 1, False),
    "answered, then verified": ([BACKWARDS, NAMES], 0, False),
    "reranked, then answered from the best": ([NAMES, BACKWARDS[-3:]], 1, False),
    "answered from the best, then verified": ([["D2"], NAMES], 0, False),
    "graded, then answered from one": ([*([name] for name in NAMES), ["D2"]], 5, False),
    "graded, then answered": ([*([name] for name in NAMES), BACKWARDS], 5, True),
    "answered, then verified in the same order": ([BACKWARDS, BACKWARDS], 0, True),
    "ranked, then answered from the first": ([BACKWARDS, BACKWARDS[:4]], 1, True),
    "only the best are shown": ([BACKWARDS[-3:]], 0, False),
}
"""What requests show, the one that answers, and whether it is known what a number means."""


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_a_number_is_known_where_requests_agree_on_the_order(pipeline: str) -> None:
    requests, answering, is_known = PIPELINES[pipeline]
    documents = [Document(id=name, page_content=text) for name, text in TEXTS.items()]
    model = Telling(says=lambda messages: told(str(messages[-1].text)))
    found = Counting(documents=documents)

    def run(question: str, config: Any) -> str:
        names = {str(each.id) for each in found.invoke(question, config)}
        asked = [[each for each in shown if each in names] for shown in requests]
        said = [str(model.invoke(prompt_of(each), config).text) for each in asked]
        return said[answering]

    asked = LangChainExplainer(RunnableLambda(run), scope="retrieved", predicate=contains("six weeks"))
    (check,) = asked.cite(QUESTION).checks
    result: Any = asked.explain(QUESTION)
    explanation: Explanation = getattr(result, "explanation", result)
    stored = Explanation.model_validate_json(explanation.model_dump_json())
    for each in (check, explanation.citations(), stored.citations()):
        (verdict,) = each.verdicts
        if is_known:
            assert (verdict.source, verdict.citation_class) == ("D2", DECISIVE)
        else:
            assert verdict.citation_class is UNDECIDED
            assert each.faithful is each.sufficient is None
            assert each.uncited == ()
            assert "several orders" in verdict.why


UPSIDE_DOWN = {name: " ".join(text.split()[::-1]) for name, text in TEXTS.items()}
Asked = dict[str, str]
"""The texts of the sources by their ids, which are shown in this order."""
UNRECOGNISED: dict[str, tuple[Asked, Asked, list[int], bool]] = {
    "as they are": (TEXTS, TEXTS, [2], True),
    "transformed": (TEXTS, UPSIDE_DOWN, [2], False),
    "one very short": ({**TEXTS, "D1": "nine"}, {**TEXTS, "D1": "nine"}, [2], False),
    "one short": ({**TEXTS, "D1": "at nine"}, {**TEXTS, "D1": "at nine"}, [2], True),
    "a copy of it": ({**TEXTS, "D5": TEXTS["D2"]}, {**TEXTS, "D5": TEXTS["D2"]}, [2], False),
    "both copies": ({**TEXTS, "D5": TEXTS["D2"]}, {**TEXTS, "D5": TEXTS["D2"]}, [2, 5], True),
    "copies of another": ({**TEXTS, "D5": TEXTS["D3"]}, {**TEXTS, "D5": TEXTS["D3"]}, [2], True),
    "another in other words": (TEXTS, {**TEXTS, "D1": "When the practice is open."}, [2], False),
    "one within it": ({**TEXTS, "D5": "six weeks"}, {**TEXTS, "D5": "six weeks"}, [2], True),
}
"""The texts that are found, those that the model is shown in one request, the numbers that it cites, and
whether it is known what these mean."""


@pytest.mark.spread(fast=9)
@pytest.mark.parametrize("scope", ["retrieved", "seen"])
@pytest.mark.parametrize("case", UNRECOGNISED)
def test_one_request_tells_what_a_number_means_only_if_all_is_recognised_there(
    case: str, scope: Any
) -> None:
    found, shown, numbers, is_known = UNRECOGNISED[case]
    documents = [Document(id=name, page_content=text) for name, text in found.items()]

    def prompt(given: list[Document]) -> str:
        return "\n".join([*(f"- {shown[str(each.id)]}" for each in given), QUESTION])

    def says(messages: Any) -> str:
        text = str(messages[-1].text)
        marks = "".join(f"[{number}]" for number in numbers)
        return f"It takes six weeks {marks}." if "guideline" in text else "It is not known."

    def text_of(said: Any) -> str:
        return str(said.text)

    retriever: Runnable[str, Any] = Counting(documents=documents)
    chain = retriever | RunnableLambda(prompt) | Telling(says=says) | RunnableLambda(text_of)
    asked = LangChainExplainer(chain, predicate=contains("six weeks"), scope=scope)
    if (case, scope) == ("another in other words", "seen"):
        # The replay without what is held out sends another request.
        with pytest.raises(UnseenSourcesNeeded):
            asked.cite(QUESTION)
        return
    (check,) = asked.cite(QUESTION).checks
    classes = [each.citation_class for each in check.verdicts]
    if is_known:
        assert [each.source for each in check.verdicts] == [f"D{number}" for number in numbers]
        assert UNDECIDED not in classes
        assert check.faithful is True
    else:
        assert {*classes} == {UNDECIDED}
        assert check.faithful is check.sufficient is None


@pytest.mark.parametrize("scope", ["seen", "retrieved"])
def test_a_source_that_only_a_grader_saw_may_be_shown_as_it_was_retold(scope: Any) -> None:
    """Each source is sent alone, one of them comes back in other words, and these are shown."""
    documents = [Document(id=name, page_content=text) for name, text in TEXTS.items()]
    retold = "When the practice can be visited by everybody."
    found = Counting(documents=documents)

    def says(messages: Any) -> str:
        text = str(messages[-1].text)
        if "Retell" in text:
            return retold if TEXTS["D1"] in text else "yes"
        return "It takes six weeks [2]." if TEXTS["D2"] in text else "It is not known."

    model = Telling(says=says)

    def run(question: str, config: Any) -> str:
        shown: list[str] = []
        for each in found.invoke(question, config):
            said = str(model.invoke(f"Retell this: {each.page_content}", config).text)
            shown.append(each.page_content if said == "yes" else said)
        return str(model.invoke("\n".join([*shown, QUESTION]), config).text)

    asked = LangChainExplainer(RunnableLambda(run), scope=scope, predicate=contains("six weeks"))
    (check,) = asked.cite(QUESTION).checks
    assert [each.citation_class for each in check.verdicts] == [UNDECIDED]
