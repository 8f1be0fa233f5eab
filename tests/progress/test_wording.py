import pytest

from rag_rule_explainer.progress import amounts
from rag_rule_explainer.progress.wording import Row, Tone, in_ascii
from tests.progress.reports import HALF_WAY, told


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.0k"),
        (1234, "1.2k"),
        (999_949, "999.9k"),
        (999_950, "1.0M"),
        (3_400_000, "3.4M"),
        (5_600_000_000, "5.6G"),
        (7_000_000_000_000, "7,000.0G"),
    ],
)
def test_tokens(count: int, shown: str) -> None:
    assert amounts.token_amount(count) == shown


@pytest.mark.parametrize(
    ("cost", "shown"),
    [
        (0.0, "0.00"),
        (0.00001, "< 0.0001"),
        (0.0123, "0.0123"),
        (0.5, "0.5000"),
        (1.0, "1.00"),
        (1234.5, "1,234.50"),
    ],
)
def test_money(cost: float, shown: str) -> None:
    assert amounts.money(cost) == shown


@pytest.mark.parametrize(
    ("per_second", "shown"),
    [
        (1234.4, "1,234/s"),
        (99.96, "100/s"),
        (41.23, "41.2/s"),
        (1.0, "1.0/s"),
        (0.2, "12/min"),
        (0.001, "4/h"),
    ],
)
def test_rate(per_second: float, shown: str) -> None:
    assert amounts.rate(per_second) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.2, "0 s"),
        (12.4, "12 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (200, "3 min 20 s"),
        (3599.6, "1 h"),
        (7500, "2 h 5 min"),
        (356_400, "4 d 3 h"),
    ],
)
def test_duration(seconds: float, shown: str) -> None:
    assert amounts.duration(seconds) == shown


def test_elapsed_time_has_a_decimal_while_it_is_short() -> None:
    assert [amounts.elapsed(each) for each in (0.04, 9.94, 9.96, 75)] == [
        "0.0 s",
        "9.9 s",
        "10 s",
        "1 min 15 s",
    ]


def test_what_is_under_way_is_told_with_what_is_known_to_be_needed() -> None:
    row = Row(HALF_WAY)
    assert row.line() == (
        "137 / 258 probes needed so far (≤ 1,024) · ≈ 3 s to 258 probes · 140 replays, 41.2/s"
    )
    assert row.headline(short=True) == "137 / 258 (≤ 1,024)"
    assert row.share == 137 / 258


def test_where_all_are_needed_nothing_is_said_of_a_bound() -> None:
    assert Row(told(512)).line() == "512 / 1,024 probes · ≈ 51 s left · 512 replays, 10.0/s"


def test_there_is_no_time_left_to_tell_before_there_is_a_pace_or_when_all_is_done() -> None:
    assert "≈" not in Row(told(0)).line()
    assert "≈" not in Row(told(5, needed=5)).line()


def test_less_than_a_second_is_told_as_that() -> None:
    assert "· < 1 s to 9 probes ·" in Row(told(8, needed=9)).line()
    assert "· ≈ 1 s to 18 probes ·" in Row(told(8, needed=18)).line()


def test_the_end_tells_what_it_took() -> None:
    assert Row(told(300, needed=300, done=True)).line() == (
        "300 probes (≤ 1,024) · took 30 s · 300 replays, 10.0/s"
    )


def test_an_end_that_came_early_tells_what_was_left() -> None:
    assert Row(told(300, needed=400, done=True)).line().startswith("300 / 400 probes (≤ 1,024) · took")


def test_what_went_wrong_is_told_where_there_is_something() -> None:
    troubled = Row(
        told(9, failures=3, retries=1, stored=12, tokens=1234, cost=0.0123, replays=1, seconds=0)
    )
    tones = {part.text: part.tone for part in troubled.parts()}
    assert tones == {
        "1 replay": Tone.PLAIN,
        "3 failed": Tone.BAD,
        "1 retry": Tone.NOTABLE,
        "12 from the store": Tone.PLAIN,
        "1.2k tokens": Tone.PLAIN,
        "cost 0.0123": Tone.PLAIN,
    }
    quiet = Row(told(9, cost=0.0)).line()
    assert not any(word in quiet for word in ("failed", "retr", "store", "token"))
    assert quiet.endswith("cost 0.00")


def test_one_of_several_has_a_number() -> None:
    assert Row(told(9), 3).headline() == "#3  9 / 1,024 probes"


def test_everything_can_be_said_in_ascii() -> None:
    everything = Row(told(9, needed=20, failures=1, retries=2, stored=1, tokens=5, cost=1.0), 2).line()
    assert not everything.isascii()
    assert in_ascii(everything).isascii()
