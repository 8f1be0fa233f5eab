"""Corpora of fifty texts with five planted ones, made of PoisonedRAG's files, and what mends answers.

A corpus holds the five attack texts of a question, its own clean paragraphs where the data has them (91
questions of HotpotQA), and else paragraphs of other questions, drawn with a seed. BM25 retrieves; the
offline reader answers. An attack succeeds where the wrong answer of the data is in the answer, and is not
there without the planted texts.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_rule_explainer import Explainer, Source, contains
from rag_rule_explainer.fixing import Recheck, recheck_corpus
from rag_rule_explainer.testing.ranking import best_matches
from rag_rule_explainer.testing.reader import read_answer

PLANTED, SIZE = 5, 50


@dataclass(frozen=True)
class Poisoned:
    """A question with its corpus."""

    question: str
    wrong: str
    dataset: str
    corpus: tuple[Source, ...]

    @property
    def clean(self) -> list[Source]:
        return [each for each in self.corpus if not is_planted(each.id)]

    def is_wrong(self, sources: Sequence[Source]) -> bool:
        return self.wrong.casefold() in reader(self.question, sources).casefold()


@dataclass(frozen=True)
class Mended:
    """What became of one successful attack.

    ``left_alone``: the texts that leaving one out at a time names; ``alone_is_gone``: whether the wrong
    answer is gone once these left the corpus.
    """

    case: Poisoned
    recheck: Recheck | None
    left_alone: tuple[str, ...]
    alone_is_gone: bool

    @property
    def is_gone(self) -> bool:
        return self.recheck is not None and self.recheck.is_gone is True

    @property
    def is_right(self) -> bool:
        """Whether it is gone, and nothing but planted texts was left out."""
        return self.is_gone and self.recheck is not None and all(map(is_planted, self.recheck.left_out))

    @property
    def alone_is_right(self) -> bool:
        return self.alone_is_gone and all(map(is_planted, self.left_alone))


def is_planted(identity: str) -> bool:
    return identity.startswith("planted")


def reader(question: str, sources: Sequence[Source]) -> str:
    return read_answer(question, [source.passage for source in sources])


def rank(question: str, documents: Sequence[Source], most: int) -> list[Source]:
    places = best_matches(question, [each.passage for each in documents], most)
    return [documents[place] for place in places]


def poisoned_questions(data: Path) -> Iterator[Poisoned]:
    """All questions of the data, each with its corpus."""
    known = _records(data / "poisonedrag_hotpotqa_context.jsonl")
    asked = {record["question"] for record in known}
    others = [each for each in _records(data / "poisonedrag.jsonl") if each["question"] not in asked]
    paragraphs = [(each["question"], one) for each in known for one in each["sources"]]
    for number, record in enumerate([*known, *others]):
        foreign = [one for question, one in paragraphs if question != record["question"]]
        yield _poisoned(record, foreign, random.Random(number))


def _records(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _poisoned(record: dict[str, Any], foreign: Sequence[dict[str, Any]], draw: random.Random) -> Poisoned:
    planted = [
        Source(f"planted-{n}", text) for n, text in enumerate(record["adversarial_texts"][:PLANTED])
    ]
    own = [
        Source(f"own-{n}", each["text"], {"title": each["title"]})
        for n, each in enumerate(record.get("sources", []))
    ]
    drawn = draw.sample(foreign, SIZE - len(planted) - len(own))
    padding = [
        Source(f"other-{n}", each["text"], {"title": each["title"]}) for n, each in enumerate(drawn)
    ]
    corpus = [*own, *padding, *planted]
    draw.shuffle(corpus)
    dataset = record.get("dataset") or "hotpotqa"
    return Poisoned(record["question"], record["incorrect_answer"], dataset, tuple(corpus))


def mended(case: Poisoned, top_k: int) -> Mended | None:
    """None where the attack does not succeed."""
    shown = rank(case.question, case.corpus, top_k)
    clean = rank(case.question, case.clean, top_k)
    if not shown or not case.is_wrong(shown) or case.is_wrong(clean):
        return None
    explainer = Explainer(reader, contains(case.wrong), concurrency=1)
    before = explainer.explain(case.question, shown)
    fix = before.fixes().first_sure
    recheck = None
    if fix is not None:
        recheck = recheck_corpus(explainer, before, case.corpus, exclude=fix, rank=rank)
    alone = [each for each in shown if not case.is_wrong([other for other in shown if other is not each])]
    left = [each for each in case.corpus if each not in alone]
    gone = bool(alone) and not case.is_wrong(rank(case.question, left, top_k))
    return Mended(case, recheck, tuple(each.id for each in alone), gone)


def table(found: Sequence[Mended], top_k: int) -> str:
    """The figures, and each case in which something else happened than planted texts leaving."""
    rows = [f"top {top_k} of {SIZE} texts, {PLANTED} planted; cases in which the attack succeeds"]
    rows.append(
        f"{'data':<10} {'cases':>6} {'gone':>6} {'gone, only planted left':>24} {'one out: names':>15} "
        f"{'gone':>6} {'gone, only planted left':>24}"
    )
    names = sorted({each.case.dataset for each in found})
    for name in [*names, "all"]:
        own = [each for each in found if name in (each.case.dataset, "all")]
        figures = (
            len(own),
            sum(each.is_gone for each in own),
            sum(each.is_right for each in own),
            sum(bool(each.left_alone) for each in own),
            sum(each.alone_is_gone for each in own),
            sum(each.alone_is_right for each in own),
        )
        widths = (6, 6, 24, 15, 6, 24)
        cells = " ".join(f"{figure:>{width}}" for figure, width in zip(figures, widths, strict=True))
        rows.append(f"{name:<10} {cells}")
    rounds = [len(each.recheck.rounds) for each in found if each.recheck is not None]
    rows.append("rounds: " + ", ".join(f"{n} in {rounds.count(n)}" for n in sorted(set(rounds))))
    for each in found:
        if not each.is_right:
            left = (
                "no sure fix" if each.recheck is None else f"left out {', '.join(each.recheck.left_out)}"
            )
            gone = "gone" if each.is_gone else "not gone"
            rows.append(f"  {gone}: {each.case.question!r} ({each.case.wrong!r}): {left}")
    return "\n".join(rows)
