"""A model that answers when as many have asked as may."""

import threading
from typing import Any

from tests.integrations.known import shown_in


class Together:
    """Its requests wait for each other, until so many have been in at once."""

    def __init__(self, width: int) -> None:
        self.width, self.running, self.peak = width, 0, 0
        self._changed = threading.Condition()

    def script(self, body: dict[str, Any]) -> str:
        with self._changed:
            self.running += 1
            self.peak = max(self.peak, self.running)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.peak >= self.width, timeout=0.1)
            self.running -= 1
        shown = shown_in(str(body["messages"]))
        return "bad news" if {"b", "d"} <= set(shown) else "good news"
