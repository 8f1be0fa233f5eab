"""Citers of known behaviour, and what is true of each of their citations."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rag_rule_explainer import CitationClass, Source

CLAIM = "six weeks"
QUESTION = "How long does it take?"
TEXTS = {
    "D1": "A leaflet of the clinic, with its opening hours.",
    "D2": "The guideline names six weeks as the length of the treatment.",
    "D3": "An earlier trial, which was stopped after a while.",
    "D4": "In the trial of 2023, six weeks were enough for most of the patients.",
    "D5": "A blog about recovery, patience and long walks.",
}
COPY = TEXTS["D2"]
DECISIVE, FULL, SEVERAL, PARTNER, DECORATIVE, MEMORY, UNRESOLVABLE, UNDECIDED = CitationClass

Needs = Callable[[frozenset[str]], bool]
Cites = Callable[[frozenset[str]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Oracle:
    """``needs``: whether it makes the claim when these are there; ``cites``: what it cites then."""

    name: str
    needs: Needs
    cites: Cites
    truth: Mapping[str, CitationClass]
    sufficient: bool
    uncited: tuple[str, ...] = ()
    smallest: tuple[str, ...] = ("D2",)
    # An empty tuple is as good as an empty dict.
    texts: Mapping[str, str] = ()  # type: ignore[assignment]

    @property
    def sources(self) -> list[Source]:
        return [Source(name, text) for name, text in (dict(self.texts) or TEXTS).items()]

    def statement(self, kept: Sequence[str], mark: Callable[[str], str]) -> str:
        """What it says when these are there, with its marks."""
        shown = frozenset(kept)
        if not self.needs(shown):
            return "It is not known."
        marks = "".join(mark(each) for each in self.cites(shown))
        return f"The treatment takes six weeks{f' {marks}' if marks else ''}."


def has(*names: str) -> Needs:
    return lambda kept: {*names} <= kept


def citing(*names: str) -> Cites:
    return lambda kept: names


def one_of(*names: str) -> Cites:
    return lambda kept: [each for each in names if each in kept][:1]


ORACLES = (
    Oracle("honest", has("D2"), citing("D2"), {"D2": DECISIVE}, sufficient=True),
    Oracle(
        "from memory",
        has(),
        lambda kept: sorted(kept)[:1],
        {"D1": MEMORY},
        sufficient=False,
        smallest=(),
    ),
    Oracle(
        "wrong document", has("D2"), one_of("D3"), {"D3": DECORATIVE}, sufficient=False, uncited=("D2",)
    ),
    Oracle(
        "uncited partner",
        has("D2", "D4"),
        citing("D2"),
        {"D2": PARTNER},
        sufficient=False,
        uncited=("D4",),
        smallest=("D2", "D4"),
    ),
    Oracle(
        "both partners",
        has("D2", "D4"),
        citing("D2", "D4"),
        {"D2": DECISIVE, "D4": DECISIVE},
        sufficient=True,
        smallest=("D2", "D4"),
    ),
    Oracle(
        "either of two",
        lambda kept: bool({"D2", "D4"} & kept),
        one_of("D2", "D4"),
        {"D2": SEVERAL},
        sufficient=True,
        uncited=("D4",),
    ),
    Oracle(
        "copies of one text",
        lambda kept: bool({"D2", "D5"} & kept),
        lambda kept: [each for each in ("D2", "D5") if each in kept],
        {"D2": SEVERAL, "D5": SEVERAL},
        sufficient=True,
        texts={**TEXTS, "D5": COPY},
    ),
    Oracle(
        "cites all",
        has("D2"),
        lambda kept: sorted(kept),
        {"D2": DECISIVE, **dict.fromkeys(("D1", "D3", "D4", "D5"), DECORATIVE)},
        sufficient=True,
    ),
)


def answering(
    oracle: Oracle, mark: Callable[[str], str] = "[{}]".format
) -> Callable[[str, Sequence[Source]], str]:
    """The application: a function of question and sources, which cites by id."""
    return lambda question, sources: oracle.statement([each.id for each in sources], mark)


def left_out_says(oracle: Oracle) -> dict[str, bool]:
    """What leaving one out says of each citation: it is faithful iff the claim goes with it."""
    everything = frozenset(each.id for each in oracle.sources)
    return {each: not oracle.needs(everything - {each}) for each in oracle.truth}


def support_says(oracle: Oracle) -> dict[str, bool]:
    """What a check of support says of each citation: it is faithful iff its text holds the claim."""
    texts = {each.id: each.text for each in oracle.sources}
    return {each: bool(re.search(CLAIM, texts[each])) for each in oracle.truth}
