"""This module finds the smallest set of documents whose removal ends the bad answer of each question.
Each question has *choices*: sets of documents, each of which is enough to end its bad answer. The set
must contain all documents of one choice of each question. The solver python-sat finds it. If the solver
gives up, the conflicts that it has found so far (its *cores*) give a lower bound of the size."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

from .documents import DocumentKey

Choice: TypeAlias = frozenset[DocumentKey]
"""The documents of one omission rule. Removing all of them ends the bad answer to a question."""
Choices: TypeAlias = frozenset[Choice]
MOST_CORES: Final = 2_000


def cover(wanted: Iterable[Choices], most_cores: int = MOST_CORES) -> tuple[Choice, int]:
    """Returns the smallest set of documents that contains one choice of each question, and a lower bound
    of its size. ``wanted``: the choices of each question.

    ``most_cores``: the number of conflicts after which the solver gives up. It solves groups of questions
    that have no document in common one by one. If it gives up for a group, the returned set may not be
    the smallest, and the returned bound may be lower than the size of the smallest set.
    """
    forced, questions = _forced({_minimal(each) for each in wanted})
    chosen, at_least = set(forced), len(forced)
    for part in _parts(questions):
        documents = sorted({key for each in part for choice in each for key in choice}, key=_by_name)
        found, least = _solved(part, documents, most_cores)
        if found is None:
            found, least = _greedy(part), max(least, _apart(part))
        chosen |= found
        at_least += least
    return frozenset(chosen), at_least


def _forced(questions: set[Choices]) -> tuple[Choice, list[Choices]]:
    """Returns the documents that every solution contains, because they are the only choice of a question.

    Removing these documents ends the bad answers of some questions. For every other question, also
    returns its choices without these documents.
    """
    forced, left = frozenset[DocumentKey](), questions
    while single := [next(iter(each)) for each in left if len(each) == 1]:
        forced = forced.union(*single)
        rest = ({choice - forced for choice in each} for each in left)
        left = {_minimal(frozenset(each)) for each in rest if frozenset() not in each}
    return forced, sorted(left, key=_order)


def _parts(questions: Sequence[Choices]) -> list[list[Choices]]:
    """Returns the questions in groups. No document is in the choices of two groups, so each group can be
    solved by itself."""
    part_of, parts = dict[DocumentKey, int](), list[list[Choices]]()
    for choices in questions:
        documents = {key for choice in choices for key in choice}
        joined = sorted({part_of[key] for key in documents if key in part_of})
        place = joined[0] if joined else len(parts)
        if not joined:
            parts.append([])
        parts[place].append(choices)
        for other in joined[1:]:
            parts[place] += parts[other]
            parts[other] = []
        if joined[1:]:
            documents = {key for each in parts[place] for choice in each for key in choice}
        part_of.update(dict.fromkeys(documents, place))
    return [part for part in parts if part]


def _solved(
    questions: Sequence[Choices], documents: Sequence[DocumentKey], most_cores: int
) -> tuple[Choice | None, int]:
    from pysat.formula import WCNF  # pyright: ignore[reportMissingTypeStubs] -- this package has no stubs

    formula: Any = WCNF()
    number = {key: place for place, key in enumerate(documents, start=1)}
    last = len(number)
    for choices in questions:
        ways: list[int] = []
        for choice in sorted(choices, key=lambda each: (len(each), sorted(map(_by_name, each)))):
            if len(choice) == 1:
                ways.append(number[next(iter(choice))])
                continue
            last += 1
            ways.append(last)
            for key in choice:
                formula.append([-last, number[key]])
        formula.append(ways)
    for place in number.values():
        formula.append([-place], weight=1)
    model, at_least = _within(formula, most_cores)
    if model is None:
        return None, at_least
    return frozenset(documents[each - 1] for each in model if 0 < each <= len(documents)), at_least


def _within(formula: Any, most_cores: int) -> tuple[list[int] | None, int]:
    from pysat.examples.rc2 import RC2  # pyright: ignore[reportMissingTypeStubs] -- this package has no stubs

    class Patient(RC2):
        def process_core(self) -> None:
            self.seen = getattr(self, "seen", 0) + 1
            if self.seen > most_cores:
                raise _GivenUp
            super().process_core()

    solver: Any
    with Patient(formula, adapt=True, exhaust=False, minz=True) as solver:
        try:
            model = solver.compute()
        except _GivenUp:
            return None, int(solver.cost)
        return model, int(solver.cost)


class _GivenUp(Exception):
    """This error stops the solver after ``most_cores`` conflicts, which it calls cores."""


def _greedy(questions: Sequence[Choices]) -> Choice:
    """Returns a small set that contains a choice of each question. Each step adds the choice that ends
    the most bad answers per added document."""
    left, taken = list(questions), set[DocumentKey]()
    while left:
        gains = dict[Choice, int]()
        for choices in left:
            for choice in choices:
                gains[choice] = gains.get(choice, 0) + 1
        best = max(
            gains,
            key=lambda each: (gains[each] / len(each - taken), sorted(map(_by_name, each))),
        )
        taken |= best
        left = [choices for choices in left if not any(each <= taken for each in choices)]
    return _pruned(questions, taken)


def _pruned(questions: Sequence[Choices], taken: set[DocumentKey]) -> Choice:
    kept = set(taken)
    for key in sorted(taken, key=_by_name):
        without = kept - {key}
        if all(any(choice <= without for choice in choices) for choices in questions):
            kept = without
    return frozenset(kept)


def _apart(questions: Sequence[Choices]) -> int:
    """Returns a lower bound of the size of the set: the sum of the sizes of the smallest choices of
    questions of which no two have a document in common."""
    used, needed = set[DocumentKey](), 0
    for choices in sorted(questions, key=_order):
        documents = {key for choice in choices for key in choice}
        if used.isdisjoint(documents):
            used |= documents
            needed += min(map(len, choices))
    return needed


def _minimal(choices: Choices) -> Choices:
    return frozenset(each for each in choices if not any(other < each for other in choices))


def _order(choices: Choices) -> tuple[int, list[list[tuple[str, str]]]]:
    return len(choices), sorted(sorted(map(_by_name, each)) for each in choices)


def _by_name(key: DocumentKey) -> tuple[str, str]:
    return key.name, key.sha256
