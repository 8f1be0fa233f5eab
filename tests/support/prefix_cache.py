"""How much of a prompt a server need not compute again, because prompts before it began alike."""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from itertools import compress, count
from operator import ne
from typing import TypeAlias

from rag_rule_explainer.errors import InvalidInput

Tokens: TypeAlias = tuple[Hashable, ...]


class PrefixCache:
    """Holds the prefixes of the prompts last asked about, at most ``room`` tokens of them.

    A token of a shared prefix is held once. Where more would be held than there is room for, the last
    token of the continuation that was unused the longest goes first; of a prompt that is longer than
    ``room`` its head stays. An ask costs comparing the prompt once with what is held, at the speed of
    tuples, however much that is. Thread-safe. Raises InvalidInput if ``room`` is negative.
    """

    def __init__(self, room: int) -> None:
        if room < 0:
            raise InvalidInput(f"room is {room!r}; give the most tokens to hold, at least 0")
        self.room = room
        self._held = 0
        self._root = _Run((), None)
        # Every run comes before the one that it continues: the first is a leaf, unused the longest.
        self._by_age: OrderedDict[_Run, None] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def held(self) -> int:
        """How many tokens are held now."""
        return self._held

    def ask(self, tokens: Sequence[Hashable]) -> int:
        """How many leading tokens were held already; from now on, all of them are."""
        prompt = tuple(tokens)
        with self._lock:
            last, known = self._walk(prompt)
            if known < len(prompt):
                last = self._continue(last, prompt[known:])
            self._touch(last)
            self._evict()
        return known

    def _walk(self, prompt: Tokens) -> "tuple[_Run, int]":
        """The run that ends with the last token of the prompt that is held, and how many are."""
        run, known = self._root, 0
        while known < len(prompt):
            following = run.continuations.get(prompt[known])
            if following is None:
                break
            shared = _shared(following.tokens, prompt[known : known + len(following.tokens)])
            known += shared
            if shared < len(following.tokens):
                return self._split(run, following, shared), known
            run = following
        return run, known

    def _continue(self, run: "_Run", tokens: Tokens) -> "_Run":
        added = _Run(tokens, run)
        run.continuations[tokens[0]] = added
        self._held += len(tokens)
        return added

    def _split(self, before: "_Run", run: "_Run", at: int) -> "_Run":
        """Makes a run of its own of the first tokens; the others stay as old as they are."""
        head = _Run(run.tokens[:at], before)
        before.continuations[run.tokens[0]] = head
        run.tokens, run.before = run.tokens[at:], head
        head.continuations[run.tokens[0]] = run
        return head

    def _touch(self, run: "_Run") -> None:
        while run.before is not None:
            self._by_age[run] = None
            self._by_age.move_to_end(run)
            run = run.before

    def _evict(self) -> None:
        while self._held > self.room:
            oldest = next(iter(self._by_age))
            left = max(0, len(oldest.tokens) - (self._held - self.room))
            self._held -= len(oldest.tokens) - left
            if not left and oldest.before is not None:
                del oldest.before.continuations[oldest.tokens[0]]
                del self._by_age[oldest]
            oldest.tokens = oldest.tokens[:left]


class _Run:
    """Tokens that were last used together, and what has followed them."""

    __slots__ = ("before", "continuations", "tokens")

    def __init__(self, tokens: Tokens, before: "_Run | None") -> None:
        self.tokens = tokens
        self.before = before
        self.continuations: dict[Hashable, _Run] = {}


def _shared(one: Tokens, other: Tokens) -> int:
    """How many leading tokens are the same."""
    if one == other:
        return len(one)
    return next(compress(count(), map(ne, one, other)), min(len(one), len(other)))
