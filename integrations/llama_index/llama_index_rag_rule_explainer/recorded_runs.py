"""This module stores the runs that a handler records, and reads the streams of their responses."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any

from rag_rule_explainer.instrumentation.run_context import participation

from .recording import RecordedRun


class RecordedRuns:
    """This class stores the recorded runs that have not ended, and the latest ``keep`` that have ended.

    It is thread-safe.
    """

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._runs: dict[str, RecordedRun] = {}
        self._guard = threading.RLock()

    def add(self, run: RecordedRun) -> None:
        """Adds a recorded run that has begun."""
        with self._guard:
            self._runs[run.id] = run

    def ended(self) -> list[RecordedRun]:
        """Returns the ended runs, the oldest first."""
        with self._guard:
            return [run for run in self._runs.values() if run.ended]

    def current(self) -> RecordedRun | None:
        """Returns the recorded run to which the current context belongs; None if there is none."""
        current = participation()
        with self._guard:
            return next((run for run in self._runs.values() if run.participation is current), None)

    def end(self, run: RecordedRun, output: Any) -> None:
        """Stores the output of a run that ends. Removes the oldest ended runs if there are more than
        ``keep``."""
        run.output = output
        run.end()
        run.ended = True
        with self._guard:
            ended = [each.id for each in self._runs.values() if each.ended]
            for each in ended[: max(0, len(ended) - self._keep)]:
                del self._runs[each]

    def forget(self, run: RecordedRun) -> None:
        """Ends and removes a run that failed, or whose stream was not read to its end."""
        run.end()
        with self._guard:
            self._runs.pop(run.id, None)

    def pieces(self, run: RecordedRun, stream: Any, text: list[str]) -> Iterator[Any]:
        """Yields the pieces of a stream, and appends their texts to ``text``.

        Each piece is read in the context of the run. If the stream fails or the consumer stops early, the
        run is removed.
        """
        try:
            while (piece := run.context.run(next, stream, None)) is not None:
                text.append(_text_of(piece))
                yield piece
        except BaseException:
            self.forget(run)
            raise

    async def apieces(self, run: RecordedRun, stream: Any, text: list[str]) -> AsyncGenerator[Any, None]:
        """Yields the pieces of an async stream, and appends their texts to ``text``. Each piece is read
        in a task of its own, which has the context of the run."""
        try:
            while (piece := await run.context.run(asyncio.ensure_future, _anext(stream))) is not None:
                text.append(_text_of(piece))
                yield piece
        except BaseException:
            self.forget(run)
            raise


def _text_of(piece: Any) -> str:
    return piece if isinstance(piece, str) else str(piece.delta or "")


async def _anext(stream: AsyncIterator[Any]) -> Any:
    return await anext(stream, None)
