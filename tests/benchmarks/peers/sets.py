"""What else says which sources suffice. None of it says on how many subsets that was tested."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from rag_rule_explainer.lattice import Antecedent, Mask
from rag_rule_explainer.mining.hitting import HittingSets
from rag_rule_explainer.rules import Claim
from tests.benchmarks.peers.subject import Subject


def said(subject: Subject, sets: Iterable[Mask]) -> list[Claim]:
    return [Claim(subject.kind, Antecedent(mask), "unverified") for mask in sets]


def marco(subject: Subject, _seed: int) -> list[Claim]:
    """From the largest set that contains no rule found so far: shrunk if it holds, else ruled out with
    all that is in it, as is right where the condition is monotone."""
    return said(subject, marco_found(subject))


def marco_found(subject: Subject) -> Iterator[Mask]:
    """Its sets, one by one."""
    lattice = subject.lattice
    left_out = HittingSets(lattice)
    while (rest := left_out.smallest()) is not None:
        if not subject.suffices(lattice.complement(rest)):
            left_out.block(rest)
            continue
        shrunk = lattice.complement(rest)
        for unit in lattice.units(shrunk):
            if subject.suffices(shrunk ^ lattice.bit(unit)):
                shrunk ^= lattice.bit(unit)
        yield shrunk
        left_out.hit(shrunk)


def quickxplain(subject: Subject, _seed: int) -> list[Claim]:
    """One set, by halving (Junker, AAAI 2004)."""
    if not subject.suffices(subject.lattice.full):
        return []
    return said(subject, [subject.lattice.mask(_explained(subject, [], False, subject.units))])


def _explained(
    subject: Subject, background: Sequence[int], is_new: bool, units: Sequence[int]
) -> list[int]:
    if is_new and subject.suffice(background):
        return []
    if len(units) == 1:
        return list(units)
    first, second = units[: len(units) // 2], units[len(units) // 2 :]
    of_second = _explained(subject, [*background, *first], True, second)
    of_first = _explained(subject, [*background, *of_second], bool(of_second), first)
    return of_first + of_second


def delta_debugging(subject: Subject, _seed: int) -> list[Claim]:
    """In equal parts, which takes it fewer calls here than its default."""
    picire: Any = pytest.importorskip("picire")
    outcome = {True: picire.Outcome.FAIL, False: picire.Outcome.PASS}

    def test(config: list[int], _id: object) -> Any:
        return outcome[subject.suffice(config)]

    reduced = picire.DD(test, split=picire.config_splitters.BalancedSplit(2))(list(subject.units))
    return said(subject, [subject.lattice.mask(reduced)])


def anchors(subject: Subject, seed: int) -> list[Claim]:
    """As it comes, on enough random subsets for nearly all 1,024 of ten sources to be among them."""
    tabular: Any = pytest.importorskip("anchor.anchor_tabular")
    np: Any = pytest.importorskip("numpy")
    np.random.seed(seed)
    train = np.random.randint(0, 2, (5000, len(subject.units)))
    names = [str(n) for n in subject.units]
    values = {n: ["out", "in"] for n in subject.units}
    explainer = tabular.AnchorTabularExplainer(["breaks", "holds"], names, train, values)

    def classified(drawn: Any) -> Any:
        return np.array(subject.rows(drawn), dtype=int)

    everything = np.ones(len(subject.units), dtype=int)
    found = explainer.explain_instance(everything, classified, threshold=0.95)
    return said(subject, [subject.lattice.mask(found.features())])
