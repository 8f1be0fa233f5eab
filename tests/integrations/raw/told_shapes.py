"""Shapes of results that are refused or warned of, beside how an application reads each."""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from tests.integrations.known import TEXTS
from tests.integrations.raw.own_types import (
    ALL,
    HITS,
    OBJECTS,
    PASSAGES,
    Beside,
    Computed,
    Hit,
    Queried,
    QueriedHits,
)


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
    "computed results": Told(Computed, known),
    "a dict that nobody can change": Told(lambda kept: MappingProxyType({"results": kept}), known),
    "an array": Told(lambda kept: np.array(kept, dtype=object), known, ALL),
    "documents beside the query": Told(lambda kept: ("q", kept), known),
    "ranks": Told(lambda kept: dict(enumerate(kept)), known),
    "pairs of texts": Told(lambda kept: [(each["id"], each["text"]) for each in kept], known),
    "documents with an image": Told(
        lambda kept: [*({"type": "text", **each} for each in kept), {"type": "image", "data": "x"}], known
    ),
    "JSON in lists of JSON": Told(lambda kept: f"{json.dumps(kept[:2])}\n{json.dumps(kept[2:])}", known),
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
    "pages of an encyclopedia": Told(
        joined("\n\n", lambda _, hit: f"Page: {hit['id']}\nSummary: {hit['text']}"), known
    ),
    "published papers": Told(
        joined("\n\n", lambda _, hit: f"Published: 2020\nTitle: {hit['id']}\nSummary: {hit['text']}"),
        known,
    ),
    "fields in one line": Told(
        joined(", ", lambda _, hit: f"snippet: {hit['text']}, title: {hit['id']}, link: l"), known
    ),
    "fields of YAML": Told(
        joined("\n", lambda _, hit: f"- id: {hit['id']}\n  text: {hit['text']}"), known
    ),
    "items in a tag": Told(joined("", lambda _, hit: f"<item>{hit['text']}</item>", "<items>"), known),
    "a list of what was found": Told(
        joined("\n", lambda number, hit: f"{number}. {hit['text']}", "Found 4 results:\n\n"), known
    ),
    "bold numbers": Told(joined("\n", lambda number, hit: f"**Result {number}**\n{hit['text']}"), known),
    "sources behind": Told(joined("\n\n", lambda _, hit: f"{hit['text']} (source: {hit['id']})"), known),
    "ids ahead": Told(joined("\n", lambda _, hit: f"[id={hit['id']}] {hit['text']}"), known),
    "numbers in German": Told(
        joined("\n\n", lambda number, hit: f"Dokument {number}: {hit['text']}"), known
    ),
    "corner brackets": Told(joined("\n", lambda number, hit: f"【{number}】{hit['text']}"), known),
    "a field with the body": Told(lambda kept: {"statusCode": 200, "body": json.dumps(kept)}, known),
    "a message": Told(lambda kept: SimpleNamespace(text=json.dumps(kept), status_code=200), known),
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
