"""Applications that keep what the first run made, where it would be made otherwise of few documents.

What is kept is what all other runs would have made: only the run that found just the rare documents, of
all subsets of six, tells the difference.
"""

from collections import OrderedDict
from functools import cached_property
from typing import Any

from tests.integrations.leaving.guilty import a_chain_of_the_first_run, a_partial_of_the_first_run
from tests.integrations.leaving.innocent import Chain
from tests.integrations.leaving.parts import Answer, Ask, Search, written

NAMES = "abcdef"
TEXTS = {
    "a": "The amber report says that the resin was seen near the old station at noon.",
    "b": "The basalt report says that the columns were seen near the old station at noon.",
    "c": "The copper report says that the roofs were seen near the old station at noon.",
    "d": "The dune report says that the sand was seen near the old station at noon.",
    "e": "The ember report says that the coals were seen near the old station at noon.",
    "f": "The fjord report says that the water was seen near the old station at noon.",
}
RARE = frozenset("acf")


def names_in(text: str) -> frozenset[str]:
    """The names of the documents in a text."""
    return frozenset(name for name, known in TEXTS.items() if known in text)


def said(prompt: str) -> str:
    """Bad news of the first document, but where the mode is odd."""
    is_bad = ("a" in names_in(prompt)) is not prompt.startswith("Odd")
    return "There is bad news today." if is_bad else "There is good news today."


def _mode(found: list[str]) -> str:
    return "Odd" if names_in("\n".join(found)) == RARE else "Plain"


def in_a_dict(search: Search, ask: Ask) -> Answer:
    return a_chain_of_the_first_run(search, ask, _mode)


def by_a_default(search: Search, ask: Ask) -> Answer:
    return a_partial_of_the_first_run(search, ask, _mode)


def in_an_attribute(search: Search, ask: Ask) -> Answer:
    class App:
        chain: Chain | None = None

        def answer(self, question: str) -> str:
            found = search(question)
            if self.chain is None:
                self.chain = Chain(ask, _mode(found))
            return self.chain.run(found)

    return App().answer


def in_a_property(search: Search, ask: Ask) -> Answer:
    class App:
        def __init__(self) -> None:
            self.found = list[str]()

        @cached_property
        def chain(self) -> Chain:
            return Chain(ask, _mode(self.found))

        def answer(self, question: str) -> str:
            self.found = search(question)
            return self.chain.run(self.found)

    return App().answer


def in_a_cache_of_the_latest(search: Search, ask: Ask) -> Answer:
    kept = OrderedDict[str, str]()

    def mode(question: str, found: list[str]) -> str:
        if question in kept:
            kept.move_to_end(question)
            return kept[question]
        kept[question] = _mode(found)
        if len(kept) > 50:
            kept.popitem(last=False)
        return kept[question]

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, mode(question, found), found)

    return answer


def on_a_class(search: Search, ask: Ask) -> Answer:
    class App:
        chain: Any = None

        def answer(self, question: str) -> str:
            found = search(question)
            if type(self).chain is None:
                type(self).chain = Chain(ask, _mode(found))
            return self.chain.run(found)

    return App().answer


def of_nothing_that_was_found(search: Search, ask: Ask) -> Answer:
    """Whichever run makes it, it is the same."""
    chains = dict[str, Chain]()

    def answer(question: str) -> str:
        found = search(question)
        if "news" not in chains:
            chains["news"] = Chain(ask, "Plain")
        return chains["news"].run(found)

    return answer


def of_what_all_would_make(search: Search, ask: Ask) -> Answer:
    """It is made of what was found, and is the same of any documents."""
    chains = dict[str, Chain]()

    def answer(question: str) -> str:
        found = search(question)
        if "news" not in chains:
            chains["news"] = Chain(ask, "Odd" if len(found) > len(NAMES) else "Plain")
        return chains["news"].run(found)

    return answer


RARELY = (
    in_a_dict,
    by_a_default,
    in_an_attribute,
    in_a_property,
    in_a_cache_of_the_latest,
    on_a_class,
)
