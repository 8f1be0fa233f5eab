import io

from rag_rule_explainer import ProgressBar
from rag_rule_explainer.progress.lines import Lines
from rag_rule_explainer.progress.wording import Row
from tests.progress.reports import told


def lines_of(*probes: int, last: int) -> list[str]:
    file = io.StringIO()
    bar = ProgressBar("lines", file=file)
    for each in probes:
        bar(told(each, upper_bound=5000, needed=5000))
    bar(told(last, upper_bound=5000, needed=last, done=True))
    return file.getvalue().splitlines()


def probes_in(lines: list[str]) -> list[int]:
    return [int(line.split()[0].replace(",", "")) for line in lines]


def test_the_first_then_ever_fewer_and_the_last() -> None:
    lines = lines_of(*range(1, 1001), last=1000)
    assert probes_in(lines) == [1, 100, 200, 400, 800, 1000]
    assert lines[1] == "100 / 5,000 probes; about 8 min 10 s left; 100 replays, 10.0/s"
    assert lines[-1] == "1,000 probes (at most 5,000); took 1 min 40 s; 1,000 replays, 10.0/s"


def test_a_long_stride_makes_up_for_nothing() -> None:
    assert probes_in(lines_of(1, 650, 651, 652, 799, 800, last=900)) == [1, 650, 800, 900]


def test_the_last_is_not_said_twice() -> None:
    assert probes_in(lines_of(1, last=1)) == [1]
    assert probes_in(lines_of(1, 2, last=2)) == [1, 2]


def test_nothing_is_said_of_what_ended_before_it_began() -> None:
    assert lines_of(last=0) == []


def test_logs_are_ascii() -> None:
    assert all(line.isascii() for line in lines_of(*range(1, 300), last=300))


def test_a_program_without_stderr_is_left_alone() -> None:
    shown = Lines(None)
    shown.show(Row(told(1)))
    shown.finish(Row(told(2, done=True)))
    shown.close()


def test_an_interrupt_is_said_once_and_at_once() -> None:
    file = io.StringIO()
    bar = ProgressBar("lines", file=file)
    bar(told(1, upper_bound=5000, needed=5000))
    for probes in (150, 200, 400):
        bar(told(probes, upper_bound=5000, needed=5000, interrupted=True))
    bar(told(401, upper_bound=5000, needed=5000, interrupted=True, done=True))
    lines = file.getvalue().splitlines()
    assert probes_in(lines) == [1, 150, 401]
    assert ["interrupted" in line for line in lines] == [False, True, False]
