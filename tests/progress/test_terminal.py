"""What a terminal shows: at once in a real one, in detail on one that is recorded."""

import errno
import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from rich.console import Console

from rag_rule_explainer import ProgressReport
from rag_rule_explainer.progress.terminal import TerminalCanvas
from rag_rule_explainer.progress.wording import Row
from tests.interrupting import until
from tests.progress.reports import HALF_WAY, told

ROOT = Path(__file__).parents[2]
FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

TROUBLED = ProgressReport(
    probes=137,
    needed=258,
    upper_bound=1024,
    replays=142,
    failures=3,
    retries=2,
    stored=12,
    tokens=1_234_567,
    cost=1.25,
    seconds=3.4,
)


def shown(report: ProgressReport, width: int, encoding: str = "utf-8") -> list[str]:
    """The lines of one drawing, without colours."""
    return shown_in_colour(report, width, encoding, plain=True)


def shown_in_colour(
    report: ProgressReport, width: int, encoding: str = "utf-8", *, plain: bool = False
) -> list[str]:
    with open(os.devnull, "w", encoding=encoding) as file:  # noqa: PTH123 -- as the stream is opened
        console = Console(
            file=file, width=width, force_terminal=True, color_system=None if plain else "standard"
        )
        canvas = TerminalCanvas(file, console)
        with console.capture() as captured:
            canvas.keep(Row(report))
    return captured.get().splitlines()


class TestLayout:
    def test_eighty_columns(self) -> None:
        frame, *rest = shown(HALF_WAY, 80)[0]
        assert frame in FRAMES
        assert "".join(rest) == f" {'━' * 19}{' ' * 17} 137 / 258 probes needed so far (≤ 1,024)"
        assert shown(HALF_WAY, 80)[1:] == ["  ≈ 3 s to 258 probes · 140 replays, 41.2/s"]

    def test_forty_columns(self) -> None:
        first, *rest = shown(TROUBLED, 40)
        assert first[2:] == f"{'━' * 9}{' ' * 8} 137 / 258 (≤ 1,024)"
        assert rest == [
            "  ≈ 3 s to 258 probes",
            "  142 replays, 41.8/s · 3 failed",
            "  2 retries · 12 from the store",
            "  1.2M tokens · cost 1.25",
        ]

    @pytest.mark.parametrize("width", [*range(1, 60), 200])
    def test_no_width_is_exceeded(self, width: int) -> None:
        for report in (TROUBLED, told(1024, done=True)):
            assert all(len(line) <= max(width - 1, 1) for line in shown(report, width))

    def test_a_terminal_without_these_signs(self) -> None:
        lines = shown(TROUBLED, 60, "ascii")
        assert all(line.isascii() for line in lines)
        assert lines[0][2:] == f"{'-' * 16}{' ' * 15} 137 / 258 (at most 1,024)"
        assert lines[1] == "  about 3 s to 258 probes | 142 replays, 41.8/s | 3 failed"

    def test_what_went_wrong_is_seen(self) -> None:
        coloured = "\n".join(shown_in_colour(TROUBLED, 80))
        assert "\x1b[1;31m3 failed\x1b[0m" in coloured
        assert "\x1b[33m2 retries\x1b[0m" in coloured


SCRIPT = """
    import itertools, signal, sys, threading, time
    from pathlib import Path
    from rag_rule_explainer import Explainer, ProgressBar, RagRuleError
    from rag_rule_explainer.progress.terminal import TerminalCanvas
    from tests.interrupting import tell_stops

    signal.signal(signal.SIGINT, signal.default_int_handler)
    ending, count, interrupts, sign = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    numbers, drawn, stopped = itertools.count(1), threading.Event(), threading.Event()
    tell_stops(lambda: (sign.touch(), stopped.set()))
    draw = TerminalCanvas.draw

    def drawing(canvas, rows):
        draw(canvas, rows)
        if any(row.report.probes >= (1 if ending == "error" else 10) for row in rows):
            drawn.set()

    TerminalCanvas.draw = drawing

    def replay(question, sources):
        number = next(numbers)
        if ending == "aborted" and len(sources) < count - 2:
            time.sleep(3600)
        # However slow the drawing is, there is something to be seen before the end.
        if ending == "well" and number > 40:
            drawn.wait(60)
        # Fewer fail than end a search, and those after them wait: the interrupt comes in its middle.
        if interrupts and 0 < len(sources) < count - 1:
            stopped.wait(60)
        if len(sources) == count - 1:
            raise ValueError("\\x1b[2J broken \\x1b]0;owned\\x07")
        return "yes" if any(source.id == "D1" for source in sources) else "no"

    def predicate(case):
        if ending == "error" and len(case.kept) == count - 3:
            drawn.wait(60)
            raise RagRuleError("no such thing")
        return case.answer.text == "yes"

    explainer = Explainer(replay, predicate=predicate, miner="exact", retries=0, progress=ProgressBar())
    print("before")
    explainer.explain("?", [str(n) for n in range(count)])
    print("after")
"""


@pytest.mark.waits
@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
class TestRealTerminal:
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.sign = tmp_path / "stopped"

    def run(self, width: int, ending: str, sources: int, interrupts: int = 0) -> str:
        """Everything that a program writes to its terminal."""
        import fcntl
        import pty
        import struct
        import termios

        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        unwanted = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
        env = {name: value for name, value in os.environ.items() if name not in unwanted}
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", textwrap.dedent(SCRIPT)),
                *(ending, str(sources), str(interrupts), str(self.sign)),
            ],
            cwd=ROOT,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**env, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"},
        )
        os.close(theirs)
        written = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError as error:
                assert error.errno == errno.EIO  # noqa: PT017 -- how a pseudo-terminal says that it is at its end
                break
            if not chunk:
                break
            written += chunk
            while interrupts and b"failed" in written:
                interrupts -= 1
                process.send_signal(signal.SIGINT)
                if interrupts:  # two that come at once are one
                    until(self.sign.exists)
        process.wait(timeout=120)
        os.close(ours)
        return written.decode()

    @staticmethod
    def lines(written: str) -> list[str]:
        plain = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", written)
        return [line for line in re.split(r"[\r\n]+", plain) if line]

    @pytest.mark.parametrize("width", [pytest.param(80, marks=pytest.mark.slow), 40])
    def test_it_is_drawn_and_leaves_the_end(self, width: int) -> None:
        written = self.run(width, "well", 6)
        lines = self.lines(written)
        assert lines[0] == "before"
        assert lines[-1] == "after"
        assert any("━" in line and "≤ 64)" in line for line in lines)
        kept = [line for line in lines if re.match(r"\d+ probes \(≤ 64\) · took [\d.]+ s", line)]
        assert len(kept) == 1
        assert width == 40 or re.search(r" s · \d+ replays, [\d.]+/s · 6 failed$", kept[0])
        assert "6 failed" in written
        assert max(map(len, lines)) < width
        assert "\x1b[2K" in written[max(map(written.rfind, FRAMES)) :]  # the last drawing is erased
        assert written.count("\x1b[?25l") == 1
        assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l")
        assert "broken" not in written
        assert "owned" not in written

    def test_an_interrupt_leaves_the_terminal_clean(self) -> None:
        written = self.run(80, "well", 8, interrupts=1)
        assert self.lines(written)[-1] == "after"
        assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l")

    @pytest.mark.slow
    def test_so_does_an_error(self) -> None:
        written = self.run(80, "error", 6)
        assert "no such thing" in written
        assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l")

    @pytest.mark.slow
    def test_so_does_a_second_one_which_aborts(self) -> None:
        written = self.run(80, "aborted", 8, interrupts=2)
        assert "KeyboardInterrupt" in written
        assert "after" not in self.lines(written)
        assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l")
        assert written.count("\x1b[?25h") == written.count("\x1b[?25l")
