"""This module gives some of the calls that share one limiter a smaller limit of their own."""

from typing_extensions import override

from ..allowed import brief
from ..errors import InvalidInput
from .interrupts import Interrupts
from .limiter import Limiter


class NarrowLimiter(Limiter):
    """A ``NarrowLimiter`` lets at most ``size`` of its own calls run at the same time. These calls also
    count for ``outer``, so all calls that use ``outer`` together never exceed the limit of ``outer``."""

    def __init__(self, size: int, outer: Limiter) -> None:
        super().__init__(size)
        self.outer = outer

    @override
    def check_free(self) -> None:
        super().check_free()
        self.outer.check_free()

    @override
    def is_part_of(self, limiter: Limiter) -> bool:
        return super().is_part_of(limiter) or self.outer.is_part_of(limiter)

    @override
    def enter_at_once(self) -> bool:
        if not super().enter_at_once():
            return False
        if self.outer.enter_at_once():
            return True
        super().leave()
        return False

    @override
    async def enter(self) -> None:
        await super().enter()
        try:
            await self.outer.enter()
        except BaseException:
            super().leave()
            raise

    @override
    def leave(self) -> None:
        self.outer.leave()
        super().leave()

    @override
    def wait(self, interrupts: Interrupts) -> None:
        super().wait(interrupts)
        try:
            self.outer.wait(interrupts)
        except BaseException:
            super().leave()
            raise


def narrowed(limiter: Limiter, size: int) -> Limiter:
    """Returns a limiter with which at most ``size`` calls run at the same time, and all calls together
    never exceed the limit of ``limiter``. If ``limiter`` allows no more than ``size`` calls, returns
    ``limiter`` itself."""
    return limiter if size >= limiter.size else NarrowLimiter(size, limiter)


def limiter_for(given: object, concurrency: int, *, is_bound: bool) -> Limiter:
    """Returns the limiter ``given``; if it is None, a new one for ``concurrency`` calls at the same
    time.

    ``is_bound``: True if the caller also chose ``concurrency``: the smaller of the two limits then
    holds. If it is False, ``concurrency`` has no effect on a given limiter. Raises InvalidInput if
    something else than a limiter was given.
    """
    if given is None:
        return Limiter(concurrency)
    if not isinstance(given, Limiter):
        raise InvalidInput(f"limiter is {brief(given)}; give a Limiter(size), or concurrency= alone")
    return narrowed(given, concurrency) if is_bound else given
