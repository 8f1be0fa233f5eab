"""What an explanation from a store knows of the doubts of the one that paid for the answers."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer as OfLangchain
from plain_rag_rule_explainer import RuleExplainer, gate, offline_client

from rag_rule_explainer import Explanation, StateShared, Store, contains
from rag_rule_explainer.storing.opened import close_all
from tests.integrations.langchain.chains import retriever_of

QUESTION = "How long does delivery take?"


def asked(client: Any, documents: list[dict[str, str]], question: str, more: str = "") -> str:
    texts = "\n\n".join(each["text"] for each in documents)
    prompt = f"Context:\n{texts}{more}\n\nQuestion: {question}"
    said = client.chat.completions.create(model="m", messages=[{"role": "user", "content": prompt}])
    return str(said.choices[0].message.content)


def finding(**texts: str) -> Callable[[str], list[dict[str, str]]]:
    """Returns a gated search that finds these texts, by id, whatever is asked."""

    def search(_: str) -> list[dict[str, str]]:
        return [{"id": name, "text": text} for name, text in texts.items()]

    return gate(search)


def depending() -> Callable[[str], str]:
    """Searches the shop that its first document names."""
    products = finding(p1="This product is sold in region north.")
    north, south = finding(n1="Delivery takes six weeks."), finding()
    client = offline_client()

    def answer(question: str) -> str:
        first = products(question)
        return asked(client, [*first, *(north if first else south)(question)], question)

    return answer


class Remembering:
    """Says once that it found little."""

    told = False

    def __init__(self) -> None:
        self.search = finding(n1="Delivery takes six weeks.", n2="Returns cost nothing at all.")
        self.client = offline_client()

    def __call__(self, question: str) -> str:
        found = self.search(question)
        more = ""
        if len(found) < 2:
            more = "" if self.told else "\n\nLittle was found."
            self.told = True
        return asked(self.client, found, question, more)


def explained(answer: Any, store: Store, word: str = "six", **settings: Any) -> Explanation:
    return RuleExplainer(answer, predicate=contains(word), store=store, **settings).explain(QUESTION)


def spelt_otherwise(output: str) -> str:
    return output.replace("six", "6")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "answers.db", namespace="shop")


def test_a_doubt_about_stored_answers_is_not_forgotten(store: Store) -> None:
    answer = depending()
    explanations = [explained(answer, store) for _ in range(3)]
    for explanation in explanations:
        assert "never searched for" in explanation.warnings[0]
        assert not any(rule.proved for rule in explanation.rules)
        assert not explanation.complete
    assert [bool(each.counts.stored) for each in explanations] == [False, True, True]


def test_the_way_out_of_the_doubt_has_answers_of_its_own(store: Store) -> None:
    answer = depending()
    explained(answer, store)
    explanation = explained(answer, store, on_new_query="filter")
    assert explanation.warnings == ()
    assert [rule.sources for rule in explanation.retention_rules] == [("p1", "n1")]


def test_answers_of_a_refused_explanation_prove_nothing(store: Store) -> None:
    with pytest.raises(StateShared):
        explained(Remembering(), store, "weeks")
    for _ in range(2):
        explanation = explained(Remembering(), store, "weeks")
        assert "was refused" in explanation.warnings[0]
        assert not any(rule.proved for rule in explanation.rules)


def test_another_way_to_read_answers_has_answers_of_its_own(store: Store) -> None:
    search, client = finding(n1="Delivery takes six weeks."), offline_client()

    def answer(question: str) -> str:
        return asked(client, search(question), question)

    assert explained(answer, store).retention_rules
    other = explained(answer, store, answer_of=spelt_otherwise)
    assert other.counts.stored == 0
    assert not other.retention_rules


def test_another_configuration_has_answers_of_its_own(tmp_path: Path) -> None:
    retriever = retriever_of("ab")

    def answer(question: str, config: Any) -> str:
        found = {document.id for document in retriever.invoke(question)}
        strict = config["configurable"]["strict"]
        return "good" if found >= ({"a", "b"} if strict else {"a"}) else "bad"

    explainer: Any = OfLangchain(
        RunnableLambda(answer),
        predicate=contains("good"),
        scope="retrieved",
        store=Store(tmp_path / "answers.db", namespace="strict"),
    )
    for thread in ("one", "two"):
        for strict, rule in ((False, ("a",)), (True, ("a", "b"))):
            config = {"configurable": {"strict": strict, "thread_id": thread}}
            explanation = explainer.explain("why?", config)
            assert [each.sources for each in explanation.retention_rules] == [rule]
            # Another conversation of which nothing is remembered is no other application.
            assert bool(explanation.counts.stored) == (thread == "two")


def cut_off(file: Path, *, keeping: str) -> None:
    """As if an explanation had been killed before it stored what its application sends. ``keeping``: the
    condition of the answers that it has stored, in SQL."""
    close_all()
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("DELETE FROM rag_rules_judgements")
        database.execute(f"DELETE FROM rag_rules_answers WHERE NOT ({keeping})")  # noqa: S608 -- a constant


def test_an_explanation_that_was_cut_off_does_not_leave_its_answer_in_doubt(
    store: Store, tmp_path: Path
) -> None:
    search, client = finding(n1="Delivery takes six weeks.", n2="Returns cost nothing."), offline_client()

    def answer(question: str) -> str:
        return asked(client, search(question), question)

    first = explained(answer, store)
    cut_off(tmp_path / "answers.db", keeping="CAST(ids AS TEXT) LIKE '%n1%n2%'")
    again = explained(answer, store)
    assert not first.doubted
    assert not again.doubted
    assert [each.sources for each in again.rules] == [each.sources for each in first.rules]
    assert again.counts.replays == first.counts.replays
    # All but the baseline is taken from the store the next time.
    assert explained(answer, store).counts.replays == again.counts.baseline == 1


def test_answers_without_what_was_sent_for_them_stay_in_doubt(store: Store, tmp_path: Path) -> None:
    # The application may have changed since: that it now sends the same twice says nothing of then.
    search, client = finding(n1="Delivery takes six weeks.", n2="Returns cost nothing."), offline_client()

    def before(question: str) -> str:
        return asked(client, search(question), question, " Be brief.")

    def now(question: str) -> str:
        return asked(client, search(question), question)

    explained(before, store)
    cut_off(tmp_path / "answers.db", keeping="1")
    again = explained(now, store)
    assert again.counts.stored
    assert again.doubted
    assert not any(rule.proved for rule in again.rules)
