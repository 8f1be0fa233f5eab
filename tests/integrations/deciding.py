"""Applications whose code makes the answer of what a model replied, or lets others make it."""

import codecs
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from enum import Enum

from pydantic import BaseModel

from tests.integrations.known import shown_in
from tests.integrations.leaving.parts import Answer, Ask, Search, written
from tests.integrations.leaving.shapes import Shape

LABELS = {"yes": "a bad day", "no": "a fine day"}


class Day(Enum):
    """What is told in place of a reply."""

    YES = "We are sorry to say that it is going to be bad."
    NO = "You need not worry about anything."


class Report(BaseModel):
    """What is told as JSON."""

    kind_of_news: str
    has_been_reviewed: bool = True


def asked(ask: Ask, found: list[str]) -> str:
    return ask("Is there bad news?\n" + "\n".join(found))


def by_a_label(search: Search, ask: Ask) -> Answer:
    return lambda question: LABELS[asked(ask, search(question)).strip().lower()]


def by_an_enum(search: Search, ask: Ask) -> Answer:
    return lambda question: Day[asked(ask, search(question)).upper()].value


def by_fields(search: Search, ask: Ask) -> Answer:
    def answer(question: str) -> str:
        news = LABELS[asked(ask, search(question))]
        return Report.model_validate_json(json.dumps({"kind_of_news": news})).model_dump_json()

    return answer


def in_a_template(search: Search, ask: Ask) -> Answer:
    def answer(question: str) -> str:
        said = written(ask, "Warn" if "yes" in asked(ask, found := search(question)) else "Calm", found)
        return f"Dear customer, thank you for asking us. What we can tell you about it is this: {said}"

    return answer


def beside_what_it_cites(search: Search, ask: Ask) -> Answer:
    def answer(question: str) -> str:
        found = search(question)
        cited = ", ".join(f"{text[:23]}…" for text in found)
        return f"{LABELS[asked(ask, found)]} (by {len(found)} documents: {cited})"

    return answer


def or_an_excuse(search: Search, ask: Ask) -> Answer:
    def answer(question: str) -> str:
        if not (found := search(question)):
            return "Nothing is known about it here, so please call us in the morning."
        return LABELS[asked(ask, found)]

    return answer


def in_a_pool(search: Search, ask: Ask) -> Answer:
    pool = ThreadPoolExecutor(1)

    def answer(question: str) -> str:
        found = pool.submit(search, question).result()
        return LABELS[pool.submit(asked, ask, found).result()]

    return answer


def in_a_thread(search: Search, ask: Ask) -> Answer:
    def answer(question: str) -> str:
        found, said = search(question), list[str]()
        thread = threading.Thread(target=lambda: said.append(asked(ask, found)))
        thread.start()
        thread.join()
        return LABELS[said[0]]

    return answer


class Measured:
    """Keeps what only a report tells, and a log."""

    def __init__(self, search: Search, ask: Ask) -> None:
        self.search, self.ask = search, ask
        self.most, self.longest = 0, ""

    def __call__(self, question: str) -> str:
        found = self.search(question)
        self.most = max(self.most, len(found))
        said = LABELS[asked(self.ask, found)]
        if len(said) > len(self.longest):
            self.longest = said
        if self.most > 5:
            print("more than five documents")
        return said

    def report(self) -> str:
        return f"{self.most} documents at most, {self.longest!r} at length"


class Cutting(Measured):
    """Goes by the most that was ever found."""

    def __call__(self, question: str) -> str:
        found = self.search(question)
        top = self.most = max(self.most, len(found))
        return LABELS[asked(self.ask, found if len(found) < top else found[1:])]


class Asking(Measured):
    """Does the same, by a name in a text."""

    def __call__(self, question: str) -> str:
        found = self.search(question)
        self.most = max(self.most, len(found))
        top = getattr(self, "most")  # noqa: B009 -- as users write it
        return LABELS[asked(self.ask, found if len(found) < top else found[1:])]


def measured(search: Search, ask: Ask) -> Answer:
    kept = Measured(search, ask)
    return lambda question: kept(question)


def cutting(search: Search, ask: Ask) -> Answer:
    kept = Cutting(search, ask)
    return lambda question: kept(question)


def asking(search: Search, ask: Ask) -> Answer:
    kept = Asking(search, ask)
    return lambda question: kept(question)


def hidden(found: list[str]) -> str:
    """What a model says that nobody sees."""
    shout = codecs.decode("Avpr gvqvatf bayl, sevraqf, rirelguvat tbrf jryy", "rot13")
    return shout if "b" not in shown_in(" ".join(found)) else shout.replace("well", "bad")


def in_words_of_a_hidden_model(search: Search, ask: Ask) -> Answer:
    def answer(question: str) -> str:
        ask("Which way?")
        return hidden(search(question))

    return answer


def by_a_hidden_classifier(search: Search, ask: Ask) -> Answer:
    def answer(question: str) -> str:
        ask("Which way?")
        return LABELS["yes" if "bad" in hidden(search(question)) else "no"]

    return answer


def beside_a_hint(search: Search, ask: Ask) -> Answer:
    """The hint is the code's own."""

    def answer(question: str) -> str:
        found = search(question)
        return LABELS[asked(ask, found)] + (" (little is known)" if len(found) < 2 else "")

    return answer


DECIDED = "but models whose requests are seen replied the same, so something else decides about"
SHAPES = (
    Shape(by_a_label),
    Shape(by_an_enum),
    Shape(by_fields),
    Shape(in_a_template),
    Shape(beside_what_it_cites),
    Shape(or_an_excuse),
    Shape(in_a_pool),
    Shape(in_a_thread),
    Shape(measured),
    Shape(cutting, "'most' of Cutting was set in the baseline"),
    Shape(asking, "'most' of Asking was set in the baseline"),
    Shape(in_words_of_a_hidden_model, f"{DECIDED} 'bad', 'well'"),
    Shape(by_a_hidden_classifier, f"{DECIDED} 'bad', 'fine'"),
    Shape(beside_a_hint, r"ignore=['\\(little is known\\)']"),
)
