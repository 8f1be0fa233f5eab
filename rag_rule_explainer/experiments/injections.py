"""This module reads adversarial texts for red-teaming from JSONL. The file is untrusted, and its texts
are only shown to the attacked model."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import BaseModel, Field, StrictStr, ValidationError

from ..errors import InvalidInput
from .published import first_complaint, readable

EXPECTED_INJECTIONS = (
    'give a .jsonl with lines like {"text": "..."}, or {"parts": ["...", "..."], "exploit": "..."} for a '
    "payload in two halves"
)
Payload: TypeAlias = tuple[tuple[str, str], str]
"""A payload: its two halves, and the exploit, a text that an answer contains if the attack succeeded."""
_Filled = Annotated[StrictStr, Field(min_length=1, pattern=r"\S")]


class _Injection(BaseModel):
    text: _Filled | None = None
    adversarial_texts: list[_Filled] = []
    parts: tuple[_Filled, _Filled] | None = None
    exploit: _Filled | None = None

    @property
    def texts(self) -> list[str]:
        return [*([] if self.text is None else [self.text]), *self.adversarial_texts]


@dataclass(frozen=True, slots=True)
class Injections:
    """An ``Injections`` object holds adversarial texts, and payloads."""

    texts: tuple[str, ...]
    payloads: tuple[Payload, ...] = ()

    def drawn(self, count: int, draw: random.Random) -> list[str]:
        """Returns ``count`` texts in random order, drawn by the generator ``draw``. A text occurs twice
        only if there are fewer than ``count`` texts."""
        texts: list[str] = []
        while len(texts) < count:
            texts += draw.sample(self.texts, min(count - len(texts), len(self.texts)))
        return texts


def injections_in(path: Path) -> Injections:
    """Returns the adversarial texts and the payloads in a file. The file may also be one of the data set
    PoisonedRAG. Raises InvalidInput if it cannot be read, for a malformed line, and if it has no text."""
    texts, payloads = list[str](), list[Payload]()
    with readable(path, EXPECTED_INJECTIONS) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            one = _read(line, f"{path}, line {number}")
            if one.parts is not None and one.exploit is not None:
                payloads.append((one.parts, one.exploit))
            texts += one.texts
    if not texts:
        raise InvalidInput(f"{path} has no adversarial texts; {EXPECTED_INJECTIONS}")
    return Injections(tuple(texts), tuple(payloads))


def _read(line: str, where: str) -> _Injection:
    try:
        one = _Injection.model_validate_json(line)
    except ValidationError as error:
        raise InvalidInput(f"{where}: {first_complaint(error)}; {EXPECTED_INJECTIONS}") from error
    if (one.parts is None) != (one.exploit is None):
        raise InvalidInput(f"{where}: parts and exploit belong together; give both")
    if one.parts is None and not one.texts:
        # Such a line, for example one with a misspelled field, is an error, because nobody would notice
        # that it was skipped.
        raise InvalidInput(f"{where} has neither a text nor a payload; {EXPECTED_INJECTIONS}")
    return one
