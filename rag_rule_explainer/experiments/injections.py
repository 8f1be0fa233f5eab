"""This module reads adversarial texts for red-teaming from JSONL. The file is untrusted, and its texts
are only shown to the attacked model."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, StrictStr, ValidationError

from ..errors import InvalidInput
from .published import first_complaint, readable

EXPECTED_INJECTIONS = (
    'give a .jsonl with lines like {"text": "..."}, or {"parts": ["...", "..."], "exploit": "..."} for a '
    "payload in two halves"
)
_Filled = Annotated[StrictStr, Field(min_length=1)]


class _Injection(BaseModel):
    text: _Filled | None = None
    adversarial_texts: list[_Filled] = []
    parts: tuple[_Filled, _Filled] | None = None
    exploit: _Filled | None = None


@dataclass(frozen=True, slots=True)
class Injections:
    """An ``Injections`` object holds adversarial texts, and payloads. A payload has two halves, and a
    text that an answer contains if the attack succeeded."""

    texts: tuple[str, ...]
    payloads: tuple[tuple[tuple[str, str], str], ...] = ()

    def drawn(self, count: int, draw: random.Random) -> list[str]:
        """Returns ``count`` random texts. A text occurs twice only if there are too few."""
        texts: list[str] = []
        while len(texts) < count:
            texts += draw.sample(self.texts, min(count - len(texts), len(self.texts)))
        return texts


def injections_in(path: Path) -> Injections:
    """Returns the adversarial texts in a file. Also reads PoisonedRAG's ``adversarial_texts``. Raises
    InvalidInput if the file cannot be read, for a malformed line, and if there is no text."""
    texts, payloads = list[str](), list[tuple[tuple[str, str], str]]()
    with readable(path, EXPECTED_INJECTIONS) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                one = _Injection.model_validate_json(line)
            except ValidationError as error:
                raise InvalidInput(
                    f"{path}, line {number}: {first_complaint(error)}; {EXPECTED_INJECTIONS}"
                ) from error
            if (one.parts is None) != (one.exploit is None):
                raise InvalidInput(f"{path}, line {number}: parts and exploit belong together; give both")
            if one.parts is not None and one.exploit is not None:
                payloads.append((one.parts, one.exploit))
            texts += [*([] if one.text is None else [one.text]), *one.adversarial_texts]
    if not texts:
        raise InvalidInput(f"{path} has no adversarial texts; {EXPECTED_INJECTIONS}")
    return Injections(tuple(texts), tuple(payloads))
