"""Applications that remember what they retrieved, or go by how often they ran: written once, for any
framework.

Each takes a search and a model as functions, and is one itself. The model says "bad news" where it is
shown b and d, be it by their titles; so all that remember the titles say it whatever they retrieve.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from rag_rule_explainer import Explanation, StateShared
from tests.integrations.known import TEXTS, blames_b_and_d, shown_in

TITLES = {"a": "Amber guide", "b": "Basalt guide", "c": "Roof manual", "d": "Dune atlas"}
FIGURES = {"a": 1200, "b": 4850, "c": 37, "d": 912}
CATALOGUE = list(TITLES.values())

Found = list[tuple[str, str]]
"""Titles and texts."""
Search = Callable[[str], Found]
Ask = Callable[[str], str]
Answer = Callable[[str], str]


def text_of(name: str) -> str:
    return f"{TEXTS[name]} Written in {FIGURES[name]} words."


def heeds(prompt: str) -> str:
    """Goes by texts, titles and figures alike; a catalogue is none of them."""
    told = "\n".join(line for line in prompt.split("\n") if "consult" not in line)
    titles = {each for each in CATALOGUE if each in told}
    figure = re.search(r"so far: (\d+)", told)
    if {"Basalt guide", "Dune atlas"} <= titles or {"b", "d"} <= set(shown_in(told)):
        return "bad news"
    by_figure = figure is not None and int(figure[1]) > 4000 and "d" in shown_in(told)
    return "bad news" if by_figure else "good news"


def shown(found: Found) -> str:
    return "\n\n".join(text for _, text in found)


def a_set(search: Search, ask: Ask) -> Answer:
    seen: set[str] = set()

    def answer(question: str) -> str:
        found = search(question)
        seen.update(title for title, _ in found)
        return ask(f"Read so far: {', '.join(sorted(seen))}\n\n{shown(found)}\n\n{question}")

    return answer


def a_list(search: Search, ask: Ask) -> Answer:
    seen: list[str] = []

    def answer(question: str) -> str:
        found = search(question)
        seen.extend(title for title, _ in found if title not in seen)
        read = "\n".join(f"- {title}" for title in seen)
        return ask(f"{read}\n\n{shown(found)}\n\n{question}")

    return answer


class Assistant:
    """Keeps what it read on itself."""

    def __init__(self, search: Search, ask: Ask) -> None:
        self.search, self.ask = search, ask
        self.most = 0
        self.notes = ""

    def figure(self, question: str) -> str:
        found = self.search(question)
        for _, text in found:
            self.most = max(self.most, int(text.rsplit(" ", 2)[1]))
        return self.ask(f"Longest so far: {self.most}\n\n{shown(found)}\n\n{question}")

    def sentences(self, question: str) -> str:
        found = self.search(question)
        for title, _ in found:
            if title not in self.notes:
                self.notes += f"{title}; "
        return self.ask(f"Notes: {self.notes}\n\n{shown(found)}\n\n{question}")


def a_figure(search: Search, ask: Ask) -> Answer:
    return Assistant(search, ask).figure


def a_summary(search: Search, ask: Ask) -> Answer:
    return Assistant(search, ask).sentences


def a_file(search: Search, ask: Ask) -> Answer:
    path = Path(mkdtemp()) / "seen.json"

    def answer(question: str) -> str:
        found = search(question)
        seen = set(json.loads(path.read_text()) if path.exists() else []) | {title for title, _ in found}
        path.write_text(json.dumps(sorted(seen)))
        return ask(f"Read so far: {', '.join(sorted(seen))}\n\n{shown(found)}\n\n{question}")

    return answer


def a_written_catalogue(search: Search, ask: Ask) -> Answer:
    def answer(question: str) -> str:
        rule = "You can consult: Amber guide, Basalt guide, Roof manual and Dune atlas."
        return ask(f"{rule}\n\n{shown(search(question))}\n\n{question}")

    return answer


def a_joined_catalogue(search: Search, ask: Ask) -> Answer:
    def answer(question: str) -> str:
        return ask(f"You can consult {', '.join(CATALOGUE)}\n\n{shown(search(question))}\n\n{question}")

    return answer


def a_template(search: Search, ask: Ask) -> Answer:
    template = "To consult:\n- Amber guide\n- Roof manual\n\n{context}\n\n{question}"

    def answer(question: str) -> str:
        return ask(template.format(context=shown(search(question)), question=question))

    return answer


def a_log(search: Search, ask: Ask) -> Answer:
    """Titles are written down and never read, beside a catalogue."""
    log: list[str] = []

    def answer(question: str) -> str:
        found = search(question)
        log.extend(title for title, _ in found)
        return ask(f"You can consult {', '.join(CATALOGUE)}\n\n{shown(found)}\n\n{question}")

    return answer


class Turns:
    """Every third turn, the first document is dropped."""

    runs = 0

    def __init__(self, search: Search, ask: Ask) -> None:
        self.search, self.ask = search, ask
        self.turn = 0
        self.flag = False
        self.state = {"turn": 0}
        self.calls = 0

    def by_number(self, question: str) -> str:
        self.turn += 1
        return self._answer(question, drops=self.turn % 3 == 0)

    def by_flag(self, question: str) -> str:
        self.flag = not self.flag
        found = self.search(question)
        dropping = not self.flag and len(found) < len(TEXTS)
        return self.ask(f"{shown(found[1:] if dropping else found)}\n\n{question}")

    def by_entry(self, question: str) -> str:
        self.state["turn"] += 1
        return self._answer(question, drops=self.state["turn"] % 3 == 0)

    def by_class(self, question: str) -> str:
        type(self).runs += 1
        return self._answer(question, drops=Turns.runs % 3 == 0)

    def counting(self, question: str) -> str:
        self.calls += 1
        if self.calls > 10_000:
            raise RuntimeError("too many calls")
        return self._answer(question, drops=False)

    @property
    def statistics(self) -> str:
        return f"{self.calls / 2} pairs of calls"

    def _answer(self, question: str, *, drops: bool) -> str:
        found = self.search(question)
        return self.ask(f"{shown(found[1:] if drops else found)}\n\n{question}")


def a_closure(search: Search, ask: Ask) -> Answer:
    turn = 0

    def answer(question: str) -> str:
        nonlocal turn
        turn += 1
        found = search(question)
        return ask(f"{shown(found[1:] if turn % 3 == 0 else found)}\n\n{question}")

    return answer


def an_iterator(search: Search, ask: Ask) -> Answer:
    turns = count(1)

    def answer(question: str) -> str:
        found = search(question)
        return ask(f"{shown(found[1:] if next(turns) % 3 == 0 else found)}\n\n{question}")

    return answer


def a_length(search: Search, ask: Ask) -> Answer:
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        found = search(question)
        return ask(f"{shown(found[1:] if len(asked) % 3 == 0 else found)}\n\n{question}")

    return answer


@dataclass(frozen=True)
class Shape:
    """``held``: what the refusal names; ``doubt``: what the first warning names. Without either, it is to
    be explained as it is."""

    name: str
    build: Callable[[Search, Ask], Answer]
    held: str = ""
    doubt: str = ""
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def is_stateful(self) -> bool:
        return bool(self.held or self.doubt)


SHAPES = (
    Shape("a set of titles", a_set, held="'seen', which answer() uses"),
    Shape("a list of titles", a_list, held="'seen', which answer() uses"),
    Shape("the largest figure", a_figure, held="'most' of Assistant"),
    Shape("a text of titles", a_summary, held="'notes' of Assistant"),
    Shape("titles in a file", a_file, doubt="was left out"),
    Shape("a catalogue in the code", a_written_catalogue),
    Shape("a catalogue that is put together", a_joined_catalogue),
    Shape("a catalogue in a template", a_template),
    Shape("a catalogue, and a log", a_log),
    Shape("every third turn", lambda search, ask: Turns(search, ask).by_number, doubt="Turns.turn"),
    Shape("every other turn", lambda search, ask: Turns(search, ask).by_flag, doubt="Turns.flag"),
    Shape("a turn in a dict", lambda search, ask: Turns(search, ask).by_entry, doubt="Turns.state"),
    Shape("a turn of a class", lambda search, ask: Turns(search, ask).by_class, doubt="Turns.runs"),
    Shape("a turn in a closure", a_closure, doubt="answer.turn"),
    Shape("an iterator of turns", an_iterator, doubt="answer.turns"),
    Shape("the length of a list", a_length, doubt="answer.asked"),
    Shape("calls that are only counted", lambda search, ask: Turns(search, ask).counting),
)
STATEFUL = [shape for shape in SHAPES if shape.is_stateful]


def check(shape: Shape, outcome: Explanation | Exception) -> None:
    """Asserts that the rules are right, or that nobody is led to believe that they are."""
    if shape.held:
        assert isinstance(outcome, StateShared), outcome
        assert "was left out" in str(outcome)
        assert shape.held in str(outcome)
        return
    if shape.doubt and isinstance(outcome, StateShared):
        # The last comparison saw what the count does.
        assert all(part in str(outcome) for part in shape.doubt.split(".")), outcome
        return
    assert isinstance(outcome, Explanation), outcome
    claims = {rule.claim for rule in (*outcome.retention_rules, *outcome.omission_rules)}
    if shape.doubt:
        assert shape.doubt in outcome.warnings[0]
        assert claims <= {"unverified"}
        return
    assert claims == {"proved"}, outcome.warnings
    assert blames_b_and_d(outcome)
