"""This module computes upper bounds of the chance that a verdict in an explanation is wrong, if the
application's answers vary.

An arrangement is a list of retained sources in the order in which a replay shows them. All bounds depend
on one assumption, which reports print: on each arrangement, an answer gets the wrong verdict with a
chance of at most ``0.5 - noise.margin``, independently of all other answers. With the default margin of
0.3, this chance is 20 %. An explanation without votes assumes that the application always gives the same
answer to the same sources. Its chances are therefore 0.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import JsonValue

from ..errors import InvalidInput
from ..mining import QUICK_SAMPLING, Sampled
from ..probing.noise import Noise
from ..probing.vote_rules import chance_of_misleading
from ..rules import RuleKind
from ..verdicts import Verdict
from .records import Finding, Votes

if TYPE_CHECKING:  # a runtime import would be circular
    from .explanation import Explanation

_Settings = TypeVar("_Settings", Noise, Sampled)


@dataclass(frozen=True, slots=True)
class Misjudging:
    """A ``Misjudging`` bounds the chances of wrong verdicts in one explanation.

    ``noise``: the settings of its votes. ``sampled``: the settings for tests of rules on random subsets.
    ``kinds``: the number of kinds of rules that were tested. ``fixed``: True if the user set the answer
    that is used if all sources are omitted; this answer does not vary.
    """

    noise: Noise
    sampled: Sampled
    kinds: int
    fixed: bool = False

    @classmethod
    def of(cls, explanation: "Explanation") -> "Misjudging":
        """Returns the ``Misjudging`` for the settings that are saved in an explanation. The explanation
        may come from an untrusted file."""
        noise, miner = explanation.settings.get("noise"), explanation.settings.get("miner")
        return cls(
            _made(Noise, noise) or Noise(samples=2 if explanation.voted else 1),
            _made(Sampled, miner) or (QUICK_SAMPLING if miner == "quick" else Sampled()),
            len(explanation.predicates),
            isinstance(explanation.settings.get("answer_without_sources"), str),
        )

    @property
    def wrong(self) -> float:
        """Returns the largest chance with which one answer gets a wrong verdict, as the settings assume
        it; 0 without votes."""
        return 0.5 - self.noise.margin if self.noise.votes else 0.0

    def chance(self, kept: tuple[str, ...], votes: Votes | None, verdict: Verdict) -> float:
        """Returns an upper bound of the chance that a wrong verdict gets votes that are at least as
        clear as these. The bound is 1 for the verdict UNKNOWN, from which nothing may be concluded.

        ``kept``: the retained sources. ``votes``: None if this arrangement was replayed only once.
        """
        if verdict is Verdict.UNKNOWN:
            return 1.0
        if not self.wrong or (self.fixed and not kept):
            return 0.0
        if votes is None:
            return self.wrong
        most, least = votes.holds, votes.breaks
        if verdict is Verdict.BREAKS:
            most, least = least, most
        if self.noise.vote == "sequential":
            return min(1.0, (self.wrong / (1 - self.wrong)) ** max(0, most - least))
        return chance_of_misleading(most, least, self.wrong)

    def unseen(self, *, held: bool) -> float:
        """Returns an upper bound of the chance that votes give an arrangement (an ordered list of
        sources) the wrong verdict, before the votes are known. ``held``: True for a wrong verdict HOLDS,
        False for a wrong BREAKS."""
        if held or not self.wrong:
            return self.noise.missed
        samples = self.noise.samples
        most = samples - (samples + 1) // 2 + 1
        majority = chance_of_misleading(most, samples - most, self.wrong)
        return self.noise.false_breaks if self.noise.vote == "sequential" else majority

    def passed_test(self, explanation: "Explanation", finding: Finding, *, alone: bool) -> float:
        """Returns an upper bound of the chance that a rule passes its test on random subsets although it
        breaks on a larger share of subsets than the test allows. The bound includes the chance that a
        subset that breaks the rule is judged wrongly.

        ``alone``: True for the chance of this one rule; False for the chance that this happens to any of
        the candidates that were tested.
        """
        sampled, missed = self.sampled, self.noise.missed
        single = (1 - sampled.max_violation * (1 - missed)) ** finding.draws
        if alone:
            return single
        first = sampled.draws(sampled.error(0, self.kinds), missed)
        if sampled.jointly and finding.draws >= first:
            # In floating point, 1 - 0.95 is a little more than 0.05. Without rounding, it would exceed a
            # ``max_error`` of 0.05.
            return round(1 - sampled.confidence, 12)
        return min(1.0, single * _tested(explanation, finding.kind))

    @property
    def wording(self) -> str:
        """Returns the assumption on which the bounds depend, in words; an empty text without votes."""
        share = f"{self.wrong:.0%}".replace("%", " %")
        return (
            f"if at most {share} of the answers to the same sources come out wrong" if self.wrong else ""
        )


def _made(settings: Callable[..., _Settings], given: JsonValue) -> _Settings | None:
    """Returns the settings object for a saved dict; None if the dict does not contain valid settings."""
    fields: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    try:
        return settings(**fields) if fields else None
    except (InvalidInput, TypeError):
        return None


def _tested(explanation: "Explanation", kind: RuleKind) -> int:
    """Returns the largest number of candidates that can have been tested. Each tested candidate either
    passed the test and is a rule, or failed it and led to a new witness, so this is the number of rules
    plus the number of witnesses."""
    rules = sum(rule.kind is kind for rule in explanation.rules)
    return max(1, rules + sum(witness.kind is kind for witness in explanation.witnesses))
