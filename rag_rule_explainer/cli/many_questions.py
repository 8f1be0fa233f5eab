"""This module contains functions that several commands share: those that ask many questions."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from ..settings import Settings
from .options import ASK_ABOVE

Each = TypeVar("Each")
Done = TypeVar("Done")


def capped(settings: Settings, *, agreed: bool, most: int = ASK_ABOVE) -> Settings:
    """Returns the settings with a limit of ``most`` replays for each question. A command with many
    questions must not stop in the middle to ask the user whether it may pay.

    The settings are returned unchanged in three cases: they already limit the replays; the user has
    ``agreed`` to pay; or the miner is "quick" and each subset is replayed once, so that few replays are
    made anyway.
    """
    is_quick = settings.miner == "quick" and settings.noise.samples == 1
    if agreed or is_quick or settings.limits.replays is not None:
        return settings
    return replace(settings, limits=replace(settings.limits, replays=most))


def until_interrupted(
    questions: Iterable[Each], ask: Callable[[Each, Path], Done], ended: Callable[[Done], bool]
) -> tuple[list[Done], bool]:
    """Calls ``ask`` with each question and a temporary folder. Returns the results, and True iff the
    user interrupted the command.

    ``ended``: a function that gets each result, and returns True if the user interrupted its search. No
    more questions are then asked.
    """
    done = list[Done]()
    with TemporaryDirectory() as folder:
        for asked in questions:
            try:
                done.append(ask(asked, Path(folder)))
            except KeyboardInterrupt:
                return done, True
            if ended(done[-1]):
                return done, True
    return done, False
