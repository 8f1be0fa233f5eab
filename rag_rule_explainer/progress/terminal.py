"""This module shows progress on terminals: bars and numbers, which are redrawn below the program's other
output."""

import sys
from collections.abc import Iterator, Sequence
from typing import NoReturn, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from .wording import WAITING, Row, Tone, WordedPart, in_ascii

SECONDS = 0.1
"""The number of seconds between two drawings."""

_WIDEST = 100
_SMALLEST_BAR = 8
_STYLES = {Tone.PLAIN: "", Tone.NOTABLE: "yellow", Tone.BAD: "bold red"}


class _Console(Console):
    """This console raises BrokenPipeError if its output is not read any more. Rich's own console would
    close stdout and end the program."""

    @override
    def on_broken_pipe(self) -> NoReturn:
        raise  # noqa: PLE0704 -- Rich calls this method in an except clause


class TerminalCanvas:
    """A ``TerminalCanvas`` draws rows on one terminal. Text that the program prints meanwhile appears
    above the rows."""

    def __init__(self, file: TextIO, console: Console | None = None) -> None:
        # Whether the file is a terminal was already decided, so Rich must not decide it again.
        self._console = console or _Console(
            file=file, force_terminal=True, force_jupyter=False, highlight=False
        )
        in_unicode = not self._console.options.ascii_only
        self._worded = str if in_unicode else in_ascii
        self._spinner = Spinner("dots" if in_unicode else "line")
        # ``Animated`` redraws the rows. Rich could do this too (``auto_refresh``), but would hide the
        # errors of a drawing.
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            # If stdout or stderr is a file or a pipe, Rich must not move its text to the terminal.
            redirect_stdout=_is_terminal(sys.stdout),
            redirect_stderr=_is_terminal(sys.stderr),
        )

    def draw(self, rows: Sequence[Row]) -> None:
        """Shows the rows, at most as many as the terminal has lines."""
        self._live.start()
        lines = [line for row in rows[: self._console.height] for line in self._lines(row)]
        self._live.update(Group(*(lines or [self._spun(WAITING)])), refresh=True)

    def keep(self, row: Row) -> None:
        """Prints a row that stays, above the rows that are still redrawn."""
        self._console.print(Group(*self._lines(row)))

    def close(self) -> None:
        """Erases the rows and restores the cursor."""
        self._live.stop()

    def _lines(self, row: Row) -> Iterator[RenderableType]:
        # The last column stays empty, because text in it causes a line break on some terminals.
        width = min(self._console.width - 1, _WIDEST)
        if row.report.done:
            yield from self._flowed(Text(self._worded(row.headline()), "bold"), row.parts(), width)
        else:
            yield self._bar(row, width)
            yield from self._flowed(Text(), row.parts(), width, indent="  ")

    def _bar(self, row: Row, width: int) -> RenderableType:
        headline = self._spun(self._worded(row.headline()))
        if width - len(headline) - 1 < 2 * _SMALLEST_BAR:
            headline = self._spun(self._worded(row.headline(short=True)))
        room = width - len(headline) - 1
        if room < _SMALLEST_BAR:
            headline.truncate(width)
            return headline
        line = Table.grid(padding=(0, 1))
        bar = ProgressBar(1, row.share, room, complete_style="green", finished_style="green")
        line.add_row(headline[:1], bar, headline[2:])
        return line

    def _spun(self, words: str) -> Text:
        frame = self._spinner.render(self._console.get_time())
        return Text.assemble(frame if isinstance(frame, Text) else "", " ", (words, "bold"))

    def _flowed(
        self, line: Text, parts: Sequence[WordedPart], width: int, *, indent: str = ""
    ) -> Iterator[Text]:
        """Yields lines with the text ``line`` and then ``parts``, as many in each line as fit into
        ``width`` columns. A part is never split over two lines. ``indent``: the text before the first
        part of a further line."""
        between = self._worded(" · ")
        for part in parts:
            words = Text(self._worded(part.text), _STYLES[part.tone])
            if line and len(line) + len(between) + len(words) > width:
                yield _cut(line, width)
                line = Text()
            line = Text.assemble(line or indent, between if line else "", words)
        if line:
            yield _cut(line, width)


def _cut(line: Text, width: int) -> Text:
    line.truncate(width)
    return line


def _is_terminal(file: TextIO | None) -> bool:
    return file is not None and file.isatty()
