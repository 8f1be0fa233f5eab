"""Functions that users give to ``gate``, and columns: errors name them, and not the application."""

import sqlite3
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from langchain_rag_rule_explainer import gate as gate_of_chains
from llama_index_rag_rule_explainer import gate as gate_of_engines
from plain_rag_rule_explainer import RuleExplainer, gate, tool

from rag_rule_explainer import BaselineFailed, InvalidInput, NoSourcesCaptured, contains
from rag_rule_explainer.instrumentation.clients import ItemsOf, faiss, pgvector

TEXTS = ["Calcium is good for bones.", "Bones are white.", "Soup is served at noon."]
ROWS: list[Any] = [{"k": place, "content": text} for place, text in enumerate(TEXTS)]


def found_in(answer: Any) -> Any:
    return answer["found"]


def put_into(answer: Any, kept: list[Any]) -> Any:
    return {**answer, "found": kept}


def nothing(*_: Any) -> Any:
    """Has no return."""


def failing(*_: Any) -> Any:
    raise KeyError("nope")


def explaining(
    found: Any, shown: Callable[[Any], str], *, documents: Any = None, of: Any = gate, **given: Any
) -> tuple[Callable[[], Any], list[str]]:
    """Returns a function that explains an application of one gated search, and what it was shown."""
    search, asked = of(lambda _: found, **given), list[str]()

    def application(question: str) -> str:
        asked.append(shown(search(question)))
        return asked[-1]

    explainer = RuleExplainer(application, contains("Calcium"))
    return lambda: explainer.explain("why?", documents=documents), asked


def joined(items: Any) -> str:
    return " ".join(str(each) for each in items)


RESPONSE = {"found": TEXTS}
DISTANCES = (np.array([[0.1, 0.2]], dtype="float32"), np.array([[0, 1]]))
SWAPPED = ItemsOf(put_into, found_in)  # pyright: ignore[reportArgumentType] -- a mistake, on purpose
DOCUMENTS = [{"id": "a", "text": TEXTS[0]}]
FAULTS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "text_of raises": (
        ROWS,
        {"text_of": failing},
        r"text_of, which gate .*\(failing\).* KeyError: 'nope'",
    ),
    "text_of returns nothing": (ROWS, {"text_of": nothing}, r"text_of.*\(nothing\).* returned None"),
    "take_apart raises": (
        RESPONSE,
        {"items_of": ItemsOf(failing, put_into)},
        r"take_apart, which gate .*\(failing\), was called with a dict and raised KeyError: 'nope'",
    ),
    "swapped": (RESPONSE, {"items_of": SWAPPED}, r"take_apart.*put_into.*TypeError"),
    "take_apart returns nothing": (RESPONSE, {"items_of": ItemsOf(nothing, put_into)}, "a list of items"),
    "put_together returns nothing": (
        RESPONSE,
        {"items_of": ItemsOf(found_in, nothing)},
        r"put_together, which .*\(nothing\).* returned None; have it return a response",
    ),
    "put_together raises": (RESPONSE, {"items_of": ItemsOf(found_in, failing)}, "put_together.*KeyError"),
    "texts raise": (DISTANCES, {"items_of": faiss(failing)}, r"faiss\(texts\), which .*\(failing\)"),
    "column": (
        ROWS,
        {"items_of": pgvector(text="content", id="ident")},
        r"pgvector\(id='ident'\) names a column that no row has; give one of 'k', 'content'",
    ),
    "place": (
        [tuple(each.values()) for each in ROWS],
        {"items_of": pgvector(text=5, id=0)},
        r"pgvector\(text=5\) names a column that no row has; give one of 0, 1",
    ),
}


@pytest.mark.parametrize(("found", "given", "said"), FAULTS.values(), ids=FAULTS)
def test_what_a_gate_was_given_is_named_before_a_replay(
    found: Any, given: dict[str, Any], said: str
) -> None:
    explain, asked = explaining(found, joined, **given)
    with pytest.raises(InvalidInput, match=said):
        explain()
    assert asked == []


def test_the_class_of_clients_takes_nothing_apart() -> None:
    with pytest.raises(InvalidInput, match=r"items_of is the class ItemsOf; make one, such as ItemsOf"):
        gate(nothing, items_of=ItemsOf)  # pyright: ignore[reportArgumentType] -- a mistake, on purpose


def subsets_of(texts: list[str]) -> list[tuple[str, ...]]:
    return [kept for size in range(len(texts) + 1) for kept in combinations(texts, size)]


def as_iterator(_: Any, kept: list[Any]) -> Any:
    return iter(kept)


def as_generator(_: Any, kept: list[Any]) -> Any:
    return (each for each in kept)


class Closing(sqlite3.Connection):
    """A connection that is closed with its last cursor."""

    def __del__(self) -> None:
        self.close()


def as_rows_of_a_table(_: Any, kept: list[Any]) -> Any:
    """Returns a database's cursor, which is an iterator that cannot be copied."""
    made = sqlite3.connect(":memory:", check_same_thread=False, factory=Closing)
    made.execute("create table t (content)")
    made.executemany("insert into t values (?)", kept)
    return made.execute("select content from t")


@pytest.mark.parametrize("put_together", [as_iterator, as_generator, as_rows_of_a_table])
def test_an_iterator_is_whole_for_the_application(put_together: Callable[..., Any]) -> None:
    rows = [(text,) for text in TEXTS]
    search = gate(lambda _: put_together(None, rows), items_of=ItemsOf(list, put_together))
    asked = list[str]()

    def application(_: str) -> str:
        asked.append(joined(text for (text,) in search("why?")))
        return asked[-1]

    explanation = RuleExplainer(application, contains("Calcium")).explain("why?")
    assert explanation.baseline.text == asked[0] == " ".join(TEXTS)
    assert [len(rule.sources) for rule in explanation.retention_rules] == [1]
    assert set(asked) == {" ".join(texts) for texts in subsets_of(TEXTS)}


def test_a_response_that_is_used_up_by_reading_is_refused() -> None:
    response = {"found": (text for text in TEXTS)}
    explain, asked = explaining(
        response, lambda answer: joined(answer["found"]), items_of=ItemsOf(found_in, put_into)
    )
    with pytest.raises(InvalidInput, match=r"\(found_in\), used up the items in a dict.*; gate"):
        explain()
    assert asked == []


@pytest.mark.parametrize("of", [gate, gate_of_chains, gate_of_engines])
@pytest.mark.parametrize("item_of", [nothing, failing])
def test_a_function_that_makes_items_is_named(of: Any, item_of: Any) -> None:
    # What the frameworks serve is made by the same functions, whatever explains the application.
    from langchain_rag_rule_explainer import RuleExplainer as OfChains
    from llama_index_rag_rule_explainer import RuleExplainer as OfEngines

    search = of(lambda _: ROWS, item_of=item_of)
    explainers: dict[Any, Any] = {
        gate: RuleExplainer,
        gate_of_chains: OfChains,
        gate_of_engines: OfEngines,
    }
    with pytest.raises(InvalidInput, match=rf"item_of, which gate .*\({item_of.__name__}\)"):
        explainers[of](lambda question: joined(search(question))).explain("why?", documents=DOCUMENTS)


def test_a_failure_that_may_pass_is_still_the_runs() -> None:
    calls = list[int]()

    def text_of(item: Any) -> str:
        calls.append(1)
        if len(calls) == 1:
            raise ConnectionError("try again")
        return item["content"]

    search = gate(lambda _: ROWS, text_of=text_of)
    explanation = RuleExplainer(lambda question: joined(search(question)), contains("Calcium")).explain(
        "?"
    )
    assert explanation.retention_rules


@pytest.mark.parametrize("is_asked_right", [False, True])
def test_documents_for_a_search_that_returns_no_list(is_asked_right: bool) -> None:
    def shown(answer: Any) -> str:
        return joined(answer if is_asked_right else answer["found"])

    explain, _ = explaining(RESPONSE, shown, documents=DOCUMENTS)
    if is_asked_right:
        assert explain().retention_rules
        return
    with pytest.raises(BaselineFailed, match=r"item_of= or items_of= to its gate, or add_documents="):
        explain()


def with_tools(stubs: dict[str, Any]) -> tuple[RuleExplainer, list[str]]:
    sent, search = list[str](), gate(lambda _: TEXTS)

    @tool
    def send_mail(text: str) -> str:
        sent.append(text)
        return "sent"

    @tool
    def look_up(question: str) -> str:
        return joined(search(question))

    def application(question: str) -> str:
        text = look_up(question)
        send_mail(text)
        return text

    return RuleExplainer(application, contains("Calcium"), stub_tools=stubs), sent


def test_a_misspelt_stub_is_refused_after_the_first_run() -> None:
    explainer, sent = with_tools({"send_mial": "not sent"})
    with pytest.raises(
        InvalidInput, match=r"'send_mial', and .* did you mean 'send_mail'\? That one ran"
    ):
        explainer.explain("why?")
    assert len(sent) == 1


def test_a_stub_of_another_tool_is_not_taken_for_a_misspelt_one() -> None:
    explainer, sent = with_tools({"send_mail": "not sent", "send_mails": "not sent", "book": "booked"})
    explanation = explainer.explain("why?")
    assert sent == []
    assert any("stub_tools names 'book'" in note for note in (*explanation.notes, *explanation.warnings))


def test_a_stub_in_place_of_the_search_is_named() -> None:
    explainer, _ = with_tools({"look_up": "nothing found"})
    with pytest.raises(NoSourcesCaptured, match="stub_tools stood in for 'look_up'; leave the tool that"):
        explainer.explain("why?")


@pytest.mark.parametrize("other", [gate_of_chains, gate_of_engines])
def test_the_gate_of_another_integration_is_named(other: Any) -> None:
    explain, _ = explaining(TEXTS, joined, of=other)
    with pytest.raises(InvalidInput, match="import gate and RuleExplainer from the same package"):
        explain()
