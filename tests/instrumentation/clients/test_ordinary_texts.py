"""Ordinary texts, in which there are brackets, numbers, code and examples, stay one source without a
word."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_rule_explainer.instrumentation.clients.of_text import json_listing
from rag_rule_explainer.instrumentation.clients.recognising import recognised
from rag_rule_explainer.instrumentation.clients.seen_as_one import doubt_about
from tests.drawing import drawn, few

HERE = Path(__file__).parents[3]
TEXTS = (
    "",
    "   ",
    "[",
    "{}",
    "[link](https://example.org) [another](https://example.org/2) and so on.",
    "[1, 2, 3]",
    "[[1.0, 0.5], [0.25, 1.0]]",
    "[sic] He wrote that [the] law was {good}.",
    "{name}, please reply to [1] and [2].",
    "As shown in [1] and [2], bones need calcium.\n\n[1] A. Author, On bones.\n[2] B. Author, More.",
    "[1]: https://example.org/one\n[2]: https://example.org/two",
    "1. Mix the flour with the eggs.\n2. Add the sugar and the milk.\n3. Bake it for one hour.",
    "Ingredients:\n1. two eggs from the farm\n2. half a pound of flour\n3. one cup of milk",
    "Article 1. All human beings are born free.\nArticle 2. Everyone is entitled to all the rights.",
    "Chapter 1: The boy who lived\n\nChapter 2: The glass that was not there any more",
    "# Title\n\n## One\n\nSome text of the first.\n\n## Two\n\nSome text of the second.",
    "Title: On bones\nAuthor: A. Author\n\nBones need calcium, and calcium needs vitamin D.",
    "---\ntitle: On bones\nurl: /bones\n---\n\nBones need calcium.",
    'Set it up:\n\n```json\n{"servers": [{"host": "a"}, {"host": "b"}]}\n```\n\nThen start it again.',
    "```python\nfound = [{'id': 1}, {'id': 2}]\n```",
    "docs = [\n    {'id': 1, 'text': 'one'},\n    {'id': 2, 'text': 'two'},\n]\nprint(docs)",
    "def f(text: str, id: str) -> None:\n    text: str = text\n    id: str = id",
    "    role: str\n    text: str\n\ndef said(given):\n    role = given[0]\n    text = given[1]",
    "<p>One paragraph.</p>\n<p>Another paragraph.</p>\n<video><source src='a'><source src='b'></video>",
    "| name | text |\n|---|---|\n| a | one |\n| b | two |",
    "id,text\n1,one of them\n2,another of them",
    "Q: What do bones need?\nA: Calcium.\n\nQ: What else?\nA: Vitamin D.",
    "User: hello\nAssistant: How can I help?\nUser: Tell me of bones.",
    "(1) Redistributions retain the notice above.\n\n(2) Redistributions in binary form reproduce it.",
    "10.1 mg of calcium (see document 2) [see source 3].",
    "Results: 4 of 5 trials found that calcium helps (p < 0.05 [0.01, 0.04]).",
    "Note: [this is important] and it stands in brackets: {see above}.",
    "From: a@example.org\nTo: b@example.org\nSubject: bones\n\nHello,\n\nsee https://example.org [1].",
    "2020-01-01 12:00:00 [INFO] started {pid: 1}\n2020-01-01 12:00:01 [INFO] stopped {pid: 1}",
    "SELECT * FROM docs WHERE id IN ('a', 'b') AND text LIKE '%[0-9]%'",
    "E = mc^2 and f(x) = {x, if x > 0; 0, else} for x in [0, 1].",
    json.dumps({"id": "a", "text": "one", "tags": ["x", "y"]}),
    json.dumps({"temperature": 21.5, "unit": "C", "hours": [1, 2, 3]}),
    json.dumps([{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hello to you"}]),
    "He said: \"[…] no.\" She said: '{…} yes.'",
)


def paragraphs() -> Iterator[str]:
    """Paragraphs of this project's own pages and code, alone and four at a time."""
    pages = [*HERE.glob("docs/**/*.md"), *HERE.glob("*.md"), *HERE.glob("rag_rule_explainer/**/*.py")]
    for page in sorted(pages):
        text = page.read_text(encoding="utf-8")
        parts = re.split(r"\n\s*\n", text)
        yield text
        yield from parts
        yield from ("\n\n".join(parts[place : place + 4]) for place in range(0, len(parts), 4))


@pytest.mark.parametrize("text", TEXTS)
def test_an_ordinary_text_is_one_source_without_a_word(text: str) -> None:
    assert recognised(text) is None
    assert not doubt_about(text, text, alone=True)
    assert not doubt_about({"text": text}, text, alone=False)


@drawn
def test_paragraphs_of_pages_and_code_are_one_source_each() -> None:
    told = [
        text
        for text in few(list(paragraphs()))
        if json_listing.rows(text) is not None or doubt_about(text, text, alone=True)
    ]
    assert told == []
