"""Applications that show a document only beside another one, or only where there is room for it."""

from collections.abc import Callable, Generator, Iterator
from typing import Any

import plain_rag_rule_explainer
import pytest

from rag_rule_explainer import Explanation, Limits
from tests.integrations.known import BAD, TEXTS, ids, omission, retention, shown_in
from tests.integrations.plain.models import Models, served
from tests.integrations.plain.zoo.shapes import chat
from tests.integrations.raw.applications import GATES, explained
from tests.integrations.stateful import follows

Cut = Callable[[list[str]], list[str]]
"""What is shown of what was found: texts, in their order."""


@pytest.fixture(scope="module")
def models() -> Generator[Models]:
    with served() as these:
        yield these


def names(texts: list[str]) -> str:
    return shown_in(" ".join(texts))


def but_d(texts: list[str]) -> list[str]:
    return [each for each in texts if each != TEXTS["d"]]


def beside_b_in_place_of_a(texts: list[str]) -> list[str]:
    found = names(texts)
    return texts if "b" in found and "a" not in found else but_d(texts)


def beside_a_and_b_in_place_of_c(texts: list[str]) -> list[str]:
    found = names(texts)
    return texts if {"a", "b"} <= set(found) and "c" not in found else but_d(texts)


def where_one_other_is_left(texts: list[str]) -> list[str]:
    return texts if len(texts) == 2 else but_d(texts)


def where_there_is_room(texts: list[str]) -> list[str]:
    """The first two, and beside a single one of them the last of the others."""
    first = [each for each in texts if each in {TEXTS["a"], TEXTS["b"]}]
    others = [each for each in texts if each not in first]
    return first + others[-1:] if len(first) == 1 else first


CUTS = [
    beside_b_in_place_of_a,
    beside_a_and_b_in_place_of_c,
    where_one_other_is_left,
    where_there_is_room,
]


def rules(framework: str, cut: Cut, models: Models, **parameters: Any) -> Explanation:
    def find(query: str) -> list[dict[str, str]]:
        return [{"id": name, "text": text} for name, text in TEXTS.items()]

    def shown(found: Any) -> list[str]:
        return cut([each["text"] for each in found])

    if framework in GATES:
        return explained(framework, GATES[framework](find), shown, **parameters)
    search = plain_rag_rule_explainer.gate(find)
    explainer = plain_rag_rule_explainer.RuleExplainer(
        lambda question: chat(models, "\n".join(shown(search(question))) or "nothing"),
        predicate=BAD,
        **parameters,
    )
    return explainer.explain("why?")


def holding(kind: str, cut: Cut) -> Iterator[frozenset[str]]:
    """Every set of documents of which a rule of this kind is true, by trying all of their subsets."""
    every = [frozenset(name for n, name in enumerate("abcd") if mask >> n & 1) for mask in range(16)]
    bad = {each: {"b", "d"} <= set(names(cut([TEXTS[n] for n in sorted(each)]))) for each in every}
    for rule in every:
        if kind == "retention" and all(bad[each] for each in every if rule <= each):
            yield rule
        if kind == "omission" and not any(bad[each] for each in every if not rule & each):
            yield rule


@pytest.mark.spread(fast=4)
@pytest.mark.parametrize("framework", [*GATES, "plain"])
@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: cut.__name__)
def test_nothing_is_proved_and_the_way_out_has_the_rules(
    framework: str, cut: Cut, models: Models
) -> None:
    """With all that was shown left out, none of these shows d: only beside others is it seen."""
    explanation = rules(framework, cut, models)
    assert "d" not in ids(explanation)
    assert {rule.claim for rule in explanation.rules} <= {"unverified"}
    assert explanation.warnings[0].startswith("if sources are left out, the model is shown others")
    wide = rules(framework, cut, models, scope="retrieved")
    assert wide.complete
    for kind, found in (("retention", retention(wide)), ("omission", omission(wide))):
        true = set(holding(kind, cut))
        assert found <= true
        assert follows(true, found)


def failing_with_d(texts: list[str]) -> list[str]:
    """The first three. An application that is shown d does something that ends a replay."""
    first = texts[:3]
    if TEXTS["d"] in first:
        raise ValueError("d asks for more")
    return first


@pytest.mark.parametrize("framework", [*GATES, "plain"])
def test_nothing_is_proved_where_the_replay_that_tries_it_fails(framework: str, models: Models) -> None:
    explanation = rules(framework, failing_with_d, models)
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert explanation.warnings[0].startswith("it is not known whether documents")
    assert "d asks for more" in explanation.warnings[0]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("framework", GATES)
def test_with_few_replays_left_it_is_not_tried_and_the_limit_holds(
    framework: str, models: Models
) -> None:
    for most in range(1, 14):
        explanation = rules(framework, beside_b_in_place_of_a, models, limits=Limits(replays=most))
        assert explanation.counts.replays <= most
        untried = any("it is not known whether documents" in note for note in explanation.notes)
        assert untried or not any(rule.proved for rule in explanation.rules)
