"""This module defines the settings for applications and judges that do not answer the same every time."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from ..allowed import brief, called_as, checked_whole, plain_number
from ..errors import InvalidInput
from .vote_rules import Count, Majority, Sequential, chance_of_misleading

Vote: TypeAlias = Literal["border", "every", "sequential"]

MOST_SAMPLES = 1_000
"""The largest number of samples (repeated answers) of one arrangement (an ordered list of sources). About
half of them are requested at the same time, so more would need too many requests at once."""


_SHARE = "Noise(min_confidence=...), for rules that hold on so many"


@called_as("Noise")
@dataclass(frozen=True, slots=True)
class Noise:
    """The Noise settings say for which arrangements (ordered lists of sources) a vote over several
    answers decides, and how many of these answers (samples) are drawn.

    ``samples``: the largest number of samples of one arrangement, up to 1,000; 1 means no votes.

    ``vote``: "every" decides every arrangement by the majority of its samples, as in the paper on which
    this package is based. "border" (the default) draws one sample of every subset. It decides by a
    majority only where that sample breaks the condition, and on the subset of every rule that would be
    printed. "sequential" votes on the same arrangements as "border", but by a sequential probability
    ratio test. The test has the error rates ``false_holds`` and ``false_breaks`` if the condition holds
    on a share of answers that is ``margin`` below or above a half. An arrangement that is undecided after
    ``samples`` is UNKNOWN.

    ``recheck``: before a rule is printed, this many random subsets to which it applies are voted on, out
    of those that were sampled only once.

    ``min_confidence``: a rule must hold on at least this share of the subsets to which it applies; 1
    means all of them. Below 1, every subset needs a verdict, so every subset is voted on, and there may
    be at most 12 sources.

    Raises InvalidInput for any other value.
    """

    samples: int = 1
    vote: Vote | None = None
    recheck: int = 0
    min_confidence: float = 1.0
    false_holds: float = 0.01
    false_breaks: float = 0.01
    margin: float = 0.3

    def __post_init__(self) -> None:
        object.__setattr__(self, "samples", checked_whole("noise.samples", self.samples, 1, MOST_SAMPLES))
        object.__setattr__(self, "recheck", checked_whole("noise.recheck", self.recheck, 0))
        if self.vote is not None and self.vote not in get_args(Vote):
            raise InvalidInput(
                f"noise.vote is {brief(self.vote)}; give 'border', 'every' or 'sequential'"
            )
        _between("min_confidence", self.min_confidence, 0.0, 1.0, top=True)
        _between("margin", self.margin, 0.0, 0.5)
        for name in ("false_holds", "false_breaks"):
            _between(name, getattr(self, name), 0.0, 0.5)
        if self.samples == 1 and (self.vote or self.recheck):
            raise InvalidInput("noise asks for votes of one sample; ask for more samples, such as 9")
        if self.min_confidence < 1 and self.vote not in {None, "every"}:
            raise InvalidInput(
                "noise.min_confidence needs a verdict on every subset; leave vote out, or give 'every'"
            )
        if self.recheck and self.everywhere:
            raise InvalidInput("noise.recheck is for votes at the border; here every subset has its own")
        if self.vote == "sequential":
            self._check_decidable()

    @classmethod
    def of(cls, given: "Noise | int") -> "Noise":
        """Returns a Noise object unchanged; turns a number into Noise with that number of samples. Raises
        InvalidInput for anything else."""
        if isinstance(given, cls):
            return given
        number = plain_number(given)
        if type(number) is not int:
            share = f"; a share of subsets is {_SHARE}" if isinstance(given, float) else ""
            raise InvalidInput(
                f"noise is {brief(given)}; give a number of samples, or Noise(samples=...){share}"
            )
        return cls(samples=number)

    def _check_decidable(self) -> None:
        earliest = Sequential(10**9, self.false_holds, self.false_breaks, self.margin).soonest(0, 0)
        if earliest > self.samples:
            raise InvalidInput(
                f"noise.samples is {self.samples}, and a sequential test with these error rates decides "
                f"after {earliest} at the earliest; give more samples, higher rates or a wider margin"
            )

    @property
    def votes(self) -> bool:
        """Returns True if votes over several answers are on."""
        return self.samples > 1

    @property
    def everywhere(self) -> bool:
        """Returns True if every arrangement (an ordered list of sources) is voted on; False if only some
        are, as with ``vote="border"``, or none."""
        return self.votes and (self.vote == "every" or self.min_confidence < 1)

    @property
    def count(self) -> Count:
        """Returns the rule by which votes are counted. This rule says when there are enough votes for a
        verdict, and what the verdict is."""
        if self.vote == "sequential":
            return Sequential(self.samples, self.false_holds, self.false_breaks, self.margin)
        return Majority(self.samples)

    @property
    def missed(self) -> float:
        """Returns an upper bound of the chance that a subset that breaks the condition is judged to
        hold; 0 without votes. It assumes that each single answer is wrong with a chance of at most ``0.5
        - margin``."""
        if not self.votes:
            return 0.0
        wrong, enough = 0.5 - self.margin, (self.samples + 1) // 2
        majority = chance_of_misleading(enough, self.samples - enough, wrong)
        voted = self.false_holds if self.vote == "sequential" else majority
        return min(0.5, voted + (0.0 if self.everywhere else wrong))

    @property
    def wording(self) -> str:
        """Returns the words by which a report says by which kind of votes its rules were found."""
        if self.everywhere:
            return f"majority of {self.samples} on every subset"
        if self.vote == "sequential":
            test = f"a sequential test of at most {self.samples} samples"
            rates = f" (error rates {self.false_holds:g} and {self.false_breaks:g})"
        else:
            test, rates = f"majority of {self.samples}", ""
        again = f", {self.recheck} of them above each rule once more by vote" if self.recheck else ""
        return f"{test}{rates} at the border, other subsets asked once{again}"


def _between(name: str, value: float, low: float, high: float, *, top: bool = False) -> None:
    fits = type(value) in {int, float} and (low < value < high or (top and value == high))
    if not fits:
        upto = "at most" if top else "below"
        raise InvalidInput(
            f"noise.{name} is {brief(value)}; give a number above {low:g} and {upto} {high:g}"
        )
