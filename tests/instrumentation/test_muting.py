"""What replays print is not shown, and what anybody else prints is."""

import contextvars
import io
import sys
import threading
import warnings
from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout
from typing import Any

import pytest
from rich.console import Console
from rich.live import Live

from rag_rule_explainer import Source
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.isolation.muting import muting
from rag_rule_explainer.instrumentation.recording.recorder import Recording
from rag_rule_explainer.instrumentation.requests.exchanges import Exchanges
from rag_rule_explainer.instrumentation.run_context import participating
from rag_rule_explainer.instrumentation.run_record import Participation


class Unwatched:
    """Sees nothing."""

    def __init__(self) -> None:
        self.exchanges = Exchanges()
        self.before_step: list[Any] = []
        self.steps, self.fault, self.failed = 0, "", False
        self.requests: list[Any] = []
        self.said: list[Any] = []
        self.models: dict[str, Any] = {}


def run_of(*, muted: bool) -> Participation:
    def identified(batches: Any) -> list[list[Source]]:
        return [[] for _ in batches]

    gate: Recording[Any] = Recording(identified)
    return Participation(gate, Unwatched(), State(), muted=muted)


@contextmanager
def replaying() -> Generator[None, None, None]:
    with muting(), participating(run_of(muted=True)):
        yield


@pytest.fixture(autouse=True)
def _all_is_put_back() -> Generator[None, None, None]:
    before = sys.stdout, warnings.showwarning
    yield
    assert (sys.stdout, warnings.showwarning) == before


@pytest.mark.waits
def test_a_replay_is_not_heard_and_everybody_else_is(capsys: pytest.CaptureFixture[str]) -> None:
    with muting():
        print("before")
        with participating(run_of(muted=False)):
            print("first run")
        with replaying():
            print("replay")
            sys.stdout.writelines(["replay", "\n"])
            print("trouble", file=sys.stderr)
            thread = threading.Thread(target=print, args=("another thread",))
            thread.start()
            thread.join()
        print("after")
    assert capsys.readouterr() == ("before\nfirst run\nanother thread\nafter\n", "trouble\n")


def test_what_goes_on_after_its_replay_is_heard(capsys: pytest.CaptureFixture[str]) -> None:
    with muting():
        with replaying():
            left_behind = contextvars.copy_context()
            left_behind.run(print, "during")
        left_behind.run(print, "afterwards")
    assert capsys.readouterr().out == "afterwards\n"


@pytest.mark.waits
def test_a_replay_that_is_left_behind_stays_muted(capsys: pytest.CaptureFixture[str]) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def late() -> None:
        with replaying():
            begun.set()
            go_on.wait()
            print("late")

    thread = threading.Thread(target=late)
    with muting():
        thread.start()
        begun.wait()
    print("meanwhile")
    go_on.set()
    thread.join()
    assert capsys.readouterr().out == "meanwhile\n"


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_all_is_put_back_whatever_is_raised(error: type[BaseException]) -> None:
    before = sys.stdout

    def raising() -> None:
        with muting(), muting():
            assert sys.stdout is not before
            raise error

    with pytest.raises(error):
        raising()
    assert sys.stdout is before


def test_a_tool_that_reads_what_its_code_prints_still_does() -> None:
    with replaying():
        # Inside, another replay begins.
        with redirect_stdout(io.StringIO()) as read, muting():
            print("4")
        assert read.getvalue() == "4\n"


def test_a_replay_is_not_heard_through_a_bar_that_was_begun_later() -> None:
    terminal = io.StringIO()
    live = Live(console=Console(file=terminal, force_terminal=True), auto_refresh=False)
    with muting():
        with live:
            print("own")
            with replaying():
                print("replay")
        print("own")
    assert "own" in terminal.getvalue()
    assert "replay" not in terminal.getvalue()


def test_what_was_put_back_too_late_takes_itself_away(capsys: pytest.CaptureFixture[str]) -> None:
    with muting():
        ours = sys.stdout
    sys.stdout = ours  # as a bar does that ends later than the explanation
    print("own")
    assert sys.stdout is not ours
    assert capsys.readouterr().out == "own\n"


def test_warnings_of_replays_are_not_shown_and_still_raise_where_they_are_errors() -> None:
    with warnings.catch_warnings(record=True) as shown, muting():
        warnings.simplefilter("always")
        warnings.warn("own", stacklevel=1)
        with replaying():
            warnings.warn("replay", stacklevel=1)
            warnings.simplefilter("error")
            with pytest.raises(UserWarning, match="replay"):
                warnings.warn("replay", stacklevel=1)
    assert [str(each.message) for each in shown] == ["own"]
