"""What an application remembers, or how often it ran, is never taken for rules."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, RuleKind, Store, Verification, contains
from rag_rule_explainer.errors import StateShared
from rag_rule_explainer.explanation.deciding import decide_rule
from tests.integrations.consulting import (
    SHAPES,
    STATEFUL,
    TITLES,
    Answer,
    Shape,
    Turns,
    check,
    heeds,
    text_of,
)
from tests.integrations.known import BAD, blames_b_and_d
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling
from tests.representing import some


@pytest.fixture(autouse=True)
def turns_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Turns, "runs", 0)


def built(shape: Shape) -> tuple[Answer, Telling]:
    documents = [
        Document(id=name, page_content=text_of(name), metadata={"title": title})
        for name, title in TITLES.items()
    ]
    retriever = Counting(documents=documents)
    model = Telling(says=lambda messages: heeds(messages[0].text))
    answer = shape.build(
        lambda question: [
            (each.metadata["title"], each.page_content) for each in retriever.invoke(question)
        ],
        lambda prompt: model.invoke(prompt).text,
    )
    return answer, model


def outcome(application: Any, **parameters: Any) -> Explanation | Exception:
    try:
        return RuleExplainer(application, predicate=BAD, miner="exact", **parameters).explain("why?")
    except Exception as error:
        return error


def verified(shape: Shape, condition: Any) -> Verification | StateShared:
    explainer = RuleExplainer(RunnableLambda(built(shape)[0]), predicate=condition)
    try:
        return explainer.verify(["b", "d"], "retention", "why?")
    except StateShared as refused:
        return refused


# Each shape is asked of one framework in a fast run.
@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("shape", some(SHAPES, every=2, first=0), ids=lambda shape: shape.name)
def test_every_shape_has_its_rules_or_is_doubted(shape: Shape) -> None:
    answer, model = built(shape)
    check(shape, outcome(RunnableLambda(answer)))
    # No replay more than without state: the baseline, the repeat check, 16 subsets, the last comparison.
    # Where a count decides whether to fail, and something may catch that, each subset but one is asked
    # about again.
    assert len(model.asked) <= 18 + (15 if "counted" in shape.name else 0)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("shape", [each for each in STATEFUL if each.doubt], ids=lambda shape: shape.name)
def test_a_doubted_witness_refutes_nothing(shape: Shape) -> None:
    held, broken = verified(shape, BAD), verified(shape, contains("no such words"))
    if shape.name == "a turn of a class":
        # It stays after each call, so the last comparison of the second one sees what it does.
        assert {type(held), type(broken)} & {StateShared}
        return
    assert not isinstance(held, StateShared)
    assert not isinstance(broken, StateShared)
    assert broken.witness
    assert broken.explanation.doubted
    assert (held.holds, broken.holds) == (None, None)
    assert str(broken).startswith(
        "undecided: b and d: it was seen to break, but what replays show may not"
    )
    decided = decide_rule(broken.explanation, RuleKind.RETENTION, ["b", "d"])
    assert decided.holds is None


@pytest.mark.spread(fast=3, slow=2)
@pytest.mark.parametrize("shape", STATEFUL, ids=lambda shape: shape.name)
def test_made_anew_every_one_has_its_rules(shape: Shape) -> None:
    found = outcome(RunnableLambda(lambda question: built(shape)[0](str(question))))
    if shape.name == "a turn of a class":  # which no new object makes anew
        assert isinstance(found, StateShared), found
        return
    assert isinstance(found, Explanation), found
    assert blames_b_and_d(found), found.warnings


def test_a_number_on_which_no_answer_depends_is_ignored_where_that_is_said() -> None:
    class Noting(Turns):
        def noting(self, question: str) -> str:
            self.turn += 1
            number = self.turn
            return self._answer(question, drops=number < 0)

    shape = Shape("noting", lambda search, ask: Noting(search, ask).noting)
    doubted = outcome(RunnableLambda(built(shape)[0]))
    assert isinstance(doubted, Explanation)
    assert "Noting.turn" in doubted.warnings[0]
    check(shape, outcome(RunnableLambda(built(shape)[0]), ignore=[r"Noting\.turn"]))


def test_what_is_always_in_the_prompt_may_be_named() -> None:
    file = next(shape for shape in SHAPES if shape.name == "titles in a file")
    found = outcome(RunnableLambda(built(file)[0]), ignore=[*TITLES.values(), r"seen\.json"])
    assert isinstance(found, Explanation)
    assert not found.warnings


def test_a_doubt_is_stored_with_the_answers(tmp_path: Path) -> None:
    file = next(shape for shape in SHAPES if shape.name == "titles in a file")
    answer = RunnableLambda(built(file)[0])
    first = outcome(answer, store=Store(str(tmp_path / "answers.db"), "guide"))
    again = outcome(answer, store=Store(str(tmp_path / "answers.db"), "guide"))
    check(file, first)
    check(file, again)
    assert isinstance(again, Explanation)
    assert again.counts.stored > 0
