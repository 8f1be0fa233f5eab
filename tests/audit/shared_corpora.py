"""A log of 1,000 questions over twenty corpora that are poisoned, made of published files.

How a corpus is made. The 300 questions of PoisonedRAG and the 120 of RAMDocs with a wrong answer and a
source labelled "misinfo" are dealt out in turn, and so are 580 questions that nobody attacks: of
HotpotQA, 2WikiMultiHopQA, MuSiQue and the other questions of RAMDocs, drawn with a seed from all that
have another text. So a corpus is asked 50 questions, of which 21 are attacked.

What is in it. The attack texts of all its questions (five for each of PoisonedRAG; the sources labelled
"misinfo" of RAMDocs) are its planted documents. Beside them are the clean paragraphs that the data have
to its questions: those of HotpotQA to 91 questions of PoisonedRAG, the other sources of RAMDocs, and the
paragraphs of HotpotQA, 2Wiki and MuSiQue to the questions that nobody attacks. It is padded up to 600
documents with paragraphs of HotpotQA and 2Wiki to questions of other corpora, drawn with the seed. A
passage is in a corpus once. The order is shuffled.

What is asked. BM25 retrieves; the offline reader answers. The answer to an attacked question is bad where
it contains a wrong answer of the data in whole words; to any other one where it contains a wrong answer
that was planted in the same corpus for another question (yes and no aside, which anybody may say).

Truth. The reader always answers alike, so every subset of what is shown is asked: a document is to blame
for a question if there is a subset with which the answer is bad and without it is not. A question is
scored where its answer is bad, and is not when the same is asked of the corpus without its planted
documents.
"""

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from rag_rule_explainer import Answer, Case, Source, contains
from rag_rule_explainer.testing.reader import read_answer
from rag_rule_explainer.verdicts import Verdict

bm25s: Any = import_module("bm25s")  # without types
CORPORA, SIZE, QUESTIONS = 20, 600, 1000


@dataclass(frozen=True)
class Asked:
    """A question of the log. ``wrong``: the answers that are bad; ``own``: the clean documents to it."""

    id: str
    question: str
    dataset: str
    wrong: tuple[str, ...]
    planted: tuple[Source, ...]
    own: tuple[Source, ...]

    @property
    def is_attacked(self) -> bool:
        return bool(self.planted)


@dataclass(frozen=True)
class Corpus:
    name: str
    asked: tuple[Asked, ...]
    documents: tuple[Source, ...]

    @cached_property
    def planted(self) -> frozenset[str]:
        return frozenset(each.id for one in self.asked for each in one.planted)

    def shown(self, question: str, top_k: int) -> list[Source]:
        return _ranked(self._index, self.documents, question, top_k)

    def shown_without_planted(self, question: str, top_k: int) -> list[Source]:
        return _ranked(self._clean_index, self.clean, question, top_k)

    @cached_property
    def clean(self) -> tuple[Source, ...]:
        return tuple(each for each in self.documents if each.id not in self.planted)

    @cached_property
    def _index(self) -> Any:
        return _indexed(self.documents)

    @cached_property
    def _clean_index(self) -> Any:
        return _indexed(self.clean)

    @cached_property
    def _wrong(self) -> dict[str, tuple[str, ...]]:
        named = [each for one in self.asked if one.is_attacked for each in one.wrong]
        anybody = tuple(dict.fromkeys(each for each in named if each.casefold() not in {"yes", "no"}))
        return {each.question: each.wrong or anybody for each in self.asked}

    def wrong_answer(self, question: str) -> str:
        return self._wrong[question][0]

    def is_bad(self, case: Case) -> bool:
        """The condition of the whole log."""
        wrong = self._wrong[case.question]
        return any(contains(each, whole_words=True)(case).verdict is Verdict.HOLDS for each in wrong)

    def answers_badly(self, question: str, shown: Sequence[Source]) -> bool:
        answer = Answer(read(question, shown))
        return self.is_bad(Case(question, answer, answer, tuple(shown)))


def _tokens(texts: Sequence[str]) -> Any:
    return bm25s.tokenize(list(texts), stopwords="en", show_progress=False, return_ids=False)


def _indexed(documents: Sequence[Source]) -> Any:
    index = bm25s.BM25()
    index.index(_tokens([each.passage for each in documents]), show_progress=False)
    return index


def _ranked(index: Any, documents: Sequence[Source], question: str, most: int) -> list[Source]:
    """As ``best_matches``, of an index that is made once."""
    scores = [float(each) for each in index.get_scores(_tokens([question])[0])]
    by_score = sorted(range(len(documents)), key=lambda place: (-scores[place], place))
    return [documents[place] for place in by_score[:most] if scores[place] > 0]


def read(question: str, shown: Sequence[Source]) -> str:
    return read_answer(question, [each.passage for each in shown])


def shared_corpora(data: Path, seed: int = 0) -> Iterator[Corpus]:
    attacked, quiet = list(_attacked(data)), list(_quiet(data))
    known = {each.question for each in attacked}
    draw = random.Random(seed)
    others = draw.sample([e for e in quiet if e.question not in known], QUESTIONS - len(attacked))
    log = [*attacked, *others]
    foreign = [each for one in quiet if one.dataset != "ramdocs" for each in one.own]
    foreign = [each for each in foreign if not each.id.startswith("musique")]
    for number in range(CORPORA):
        yield _corpus(f"corpus-{number}", log[number::CORPORA], foreign, random.Random(seed + number))


def _corpus(name: str, asked: Sequence[Asked], foreign: Sequence[Source], draw: random.Random) -> Corpus:
    planted = [each for one in asked for each in one.planted]
    own = _once([*planted, *(each for one in asked for each in one.own)])
    documents = _once([*own, *draw.sample(foreign, len(foreign))])[:SIZE]
    draw.shuffle(documents)
    kept = {each.id for each in documents}
    assert len(kept) == SIZE > len(own)
    trimmed = [
        replace(one, planted=tuple(each for each in one.planted if each.id in kept)) for one in asked
    ]
    return Corpus(name, tuple(trimmed), tuple(documents))


def _once(documents: Iterable[Source]) -> list[Source]:
    first: dict[str, Source] = {}
    for each in documents:
        first.setdefault(each.passage, each)
    return list(first.values())


def _attacked(data: Path) -> Iterator[Asked]:
    known = {each["question"]: each for each in _records(data / "poisonedrag_hotpotqa_context.jsonl")}
    for number, record in enumerate(_records(data / "poisonedrag.jsonl")):
        identity = f"poisonedrag-{number}"
        planted = [
            Source(f"{identity}-planted-{n}", t) for n, t in enumerate(record["adversarial_texts"])
        ]
        own = _sources(identity, known.get(record["question"], {}).get("sources", []))
        wrong = (str(record["incorrect_answer"]),)
        yield Asked(identity, record["question"], record["dataset"], wrong, tuple(planted), own)
    for number, record in enumerate(_records(data / "misinformation.jsonl")):
        if is_attacked(record):
            yield _ramdocs(number, record)


def is_attacked(record: dict[str, Any]) -> bool:
    """Whether a record of RAMDocs has a text that says what is wrong."""
    is_planted = any(each["label"] == "misinfo" for each in record["sources"])
    return is_planted and bool(record["wrong_answers"])


def _ramdocs(number: int, record: dict[str, Any]) -> Asked:
    identity = f"ramdocs-{number}"
    labelled = list(zip(_sources(identity, record["sources"]), record["sources"], strict=True))
    planted = tuple(
        Source(f"{identity}-planted-{n}", each.text, each.metadata)
        for n, (each, source) in enumerate(labelled)
        if source["label"] == "misinfo"
    )
    own = tuple(each for each, source in labelled if source["label"] != "misinfo")
    wrong = tuple(dict.fromkeys(map(str, record["wrong_answers"])))
    return Asked(identity, record["question"], "ramdocs", wrong, planted, own)


def _quiet(data: Path) -> Iterator[Asked]:
    for name in ("hotpotqa_dev", "hotpotqa_train", "2wiki_train", "musique_train"):
        for number, record in enumerate(_records(data / f"{name}.jsonl")):
            identity = f"{name}-{number}"
            own = _sources(identity, record["sources"])
            yield Asked(identity, record["question"], name, (), (), own)
    for number, record in enumerate(_records(data / "misinformation.jsonl")):
        if not is_attacked(record):
            yield replace(_ramdocs(number, record), wrong=(), planted=())


def _sources(identity: str, sources: Sequence[dict[str, Any]]) -> tuple[Source, ...]:
    # "Document 3", as RAMDocs call a source, says nothing.
    return tuple(
        Source(
            f"{identity}-{n}",
            each["text"],
            {} if each["title"].startswith("Document ") else {"title": each["title"]},
        )
        for n, each in enumerate(sources)
    )


def _records(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
