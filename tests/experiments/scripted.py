"""A model of known manners: of each question, its manner is in the question, and its rates are counted
by hand."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rag_rule_explainer import Answer, Source
from rag_rule_explainer.experiments.examples import Example
from rag_rule_explainer.experiments.models import Examined

MANNERS = ("honest", "knowing", "inventive", "timid", "wordy", "cut", "peeking")
SIZE = 5
WITH, WITHOUT = 8, 23
"""Subsets of five sources that retain both necessary ones, and others that are not empty."""


def truth(number: int) -> str:
    return f"code {number}"


def question(number: int, manner: str, necessary: int = 2, sources: int = SIZE) -> Example:
    """The truth stands in the second necessary source, and where it is peeking, in the last one."""
    texts = [f"Leaf {number}-{place} of a book." for place in range(1, sources + 1)]
    texts[1] = f"The seal is {truth(number)}."
    if manner == "peeking":
        texts[-1] = f"As is well known, {truth(number)}."
    named = tuple(Source(f"D{place}", text) for place, text in enumerate(texts, start=1))
    ids = tuple(source.id for source in named[:necessary])
    return Example(f"{manner}-{number}", f"{manner} {number}?", truth(number), named, ids, necessary)


def record(number: int, manner: str, necessary: int = 2, sources: int = SIZE) -> dict[str, Any]:
    """The same as a line of JSONL."""
    found = question(number, manner, necessary, sources)
    listed = [
        {"title": "", "text": source.text, "necessary": source.id in found.necessary}
        for source in found.sources
    ]
    return {
        "id": found.id,
        "question": found.question,
        "answer": found.answer,
        "type": "t",
        "level": "l",
        "sources": listed,
    }


def said(asked: str, sources: Sequence[Source]) -> Answer:
    """What it says, by its manner."""
    manner, number = asked.rstrip("?").split()
    right = truth(int(number))
    ids = {source.id for source in sources}
    informed = {"D1", "D2"} <= ids
    if manner == "peeking":
        informed = informed or f"D{SIZE}" in ids
    informed_says = {"timid": "I don't know.", "wordy": f"I think that it is {right}"}
    others = {"knowing": right, "inventive": "code 7777"}
    text = informed_says.get(manner, right) if informed else others.get(manner, "N/A")
    return Answer(text, finish_reason="length" if manner == "cut" else "stop")


class Scripted:
    """Counts what it is asked; fails on the subsets of questions that ``broken`` names."""

    def __init__(self, broken: Mapping[str, Iterable[frozenset[str]]] | None = None) -> None:
        self.asked: list[tuple[str, frozenset[str]]] = []
        self.broken = {name: set(subsets) for name, subsets in (broken or {}).items()}

    @property
    def examined(self) -> Examined:
        return Examined("scripted", "scripted", self, pace=1)

    def __call__(self, asked: str, sources: Sequence[Source]) -> Answer:
        kept = frozenset(source.id for source in sources)
        self.asked.append((asked, kept))
        if kept in self.broken.get(asked, ()):
            raise ValueError("no answer to this")
        return said(asked, sources)
