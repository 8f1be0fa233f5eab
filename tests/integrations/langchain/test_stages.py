"""Searches in two stages: what no model saw decides what it is shown, and it is said what to gate."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer, gate

from rag_rule_explainer import (
    AnswerNotRepeatable,
    Explanation,
    SourceLeak,
    UnseenSourcesNeeded,
    same_answer,
)
from tests.integrations.known import BAD, TEXTS, blames_b_and_d, ids
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts

OVERVIEW = Document(
    id="overview",
    page_content="This page is shown to no model at all, but says where else it is worth to look.",
)


class Overview(Counting):
    """Finds the page that says where to look."""


class Pages(Counting):
    """Finds the pages themselves."""


def shown(found: list[Document]) -> str:
    return "\n\n".join(each.page_content for each in found) or "nothing"


def asking(search: Callable[[str], list[Document]]) -> Any:
    model = Telling()
    return RunnableLambda(lambda question: model.invoke(shown(search(str(question)))).text)


def explained(app: Any, **parameters: Any) -> Explanation:
    settings: dict[str, Any] = {"predicate": BAD, **parameters}
    return RuleExplainer(app, **settings).explain("why?")


def test_a_search_that_steers_another_one_names_the_function_that_makes_both() -> None:
    overview, pages = Overview(documents=[OVERVIEW]), Pages(documents=facts("abcd"))

    def look_up(question: str) -> list[Document]:
        return pages.invoke(question) if overview.invoke(question) else []

    with pytest.raises(UnseenSourcesNeeded) as caught:
        explained(asking(look_up))
    told = str(caught.value)
    assert told.startswith("overview was retrieved by Overview and shown to no model")
    assert "it steers what Pages finds" in told
    assert 'Pass scope="retrieved", or wrap the function that makes both searches in gate(...)' in told
    assert "look_up() (test_stages.py, line " in told
    assert blames_b_and_d(explained(asking(gate(look_up))))
    assert "overview" in ids(explained(asking(look_up), scope="retrieved"))


def test_a_document_that_only_decides_what_becomes_of_the_answer_is_not_the_models_fault() -> None:
    """The repeat check fails: the model is asked just the same, and says just the same."""
    overview, pages, model = Overview(documents=[OVERVIEW]), Pages(documents=facts("abcd")), Telling()

    def citing(question: str) -> str:
        found = [*pages.invoke(question), *overview.invoke(question)]
        said = model.invoke(shown(found[:-1] if OVERVIEW in found else found)).text
        return f"{said} ({', '.join(str(each.id) for each in found)})"

    with pytest.raises(UnseenSourcesNeeded) as caught:
        explained(RunnableLambda(citing), predicate=same_answer())
    told = str(caught.value)
    assert "was 'bad news (a, b, c, d, overview)' before, and twice 'bad news (a, b, c, d)' now" in told
    assert "it decides what becomes of the answer" in told
    assert "citing() (test_stages.py, line " in told
    # Where nothing is left to look into it, it is still no rule.
    with pytest.raises(AnswerNotRepeatable):
        explained(RunnableLambda(citing), predicate=same_answer(), limits=2)


def test_where_the_model_is_at_fault_as_well_it_is_said_so() -> None:
    overview, pages, turns = Overview(documents=[OVERVIEW]), Pages(documents=facts("abcd")), list[int]()

    def says(_: Any) -> str:
        turns.append(1)
        return f"answer number {len(turns)}"

    model = Telling(says=says)

    def answer(question: str) -> str:
        overview.invoke(question)
        return model.invoke(shown(pages.invoke(question))).text

    with pytest.raises(AnswerNotRepeatable):
        explained(RunnableLambda(answer), predicate=same_answer())


def test_pages_that_are_fetched_by_what_was_found_name_the_function_that_searches() -> None:
    """A page holds what was left out as well as what was kept."""
    whole = {
        name: f"{TEXTS['ac'['bd'.find(name)]] if name in 'bd' else ''}\n{TEXTS[name]}" for name in TEXTS
    }
    whole["a"], whole["c"] = whole["b"], whole["d"]
    chunks = Pages(documents=facts("abcd"))

    def pages_of(question: str) -> list[Document]:
        return [Document(page_content=whole[str(each.id)]) for each in chunks.invoke(question)]

    with pytest.raises(SourceLeak) as caught:
        explained(asking(pages_of))
    told = str(caught.value)
    assert "If what was found by Pages is only used to fetch something longer" in told
    assert (
        "gate the function that returns that: the search is called in pages_of() (test_stages.py" in told
    )
    (rule,) = explained(asking(gate(pages_of))).retention_rules
    assert len(rule.sources) == 2


def test_an_async_application_names_its_coroutines() -> None:
    overview, pages, model = Overview(documents=[OVERVIEW]), Pages(documents=facts("abcd")), Telling()

    async def look_up(question: str) -> list[Document]:
        return await pages.ainvoke(question) if await overview.ainvoke(question) else []

    async def answer(question: str) -> str:
        return (await model.ainvoke(shown(await look_up(question)))).text

    with pytest.raises(UnseenSourcesNeeded, match=r"both are called in .*look_up\(\) \(test_stages.py"):
        explained(answer)
