"""Shapes in which searches of one's own return their results, beside how an application reads each."""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pprint import pformat
from types import SimpleNamespace
from typing import Any, NamedTuple

from pydantic import BaseModel

from tests.integrations.known import TEXTS

HITS: list[dict[str, Any]] = [{"id": name, "text": text} for name, text in TEXTS.items()]
ALL: list[str] = list(TEXTS.values())


class Shape(NamedTuple):
    """``response``: what a search returns. ``shown``: the texts that the application reads in it."""

    response: Any
    shown: Callable[[Any], list[str]]


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


def texts(results: Any) -> list[str]:
    """The texts of dicts."""
    return [each["text"] for each in results]


def attributes(results: Any) -> list[str]:
    """The texts of objects."""
    return [each.text for each in results]


def of(kind: type, read: Callable[[Any], list[str]]) -> Callable[[Any], list[str]]:
    """Reads a response of exactly this type."""

    def shown(found: Any) -> list[str]:
        assert type(found) is kind
        return read(found)

    return shown


def counted(found: Any) -> list[str]:
    assert found.count == len(found.results)
    return attributes(found.results)


def totalled(found: Any) -> list[str]:
    assert found.total == len(found.hits)
    return texts(found.hits)


def of_solr(found: Any) -> list[str]:
    response = found["response"]
    assert response["numFound"] == len(response["docs"])
    return texts(response["docs"])


def in_json(read: Callable[[Any], list[str]] = texts, **form: Any) -> Callable[[Any], list[str]]:
    """Reads JSON that is written in this form."""

    def shown(found: str) -> list[str]:
        value = json.loads(found)
        assert json.dumps(value, **form) == found
        return read(value)

    return shown


def lined(found: str) -> list[str]:
    return [json.loads(line)["text"] for line in found.splitlines() if line]


def fenced(found: str) -> list[str]:
    assert found.startswith("```json\n")
    assert found.endswith("\n```")
    return texts(json.loads(found[8:-4]))


def labelled(label: str) -> Callable[[Any], list[str]]:
    def shown(found: str) -> list[str]:
        assert found.startswith(label)
        return texts(json.loads(found.removeprefix(label)))

    return shown


def pythons(found: str) -> list[str]:
    value: Any = eval(found, {})  # noqa: S307 -- what the test itself wrote
    return texts(value)


def scored(found: Any) -> list[str]:
    return [each["text"] for each, score in found if score]


TAKEN_APART: Mapping[str, Shape] = {
    "dict": Shape({"query": "q", "results": HITS}, lambda f: texts(f["results"])),
    "dict of texts": Shape({"query": "q", "passages": ALL}, lambda f: list(f["passages"])),
    "dict of passages under another name": Shape({"query": "q", "seen": ALL}, lambda f: list(f["seen"])),
    "dict of objects": Shape({"query": "q", "results": OBJECTS}, lambda f: attributes(f["results"])),
    "dict of models": Shape({"q": "x", "hits": PASSAGES}, lambda f: [each.content for each in f["hits"]]),
    "ordered dict": Shape(
        OrderedDict(query="q", results=HITS), of(OrderedDict, lambda f: texts(f["results"]))
    ),
    "dict with data of the request": Shape(
        {"results": HITS, "metadata": {"took": 3, "query": "q"}, "images": []},
        lambda f: texts(f["results"]),
    ),
    "dict of pairs": Shape({"results": [(each, 0.5) for each in HITS]}, lambda f: scored(f["results"])),
    "dict in a dict": Shape(
        {"status": "ok", "data": {"items": HITS, "total": 4}},
        lambda f: texts(f["data"]["items"]) if f["data"]["total"] == len(f["data"]["items"]) else ALL,
    ),
    "as of Solr": Shape(
        {"responseHeader": {"status": 0, "QTime": None}, "response": {"numFound": 4, "docs": HITS}},
        of_solr,
    ),
    "as of Brave": Shape(
        {"type": "search", "web": {"type": "search", "results": HITS}},
        lambda f: texts(f["web"]["results"]),
    ),
    "tuple inside": Shape(
        {"results": tuple(HITS)}, lambda f: texts(f["results"]) if type(f["results"]) is tuple else ALL
    ),
    "namespace": Shape(
        SimpleNamespace(query="q", results=HITS), of(SimpleNamespace, lambda f: texts(f.results))
    ),
    "frozen dataclass": Shape(Found("q", HITS), of(Found, totalled)),
    "dataclass of objects": Shape(Counted(OBJECTS), of(Counted, counted)),
    "slots": Shape(Slotted("q", OBJECTS), of(Slotted, lambda f: attributes(f.results))),
    "pydantic": Shape(
        Passages(question="q", passages=PASSAGES),
        of(Passages, lambda f: [each.content for each in f.passages]),
    ),
    "named tuple": Shape(Paged(HITS, "next"), of(Paged, lambda f: texts(f.results))),
    "object in an object": Shape(
        SimpleNamespace(status="ok", data=Counted(OBJECTS)), lambda f: counted(f.data)
    ),
    "pairs": Shape([(each, 0.5) for each in HITS], scored),
    "pairs of objects": Shape([(each, 0.5) for each in OBJECTS], lambda f: [each.text for each, _ in f]),
    "named tuples": Shape([Queried(text, []) for text in ALL], lambda f: [each.text for each in f]),
    "JSON of texts": Shape(json.dumps(ALL), in_json(list)),
    "JSON with spaces": Shape(json.dumps(HITS, indent=2), in_json(indent=2)),
    "JSON with tabs": Shape(json.dumps(HITS, indent="\t"), in_json(indent="\t")),
    "JSON without spaces": Shape(
        json.dumps({"results": HITS}, separators=(",", ":")),
        in_json(lambda f: texts(f["results"]), separators=(",", ":")),
    ),
    "JSON of dicts in a dict": Shape(
        json.dumps({"data": {"results": HITS, "count": 4}}),
        in_json(lambda f: texts(f["data"]["results"])),
    ),
    "JSON without usual texts": Shape(
        json.dumps([{"name": text, "note": name} for name, text in TEXTS.items()]),
        in_json(lambda f: [each["name"] for each in f]),
    ),
    "JSON of rows": Shape(
        json.dumps([[text, 0.5] for text in ALL]), in_json(lambda f: [each[0] for each in f])
    ),
    "lines of JSON": Shape("\n".join(map(json.dumps, HITS)), lined),
    "lines of JSON, apart": Shape("\n\n".join(map(json.dumps, HITS)), lined),
    "lines of JSON, ended": Shape("\n".join(map(json.dumps, HITS)) + "\n", lined),
    "JSON in a block": Shape(f"```json\n{json.dumps(HITS)}\n```", fenced),
    "JSON below a label": Shape(f"Search results:\n{json.dumps(HITS)}", labelled("Search results:\n")),
    "JSON behind a label": Shape(f"Results: {json.dumps(HITS)}", labelled("Results: ")),
    "JSON in JSON": Shape(json.dumps(json.dumps(HITS)), lambda f: texts(json.loads(json.loads(f)))),
    "as Python shows it": Shape(str(HITS), pythons),
    "as Python prints it": Shape(pformat(HITS), pythons),
    "a tuple as Python shows it": Shape(str(tuple(HITS)), pythons),
}
"""What is split, and put together again as the application got it."""


class Told(NamedTuple):
    """A response that cannot be split without a word. ``put``: makes it of some of its results, as
    ``put_together`` does. ``shown``: the texts that the
    application reads in it. ``items``: all of its results."""

    put: Callable[[list[Any]], Any]
    shown: Callable[[Any], list[str]]
    items: list[Any] = HITS


def known(found: Any) -> list[str]:
    """The texts of the sources that are found anywhere in what Python shows of a response."""
    return [text for text in ALL if text in str(found)]


REFUSED: Mapping[str, Told] = {
    "an answer beside dicts": Told(lambda kept: {"answer": "a", "results": kept}, known),
    "an answer beside texts": Told(lambda kept: {"answer": "a", "results": kept}, known, ALL),
    "a usual text beside dicts": Told(lambda kept: {"content": "a", "results": kept}, known),
    "a usual text beside texts": Told(lambda kept: {"content": "a", "results": kept}, known, ALL),
    "a usual text beside passages": Told(lambda kept: {"text": "a", "seen": kept}, known, ALL),
    "a usual text beside objects": Told(lambda kept: {"text": "q", "results": kept}, known, OBJECTS),
    "a usual text above dicts": Told(lambda kept: {"text": "q", "data": {"results": kept}}, known),
    "a summary in an object": Told(
        lambda kept: SimpleNamespace(summary="s", results=kept), known, OBJECTS
    ),
    "an answer in a model": Told(
        lambda kept: Beside.model_construct(answer="a", results=kept), known, PASSAGES
    ),
    "the query in a named tuple": Told(lambda kept: Queried("q", kept), known),
    "the query in a dataclass": Told(lambda kept: QueriedHits("q", kept), known, OBJECTS),
    "two lists": Told(lambda kept: {"results": kept[::2], "more": kept[1::2]}, known),
    "lists side by side": Told(
        lambda kept: {"texts": [each["text"] for each in kept], "scores": [0.5 for _ in kept]}, known
    ),
    "a best score": Told(lambda kept: {"results": kept, "best": 0.5}, known),
    "dicts by name": Told(lambda kept: {each["id"]: each for each in kept}, known),
    "texts by name": Told(lambda kept: {each["id"]: each["text"] for each in kept}, known),
    "lists in a list": Told(lambda kept: [kept[:2], kept[2:]], known),
    "texts in lists in a list": Told(lambda kept: [kept], known, ALL),
    "a number beside a list": Told(lambda kept: (kept, 4), known),
    "scores beside texts": Told(lambda kept: (kept, [0.5 for _ in kept]), known, ALL),
    "the query beside texts": Told(lambda kept: [("q", kept)], known, ALL),
    "responses in a list": Told(lambda kept: [{"text": "q", "results": kept}], known),
    "items without a text": Told(
        lambda kept: [{"name": each["text"], "of": "x"} for each in kept], known
    ),
    "a set": Told(set, known, ALL),
    "values of a dict": Told(lambda kept: dict(enumerate(kept)).values(), known),
    "bytes of JSON": Told(lambda kept: json.dumps(kept).encode(), known),
    "JSON with an answer": Told(lambda kept: json.dumps({"answer": "a", "results": kept}), known),
    "JSON with two lists": Told(
        lambda kept: json.dumps({"results": kept[::2], "more": kept[1::2]}), known
    ),
    "JSON with lists in a list": Told(lambda kept: json.dumps([kept]), known),
    "JSON with a best score": Told(lambda kept: json.dumps({"results": kept, "best": 0.5}), known),
    "JSON by name": Told(
        lambda kept: json.dumps({"found": {each["id"]: [each] for each in kept}}), known
    ),
    "JSON in strange spaces": Told(lambda kept: json.dumps(kept, indent=7), known),
    "Python with an answer": Told(lambda kept: str({"answer": "a", "results": kept}), known),
}
"""What is refused with an error that names ``items_of``, before anything is paid."""


def joined(
    separator: str, each: Callable[[int, Any], str], before: str = ""
) -> Callable[[list[Any]], str]:
    """Joins what is said of each result, numbered as in the whole text."""

    def put(kept: list[Any]) -> str:
        return before + separator.join(each(HITS.index(one) + 1, one) for one in kept)

    return put


WARNED: Mapping[str, Told] = {
    "numbers in brackets": Told(joined("\n\n", lambda number, hit: f"[{number}] {hit['text']}"), known),
    "numbered documents": Told(
        joined("\n\n", lambda number, hit: f"Document {number}:\n{hit['text']}"), known
    ),
    "numbered results below a line": Told(
        joined("\n", lambda number, hit: f"Result {number}: {hit['text']}", "Here is what was found:\n"),
        known,
    ),
    "numbered headings": Told(
        joined("\n\n", lambda number, hit: f"### Source {number}\n{hit['text']}"), known
    ),
    "fields of each": Told(
        joined("\n\n", lambda _, hit: f"Source: {hit['id']}\nContent: {hit['text']}"), known
    ),
    "numbered fields": Told(
        joined("\n", lambda number, hit: f"{number}. Title: {hit['id']}\n   Snippet: {hit['text']}"),
        known,
    ),
    "metadata of each": Told(
        joined("\n\n", lambda _, hit: f"Source: {{'id': {hit['id']!r}}}\nContent: {hit['text']}"), known
    ),
    "tags": Told(
        joined("\n", lambda number, hit: f'<document index="{number}">{hit["text"]}</document>'), known
    ),
    "tags in a tag": Told(
        joined("\n", lambda _, hit: f"<source>{hit['text']}</source>", "<sources>\n"), known
    ),
    "objects as Python shows them": Told(lambda kept: str([Hit(**each) for each in kept]), known),
    "contents as a framework shows them": Told(
        joined("\n\n", lambda _, hit: f"page_content='{hit['text']}' metadata={{}}"), known
    ),
    "a count before JSON": Told(lambda kept: f"Found 4 results: {json.dumps(kept)}", known),
    "a line after JSON": Told(lambda kept: f"{json.dumps(kept)}\n(best: {TEXTS['a'][:9]})", known),
    "JSON in a block, with an answer": Told(
        lambda kept: f"```json\n{json.dumps({'answer': 'a', 'results': kept})}\n```", known
    ),
    "JSON in a field of an item": Told(lambda kept: [{"id": "all", "text": json.dumps(kept)}], known),
    "JSON in a field of a result": Told(
        lambda kept: {"results": [{"id": "all", "content": json.dumps(kept)}]}, known
    ),
    "JSON in an attribute": Told(lambda kept: Hit("all", json.dumps(kept)), known),
    "lines of JSON in a field": Told(
        lambda kept: {"results": [{"id": "all", "text": "\n".join(map(json.dumps, kept))}]}, known
    ),
    "numbers in the only text of a list": Told(
        lambda kept: [joined("\n", lambda number, hit: f"[{number}] {hit['text']}")(kept)], known
    ),
}
"""What is one source, with one warning that names ``items_of``."""
