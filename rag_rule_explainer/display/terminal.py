"""The terminal form: a bar and its figures, redrawn in place below whatever else is printed."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn, TextIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text
from typing_extensions import override

from .wording import WAITING, Part, Row, Tone, in_ascii

SECONDS = 0.1
"""Between two drawings."""

_WIDEST = 100
_SMALLEST_BAR = 8
_LINES_PER_ROW = 3
_STYLES = {Tone.PLAIN: "", Tone.NOTABLE: "yellow", Tone.BAD: "bold red"}


class _Console(Console):
    """Rich's own ends the program where a pipe is broken, and takes its stdout along."""

    @override
    def on_broken_pipe(self) -> NoReturn:
        raise  # noqa: PLE0704 -- called while it is handled


class TerminalCanvas:
    """Draws on one terminal; what is printed meanwhile appears above."""

    def __init__(self, file: TextIO, console: Console | None = None) -> None:
        # Who asks for this form knows that the file is a terminal, whatever Rich thinks of it.
        self._console = console or _Console(
            file=file, force_terminal=True, force_jupyter=False, highlight=False
        )
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            # What goes to a file, a pipe or a test is not to end up on the terminal.
            redirect_stdout=_is_terminal(sys.stdout),
            redirect_stderr=_is_terminal(sys.stderr),
        )

    def draw(self, rows: Sequence[Row]) -> None:
        """Shows these; as many as there is room for."""
        room = max(1, (self._console.height - 2) // _LINES_PER_ROW)
        self._live.start()
        self._live.update(_Drawing(rows[:room], len(rows[room:]), waiting=not rows), refresh=True)

    def keep(self, row: Row) -> None:
        """Prints the row above those that are still drawn."""
        self._console.print(_Drawing((row,)))

    def close(self) -> None:
        """Erases what was drawn, and gives the cursor back."""
        self._live.stop()


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Rows as Rich wants them: made for the width that there is."""

    rows: Sequence[Row]
    more: int = 0
    waiting: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # A line that fills the last column makes some terminals begin another one.
        width = min(options.max_width - 1, _WIDEST)
        look = _ASCII if options.ascii_only else _UNICODE
        lines = [line for row in self.rows for line in _lines_of(row, look, width)]
        if self.waiting:
            lines.append(Text(f"{look.frame()} {WAITING}"))
        if self.more:
            lines.append(Text(look.worded(f"… and {self.more} more")))
        for line in lines:
            line.truncate(width)
            yield line


@dataclass(frozen=True, slots=True)
class _Look:
    """What things are drawn with; done and open differ without colours as well."""

    frames: str
    done: str
    open: str
    worded: Callable[[str], str]

    def frame(self) -> str:
        """Turns with time."""
        return self.frames[int(time.monotonic() / SECONDS) % len(self.frames)]


_UNICODE = _Look("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "━", "╌", str)
_ASCII = _Look("|/-\\", "=", "-", in_ascii)


def _lines_of(row: Row, look: _Look, width: int) -> Iterator[Text]:
    if row.report.done:
        return _flowed([(row.headline(), "bold"), *map(_styled, row.parts())], look, width)
    return _under_way(row, look, width)


def _under_way(row: Row, look: _Look, width: int) -> Iterator[Text]:
    frame = f"{look.frame()} "
    headline = look.worded(row.headline())
    if width - len(frame) - len(headline) - 1 < 2 * _SMALLEST_BAR:
        headline = look.worded(row.headline(short=True))
    room = width - len(frame) - len(headline) - 1
    bar = _bar(row, look, room) if room >= _SMALLEST_BAR else Text()
    yield Text.assemble(frame, bar, " " if bar else "", (headline, "bold"))
    indent = " " * len(frame)
    for line in _flowed(map(_styled, row.parts()), look, width - len(indent)):
        yield Text.assemble(indent, line)


def _styled(part: Part) -> tuple[str, str]:
    return part.text, _STYLES[part.tone]


def _bar(row: Row, look: _Look, width: int) -> Text:
    done = int(row.share * width)
    return Text.assemble((look.done * done, "green"), (look.open * (width - done), "bright_black"))


def _flowed(parts: Iterable[tuple[str, str]], look: _Look, width: int) -> Iterator[Text]:
    """As many parts to a line as fit; none is broken."""
    line, between = Text(), look.worded(" · ")
    for text, style in parts:
        words = look.worded(text)
        if line and len(line) + len(between) + len(words) > width:
            yield line
            line = Text()
        line = Text.assemble(line, between if line else "", (words, style))
    if line:
        yield line


def _is_terminal(file: TextIO | None) -> bool:
    return file is not None and file.isatty()
