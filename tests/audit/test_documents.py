"""Which documents of a log are the same one, what they are called, and what is said of a document that
was shown twice for one question."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import combinations
from random import Random

import pytest

from rag_rule_explainer import Explainer, Source
from rag_rule_explainer.audit import LoggedQuestion, audit
from rag_rule_explainer.audit.documents import keys_of
from rag_rule_explainer.audit.questions import ShownDocument
from rag_rule_explainer.rules import RuleKind
from tests.audit.shop import CONDITION

Kept = frozenset[str]
IDS = ("D1", "D2", "D3", "D4")
TEXTS = ("twice", "twice", "once", "other")
OF = dict(zip(IDS, TEXTS, strict=True))
DOCUMENTS = tuple(dict.fromkeys(TEXTS))
RETENTION, OMISSION = RuleKind


def subsets(of: Sequence[str]) -> list[Kept]:
    return [frozenset(each) for size in range(len(of) + 1) for each in combinations(of, size)]


class Truth:
    """What is true of documents, by all subsets of what is shown: "twice" is retained if both of its
    copies are, and omitted if neither is there."""

    def __init__(self, seed: int) -> None:
        draw = Random(seed)
        self.bad = {kept for kept in subsets(IDS) if draw.random() < 0.5} | {frozenset(IDS)}

    def __call__(self, _: str, sources: Sequence[Source]) -> str:
        return "bad" if frozenset(each.id for each in sources) in self.bad else "fine"

    def holds(self, kind: RuleKind, outcome: str, documents: Kept) -> bool:
        own = {each for each in IDS if OF[each] in documents}
        kept = (each for each in subsets(IDS) if (own <= each if kind is RETENTION else not own & each))
        return all((each in self.bad) is (outcome == "bad") for each in kept)

    def rules(self, kind: RuleKind, outcome: str) -> list[Kept]:
        valid = [each for each in subsets(DOCUMENTS) if self.holds(kind, outcome, each)]
        return [each for each in valid if not any(other < each for other in valid)]

    def named_by(self, ways: Iterable[tuple[RuleKind, str]]) -> set[str]:
        return {name for way in ways for rule in self.rules(*way) for name in rule}

    @property
    def towards(self) -> set[str]:
        return self.named_by([(RETENTION, "bad"), (OMISSION, "not bad")])

    @property
    def away(self) -> set[str]:
        return self.named_by([(RETENTION, "not bad"), (OMISSION, "bad")])

    def redundant(self, one: str, other: str) -> bool:
        return any(
            one in rule and other not in rule and rule - {one} | {other} in rules
            for rules in (self.rules(RETENTION, outcome) for outcome in ("bad", "not bad"))
            for rule in rules
        )


def named(text: str) -> str:
    return f"doc-{sha256(text.encode()).hexdigest()[:8]}"


def test_a_text_that_is_shown_twice_is_one_document() -> None:
    for seed in range(20):
        truth = Truth(seed)
        explainer = Explainer(truth, check_repeatable=False, miner="exact")
        found = audit(explainer, [LoggedQuestion("q", "why?", None, TEXTS)], CONDITION)
        assert [row.name for row in found.documents if row.shown == ["q"]] == [
            row.name for row in found.documents
        ]
        assert {row.name for row in found.documents} == set(map(named, DOCUMENTS))
        for text in DOCUMENTS:
            row, others = found.document(named(text)), [each for each in DOCUMENTS if each != text]
            assert bool(row.implicated) is (text in truth.towards)
            assert bool(row.clear) is not bool(row.implicated)
            assert bool(row.decisive) is truth.holds(OMISSION, "not bad", frozenset([text]))
            assert {*row.redundant} == {named(each) for each in others if truth.redundant(text, each)}
            assert {*row.conflicts} == {
                named(each)
                for each in others
                if (text in truth.towards and each in truth.away)
                or (text in truth.away and each in truth.towards)
            }
            assert row.never_needed is (text not in truth.towards | truth.away)
            assert {*row.implicated, *row.decisive, *row.clear} == {"q"}
        ending = truth.rules(OMISSION, "not bad")
        assert len(found.removal.documents) == min(map(len, ending), default=0)


def test_a_document_with_a_name_in_its_metadata_is_one_also_where_it_is_shown_twice() -> None:
    """Two ids of one question differ, so they are then made up of places."""
    lie, other = (
        {"text": text, "metadata": {"source": name}}
        for text, name in (("a lie", "blog"), ("else", "faq"))
    )
    explainer = Explainer(
        lambda _, sources: "bad" if any("lie" in each.text for each in sources) else "fine",
        check_repeatable=False,
    )
    log = [
        {"question": question, "documents": shown}
        for question, shown in (("one", [lie, other, lie]), ("two", [lie, other]))
    ]
    found = audit(explainer, log, CONDITION)
    assert found.removal.documents == ("blog",)
    assert found.removal.is_smallest
    assert {row.name: row.shown for row in found.documents} == {"blog": ["1", "2"], "faq": ["1", "2"]}
    assert found.document("D3").name == "blog"
    assert found.document("blog").decisive == ["1", "2"]


def test_a_text_that_is_shown_twice_is_blamed_once_and_for_both_copies() -> None:
    explainer = Explainer(
        lambda _, sources: "bad" if any("lie" in each.text for each in sources) else "fine",
        check_repeatable=False,
        miner="exact",
    )
    log = [LoggedQuestion("q", "why?", None, ("a lie", "a lie", "else"))]
    blame = audit(explainer, log, CONDITION, fdr=0.9).blame
    assert blame is not None
    (suspect,) = [each.suspect for each in (*blame, *blame.not_shown)]
    assert (suspect.document, suspect.shown, suspect.implicated) == (named("a lie"), 1, ("q",))
    assert {pair.removed for pair in suspect.pairs} == {("D1", "D2")}
    # No rule says what is so without both copies, so even then it is tested.
    blame = audit(explainer, log, CONDITION, fdr=0.9, deterministic=True).blame
    assert blame is not None
    assert not blame.plan.proved


def shown(*pairs: tuple[str, str]) -> list[ShownDocument]:
    return [
        ShownDocument(name, text * 64, rank, named=not name.startswith("D"))
        for rank, (name, text) in enumerate(pairs, start=1)
    ]


def test_a_document_is_known_by_its_text_and_its_name() -> None:
    first, second = (
        keys_of(shown(("D1", "a"), ("guide", "b"))),
        keys_of(shown(("D7", "a"), ("guide#3f01", "b"), ("guide#4e02", "c"))),
    )
    assert first["D1"] == second["D7"]
    assert first["guide"] == second["guide#3f01"] != second["guide#4e02"]
    twice = keys_of(shown(("one", "a"), ("two", "a"), ("D3", "b"), ("D4", "b")))
    assert twice["one"] != twice["two"]
    assert twice["D3"] == twice["D4"]


@pytest.mark.parametrize(
    "names", [("doc-17", "doc-18"), ("guide#faq", "guide#intro"), ("D1", "D2"), ("doc-deadbeef", "D9")]
)
def test_documents_with_ids_like_those_made_up_are_not_taken_for_one(names: tuple[str, str]) -> None:
    """Two files have the same text, so both have to be removed."""
    log = [
        LoggedQuestion(f"q{n}", f"question {n}", None, (Source(name, "a lie"),))
        for n, name in enumerate(names)
    ]
    explainer = Explainer(lambda _, sources: "bad" if sources else "fine", check_repeatable=False)
    found = audit(explainer, log, CONDITION)
    assert set(found.removal.documents) == set(names)
    assert {row.name for row in found.documents} == set(names)
