"""Copies of turns beside their messages, in every form and place, and innocent data there."""

import base64
import bz2
import collections
import csv
import functools
import gzip
import html
import io
import json
import lzma
import pickle
import quopri
import sqlite3
import urllib.parse
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from langchain_core.documents import Document
from llama_index.core.schema import TextNode
from pydantic import BaseModel, PrivateAttr

from rag_rule_explainer.instrumentation.source_kinds.prompt_sections import PromptMessage
from rag_rule_explainer.instrumentation.source_kinds.prompt_sources import PromptSources
from rag_rule_explainer.instrumentation.source_kinds.taking_out import TakingOut
from rag_rule_explainer.instrumentation.source_kinds.turn_remains import Copy
from tests.instrumentation.source_kinds.test_prompt_sources import as_turn

QUESTION = "What is new?"
SAID: dict[str, list[tuple[str, str]]] = {
    "long": [
        ("Where is the key?", "It is in room 4711.\nAsk at the desk."),
        ("Who has it?", "Ann of Bonn has it, I think."),
    ],
    "short": [("Key?", "Room 4711."), ("Who?", "Ann, Bonn.")],
    "other letters": [
        ("Wo ist der Schlüssel?", "Er liegt in Zimmer 4711, größer."),
        ("Wer hat ihn?", 'Ann aus München hat "ihn" & Bob\'s.'),
    ],
    "no spaces": [("钥匙在哪里", "钥匙在四七一一房间"), ("谁有钥匙", "安娜有钥匙和房间")],
    "one word": [("Open?", "Yes."), ("Paid?", "No.")],
}
ALL_TURNS = {"turn 1", "turn 2"}


def joined(texts: Sequence[str]) -> str:
    return "\n".join(texts)


def packed(texts: Sequence[str]) -> bytes:
    return json.dumps(texts).encode()


def as_table(texts: Sequence[str]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows(enumerate(texts))
    return out.getvalue()


def as_wide_letters(texts: Sequence[str]) -> list[str]:
    wide = {place: place + 0xFEE0 for place in range(ord("!"), ord("~") + 1)}
    return [each.translate(wide) for each in texts]


def as_database(texts: Sequence[str]) -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("create table said (text text)")
        connection.executemany("insert into said values (?)", [(each,) for each in texts])
        connection.commit()
        with TemporaryDirectory() as folder, closing(sqlite3.connect(f"{folder}/a.db")) as copy:
            connection.backup(copy)
            return Path(f"{folder}/a.db").read_bytes()


FORMS: dict[str, Callable[[list[str]], Any]] = {
    "a list": list,
    "a transcript": lambda texts: joined([f"bot: {each}" for each in texts]),
    "stamped lines": lambda texts: [f"[10:05] bot> {each}" for each in texts],
    "numbers": lambda texts: "; ".join(f"{place}. {each}" for place, each in enumerate(texts, 1)),
    "JSON": json.dumps,
    "JSON in JSON": lambda texts: json.dumps({"body": json.dumps(texts)}),
    "lines of JSON": lambda texts: joined([json.dumps({"said": each}) for each in texts]),
    "CSV": as_table,
    "HTML": lambda texts: "".join(f"<p>{html.escape(each)}</p>" for each in texts),
    "entities": lambda texts: "".join(f"&#{ord(each)};" for each in joined(texts)),
    "Markdown": lambda texts: "\n\n".join(f"**Assistant:** {each}" for each in texts),
    "percent signs": lambda texts: urllib.parse.quote(joined(texts)),
    "quoted-printable": lambda texts: quopri.encodestring(joined(texts).encode()).decode(),
    "UTF-16": lambda texts: joined(texts).encode("utf-16"),
    "UTF-16 without a mark": lambda texts: joined(texts).encode("utf-16-le"),
    "base64": lambda texts: base64.b64encode(packed(texts)).decode(),
    "base64 of each": lambda texts: [base64.b64encode(each.encode()).decode() for each in texts],
    "base64 in lines": lambda texts: base64.encodebytes(packed(texts * 4)).decode(),
    "base85": lambda texts: base64.b85encode(joined(texts).encode()).decode(),
    "hex": lambda texts: joined(texts).encode().hex(),
    "gzip": lambda texts: gzip.compress(packed(texts)),
    "zlib in base64": lambda texts: base64.b64encode(zlib.compress(packed(texts))).decode(),
    "bz2": lambda texts: bz2.compress(packed(texts)),
    "lzma": lambda texts: lzma.compress(packed(texts)),
    "pickle": pickle.dumps,
    "Documents": lambda texts: [Document(each) for each in texts],
    "nodes": lambda texts: [TextNode(text=each) for each in texts],
    "capital letters": lambda texts: [each.upper() for each in texts],
    "a database": as_database,
    "wide letters": as_wide_letters,
    "words": lambda texts: [each.split() for each in texts],
    "codes": lambda texts: [[ord(sign) for sign in each] for each in texts],
    "invisible signs": lambda texts: "\u00a0".join("\u200b".join(each) for each in texts),
    "keys": lambda texts: dict.fromkeys(texts, 1),
    "a deque": collections.deque,
    "a file in memory": lambda texts: io.StringIO(joined(texts)),
    "a function": lambda texts: lambda: texts,
    "a partial": lambda texts: functools.partial(print, *texts),
    "deep": lambda texts: {"a": [{"b": (each, place)} for place, each in enumerate(texts)]},
}


def known_of(said: Sequence[tuple[str, str]], omit: Any = "remove") -> PromptSources:
    messages = [each for turn in said for each in zip(("user", "assistant"), turn, strict=True)]
    prompt = [PromptMessage(*each) for each in [*messages, ("user", QUESTION)]]
    return PromptSources.of(prompt, as_turn("turns"), ["turns"], omit)


def dicts_of(known: PromptSources) -> list[dict[str, Any]]:
    return [{"role": each.role, "content": each.text} for each in known.messages]


@dataclass
class Request:
    messages: list[Any]
    beside: Any = None
    count: int = field(init=False)

    def __post_init__(self) -> None:
        self.count = len(self.messages)


def in_the_input(known: PromptSources, beside: Any) -> Any:
    return {"messages": dicts_of(known), "beside": beside}


def in_an_object(known: PromptSources, beside: Any) -> Any:
    return Request(dicts_of(known), beside)


def on_a_message(known: PromptSources, beside: Any) -> Any:
    *earlier, question = dicts_of(known)
    return [*earlier, {**question, "quoted": beside}]


PLACES = [in_the_input, in_an_object, on_a_message]


def taken(
    known: PromptSources,
    given: Any,
    note_copy: Callable[[str, Copy], None] = lambda _identity, _copy: None,
    is_ignored: Callable[[str], bool] = lambda _: False,
) -> TakingOut:
    taking = TakingOut(known, frozenset(ALL_TURNS), note_copy, is_ignored)
    taking.edited(given)
    return taking


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", PLACES)
def test_a_copy_is_found_in_every_form_and_place(
    form: str, place: Callable[[PromptSources, Any], Any]
) -> None:
    for name, said in SAID.items():
        known = known_of(said)
        copies = FORMS[form]([reply for _, reply in said])
        found = taken(known, place(known, copies)).copied
        assert {each for each, at in found.items() if at.text} == ALL_TURNS, name


TURNS = [
    ("Where is the key for the refunds office?", "The key is in room 4711, by ten."),
    ("ok", "Ann of Bonn has it."),
    ("English", "new?"),
    (QUESTION, "Nothing."),
]
DOCUMENTS = [
    "Refunds take fourteen days after the return of the goods.",
    "The office opens at ten. The key of each room is at the desk.",
]
PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8).decode()
HEAD = base64.b64encode(json.dumps({"sub": "u-17"}).encode()).decode()
INNOCENT: dict[str, Any] = {
    "nothing": None,
    "a profile": {"language": "English", "user_id": "u-17", "status": "ok", "is_new": False},
    "documents": DOCUMENTS,
    "Documents": [Document(each, metadata={"source": "faq.md", "page": 3}) for each in DOCUMENTS],
    "limits": {"max_tokens": 4711, "temperature": 0.2, "stop": ["\n\n"], "models": ["mini", "ok"]},
    "the question twice": {"question": QUESTION, "original_question": QUESTION},
    "an id": "0b7c1a52-9b1e-4f57-8d1c-3f3f0c2f9e11",
    "a key": f"sk-proj-{'aZ09' * 40}",
    "a token": f"Bearer {HEAD}.{HEAD}.{'A1b2' * 80}",
    "a picture": f"data:image/png;base64,{PICTURE}",
    "a vector": [each / 7 for each in range(300)],
    "numbers": list(range(50, 90)),
    "instructions": "You are kind. Answer in English, with a reason, and say yes or no.",
    "examples": [{"input": "How long do refunds take?", "output": "Fourteen days."}],
    "a schema": json.dumps({"type": "object", "properties": {"ok": {"type": "boolean"}}}),
    "a page": "<html><body><p>Refunds &amp; returns</p><p>Open at ten.</p></body></html>",
    "texts without spaces": ["退款需要十四天。", "办公室十点开门。"],
    "long text without spaces": "退款需要十四天。" * 100,
    "lines": "10:05 started\n10:06 loaded 3 rooms\n10:07 done",
}


@pytest.mark.parametrize("name", INNOCENT)
@pytest.mark.parametrize("place", PLACES)
def test_innocent_data_are_no_copies(name: str, place: Callable[[PromptSources, Any], Any]) -> None:
    known = known_of(TURNS)
    given = place(known, INNOCENT[name])
    taking = TakingOut(known, frozenset(known.groups))
    taking.edited(given)
    assert taking.copied == {}
    assert taking.taken == set(known.groups)


def test_what_cannot_be_read_may_be_a_copy() -> None:
    known = known_of(SAID["long"])
    unread = bytes(7 * each % 251 | 128 for each in range(900))
    for each in (unread, base64.b64encode(unread).decode()):
        assert set(taken(known, in_the_input(known, each)).copied) == ALL_TURNS


def test_the_user_can_say_that_a_field_has_nothing_to_do_with_the_turns() -> None:
    known = known_of(SAID["long"])
    given = in_the_input(known, "It is in room 4711. Ask at the desk.")
    found = taken(known, given).copied
    assert {each.path for each in found.values()} == {"beside.beside"}
    assert not taken(known, given, is_ignored=lambda path: path == "beside.beside").copied


def test_what_belongs_to_a_turn_goes_with_it() -> None:
    known = known_of(SAID["long"])
    one, two, three, four, question = dicts_of(known)
    rated: Any = {"type": "feedback", "score": -1}
    given = [one, rated, two, rated, three, four, question]
    assert TakingOut(known, frozenset({"turn 1"})).edited(given) == [three, four, question]
    assert TakingOut(known, frozenset({"turn 2"})).edited(given) == [one, rated, two, rated, question]
    # Such an element has no text that could be blanked.
    blank = TakingOut(known_of(SAID["long"], "blank"), frozenset({"turn 1"}))
    assert blank.edited(given) is given
    assert not blank.taken


class Counted(BaseModel):
    messages: list[Any]
    _count: int = PrivateAttr(default=0)

    def model_post_init(self, _: Any) -> None:
        self._count = len(self.messages)

    @property
    def count(self) -> int:
        return self._count


class Messages(list[Any]):
    def __init__(self, given: Sequence[Any]) -> None:
        super().__init__(given)
        self.size = len(given)

    @property
    def count(self) -> int:  # pyright: ignore[reportIncompatibleMethodOverride] -- one name for all three classes
        return self.size


def counted(messages: list[Any]) -> Counted:
    return Counted(messages=messages)


@pytest.mark.parametrize("make", [Request, counted, Messages])
def test_what_a_class_computes_is_computed_anew(make: Callable[[list[Any]], Any]) -> None:
    known = known_of(SAID["long"])
    given = make(dicts_of(known))
    left = TakingOut(known, frozenset({"turn 1"})).edited(given)
    assert (left.count, given.count) == (3, 5)


def test_what_is_set_by_hand_may_be_something_of_the_turn() -> None:
    known, noted = known_of(SAID["long"]), dict[str, Copy]()
    given = Request(dicts_of(known))
    given.count = 7
    taken(known, given, noted.__setitem__)
    assert noted["turn 1"] == Copy("beside.Request.count")
