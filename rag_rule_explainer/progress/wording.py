"""This module puts a progress report into words, which all forms of the bar show. The words contain no
text from outside of the package, so they need no escaping."""

from dataclasses import dataclass
from enum import Enum

from ..lattice import FAMILY_LIMIT, subset_count
from .amounts import duration, elapsed, money, rate, token_amount
from .report import ProgressReport

WAITING = "waiting for a probe"

_IN_ASCII = str.maketrans({"≈": "about", "≤": "at most", "·": "|", "…": "..."})


class Tone(Enum):
    """A ``Tone`` says how much attention a phrase of a progress row needs, and thereby its colour."""

    PLAIN = "plain"
    NOTABLE = "notable"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class WordedPart:
    """A ``WordedPart`` is a phrase of a progress row. It is never split over two lines."""

    text: str
    tone: Tone = Tone.PLAIN


_INTERRUPTED = (
    WordedPart("interrupted: waiting for the replays in flight", Tone.NOTABLE),
    WordedPart("Ctrl-C again ends at once, without the rules", Tone.NOTABLE),
)


@dataclass(frozen=True, slots=True)
class Row:
    """A ``Row`` holds the newest report of one explanation.

    ``number``: the number of the explanation among those that a bar shows, starting with 1; None if it is
    the only one.
    """

    report: ProgressReport
    number: int | None = None

    @property
    def share(self) -> float:
        """Returns the progress, from 0 to 1: which share of the probes known to be needed is done."""
        return min(self.report.probes / max(self.report.needed, 1), 1.0)

    def headline(self, *, short: bool = False) -> str:
        """Returns the number of probes done, of probes known to be needed, and of probes at most, in
        words. ``short``: True to leave out words, for narrow terminals."""
        report = self.report
        named = "" if self.number is None else f"#{self.number}  "
        bound = f" (≤ {_many(report.upper_bound)})" if report.needed < report.upper_bound else ""
        if report.done and report.probes == report.needed:
            return f"{named}{report.probes:,} {report.unit}{bound}"
        so_far = " needed so far" if bound and not report.done else ""
        unit = "" if short else f" {report.unit}{so_far}"
        return f"{named}{report.probes:,} / {report.needed:,}{unit}{bound}"

    def parts(self) -> tuple[WordedPart, ...]:
        """Returns, in words, the numbers of the report that are not in the headline, the most important
        first. Numbers that are zero are left out."""
        report = self.report
        said = (
            *(_INTERRUPTED if report.interrupted and not report.done else ()),
            _time(report),
            _replays(report),
            _counted(report.failures, "failed", Tone.BAD),
            _counted(report.retries, "retry" if report.retries == 1 else "retries", Tone.NOTABLE),
            _counted(report.stored, "from the store"),
            WordedPart(f"{token_amount(report.tokens)} tokens") if report.tokens else None,
            None if report.cost is None else WordedPart(f"cost {money(report.cost)}"),
        )
        return tuple(part for part in said if part is not None)

    def line(self) -> str:
        """Returns the headline and the parts as one line."""
        return " · ".join((self.headline(), *(part.text for part in self.parts())))


def in_ascii(text: str) -> str:
    """Returns the text in ASCII: the few characters of this module that are not ASCII are replaced."""
    return text.translate(_IN_ASCII)


def _many(subsets: int) -> str:
    return f"{subsets:,}" if subsets <= 1 << FAMILY_LIMIT else subset_count(subsets)


def _time(report: ProgressReport) -> WordedPart | None:
    if report.done:
        return WordedPart(f"took {elapsed(report.seconds)}")
    left = report.seconds_left
    if left is None or report.needed <= report.probes:
        return None
    # More probes may be needed later, so the text gives the number of probes for which the time is
    # estimated.
    until = "left" if report.needed == report.upper_bound else f"to {report.needed:,} {report.unit}"
    return WordedPart(f"{f'≈ {duration(left)}' if left >= 1 else '< 1 s'} {until}")


def _replays(report: ProgressReport) -> WordedPart:
    counted = f"{report.replays:,} replay{'s' * (report.replays != 1)}"
    pace = report.replays_per_second
    return WordedPart(f"{counted}, {rate(pace)}" if pace > 0 else counted)


def _counted(count: int, what: str, tone: Tone = Tone.PLAIN) -> WordedPart | None:
    return WordedPart(f"{count:,} {what}", tone) if count else None
