"""How applications go by a mark that a run leaves, whatever it is left in."""

from collections.abc import Callable

from tests.integrations.known import shown_in
from tests.integrations.leaving.parts import Answer, Ask, Search, mode_of, written

Mark = Callable[[], object]
Channel = Callable[[], tuple[Mark, Mark]]
"""Makes two functions: one leaves a mark, the other tells whether there is one."""


def ever(channel: Channel, search: Search, ask: Ask) -> Answer:
    """The mark is left by each run on two documents, and decides by itself."""
    mark, marked = channel()

    def answer(question: str) -> str:
        found = search(question)
        if len(found) > 1:
            mark()
        return written(ask, "Warn" if marked() else "Calm", found)

    return answer


def rarely(channel: Channel, search: Search, ask: Ask) -> Answer:
    """The mark is left by the first run, and matters where one document alone is found."""
    mark, marked = channel()

    def answer(question: str) -> str:
        found = search(question)
        was = bool(marked())
        mark()
        is_odd = was and shown_in(" ".join(found)) == "b"
        return written(ask, "Warn" if is_odd else mode_of(found), found)

    return answer


def late(channel: Channel, search: Search, ask: Ask) -> Answer:
    """The mark is left by the first run on a single document, and from then on all are calm."""
    mark, marked = channel()

    def answer(question: str) -> str:
        found = search(question)
        mode = "Calm" if marked() else mode_of(found)
        if len(found) == 1:
            mark()
        return written(ask, mode, found)

    return answer


Left = Callable[[Channel, Search, Ask], Answer]
"""Makes an application that goes by the mark in a channel."""
MODES: tuple[Left, ...] = (ever, rarely, late)
