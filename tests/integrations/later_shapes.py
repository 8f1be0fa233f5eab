"""What applications write into their later requests: shapes that repeat an earlier turn in some form, and
innocent ones, which have nothing of it."""

import base64
import codecs
import hashlib
import json
from collections.abc import Callable
from typing import TypeAlias

Messages: TypeAlias = list[tuple[str, str]]
Shape: TypeAlias = Callable[[Messages], Messages]
"""A function from the messages that the application was given to those of its second request, without the
first reply and without the last question."""

TURNS: Messages = [
    ("user", "Where is the key?"),
    ("assistant", "In room 4711, by ten."),
    ("user", "Who has it?"),
    ("assistant", "Ann of Bonn."),
]
QUESTION = ("user", "What is new?")
_OTHER = {"user": "assistant", "assistant": "user"}
_GERMAN = {"key": "Schluessel", "room": "Zimmer", "Who": "Wer", "Ann": "Anna"}


def _texts(given: Messages) -> list[str]:
    return [text for _, text in given[:-1]]


def _words(given: Messages) -> list[str]:
    return " ".join(_texts(given)).split()


def _as(role: str, make: Callable[[Messages], str]) -> Shape:
    return lambda given: [(role, make(given)), given[-1]]


def _has(word: str, said: str, other: str) -> Callable[[Messages], str]:
    return lambda given: said if word in " ".join(_texts(given)) else other


def _words_cut(size: int) -> Callable[[Messages], str]:
    return lambda given: " ".join(word[:size] for word in _words(given))


def _coded(given: Messages) -> bytes:
    return " ".join(_texts(given)).encode()


LEAKS: dict[str, Shape] = {
    "short words as the user": _as(
        "user", lambda given: " ".join(w for w in _words(given) if len(w) < 5)
    ),
    "short words as the system": _as("system", lambda g: " ".join(w for w in _words(g) if len(w) < 5)),
    "names as the system": _as("system", lambda g: " ".join(w for w in _words(g) if w.istitle())),
    "names as the model": _as("assistant", lambda g: " ".join(w for w in _words(g) if w.istitle())),
    "in the question": lambda given: [("user", f"{given[-1][1]} ({' '.join(_words(given)[:3])})")],
    "last word in the question": lambda given: [
        ("user", f"{given[-1][1]} {(_words(given) or [''])[-1]}")
    ],
    "translated": _as("system", lambda g: " ".join(_GERMAN.get(w.strip("?."), "-") for w in _words(g))),
    "plural": _as("system", lambda given: " ".join(f"{word.strip('?.,')}s" for word in _words(given))),
    "inflected": _as("user", lambda given: " ".join(f"{w.strip('?.,')}ing" for w in _words(given))),
    "initials": _as("system", lambda given: "".join(word[0] for word in _words(given))),
    "last letters": _as("system", lambda given: "".join(word[-1] for word in _words(given))),
    "two letters of each word": _as("user", _words_cut(2)),
    "three letters of each word": _as("system", _words_cut(3)),
    "numbers": _as("system", lambda g: "".join(each for each in " ".join(_texts(g)) if each.isdigit())),
    "count of messages": _as("system", lambda given: f"You have read {len(given)} messages."),
    "count of words": _as("system", lambda given: f"{len(_words(given))} words so far."),
    "count of letters": _as("user", lambda given: f"Size: {sum(map(len, _texts(given)))}."),
    "count of questions": _as("system", lambda g: f"{sum('?' in text for text in _texts(g))} asked."),
    "lengths": _as("system", lambda given: str([len(text) for text in _texts(given)])),
    "backwards": _as("system", lambda given: " ".join(_texts(given))[::-1]),
    "upper case": _as("user", lambda given: " ".join(_texts(given)).upper()),
    "without vowels": _as(
        "system", lambda g: "".join(c for c in " ".join(_texts(g)) if c not in "aeiou")
    ),
    "base64": _as("system", lambda given: base64.b64encode(_coded(given)).decode()),
    "rot13": _as("system", lambda given: codecs.encode(" ".join(_texts(given)), "rot13")),
    "hexadecimal": _as("user", lambda given: _coded(given).hex()),
    "hash": _as("system", lambda given: hashlib.sha256(_coded(given)).hexdigest()[:12]),
    "sorted words": _as("system", lambda given: " ".join(sorted(_words(given)))),
    "set of letters": _as("system", lambda given: "".join(sorted(set("".join(_texts(given)))))),
    "a flag": _as("system", _has("key", "There is a key.", "There is none.")),
    "another rule": _as("system", _has("4711", "Be strict.", "Be kind.")),
    "a tone": _as("system", _has("Ann", "Speak to a friend.", "Speak to a stranger.")),
    "nothing but a mark": _as("system", _has("Bonn", "!", "?")),
    "a question left out": lambda given: [given[-1]] if "Ann" in " ".join(_texts(given)) else given,
    "a summary": _as("user", lambda g: f"Earlier: {'; '.join(text[:9] for text in _texts(g))}"),
    "quoted": _as("user", lambda given: "; ".join(f"{role} said {text}" for role, text in given[:-1])),
    "as JSON": _as("user", lambda given: json.dumps(given[:-1])),
    "other roles": lambda given: [("user", f"{r}: {t}") for r, t in given[:-1]] + given[-1:],
    "roles swapped": lambda g: (
        [("user" if r == "assistant" else "assistant", t) for r, t in g[:-1]] + g[-1:]
    ),
    "as the developer": lambda given: [("system", text) for text in _texts(given)] + given[-1:],
    "shortened": lambda given: [(role, f"{text[:7]}...") for role, text in given[:-1]] + given[-1:],
    "only what the user said": lambda g: [each for each in g if each[0] == "user"],
    "only the replies": lambda given: [e for e in given[:-1] if e[0] == "assistant"] + given[-1:],
    "without the oldest": lambda given: given[1:],
    "without the newest": lambda given: given[:-2] + given[-1:],
    "the last two": lambda given: given[-2:],
    "said twice": lambda given: given[:-1] + given,
    "in another order": lambda given: given[:-1][::-1] + given[-1:],
    "numbered": lambda g: [(role, f"{n}. {text}") for n, (role, text) in enumerate(g[:-1])] + g[-1:],
}
FIXED = "You pay bills where somebody asked for the key of a room, such as Ann."
INNOCENT: dict[str, Shape] = {
    "the same": lambda given: given,
    "another agent alone": lambda given: [("system", FIXED), given[-1]],
    "another agent with the conversation": lambda given: [("system", FIXED), *given],
    "another agent of few words": lambda given: [("system", "Pay. Ann. Key."), given[-1]],
    "another language": lambda given: [("system", "Zahle, was im Zimmer liegt."), given[-1]],
    "a summariser": lambda given: [("system", "Sum up what was said in the room."), *given],
    "a judge": lambda given: [("system", "Is it true? Say 4711 or not."), given[-1]],
    "a supervisor": lambda given: [("system", "Who is next: Ann, Bob or the end?"), *given],
    "a reminder": lambda given: [*given, ("system", "Remember the key.")],
    "a reminder of the user": lambda given: [*given, ("user", "Please be brief, by ten at most.")],
    "steps": lambda given: [("system", "This is step 2 of 3."), *given],
    "budget": lambda given: [*given, ("user", "You have 10 requests left.")],
    "a form": lambda given: [("system", 'Answer as JSON: {"room": "number", "who": "name"}'), *given],
    "examples": lambda given: [("user", "Where is it?"), ("assistant", "In room 12."), *given],
    "the question alone": lambda given: [given[-1]],
    "the question twice": lambda given: [*given, given[-1]],
    "the question in a frame": lambda given: [("user", f"Ann asks: {given[-1][1]}")],
    "the question's words": lambda given: [("system", " ".join(given[-1][1].split()[:2])), given[-1]],
    "count of the question's words": lambda g: [("system", f"{len(g[-1][1].split())} words"), *g],
    "a prompt before": lambda given: [("system", "Where is the key?"), *given],
    "a long frame": lambda given: [("system", "Who has it? " * 20), *given],
    "a plan": lambda given: [*given, ("assistant", "First the key, then the room.")],
}
