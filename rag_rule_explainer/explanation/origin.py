"""This module defines records of where an explanation comes from, such as the application and its
models."""

from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal


@dataclass(frozen=True, slots=True)
class ApplicationRecord:
    """An ``ApplicationRecord`` identifies the explained application. ``name``: its name. ``fingerprint``:
    a hash of the requests that it sent to models before their first reply; it differs for another
    application or another question. An unknown value is empty."""

    name: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """A ``ModelRecord`` holds a model and the tokens that it used for this explanation. ``name``: the
    name that the model reported; empty if it reported none. ``use``: whether the application or a judge
    asked the model. ``tokens``: the tokens by kind; empty if all its answers came from the store."""

    name: str
    use: Literal["application", "judge"]
    tokens: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class MinerRecord:
    """A ``MinerRecord`` holds the name of the miner that searched, and the reason for its choice."""

    name: str
    reason: str


def content_hash(text: str) -> str:
    """Returns the SHA-256 of a text in UTF-8, as hexadecimal digits."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
