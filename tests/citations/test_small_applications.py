"""All verdicts on random small applications are those of the definitions, by all subsets.

Unlike in the tests of the classes, the answers are written, divided and read: with several statements,
several citations in each, and citations of no source.
"""

from collections.abc import Sequence
from itertools import combinations
from random import Random
from typing import Any

import pytest

from rag_rule_explainer import CitationClass, Explainer, Source, cite
from tests.citations.oracles import (
    DECISIVE,
    DECORATIVE,
    FULL,
    MEMORY,
    PARTNER,
    QUESTION,
    SEVERAL,
    UNDECIDED,
    UNRESOLVABLE,
)

FACTS = ("The dose is five", "Water helps here", "No beer is allowed")
FORMS = ("{} {}.", "{}. {}")
MARKS = ("[{n}]", "[{id}]", "(Source {n})", "(see Source {n})")
Subset = frozenset[str]
Table = dict[Subset, bool]
"""Whether a claim is made, for each set of retained sources."""


def subsets(names: Sequence[str]) -> list[Subset]:
    return [frozenset(each) for size in range(len(names) + 1) for each in combinations(names, size)]


def table(random: Random, names: Sequence[str]) -> Table:
    """A claim that some sets of sources bring about, with a few exceptions in half of the cases."""
    terms = [{*random.sample(names, random.randint(0, len(names)))} for _ in range(random.randint(1, 3))]
    made = {each: any(each >= term for term in terms) for each in subsets(names)}
    for each in random.sample([*made], random.choice([0, len(made) // 8])):
        made[each] = not made[each]
    return made | {frozenset(names): True}


def truth(made: Table, cited: Subset, source: str) -> CitationClass:
    """The class by its definition."""
    everything = max(made, key=len)
    enough = [each for each in made if all(made[more] for more in made if each <= more)]
    rules = [each for each in enough if not any(less < each for less in enough)]
    own = [each for each in rules if source in each]
    if source not in everything:
        return UNRESOLVABLE
    if not rules[0]:
        return MEMORY
    if not own:
        return DECORATIVE
    if not any(each <= cited for each in own):
        return PARTNER
    if len(own) < len(rules):
        return SEVERAL
    return FULL if any(made[each] for each in made if source not in each) else DECISIVE


@pytest.mark.parametrize(
    "seed", [*range(20), *(pytest.param(each, marks=pytest.mark.slow) for each in range(20, 60))]
)
def test_each_verdict_is_the_one_of_its_definition(seed: int) -> None:
    random = Random(seed)
    names = [f"D{place}" for place in range(1, random.randint(2, 5))]
    claims = {fact: table(random, names) for fact in FACTS[: random.randint(1, 3)]}
    cited = {fact: random.sample(names, random.randint(0, len(names))) for fact in claims}
    if random.random() < 0.3:
        cited[random.choice([*claims])].append("D9")
    form, mark = random.choice(FORMS), random.choice(MARKS)

    def answer(question: str, sources: Sequence[Source]) -> str:
        there = [each.id for each in sources]
        said: list[str] = []
        for fact, made in claims.items():
            marks = [
                mark.format(n=there.index(each) + 1 if each in there else 99, id=each)
                for each in cited[fact]
                if each in there or each == "D9"
            ]
            if made[frozenset(there)]:
                said.append(form.format(fact, " ".join(marks)) if marks else f"{fact}.")
        return " ".join(said) or "Nothing is known."

    sources = [Source(each, f"The text of {each} stands alone.") for each in names]
    limits = random.choice([None, random.randint(3, 12)])
    options: dict[str, Any] = {} if limits is None else {"limits": limits}
    found = cite(Explainer(answer, seed=seed, **options), QUESTION, sources)
    checks = {check.statement: check for check in found.checks}
    for fact, own in cited.items():
        verdicts = checks[f"{fact}."].verdicts if own else ()
        assert {each.source for each in verdicts} <= {*own, None}
        for each in verdicts:
            right = truth(claims[fact], frozenset(own), each.source or "D9")
            weaker = {FULL} if right is DECISIVE and each.why else set[CitationClass]()
            assert each.citation_class in {right, UNDECIDED, *weaker}
            is_open = limits is not None or "alone" in each.why
            assert each.citation_class is not UNDECIDED or is_open
