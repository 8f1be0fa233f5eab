"""Classes of results and of responses, as clients of all kinds have them."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import attr
from pydantic import BaseModel, RootModel

from tests.integrations.known import TEXTS

HITS: list[dict[str, Any]] = [{"id": name, "text": text} for name, text in TEXTS.items()]
ALL: list[str] = list(TEXTS.values())


@dataclass
class Hit:
    """A result as an object."""

    id: str
    text: str


@dataclass(frozen=True)
class Found:
    """A response as an object that nobody can change."""

    query: str
    hits: list[Any]
    total: int = len(HITS)


@dataclass
class Counted:
    """A response that counts its results when it is made."""

    results: list[Any]
    count: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.count = len(self.results)


class Slotted:
    """A response without a dict of attributes."""

    __slots__ = ("query", "results")

    def __init__(self, query: str, results: list[Any]) -> None:
        self.query, self.results = query, results


class Passage(BaseModel):
    """A result of a typed client."""

    id: str
    content: str
    score: float = 0.5


class Passages(BaseModel):
    """A response of a typed client."""

    question: str
    passages: list[Passage]
    took_ms: int = 3


class Paged(NamedTuple):
    """A response that is a tuple with names."""

    results: list[Any]
    next_cursor: str


@attr.frozen
class Answered:
    """A response of another library for classes."""

    query: str
    results: list[Any]


class Whole(RootModel[list[Any]]):
    """A model that is a list."""


class Computed:
    """A response whose results and text are computed."""

    def __init__(self, found: list[Any]) -> None:
        self._found = found

    @property
    def results(self) -> list[Any]:
        """The results."""
        return self._found

    @property
    def text(self) -> str:
        """The texts of all results."""
        return "\n".join(each["text"] for each in self._found)

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class Beside(BaseModel):
    """A response in which one text tells of all results."""

    answer: str
    results: list[Passage]


class Queried(NamedTuple):
    """A response whose only usual text is the query."""

    text: str
    results: list[Any]


@dataclass
class QueriedHits:
    """The same as a dataclass."""

    text: str
    results: list[Any]


OBJECTS = [Hit(**each) for each in HITS]
PASSAGES = [Passage(id=name, content=text) for name, text in TEXTS.items()]
