"""The stories' rules, found by trying every subset: the demo shows what these tests prove."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, permutations

import pytest

from rag_rule_explainer.cli.stories import LONG_COVID, REHABILITATION, STORIES, Document, Story
from rag_rule_explainer.testing.reader import NO_ANSWER, read_answer

Rules = set[frozenset[str]]
BothKinds = tuple[Rules, Rules]
Shown = Callable[[Document], str]

RULES: dict[str, BothKinds] = {
    # minimal retention rules of "the answer is wrong", minimal omission rules of its negation
    LONG_COVID.name: ({frozenset({"preprint-17"})}, {frozenset({"preprint-17"})}),
    REHABILITATION.name: (
        {frozenset({"leaflet-9", "programme-1998"})},
        {frozenset({"leaflet-9"}), frozenset({"programme-1998"})},
    ),
}

COVID_PARAPHRASED = (
    Document(
        "guideline-2024",
        "Long COVID: national guideline, 2024 edition",
        "There is no medicine with proven benefit for brain fog in long COVID, and the panel"
        " advises against any. Teach patients to divide their strength over the day and to pause"
        " early. See them again after a quarter of a year.",
    ),
    Document(
        "trial-2023",
        "Marlow Bay: a randomised trial",
        "412 people with long COVID took part at Marlow Bay. Half of them learned to plan pauses;"
        " after half a year, two thirds of these reported less brain fog. The trial did not test a"
        " medicine.",
    ),
    Document(
        "preprint-17",
        "Preprint 17, not peer reviewed",
        "Against brain fog, we advise every patient with long COVID to take prednisolone, a"
        " medicine known for decades: 40 mg daily over four weeks. Eleven people from a single"
        " practice reported clearer thoughts. We had nobody to compare them with.",
    ),
)
KNEE_PARAPHRASED = (
    Document(
        "clinic-guideline",
        "Guideline 2024 of the Northgate Clinic: the knee",
        "Running is allowed from week sixteen after knee ligament surgery, says the Northgate"
        " Clinic, provided that both legs have regained their strength. The decision lies with the"
        " physiotherapist.",
    ),
    Document(
        "leaflet-9",
        "Leaflet 9 of the Northgate Clinic",
        "Whoever has had knee ligament surgery at the Northgate Clinic trains by the Brandt"
        " Programme from then on. Sports shoes are needed from the first day.",
    ),
    Document(
        "programme-1998",
        "The Brandt Programme",
        "Made for professional players, the Brandt Programme lets patients run again six weeks"
        " after surgery on a knee ligament. It has not been in use since 2011.",
    ),
    Document(
        "trial-2021",
        "Elmhurst trial, 2021",
        "In Elmhurst, 240 people were observed for two years following knee ligament surgery. A"
        " second tear was twice as frequent among early runners.",
    ),
    Document(
        "timetable",
        "Training hall of the Northgate Clinic: opening times",
        "The hall is reserved for patients of the Northgate Clinic from Monday to Friday. With the"
        " wound on the knee closed, they may use the pool after surgery, too.",
    ),
)
PARAPHRASED = {LONG_COVID.name: COVID_PARAPHRASED, REHABILITATION.name: KNEE_PARAPHRASED}

FIXED = [
    (
        LONG_COVID,
        Document(
            "preprint-17",
            "Preprint 17, corrected",
            "Patients with long COVID should take no medicine against brain fog. In eleven patients"
            " of one private practice, tablets were no better than pacing their day.",
        ),
    ),
    (
        REHABILITATION,
        Document(
            "programme-1998",
            "Brandt Programme",
            "The Brandt Programme was rewritten in 2011. Patients may run again sixteen weeks after"
            " knee ligament surgery, not sooner.",
        ),
    ),
    (
        REHABILITATION,
        Document(
            "leaflet-9",
            "Northgate Clinic: leaflet 9",
            "After knee ligament surgery, patients of the Northgate Clinic follow the clinic's own"
            " guideline. Please bring sports shoes to the first training.",
        ),
    ),
]


def titled(document: Document) -> str:
    return f"{document.title}\n{document.text}"


def untitled(document: Document) -> str:
    return document.text


def colon(document: Document) -> str:
    return f"{document.title}: {document.text}"


def answer(story: Story, documents: Sequence[Document], shown: Shown = titled) -> str:
    return read_answer(story.question, [shown(each) for each in documents])


def subsets(ids: frozenset[str]) -> list[frozenset[str]]:
    return [frozenset(some) for size in range(len(ids) + 1) for some in combinations(ids, size)]


def minimal(sets: list[frozenset[str]]) -> Rules:
    return {each for each in sets if not any(other < each for other in sets)}


def rules(story: Story, documents: Sequence[Document], shown: Shown = titled) -> BothKinds:
    every = subsets(frozenset(each.id for each in documents))
    wrong = {
        kept: story.symptom in answer(story, [d for d in documents if d.id in kept], shown)
        for kept in every
    }
    retained = [each for each in every if all(wrong[kept] for kept in every if each <= kept)]
    omitted = [each for each in every if not any(wrong[kept] for kept in every if not each & kept)]
    return minimal(retained), minimal(omitted)


@pytest.fixture(params=STORIES, ids=lambda story: story.name)
def story(request: pytest.FixtureRequest) -> Story:
    chosen = request.param
    assert isinstance(chosen, Story)
    return chosen


@pytest.mark.parametrize(
    "shown",
    [titled, untitled, colon],
    ids=["title line", "text alone", "title and colon"],
)
def test_each_story_has_exactly_its_minimal_rules(story: Story, shown: Shown) -> None:
    assert rules(story, story.documents, shown) == RULES[story.name]


def test_no_single_document_makes_the_second_story_wrong() -> None:
    for document in REHABILITATION.documents:
        assert REHABILITATION.symptom not in answer(REHABILITATION, [document])


def test_the_answer_on_all_documents_is_the_wrong_one(story: Story) -> None:
    assert story.symptom in answer(story, story.documents)


def test_without_the_blamed_documents_there_is_another_answer(story: Story) -> None:
    for blamed in RULES[story.name][1]:
        rest = [each for each in story.documents if each.id not in blamed]
        assert answer(story, rest) != NO_ANSWER
        assert story.symptom not in answer(story, rest)


def test_the_rules_do_not_depend_on_the_order_of_the_documents(story: Story) -> None:
    for documents in list(permutations(story.documents))[:: len(story.documents)]:
        assert answer(story, documents) == answer(story, story.documents)
        assert rules(story, documents) == RULES[story.name]


def test_the_rules_survive_a_paraphrase_of_any_of_the_documents(story: Story) -> None:
    choices = list(zip(story.documents, PARAPHRASED[story.name], strict=True))
    for mask in range(1, 2 ** len(choices)):
        documents = [pair[mask >> at & 1] for at, pair in enumerate(choices)]
        assert rules(story, documents) == RULES[story.name], [each.title for each in documents]


@pytest.mark.parametrize(("story", "fixed"), FIXED, ids=lambda each: getattr(each, "id", ""))
def test_there_is_nothing_left_to_blame_once_a_blamed_document_is_put_right(
    story: Story, fixed: Document
) -> None:
    documents = [fixed if each.id == fixed.id else each for each in story.documents]
    assert rules(story, documents) == (set(), {frozenset()})
    assert answer(story, documents) != NO_ANSWER


def test_the_corpus_is_the_documents_and_a_few_more(story: Story) -> None:
    others = story.corpus[len(story.documents) :]
    assert story.corpus[: len(story.documents)] == story.documents
    assert len(others) >= 3
    assert len({each.id for each in story.corpus}) == len(story.corpus)
    assert not any(story.symptom in each.text for each in others)


def test_a_lexical_retriever_finds_the_documents_and_nothing_else(story: Story) -> None:
    found = ranked(story.question, story.corpus)[: len(story.documents)]
    assert set(found) == {each.id for each in story.documents}


def test_documents_are_short_enough_to_print(story: Story) -> None:
    for document in story.documents:
        assert 2 <= len(re.findall(r"\.(?:\s|$)", document.text)) <= 4


def ranked(question: str, corpus: Sequence[Document]) -> list[str]:
    """The ids by Okapi BM25 with the usual constants, nothing removed and nothing stemmed."""
    bags = {each.id: Counter(words(titled(each))) for each in corpus}
    mean = sum(bag.total() for bag in bags.values()) / len(bags)
    scores = dict.fromkeys(bags, 0.0)
    for word in words(question):
        holding = sum(word in bag for bag in bags.values())
        rarity = math.log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))
        for name, bag in bags.items():
            length = 1.5 * (0.25 + 0.75 * bag.total() / mean)
            scores[name] += rarity * bag[word] * 2.5 / (bag[word] + length)
    return sorted(scores, key=lambda name: -scores[name])


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
