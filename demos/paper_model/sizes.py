"""This module says how much is asked. The usual size takes less than an hour on two processors that do
nothing else."""

import argparse
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

HELP = {
    "questions": "the most questions, out of those that it answers right with all sources",
    "sources": "sources of a question, 3 to 5; the one with the answer comes first, as in the paper",
    "screened": "answers from all sources; a question counts as answered right if most of them are",
    "samples": "answers to each subset where robustness is measured",
    "voted": "questions with three sources on which rules by votes are compared with the true ones",
    "majority": "answers by whose majority it is decided there what is true",
    "attacks": "attacks for each number of adversarial sources",
    "most_adversarial": "the most adversarial sources, up to 12",
    "judgements": "judgements that are checked",
}


@dataclass(frozen=True)
class Size:
    questions: int = 10
    sources: int = 4
    screened: int = 5
    samples: int = 10
    voted: int = 8
    majority: int = 30
    attacks: int = 4
    most_adversarial: int = 12
    judgements: int = 100

    @classmethod
    def add_to(cls, parser: argparse.ArgumentParser) -> None:
        for field in fields(cls):
            option, usual = f"--{field.name.replace('_', '-')}", field.default
            meaning = f"{HELP[field.name]} ({usual})"
            parser.add_argument(option, type=int, default=usual, metavar="N", help=meaning)

    @classmethod
    def of(cls, options: argparse.Namespace) -> "Size":
        """Raises ValueError for a number that makes no sense."""
        given = {field.name: getattr(options, field.name) for field in fields(cls)}
        low = [name for name, number in given.items() if number < 1]
        if low:
            raise ValueError(f"--{low[0].replace('_', '-')} is {given[low[0]]}; give 1 or more")
        if not 3 <= given["sources"] <= 5:
            raise ValueError(f"--sources is {given['sources']}; give 3, 4 or 5")
        if not 2 <= given["most_adversarial"] <= 12:
            raise ValueError(f"--most-adversarial is {given['most_adversarial']}; give 2 to 12")
        return cls(**given)


@dataclass(frozen=True)
class Inputs:
    """A run says which model is asked how much, and where the answers are kept."""

    out: Path
    size: Size
    seed: int = 0
    temperature: float = 1.0
    tokens: int = 40
    injections: Path | None = None

    def as_dict(self) -> dict[str, Any]:
        """Returns all that answers and tables depend on, which is not the folder."""
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "out"}
        given["size"] = {field.name: getattr(self.size, field.name) for field in fields(self.size)}
        given["injections"] = self.injections.name if self.injections else None
        texts = self.injections.read_bytes() if self.injections else b""
        given["injections_sha256"] = sha256(texts).hexdigest() if texts else None
        return given
