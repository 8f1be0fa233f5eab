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
from collections.abc import Iterator, Mapping, Sequence
from sys import maxsize
from typing import Any, Generic, NamedTuple, TypeVar

from ..lattice import ArrangementKey

AskedKey = TypeVar("AskedKey", bound=Any)

FEW = 16
"""The maximum number of new subsets that are inserted one by one into the sorted list of subsets. If
there are more, the whole list is sorted again."""


class PrefixBlock(NamedTuple):
    """A ``PrefixBlock`` stands for all masks with the same highest bits, whose prompts begin alike: the
    masks from ``start`` to below ``start + 2 ** bits``."""

    start: int
    bits: int

    @property
    def halves(self) -> "tuple[PrefixBlock, PrefixBlock]":
        """Returns the two halves of the block: first the masks in which the highest bit of the block is
        0, then the masks in which it is 1."""
        return PrefixBlock(self.start, self.bits - 1), PrefixBlock(
            self.start + (1 << self.bits - 1), self.bits - 1
        )

    def within(self, masks: Sequence[int]) -> tuple[int, int]:
        """Returns the start and the end of the slice of the sorted ``masks`` that contains the masks of
        this block."""
        return bisect_left(masks, self.start), bisect_left(masks, self.start + (1 << self.bits))

    @classmethod
    def beside(cls, mask: int, bits: int) -> "PrefixBlock":
        """Returns the block of all masks that differ from ``mask`` in bit ``bits`` (1 is the lowest bit)
        and in no higher bit. If ``bits`` is 0, the block has only ``mask`` itself."""
        return cls(((mask >> bits - 1) ^ 1) << bits - 1, bits - 1) if bits else cls(mask, 0)


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
        self._new: list[AskedKey] = []
        self._is_outdated = False

    def add(self, mask: AskedKey) -> None:
        """Adds a subset that the miner requests. If the subset is already there, nothing changes."""
        self._new.append(mask)

    def outdated(self) -> None:
        """Records that asks (requests for verdicts) were issued by another method than ``taken``. The
        next call of ``taken`` then first removes the masks of these asks."""
        self._is_outdated = True

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
        if self._is_outdated or len(self._new) > FEW:
            self._masks = sorted({*self._masks, *self._new} & asks.keys())
            self._is_outdated = False
        else:
            for mask in self._new:
                at = bisect_left(self._masks, mask)
                if self._masks[at : at + 1] != [mask]:
                    self._masks.insert(at, mask)
        self._new.clear()

    def _nearest(self, own: int, others: Sequence[int]) -> tuple[int, int] | None:
        """Returns the positions of the first and the last of the subsets whose prompts begin most like
        that of ``own``, the worker's last subset. Returns None if the last subset of another worker (in
        ``others``) begins at least as much like them."""
        nearest = _distance(own, self._masks)
        if nearest >= _distance(own, others):
            return None
        start, end = PrefixBlock.beside(own, nearest).within(self._masks)
        return start, end - 1

    def _elsewhere(self, others: Sequence[int]) -> Sequence[int]:
        """Returns the positions of masks that begin differently from the last subsets of all other
        workers (``others``).

        Masks with the same beginning are a block. Blocks with the last subset of another worker are left
        out. Of the remaining blocks, only the largest are used. The method returns the positions of the
        first and the last mask of each of them. If there are no more masks than other workers, returns
        the positions of the first and the last of all masks.
        """
        if len(self._masks) <= len(others):
            return 0, -1
        blocks = [PrefixBlock(0, max([self._masks[-1], *others[-1:]]).bit_length())]
        while True:
            free = [block for block in blocks if not _count(block, others)]
            # Blocks of a single subset cannot be divided. If each block contains the last subset of
            # another worker, all blocks are used.
            if free or not blocks[0].bits:
                slices = [block.within(self._masks) for block in free or blocks]
                return [place for start, end in slices for place in (start, end - 1)]
            blocks = [half for each in blocks for half in self._filled(each.halves)]

    def _filled(self, blocks: Sequence[PrefixBlock]) -> Iterator[PrefixBlock]:
        return (block for block in blocks if _count(block, self._masks))


def _count(block: PrefixBlock, masks: Sequence[int]) -> int:
    start, end = block.within(masks)
    return end - start


def _distance(mask: int, masks: Sequence[int]) -> int:
    """Returns the number (1 is the lowest) of the highest bit in which ``mask`` differs from the most
    similar of the sorted ``masks``. Returns 0 if ``mask`` is one of the ``masks``, and the largest
    possible number if ``masks`` is empty."""
    at = bisect_left(masks, mask)
    return min(((mask ^ near).bit_length() for near in masks[max(0, at - 1) : at + 1]), default=maxsize)
