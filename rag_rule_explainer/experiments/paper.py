"""This module states the figures of the paper, "Rule-Based Explanations for Retrieval-Augmented LLM
Systems" (Rorseth et al., arXiv 2510.22689), each with the part of the paper that states it.

All code that compares a run with the paper takes the paper's figures from here, and a test checks the
documentation against them. Where the paper shows a curve without a number, ``about`` is True.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

SYNTHETIC: Final = "evaluation of efficiency, synthetic setting"
HOTPOTQA: Final = "evaluation of efficiency, HotpotQA"
ROBUSTNESS: Final = "evaluation of robustness"
JUDGE_STUDY: Final = "evaluation of the judge"
RED_TEAMING: Final = "case study on red-teaming"
SETUP: Final = "experimental setup"


@dataclass(frozen=True, slots=True)
class PaperFact:
    """A ``PaperFact`` is one figure that the paper states. ``place``: the part of the paper that states
    it. ``unit``: the counted things, or "%". ``about``: True if the figure is read off a curve."""

    value: float
    unit: str
    place: str
    about: bool = False

    def __str__(self) -> str:
        number = f"{self.value:,.10g}"
        unit = f" {self.unit}" if self.unit == "%" else ""
        return f"{'about ' if self.about else ''}{number}{unit}"


FACTS: Final[Mapping[str, PaperFact]] = {
    "synthetic examples": PaperFact(1000, "examples", SYNTHETIC),
    "synthetic necessary sources": PaperFact(2, "sources", SYNTHETIC),
    "synthetic explored by retention": PaperFact(25, "%", SYNTHETIC, about=True),
    "synthetic explored by omission": PaperFact(75, "%", SYNTHETIC, about=True),
    "synthetic explored by Dual": PaperFact(100, "%", SYNTHETIC, about=True),
    "scale of Mono against Dual": PaperFact(200, "%", SYNTHETIC),
    "HotpotQA examples": PaperFact(50, "examples", HOTPOTQA),
    "HotpotQA necessary sources": PaperFact(2, "sources", HOTPOTQA),
    "HotpotQA longest answer": PaperFact(100, "characters", HOTPOTQA),
    "fewest sources": PaperFact(1, "sources", HOTPOTQA),
    "most sources": PaperFact(10, "sources", HOTPOTQA),
    "HotpotQA predictions of retention": PaperFact(500, "predictions", HOTPOTQA, about=True),
    "HotpotQA predictions of omission": PaperFact(250, "predictions", HOTPOTQA, about=True),
    "HotpotQA predictions of Dual": PaperFact(750, "predictions", HOTPOTQA, about=True),
    "temperature": PaperFact(1.0, "", SETUP),
    "most tokens": PaperFact(100, "tokens", SETUP),
    "robustness models": PaperFact(3, "models", ROBUSTNESS),
    "robustness sources": PaperFact(5, "sources", ROBUSTNESS),
    "robustness most samples": PaperFact(10, "samples", ROBUSTNESS),
    "robustness majority": PaperFact(50, "%", ROBUSTNESS),
    "temperature of one answer": PaperFact(0.0, "", ROBUSTNESS),
    "robustness expected retention rules": PaperFact(8, "rules", ROBUSTNESS),
    "robustness expected omission rules": PaperFact(24, "rules", ROBUSTNESS),
    "robustness omission precision": PaperFact(100, "%", ROBUSTNESS, about=True),
    "robustness retention recall": PaperFact(100, "%", ROBUSTNESS, about=True),
    "judge judgments": PaperFact(100, "judgments", JUDGE_STUDY),
    "judge precision": PaperFact(98.89, "%", JUDGE_STUDY),
    "judge recall": PaperFact(100, "%", JUDGE_STUDY),
    "judge false positive rate": PaperFact(0.90, "%", JUDGE_STUDY),
    "red-team sources": PaperFact(50, "sources", RED_TEAMING),
    "red-team first malicious source": PaperFact(8, "position", RED_TEAMING),
    "red-team second malicious source": PaperFact(44, "position", RED_TEAMING),
    "red-team bound": PaperFact(78, "calls", RED_TEAMING),
}
"""The figures, by name. For its red-teaming example, the paper states no number of calls, only an upper
bound: the sum of 2^g over all rounds, where g is the number of groups in a round. The bound depends on
the places of the payload in that example."""


def stated(name: str) -> int:
    """Returns a figure of the paper that is a whole number. Raises KeyError for an unknown name, and
    ValueError if the figure is not whole."""
    value = FACTS[name].value
    if value != int(value):
        raise ValueError(f"the paper's figure for {name} is {value}, which is not whole")
    return int(value)
