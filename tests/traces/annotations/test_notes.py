"""What is said of an answer and of each document, beside what a search that tries everything finds."""

import random
from itertools import combinations

import pytest

from rag_rule_explainer import Limits, Noise, Source
from rag_rule_explainer.traces import Incident
from rag_rule_explainer.traces.annotations.notes import TraceNote, note_on_answer, notes_on_documents
from tests.traces.annotations.annotated import Holds, explained

IDS: tuple[str, ...] = ("D1", "D2", "D3", "D4")
INCIDENT = Incident("yes", "why?", tuple(Source(each, f"text of {each}") for each in IDS))


def notes(holds: Holds, **settings: object) -> dict[str, TraceNote]:
    found = explained(INCIDENT, holds, **settings)
    return {str(each.source): each for each in notes_on_documents(found)}


def labels(holds: Holds, **settings: object) -> list[str]:
    return [each.label for each in notes(holds, **settings).values()]


WORDS: dict[str, tuple[Holds, list[str]]] = {
    "one alone": (lambda kept: "D1" in kept, ["decisive", *["not named"] * 3]),
    "one of two": (
        lambda kept: bool(kept & {"D1", "D2"}),
        ["one of several", "one of several", "not named", "not named"],
    ),
    "a pair": (
        lambda kept: {"D1", "D4"} <= kept,
        ["needs D4", "not named", "not named", "needs D1"],
    ),
    "with either of two": (
        lambda kept: "D1" in kept and bool(kept & {"D2", "D3"}),
        ["needs D2, or D3", "needs D1", "needs D1", "not named"],
    ),
    "with one of three": (
        lambda kept: "D1" in kept and bool(kept & {"D2", "D3", "D4"}),
        ["needs others, in several ways", *["needs D1"] * 3],
    ),
    "three together": (
        lambda kept: {"D1", "D2", "D3"} <= kept,
        ["needs D2 and D3", "needs D1 and D3", "needs D1 and D2", "not named"],
    ),
    "another way if a third is gone": (
        lambda kept: "D1" in kept or ("D2" in kept and "D3" not in kept),
        ["decisive in full context", "in omission rules alone", "not named", "not named"],
    ),
    "always": (lambda kept: True, ["from memory"] * 4),
}


@pytest.mark.parametrize("name", WORDS)
def test_the_word_of_each_document(name: str) -> None:
    holds, words = WORDS[name]
    assert labels(holds) == [f"{each} (proved)" for each in words]


def word_by_trying_everything(holds: Holds, one: str) -> str:
    subsets = [frozenset(each) for size in range(5) for each in combinations(IDS, size)]
    held = {each for each in subsets if holds(each)}

    def minimal(found: list[frozenset[str]]) -> list[frozenset[str]]:
        return [each for each in found if not any(other < each for other in found)]

    enough = minimal([s for s in subsets if all(t in held for t in subsets if t >= s)])
    undoing = minimal([s for s in subsets if not any(t in held for t in subsets if not t & s)])
    if frozenset[str]() in enough:
        return "from memory"
    # Where each alone is enough, an application that asks no model without sources would look the same.
    if frozenset(IDS) not in held or all(frozenset({each}) in enough for each in IDS):
        return "undecided"
    partners = [sorted(each - {one}) for each in enough if one in each]
    if not partners:
        return "in omission rules alone" if any(one in each for each in undoing) else "not named"
    if [] not in partners:
        return "needs others, in several ways" if len(partners) > 2 else "needs"
    if frozenset(IDS) - {one} in held:
        return "one of several"
    return "decisive" if frozenset({one}) in undoing else "decisive in full context"


@pytest.mark.parametrize("seed", range(40))
def test_words_are_those_of_a_search_that_tries_everything(seed: int) -> None:
    drawn = random.Random(seed)
    # Mostly true where much is kept, so that there are rules of all sorts.
    table = {
        frozenset(each): drawn.random() < (size + 1) / 5
        for size in range(5)
        for each in combinations(IDS, size)
    }
    if seed % 2:
        # Whatever holds on a subset holds on all of its supersets.
        whole = dict(table)
        table = {s: any(t <= s and whole[t] for t in whole) for s in whole}
    found = notes(table.__getitem__)
    for one in IDS:
        expected = word_by_trying_everything(table.__getitem__, one)
        word = found[one].word
        assert word.startswith("needs D") if expected == "needs" else word == expected


def test_the_kind_of_claim_is_in_the_label() -> None:
    holds = WORDS["one alone"][0]
    many = tuple(Source(f"D{place}", f"text {place}") for place in range(1, 17))
    tested = explained(Incident("yes", "why?", many), holds, miner="sampled", seed=1)
    assert {each.label for each in notes_on_documents(tested)} == {
        "decisive (tested)",
        "not named (tested)",
    }
    assert labels(holds, noise=Noise(samples=3))[0] == "decisive (voted)"
    assert labels(holds, miner="exact")[0] == "decisive (proved)"


def test_what_was_not_decided_is_said_to_be_so() -> None:
    stopped = explained(INCIDENT, WORDS["a pair"][0], miner="exact", limits=Limits(4))
    found = list(notes_on_documents(stopped))
    assert {each.label for each in found} == {"undecided"}
    assert all(each.is_undecided and each.text for each in found)
    answer = note_on_answer(stopped)
    assert "not complete" in answer.text
    not_met = notes(lambda kept: len(kept) < 4)
    assert {each.label for each in not_met.values()} == {"undecided"}


def test_what_was_not_searched_is_not_said_to_be_none() -> None:
    holds = WORDS["another way if a third is gone"][0]
    found = notes(holds, rules="retention")
    words = ["decisive in full context", *["in no retention rule"] * 3]
    assert [each.word for each in found.values()] == words
    assert found["D2"].text == "no retention rule names it; condition: the answer contains 'yes'"
    answer = note_on_answer(explained(INCIDENT, holds, rules="retention"))
    assert "\nomission rules were not searched\n" in answer.text
    never = explained(INCIDENT, lambda kept: True, rules="omission")
    assert note_on_answer(never).label == "no omission rule"


def test_the_rules_and_their_evidence_are_in_the_text() -> None:
    found = notes(WORDS["a pair"][0])
    assert found["D1"].text.splitlines() == [
        "whenever D1 and D4 are retained, the answer contains 'yes' [proved on all 4 subsets]",
        "whenever D1 is omitted, the answer does not contain 'yes' [proved on all 8 subsets]",
    ]
    assert found["D2"].text == "no rule names it; condition: the answer contains 'yes'"
    answer = note_on_answer(explained(INCIDENT, WORDS["a pair"][0]))
    assert answer.label == "1 retention rule and 2 omission rules (proved)"
    assert answer.text.endswith("\ncomplete: these are all the rules there are")


def test_pinned_documents_are_no_cause() -> None:
    from rag_rule_explainer import Explainer

    explainer = Explainer(lambda _, shown: "yes" if len(shown) > 2 else "no", miner="exact")
    found = explainer.explain("why?", list(INCIDENT.documents or ()), pinned=["D1"])
    first, *others = notes_on_documents(found)
    assert first.label == "pinned"
    assert all(each.label.startswith("needs") for each in others)
