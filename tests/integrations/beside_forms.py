"""This module lists forms that applications make of the turns of a conversation and keep beside its
messages. Each form has a name that applications give it."""

import base64
import codecs
import collections
import difflib
import hashlib
import html
import json
import quopri
import re
import string
import zlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from langchain_core.documents import Document

Messages: TypeAlias = list[tuple[str, str]]
TALK: Messages = [
    ("user", "Where do you keep the key for the archive?"),
    ("assistant", "It hangs in room 4711, ask Ann at the desk."),
    ("user", "Who pays the invoice of the printer?"),
    ("assistant", "Bob Keller of Bonn pays it in May."),
]
ASKED = ("user", "What is new today?")
SAID = [text for _, text in TALK]
WORDS = " ".join(SAID).split()
GERMAN = [
    "Wo wird der Schlüssel zum Magazin aufbewahrt?",
    "Er hängt am Brett bei der Pforte.",
    "Wer begleicht die Rechnung für das Gerät?",
    "Das macht ein Kollege im Frühling.",
]
SUMMARY = "The visitor wanted to get into a store and learned whom to see; money will come in spring."


def pieces(text: str, size: int = 3) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def coloured(texts: Sequence[str]) -> str:
    words = [f"\x1b[3{place % 8}m{each}\x1b[0m" for place, each in enumerate(" ".join(texts).split())]
    return " ".join(words)


def coloured_inside(texts: Sequence[str]) -> str:
    return "\n".join("\x1b[1m".join(pieces(each, 4)) for each in texts)


def in_spans(texts: Sequence[str]) -> str:
    words = " ".join(texts).split()
    return "".join(
        f'<span class="w" data-i="{at}">{html.escape(each)}</span> ' for at, each in enumerate(words)
    )


def subtitles(texts: Sequence[str], sign: str) -> str:
    halves = [half for each in texts for half in (each[: len(each) // 2], each[len(each) // 2 :])]
    times = [f"00:00:0{at}{sign}000 --> 00:00:0{at + 1}{sign}000" for at in range(len(halves))]
    return "\n\n".join(
        f"{at}\n{one}\n{half}" for at, (one, half) in enumerate(zip(times, halves, strict=True), 1)
    )


def hexdump(texts: Sequence[str]) -> str:
    raw, lines = "\n".join(texts).encode(), list[str]()
    for at in range(0, len(raw), 16):
        part = raw[at : at + 16]
        shown = "".join(chr(each) if 32 <= each < 127 else "." for each in part)
        lines.append(f"{at:08x}  {part.hex(' '):<47}  |{shown}|")
    return "\n".join(lines)


def bare_words(texts: Sequence[str]) -> list[str]:
    return [each.strip(string.punctuation).lower() for each in " ".join(texts).split()]


def vector(texts: Sequence[str]) -> list[float]:
    digest = hashlib.sha256(" ".join(texts).encode()).digest()
    return [round(each / 255 - 0.5, 4) for each in digest]


def e_mail(texts: Sequence[str]) -> str:
    body = quopri.encodestring("\n".join(f"ü {each}" for each in texts).encode()).decode()
    return f"From: a@example.com\nContent-Transfer-Encoding: quoted-printable\n\n{body}"


def deltas(texts: Sequence[str]) -> list[Any]:
    return [{"choices": [{"delta": {"content": each}, "index": 0}]} for each in pieces("\n".join(texts))]


def logprobs(texts: Sequence[str]) -> list[Any]:
    return [
        {"token": each, "logprob": -0.1, "bytes": list(each.encode())}
        for each in pieces("\n".join(texts), 4)
    ]


def initials(texts: Sequence[str]) -> str:
    return "".join(each[0] for each in " ".join(texts).split())


def json_patches(texts: Sequence[str]) -> list[Any]:
    return [
        {"op": "add", "path": f"/messages/{at}/content", "value": each} for at, each in enumerate(texts)
    ]


def patched_letters(texts: Sequence[str]) -> list[Any]:
    return [
        {"op": "str_ins", "path": "/0/content", "pos": at, "str": each}
        for at, each in enumerate(pieces(texts[-1]))
    ]


def wrapped(texts: Sequence[str]) -> str:
    return "\n".join(re.findall(".{1,9}", " ".join(texts)))


FORMS: dict[str, tuple[str, Callable[[list[str]], Any]]] = {
    "colours around words": ("terminal", coloured),
    "colours inside words": ("screen", coloured_inside),
    "a span for each word": ("rendered", in_spans),
    "SRT": ("captions", lambda said: subtitles(said, ",")),
    "VTT": ("track", lambda said: "WEBVTT\n\n" + subtitles(said, ".")),
    "pieces of a stream": ("chunks", lambda said: pieces("\n".join(said))),
    "deltas": ("stream", deltas),
    "events of a stream": (
        "sse",
        lambda said: "\n\n".join(f"data: {json.dumps(each)}" for each in deltas(said)),
    ),
    "a hexadecimal dump": ("dump", hexdump),
    "counts of words": ("words", lambda said: dict(collections.Counter(bare_words(said)))),
    "words in order of the alphabet": ("vocabulary", lambda said: sorted(set(bare_words(said)))),
    "pairs of word and count": ("freq", lambda said: [*collections.Counter(bare_words(said)).items()]),
    "an embedding": ("embedding", vector),
    "embeddings": ("vectors", lambda said: [vector([each]) for each in said]),
    "a vector under any name": ("x", vector),
    "a title cut inside a word": ("title", lambda said: said[0][:14] + "…"),
    "a title cut with dots": ("label_text", lambda said: said[0][:17] + "..."),
    "a title cut without a sign": ("head", lambda said: said[1][:15]),
    "initials": ("mnemonic", initials),
    "initials of each": ("short_forms", lambda said: [initials([each]) for each in said]),
    "a translation": ("translated", lambda _: "\n".join(GERMAN)),
    "translations": ("texts_de", lambda _: list(GERMAN)),
    "a translation under any name": ("extra", lambda _: GERMAN[1]),
    "a summary": ("summary", lambda _: SUMMARY),
    "a summary under any name": ("about", lambda _: SUMMARY),
    "topics": ("topics", lambda _: ["access", "billing"]),
    "an intent": ("last_intent", lambda _: "billing"),
    "entities": (
        "entities",
        lambda _: [{"type": "person", "value": "Ann"}, {"type": "place", "value": "Bonn"}],
    ),
    "a name": ("who", lambda _: "Keller"),
    "a number": ("found", lambda _: 4711),
    "a list of tokens": ("pieces", lambda said: re.findall(r"\w+|\W", " ".join(said))),
    "tokens with chances": ("raw", logprobs),
    "numbers of tokens": (
        "encoded",
        lambda said: [zlib.crc32(each.encode()) % 50257 for each in " ".join(said).split()],
    ),
    "a diff": (
        "changes",
        lambda said: "\n".join(difflib.unified_diff([""], said, "a", "b", lineterm="")),
    ),
    "a diff with lines cut": (
        "patch",
        lambda said: "\n".join(f"+{each}" for each in wrapped(said).splitlines()),
    ),
    "JSON patches": ("ops", json_patches),
    "patches of letters": ("edits", patched_letters),
    "base64 in lines": ("blob", lambda said: base64.encodebytes("\n".join(said * 3).encode()).decode()),
    "base64 in a list": (
        "parts",
        lambda said: pieces(base64.b64encode("\n".join(said).encode()).decode(), 20),
    ),
    "a quoted-printable e-mail": ("mail", e_mail),
    "reversed": ("mirror", lambda said: " ".join(said)[::-1]),
    "ROT13": ("rot", lambda said: codecs.encode("\n".join(said), "rot13")),
    "a digest": ("etag", lambda said: hashlib.sha256(said[1].encode()).hexdigest()),
    "a digest that was cut": ("fingerprint", lambda said: hashlib.md5(said[1].encode()).hexdigest()[:12]),  # noqa: S324 -- no secret
    "a number of messages": ("message_count", len),
    "a number of words": ("n_words", lambda said: len(" ".join(said).split())),
    "lines that were cut": ("page_text", wrapped),
    "a table": ("grid", lambda said: [[at, *each.split()] for at, each in enumerate(said)]),
    "documents": ("recalled", lambda said: [Document(each) for each in said]),
    "Markdown with marks": (
        "md",
        lambda said: "\n".join(" ".join(f"**{word}**" for word in each.split()) for each in said),
    ),
    "words with slashes": ("slug", lambda said: "-".join(bare_words(said[:2]))),
    "letters with spaces": ("spaced", lambda said: " ".join("\n".join(said))),
    "keys": ("seen", lambda said: dict.fromkeys(said, True)),
    "XML": (
        "xml",
        lambda said: "".join(
            f"<t>{''.join(f'<w>{word}</w>' for word in each.split())}</t>" for each in said
        ),
    ),
    "compressed": ("packed", lambda said: zlib.compress("\n".join(said).encode())),
}
