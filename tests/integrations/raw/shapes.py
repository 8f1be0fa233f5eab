"""Shapes in which searches of one's own return their results, beside how an application reads each."""

import json
from collections import OrderedDict, UserDict
from collections.abc import Callable, Mapping
from pprint import pformat
from types import SimpleNamespace
from typing import Any, NamedTuple

from langchain_core.documents import Document

from tests.integrations.known import TEXTS
from tests.integrations.raw.own_types import (
    ALL,
    HITS,
    OBJECTS,
    PASSAGES,
    Answered,
    Counted,
    Found,
    Paged,
    Passages,
    Queried,
    Slotted,
    Whole,
)


class Shape(NamedTuple):
    """``response``: what a search returns. ``shown``: the texts that the application reads in it."""

    response: Any
    shown: Callable[[Any], list[str]]


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
    "user's dict": Shape(UserDict(results=HITS), of(UserDict, lambda f: texts(f["results"]))),
    "attrs": Shape(Answered("q", HITS), of(Answered, lambda f: texts(f.results))),
    "a model that is a list": Shape(Whole(HITS), of(Whole, lambda f: texts(f.root))),
    "dict of documents": Shape(
        {"query": "q", "documents": [Document(page_content=text) for text in ALL]},
        lambda f: [each.page_content for each in f["documents"]],
    ),
    "as of Weaviate": Shape(
        {"data": {"Get": {"Fact": [{**each, "_additional": {"distance": 0.5}} for each in HITS]}}},
        lambda f: texts(f["data"]["Get"]["Fact"]),
    ),
    "as of Exa": Shape(SimpleNamespace(results=OBJECTS, prompt=None), lambda f: attributes(f.results)),
    "pairs of a name and a dict": Shape(
        [(each["id"], each) for each in HITS], lambda f: [each["text"] for _, each in f]
    ),
    "scores first": Shape([(0.5, text) for text in ALL], lambda f: [text for _, text in f]),
    "JSON behind a mark of its bytes": Shape(
        "\ufeff" + json.dumps(HITS), lambda f: texts(json.loads(f.removeprefix("\ufeff")))
    ),
    "lines as Python shows them": Shape(
        "\n".join(map(str, HITS)), lambda f: [pythons(f"[{line}]")[0] for line in f.splitlines()]
    ),
    "JSON with commas": Shape(",\n".join(map(json.dumps, HITS)), lambda f: texts(json.loads(f"[{f}]"))),
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
