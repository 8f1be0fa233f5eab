"""When a bar appears and when it goes, and what it makes of several explanations."""

import io
import os
import re
import subprocess
import sys
import textwrap
import threading

import pytest

from rag_rule_explainer import Explainer, InvalidInput, ProgressBar, ProgressReport
from rag_rule_explainer.progress import as_progress
from rag_rule_explainer.progress.bar import is_terminal, shown_as
from rag_rule_explainer.progress.lines import Lines
from rag_rule_explainer.testing import ScriptedReplay
from tests.progress.reports import told

pytestmark = pytest.mark.waits

SHOW_CURSOR, HIDE_CURSOR = "\x1b[?25h", "\x1b[?25l"


class Terminal(io.StringIO):
    """A file that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Broken(Terminal):
    """A terminal that was closed."""

    def write(self, _text: str) -> int:
        raise BrokenPipeError("closed")


def text_of(file: io.StringIO) -> str:
    """What was written, each thing that was drawn on lines of its own."""
    return re.sub(r"\x1b\[[?\d;]*m", "", re.sub(r"(\r|\x1b\[[?\d]*[A-Zhl])+", "\n", file.getvalue()))


def drawing_threads() -> int:
    return sum(thread.name == "rag-rule-progress" for thread in threading.enumerate())


class TestLife:
    def test_it_appears_with_the_first_report_and_goes_with_the_last(self) -> None:
        file = Terminal()
        bar = ProgressBar(file=file)
        assert drawing_threads() == 0
        bar(told(1))
        assert drawing_threads() == 1
        bar(told(2, done=True, needed=2))
        assert drawing_threads() == 0
        assert "2 probes (≤ 1,024) \ntook" in text_of(file).replace(
            "\n", " \n"
        ) or "took 0.2 s" in text_of(file)
        assert file.getvalue().rfind(SHOW_CURSOR) > file.getvalue().rfind(HIDE_CURSOR)

    def test_it_can_be_used_again(self) -> None:
        file = Terminal()
        bar = ProgressBar(file=file)
        for call in (1, 2):
            bar(told(1, call=call))
            bar(told(7, call=call, done=True))
        assert text_of(file).count("took 0.7 s") == 2
        assert "#" not in text_of(file)
        assert drawing_threads() == 0

    def test_nothing_stays_where_nothing_is_to_be_kept(self) -> None:
        file = Terminal()
        bar = ProgressBar(file=file, keep=False)
        bar(told(1))
        bar(told(2, done=True))
        assert "took" not in text_of(file)

    def test_as_a_context_it_is_there_at_once_and_stays_between_calls(self) -> None:
        with ProgressBar(file=Terminal()) as bar:
            assert drawing_threads() == 1
            bar(told(1, call=1))
            bar(told(2, call=1, done=True))
            assert drawing_threads() == 1
        assert drawing_threads() == 0

    def test_who_is_left_behind_does_not_open_it_again(self) -> None:
        file = Terminal()
        with ProgressBar(file=file) as bar:
            bar(told(1, call=1))
        closed = file.getvalue()
        bar(told(2, call=1))
        bar(told(3, call=1, done=True))
        assert file.getvalue() == closed
        bar(told(1, call=2))
        assert drawing_threads() == 1
        bar.close()
        assert drawing_threads() == 0

    def test_what_ended_before_its_first_probe_is_not_shown(self) -> None:
        file = Terminal()
        ProgressBar(file=file)(told(0, done=True))
        assert file.getvalue() == ""

    def test_leaving_the_program_closes_it(self) -> None:
        program = """
            import io, sys, threading
            from rag_rule_explainer import ProgressBar, ProgressReport

            is_drawn = threading.Event()

            class Terminal(io.StringIO):
                def isatty(self):
                    return True
                def write(self, text):
                    if "\\x1b[?25l" in text:
                        is_drawn.set()
                    return sys.stdout.write(text)
                def flush(self):
                    sys.stdout.flush()

            ProgressBar(file=Terminal())(ProgressReport(1, 2, 4, 1))
            is_drawn.wait(60)
        """
        run = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True
        )
        assert run.stdout.count(HIDE_CURSOR) == 1
        assert run.stdout.rfind(SHOW_CURSOR) > run.stdout.rfind(HIDE_CURSOR)

    def test_closing_what_never_opened_is_nothing(self) -> None:
        ProgressBar().close()


class TestSeveral:
    def test_who_comes_first_in_many_threads_opens_one(self) -> None:
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            for _ in range(20):
                bar = ProgressBar(file=Terminal())
                together = threading.Barrier(4)

                def tell(
                    call: int, bar: ProgressBar = bar, together: threading.Barrier = together
                ) -> None:
                    together.wait(120)
                    bar(told(1, call=call))

                threads = [threading.Thread(target=tell, args=(call,)) for call in range(4)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                assert drawing_threads() == 1
                bar.close()
                assert drawing_threads() == 0
        finally:
            sys.setswitchinterval(interval)

    @pytest.mark.parametrize("form", ["terminal", "lines"])
    def test_in_threads_each_has_its_row(self, form: str) -> None:
        file = Terminal()
        bar = ProgressBar(form, file=file)  # pyright: ignore[reportArgumentType] -- a parameter
        together = threading.Barrier(4)

        def explain(call: int) -> None:
            bar(told(1, call=call))
            together.wait(120)
            for probes in range(2, 500):
                bar(told(probes, call=call))
            bar(told(500 + call, call=call, done=True))

        threads = [threading.Thread(target=explain, args=(call,)) for call in (1, 2, 3, 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        last = r"^#(\d)  (\d+) / 1,024 probes(?: ·|;) took [\d.]+ s(?: ·|;) \d+ replays, 10.0/s$"
        kept = re.findall(last, text_of(file), re.MULTILINE)
        assert sorted(probes for _, probes in kept) == ["501", "502", "503", "504"]
        assert sorted(number for number, _ in kept) == ["1", "2", "3", "4"]
        assert drawing_threads() == 0

    def test_explanations_at_once(self) -> None:
        file = Terminal()
        bar = ProgressBar("lines", file=file)
        replay = ScriptedReplay(lambda ids: "yes" if {"1", "2"} <= ids else "no")
        together = threading.Barrier(3)

        def explain() -> None:
            together.wait(120)
            Explainer(replay, progress=bar, miner="exhaustive").explain("?", list("abcdef"))

        threads = [threading.Thread(target=explain) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lines = file.getvalue().splitlines()
        assert all(
            re.fullmatch(r"(#\d  )?\d+ (/ 64 )?probes; .*replays?, [\d,.]+/s", each) for each in lines
        )
        assert sum("took" in line for line in lines) == 3


class TestBroken:
    def test_a_terminal_that_is_gone_costs_nothing(self) -> None:
        bar = ProgressBar(file=Broken())
        explainer = Explainer(ScriptedReplay(lambda _: "x"), progress=bar, miner="exhaustive")
        for _ in range(2):
            explanation = explainer.explain("?", list("abcdef"))
            assert explanation.complete
            assert explanation.notes[0] == "progress was no longer told: BrokenPipeError: closed"
            assert drawing_threads() == 0

    def test_nor_does_one_that_goes_away_meanwhile(self) -> None:
        file = Terminal()
        with ProgressBar(file=file) as bar:
            bar(told(1))
            file.close()
        assert drawing_threads() == 0

    def test_it_does_not_end_the_program(self) -> None:
        out = os.dup(1)
        try:
            with ProgressBar(file=Broken()) as bar:
                Explainer(ScriptedReplay(lambda _: "x"), progress=bar).explain("?", ["a"])
            assert os.fstat(1) == os.fstat(out)
        finally:
            os.close(out)


class TestForm:
    def test_a_file_gets_lines(self) -> None:
        assert isinstance(shown_as("auto", io.StringIO(), keep=True), Lines)

    def test_a_terminal_that_cannot_be_redrawn_gets_lines(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TERM", "xterm")
        assert is_terminal(Terminal())
        monkeypatch.setenv("TERM", "dumb")
        assert not is_terminal(Terminal())

    @pytest.mark.parametrize("form", ["auto", "terminal", "lines"])
    def test_without_stderr_nothing_is_shown(self, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stderr", None)
        bar = ProgressBar(form)  # pyright: ignore[reportArgumentType] -- a parameter
        bar(told(1))
        bar(told(2, done=True))

    def test_a_form_that_is_none_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="'terminal'"):
            ProgressBar("bar")  # pyright: ignore[reportArgumentType] -- on purpose

    def test_stderr_is_looked_up_when_it_is_needed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        bar = ProgressBar()
        file = io.StringIO()
        monkeypatch.setattr(sys, "stderr", file)
        bar(told(1))
        bar.close()
        assert file.getvalue().startswith("1 / 1,024 probes")


class TestConvenience:
    def test_true_is_one_bar_for_all(self) -> None:
        first, second = Explainer(progress=True), Explainer(progress=True)
        assert isinstance(first.progress, ProgressBar)
        assert first.progress is second.progress

    def test_false_is_none(self) -> None:
        assert Explainer(progress=False).progress is None
        assert Explainer().progress is None

    def test_a_function_is_told(self) -> None:
        def tell(report: ProgressReport) -> None: ...

        assert as_progress(tell) is tell

    def test_what_cannot_be_told_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="give True, a ProgressBar"):
            Explainer(progress="yes")  # pyright: ignore[reportArgumentType] -- on purpose

    def test_it_is_shown(self, capsys: pytest.CaptureFixture[str]) -> None:
        Explainer(ScriptedReplay(lambda _: "x"), progress=True, miner="exhaustive").explain("?", ["a"])
        first, last = capsys.readouterr().err.splitlines()
        assert first.startswith("1 / 2 probes; ")
        assert last.startswith("2 probes; took ")
