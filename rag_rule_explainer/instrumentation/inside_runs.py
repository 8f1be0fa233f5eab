"""This module defines what is in force inside a run: its records, its patches, and whether it prints."""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from .application import Application
from .isolation.muting import muting
from .isolation.whereabouts import under_way
from .late_calls import patched_while_tools_may_run
from .options import Manner
from .run_context import Participation, participating


@contextmanager
def inside_run(
    application: Application[Any], run: Participation, *, in_pieces: bool = False
) -> Generator[None, None, None]:
    """Makes ``run`` the current run for the duration of the block. Searches, model calls and tool calls
    in the block are recorded as calls of this run. ``in_pieces``: see ``under_way``."""
    patched = patched_while_tools_may_run(application.interception, run)
    with patched, participating(run), application.watching(run.watch), under_way(run, in_pieces):
        yield


def replays_muted(manner: Manner) -> AbstractContextManager[None]:
    """Mutes prints and warnings during the block, unless the user wants to see them
    (``print_replays``)."""
    return nullcontext() if manner.print_replays else muting()
