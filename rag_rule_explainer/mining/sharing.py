"""This module shares the asks of a search among several workers, so that consecutive prompts of a worker
have a long common beginning.

A server evaluates a prompt faster if it has just evaluated another prompt with the same beginning.
Usually, a server that can handle n requests at the same time remembers the last n prompts. If the workers
of a search took the asks (requests for verdicts) in their order, all workers would probe similar subsets
at the same time. The server would then evaluate the common beginning of these prompts once for each
worker.

So each worker continues with the subsets that begin most like its last subset. If the last subset of
another worker is at least as similar to these subsets, that worker gets them. The first worker then takes
a subset whose beginning differs as early as possible from the last subsets of all other workers. But if
the number of ready asks is not larger than the number of other workers, it takes the first ask.

Two subsets begin alike if the highest bits of their masks are the same: the first unit has the highest
bit. So all subsets with the same beginning are one *block*: the masks from a multiple of a power of two
to the next one. The module chooses among asks that are ready, so no worker waits for another.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from sys import maxsize
from typing import Any, Generic, TypeVar

from ..lattice import ArrangementKey

AskedKey = TypeVar("AskedKey", bound=Any)

FEW = 16
"""The maximum number of new subsets that are inserted one by one into the sorted list of subsets. If
there are more, the whole list is sorted again."""


class Workers:
    """A ``Workers`` records the subset that each worker probed last, in any of the searches."""

    def __init__(self) -> None:
        self._last: dict[int, ArrangementKey] = {}

    def went(self, worker: int, key: ArrangementKey) -> None:
        """Records that a worker now probes the arrangement (an ordered list of sources) with this key."""
        self._last[worker] = key

    def last(self, worker: int) -> int | None:
        """Returns the subset that the worker probed last; None before its first one."""
        last = self._last.get(worker)
        return last if isinstance(last, int) else None

    def others(self, worker: int) -> list[int]:
        """Returns the subsets that all other workers probed last, in ascending order."""
        last = [key for other, key in self._last.items() if other != worker]
        return sorted([key for key in last if isinstance(key, int)])


class Ready(Generic[AskedKey]):
    """A ``Ready`` holds the requests for verdicts that are ready, by their masks, and gives each worker
    one of them.

    A worker gets a request that is near to its last subset. If several requests are equally near, the
    worker gets the request with the smallest rank. Miners give ranks in ascending or in descending order
    of the masks, so only the first and the last of these requests are compared.
    """

    def __init__(self) -> None:
        self._masks: list[AskedKey] = []
        self.new: list[AskedKey] = []
        """The subsets that the miner requested since the last call of ``taken``, which adds them. A
        search appends to this list itself, since it does so for each subset."""
        self.is_outdated = False
        """True if asks (requests for verdicts) were issued by another method than ``taken``. The next
        call of ``taken`` then first removes the masks of these asks."""

    def taken(self, worker: int, workers: Workers, asks: Mapping[AskedKey, Any]) -> AskedKey:
        """Removes and returns the subset (as a mask) that this worker probes next. ``asks``: the ready
        requests, at least one."""
        self._update(asks)
        others = workers.others(worker)
        own = workers.last(worker)
        places = None if own is None else self._nearest(own, others)
        place = min(places or self._elsewhere(others), key=lambda at: asks[self._masks[at]].rank)
        return self._masks.pop(place)

    def _update(self, asks: Mapping[AskedKey, Any]) -> None:
        if self.is_outdated or len(self.new) > FEW:
            self._masks = sorted({*self._masks, *self.new} & asks.keys())
            self.is_outdated = False
        else:
            for mask in self.new:
                at = bisect_left(self._masks, mask)
                if self._masks[at : at + 1] != [mask]:
                    self._masks.insert(at, mask)
        self.new.clear()

    def _nearest(self, own: int, others: Sequence[int]) -> tuple[int, int] | None:
        """Returns the positions of the first and the last of the subsets whose prompts begin most like
        that of ``own``, the worker's last subset. Returns None if the last subset of another worker (in
        ``others``) begins at least as much like them."""
        nearest = _distance(own, self._masks)
        if nearest >= _distance(own, others):
            return None
        # They are all masks that differ from ``own`` in bit ``nearest`` and in no higher bit. 0: it is
        # ``own`` itself.
        bits = max(0, nearest - 1)
        block = (own >> bits) ^ (nearest > 0)
        start, end = _slice(self._masks, block << bits, bits)
        return start, end - 1

    def _elsewhere(self, others: Sequence[int]) -> Sequence[int]:
        """Returns the positions of masks that begin differently from the last subsets of all other
        workers (``others``).

        Masks with the same beginning are a block. Blocks with the last subset of another worker are left
        out. Of the remaining blocks, only the largest are used. The method returns the positions of the
        first and the last mask of each of them. If there are no more masks than other workers, returns
        the positions of the first and the last of all masks.
        """
        masks = self._masks
        if len(masks) <= len(others):
            return 0, -1
        # On each level, a block is the beginning that its masks share: what is left of them without
        # their lowest ``bits`` bits.
        bits, blocks = max([masks[-1], *others[-1:]]).bit_length(), [0]
        while True:
            taken = {other >> bits for other in others}
            free = [block for block in blocks if block not in taken]
            # Blocks of a single subset cannot be divided. If each block contains the last subset of
            # another worker, all blocks are used.
            if free or not bits:
                slices = [_slice(masks, block << bits, bits) for block in free or blocks]
                return [place for start, end in slices for place in (start, end - 1)]
            bits -= 1
            halves = [half for block in blocks for half in (block * 2, block * 2 + 1)]
            blocks = [half for half in halves if _has_mask(masks, half << bits, bits)]


def _slice(masks: Sequence[int], start: int, bits: int) -> tuple[int, int]:
    """Returns the start and the end of the slice of these sorted masks that is in a block: at least
    ``start``, and below ``start + 2 ** bits``."""
    return bisect_left(masks, start), bisect_left(masks, start + (1 << bits))


def _has_mask(masks: Sequence[int], start: int, bits: int) -> bool:
    """Returns True iff one of these sorted masks is in a block, as for ``_slice``."""
    at = bisect_left(masks, start)
    return at < len(masks) and masks[at] < start + (1 << bits)


def _distance(mask: int, masks: Sequence[int]) -> int:
    """Returns the number (1 is the lowest) of the highest bit in which ``mask`` differs from the most
    similar of the sorted ``masks``. Returns 0 if ``mask`` is one of the ``masks``, and the largest
    possible number if ``masks`` is empty."""
    at = bisect_left(masks, mask)
    return min(((mask ^ near).bit_length() for near in masks[max(0, at - 1) : at + 1]), default=maxsize)
