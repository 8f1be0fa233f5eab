"""What replays of an application find that fills an index in its run, against the application itself."""

import random
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from tests.integrations.known import BAD
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling

WORDS = [
    "amber",
    "basalt",
    "copper",
    "dunes",
    "lava",
    "river",
    "stone",
    "glass",
    "field",
    "tower",
    "cloud",
]
QUESTION = "amber or lava?"


class Counts(Embeddings):
    """Embeds a text by how often it has each of the first words."""

    @override
    def embed_query(self, text: str) -> list[float]:
        return [1.0 + text.casefold().count(word) for word in WORDS[:8]]

    @override
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


def without_ids(found: list[Document]) -> list[Document]:
    return [Document(page_content=each.page_content) for each in found]


def quoted(found: list[Document]) -> list[Document]:
    return [Document(page_content=f"> {each.page_content}") for each in found]


def joined_in_pairs(found: list[Document]) -> list[Document]:
    pairs = [found[start : start + 2] for start in range(0, len(found), 2)]
    return [Document(page_content="\n".join(each.page_content for each in pair)) for pair in pairs]


def halves(found: list[Document]) -> list[Document]:
    words = [each.page_content.split() for each in found]
    return [Document(page_content=" ".join(part)) for each in words for part in (each[:7], each[7:])]


@dataclass(frozen=True)
class Application:
    """Puts what the web has into an index of the user's, and shows its model the best of both."""

    rng: random.Random
    texts: dict[str, str] = field(init=False)
    own: list[str] = field(init=False)
    web: list[str] = field(init=False)
    spoilers: list[str] = field(init=False)

    def __post_init__(self) -> None:
        rng, names = self.rng, list("abcde")
        texts = {
            name: " ".join([*(rng.choice(WORDS) for _ in range(12)), f"number {name}."]) for name in names
        }
        rng.shuffle(names)
        cut = rng.randint(0, 3)
        told: dict[str, Any] = {
            "texts": texts,
            "own": names[:cut],
            "web": names[cut:],
            "spoilers": rng.sample(names, 2),
        }
        for name, value in told.items():
            object.__setattr__(self, name, value)

    def documents(self, names: Iterable[str]) -> list[Document]:
        return [Document(id=name, page_content=self.texts[name]) for name in names]

    def index(self) -> InMemoryVectorStore:
        return InMemoryVectorStore.from_documents(self.documents(self.own), Counts())

    def says(self, shown: str) -> str:
        lasts = [" ".join(self.texts[name].split()[7:]) for name in self.spoilers]
        return "bad news" if all(each in shown for each in lasts) else "good news"

    def really_says(self, kept: Collection[str], change: Any, most: int, searched_before: bool) -> str:
        """Of an index of its own, without the documents of the user's that are left out."""
        index = self.index()
        before = index.similarity_search(QUESTION, k=most) if searched_before else []
        index.add_documents(change(self.documents(name for name in self.web if name in kept)))
        found = [*before, *index.similarity_search(QUESTION, k=most)]
        return self.says("\n".join(x.page_content for x in found if x.id not in self.own or x.id in kept))


CHANGES: list[Callable[[list[Document]], list[Document]]] = [
    list,
    without_ids,
    quoted,
    joined_in_pairs,
    halves,
]


@pytest.mark.spread(fast=3, slow=3)
@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 12))])
def test_every_replay_answers_as_the_application_would(seed: int, change: Any, anew: bool) -> None:
    rng = random.Random(f"{seed} {change.__name__} {anew}")
    made = Application(rng)
    most, searched_before = rng.randint(1, 6), rng.random() < 0.3
    kept_index, web = made.index(), Counting(documents=made.documents(made.web))
    model = Telling(says=lambda messages: made.says(messages[-1].text))

    def answer(question: str) -> str:
        index = made.index() if anew else kept_index
        before = index.similarity_search(question, k=most) if searched_before else []
        found = web.invoke("the web")
        if found:
            index.add_documents(change(found))
        shown = [*before, *index.similarity_search(question, k=most)]
        return model.invoke("\n".join([*(each.page_content for each in shown), question])).text

    explainer: Any = RuleExplainer(
        RunnableLambda(answer), predicate=BAD, miner="exhaustive", scope="retrieved"
    )
    explanation = explainer.explain(QUESTION)
    assert set(made.web) <= {source.id for source in explanation.sources} <= set(made.texts)
    assert len(explanation.probes) == 1 << len(explanation.sources)
    for probe in explanation.probes:
        if probe.error:  # pairs are other pairs there, and may push a document of the user's out
            assert "not delivered: the replay did not retrieve it" in probe.error
            assert change is joined_in_pairs
            continue
        (said, *_) = probe.answers
        assert said.text == made.really_says(probe.kept, change, most, searched_before), probe
