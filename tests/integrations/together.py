"""A model that answers when as many have asked as may."""

import threading
from typing import Any

from tests.integrations.known import shown_in


class Together:
    """Its requests wait for each other until one fewer has been in at once, and a moment for the last.

    ``facts``: how many the baseline shows.
    """

    def __init__(self, width: int, facts: int = 4) -> None:
        self.facts, self.width, self.running, self.peak = facts, width, 0, 0
        self._changed = threading.Condition()

    def script(self, body: dict[str, Any]) -> str:
        shown = shown_in(str(body["messages"]))
        with self._changed:
            self.running += 1
            self.peak = max(self.peak, self.running)
            self._changed.notify_all()
            if len(shown) < self.facts:  # the baseline is alone
                self._changed.wait_for(lambda: self.peak >= self.width - 1, timeout=120)
            self._changed.wait_for(lambda: self.peak >= self.width, timeout=0.1)
            self.running -= 1
        return "bad news" if {"b", "d"} <= set(shown) else "good news"
