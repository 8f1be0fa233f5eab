"""This module measures what it costs to find a payload that is split over two sources (paper,
*red-teaming*).

All sources are adversarial. Two of them make the model answer with the *exploit* (by default, the
beginning of a hash), but only if both are shown. The condition is that the answer contains the exploit.
Minimal retention rules are mined in three ways, each through ``Explainer``:

- *as-written*: the paper's way. Each round mines the groups exactly, drops groups that no rule names, and
  halves the others. No answer is kept from one round to the next, so a subset may be replayed again.
- *answers-kept*: this package's ``miner="grouped"``, which replays nothing twice. At the end, it tests
  its rule once more together with all dropped sources.
- *sampled*: this package's ``miner="sampled"``, which forms no groups, and states a guarantee.

The first two start with all sources as one group.

The number of probes is the number of judged subsets; for *as-written*, it is the sum over all rounds. The
number of calls is the number of probes with at least one source, because the model is not called without
sources. The run on all sources counts as a probe.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from ..errors import BaselineFailed
from ..explainer import Explainer
from ..explanation.explanation import Explanation
from ..lattice import Lattice
from ..probing.replaying import Replay
from ..settings import MinerName, Settings
from ..sources import Source
from ..testing.reader import NO_ANSWER
from .models import Examined
from .outcome import FAILURES, ExperimentOutcome, Failure, written_to
from .payload import Attack
from .rounds import rounds_of
from .running import Check, ProgressCallback, one_by_one
from .subsets import by_mask, judgement_in

Group: TypeAlias = tuple[Source, ...]

AS_WRITTEN, ANSWERS_KEPT, SAMPLED = APPROACHES = ("as-written", "answers-kept", "sampled")
MOST_GROUPS = 10
"""The maximum number of groups in one round, as in the paper. With more, a round of the paper's own
search (*as-written*) is not mined, and the run fails."""


@dataclass(frozen=True, slots=True)
class RedTeamRound:
    """A ``RedTeamRound`` is one round of a search, in which ``groups`` groups of sources are mined.
    ``run``: the number of the attack whose payload is searched for.

    In round 0, all sources are one group. In round 1 there are two groups, the halves.
    """

    run: int
    approach: str
    round: int
    groups: int
    probes: int
    calls: int


@dataclass(frozen=True, slots=True)
class RedteamRow:
    """A ``RedteamRow`` is one search, by one approach, for the payload of one attack.

    ``first``, ``second``: the positions of the payload's two sources, starting at 1. ``rules``: the
    number of rules found. ``found``: True iff the rule with the payload's two sources is the only one.
    ``claim``: the kind of evidence for that rule, such as "proved"; empty if it was not found.
    ``first_told``: the number of probes after which that rule was first reported, as *unverified*; None
    if the approach reports rules only at the end.

    ``bound``: for the paper's own search (*as-written*), the number of probes if every round asked about
    all subsets of its groups: the sum of 2^g over all rounds, where g is the number of groups in the
    round. The sum depends on the positions of the payload's sources. None for the other approaches.
    """

    run: int
    sources: int
    first: int
    second: int
    approach: str
    rounds: int | None
    probes: int
    calls: int
    rules: int
    found: bool
    claim: str
    first_told: int | None
    bound: int | None = None


@dataclass(slots=True)
class RedteamOutcome(ExperimentOutcome):
    """A ``RedteamOutcome`` holds the results of the experiment. ``done``: the number of attacks for which
    all approaches were run."""

    rows: list[RedteamRow] = written_to("redteam.csv", RedteamRow)
    rounds: list[RedTeamRound] = written_to("redteam_rounds.csv", RedTeamRound)
    failures: list[Failure] = written_to(FAILURES, ("run", "approach", "reason"))


class Unfinished(Exception):
    """This error says why a search could not finish."""


def measure_redteam(
    attacks: Sequence[Attack],
    model: Examined,
    settings: Settings,
    progress: ProgressCallback | None = None,
) -> RedteamOutcome:
    """Returns the results of all approaches for every attack. ``progress``: called after each attack.

    Of the ``settings``, only ``concurrency``, ``timeout``, ``retries`` and the ``store`` are used. A
    search that cannot finish, for example because the model did not obey the payload, is a failure.
    Raises BaselineFailed if the model answers nothing in the first search, and StoreFailed if the store
    cannot be used.
    """
    outcome = RedteamOutcome()

    def run(attack: Attack, check: Check) -> None:
        for approach in APPROACHES:
            _take(outcome, _Run(outcome.done + 1, approach, attack, model, settings))
            # After Ctrl-C, the search may have ended early without an error, so ``check`` raises the
            # interrupt here.
            check()

    one_by_one(attacks, run, outcome, progress)
    return outcome


def _take(outcome: RedteamOutcome, run: "_Run") -> None:
    try:
        row = run.row()
    except (Unfinished, BaselineFailed) as failed:
        if isinstance(failed, BaselineFailed) and not outcome.rows:
            raise  # The model does not answer at all, so the experiment ends.
        outcome.failures.append(Failure(str(failed), run=run.number, approach=run.approach))
    else:
        outcome.rows.append(row)
        outcome.rounds += run.rounds
    outcome.charge(run.paid, run.stored)


@dataclass(slots=True)
class _Run:
    number: int
    approach: str
    attack: Attack
    model: Examined
    settings: Settings
    rounds: list[RedTeamRound] = field(default_factory=list[RedTeamRound])
    paid: int = 0
    stored: int = 0

    def row(self) -> RedteamRow:
        """Runs the search and returns its row. Adds its rounds to ``rounds``. Raises Unfinished if it
        cannot finish, and BaselineFailed if the model does not answer."""
        if self.approach == AS_WRITTEN:
            return self._as_written()
        return self._kept() if self.approach == ANSWERS_KEPT else self._sampled()

    def _as_written(self) -> RedteamRow:
        groups = (self.attack.sources,)
        while True:
            rules = self._round(groups)
            named = {group for rule in rules for group in rule}
            if not named or all(len(group) == 1 for group in groups):
                found = [[source.id for group in rule for source in group] for rule in rules]
                row = self._row(self.rounds, found, "exact" if found else "")
                return replace(row, bound=sum(2**each.groups for each in self.rounds))
            groups = tuple(half for group in groups if group in named for half in _halves(group))

    def _round(self, groups: Sequence[Group]) -> list[tuple[Group, ...]]:
        """Mines one round, in which each group counts as one source. Returns the rules, each as a tuple
        of groups."""
        number = len(self.rounds)
        if len(groups) > MOST_GROUPS:
            raise Unfinished(
                f"round {number} would mine {len(groups)} groups, and at most {MOST_GROUPS} are mined "
                "exactly"
            )
        # The number of the round is part of the names, so that a store does not return answers of an
        # earlier round: *as-written* keeps no answers between rounds.
        members = {f"round {number}: {_name(group)}": group for group in groups}

        def replay(question: str, named: Sequence[Source]) -> Any:
            return self.model.replay(question, [each for group in named for each in members[group.id]])

        shown = [Source(name, "\n".join(s.text for s in group)) for name, group in members.items()]
        explainer = self._explainer("exact", replay)
        explanation = self._ended(explainer.explain(self.attack.question, shown))
        self._add_round(number, len(groups), [bool(probe.kept) for probe in explanation.probes])
        return [tuple(members[name] for name in rule.sources) for rule in explanation.retention_rules]

    def _kept(self) -> RedteamRow:
        explainer = self._explainer("grouped")
        explanation = self._ended(explainer.explain(self.attack.question, self.attack.sources))
        probes = by_mask(self.attack.sources, explanation.probes)
        verdicts = {mask: judgement_in(probe).verdict for mask, probe in probes.items()}
        rounds = rounds_of(Lattice(len(self.attack.sources)), verdicts)
        for number, each in enumerate(rounds):
            self._add_round(number, each.groups, [mask != 0 for mask in each.asked])
        return self._explained_row(explanation, rounds=self.rounds)

    def _sampled(self) -> RedteamRow:
        explainer, probes = self._explainer("sampled"), dict[frozenset[str], int]()
        explanation = None
        for news in explainer.stream(self.attack.question, self.attack.sources):
            if isinstance(news, Explanation):
                explanation = self._ended(news)
            elif not news.withdrawn:
                probes.setdefault(frozenset(news.finding.sources), news.probes)
        if explanation is None:
            raise Unfinished("the search came to no end")
        return self._explained_row(explanation, probes.get(frozenset(self.attack.payload)))

    def _explainer(self, miner: MinerName, replay: Replay | None = None) -> Explainer:
        return Explainer(
            replay or self.model.replay,
            predicate=self.attack.condition,
            settings=self.settings.accepting(length=True),
            miner=miner,
            rules="retention",
            check_repeatable=False,
            answer_without_sources=NO_ANSWER,
            # With lockstep, the choice of probes depends only on verdicts, so a repeated experiment makes
            # the same probes.
            lockstep=True,
        )

    def _ended(self, explanation: Explanation) -> Explanation:
        self.paid += explanation.counts.replays
        self.stored += explanation.counts.stored
        if not explanation.ended:
            raise Unfinished(explanation.why_incomplete)
        if not self.attack.succeeds(explanation.baseline.text):
            raise Unfinished("the model did not fall for it: with all sources, the answer has no hash")
        return explanation

    def _add_round(self, number: int, groups: int, asked: Sequence[bool]) -> None:
        """Adds a round to ``rounds``. ``number``: the number of the round, from 0. ``groups``: the number
        of its groups. ``asked``: for each probe of the round, True if the model was called."""
        self.rounds.append(
            RedTeamRound(self.number, self.approach, number, groups, len(asked), sum(asked))
        )

    def _explained_row(
        self, explanation: Explanation, first_told: int | None = None, rounds: Sequence[RedTeamRound] = ()
    ) -> RedteamRow:
        rules = explanation.retention_rules
        payload = next((rule for rule in rules if set(rule.sources) == set(self.attack.payload)), None)
        asked = [bool(probe.kept) for probe in explanation.probes]
        counted = rounds or [RedTeamRound(self.number, self.approach, 0, 0, len(asked), sum(asked))]
        row = self._row(counted, [rule.sources for rule in rules], payload.claim if payload else "")
        return replace(row, rounds=len(rounds) or None, first_told=first_told)

    def _row(
        self, rounds: Sequence[RedTeamRound], rules: Sequence[Sequence[str]], claim: str
    ) -> RedteamRow:
        found = [set(rule) for rule in rules] == [set(self.attack.payload)]
        first, second = self.attack.places
        return RedteamRow(
            run=self.number,
            sources=len(self.attack.sources),
            first=first,
            second=second,
            approach=self.approach,
            rounds=len(rounds),
            probes=sum(each.probes for each in rounds),
            calls=sum(each.calls for each in rounds),
            rules=len(rules),
            found=found,
            claim=claim,
            first_told=None,
        )


def _name(group: Group) -> str:
    return group[0].id if len(group) == 1 else f"{group[0].id} to {group[-1].id}"


def _halves(group: Group) -> Iterator[Group]:
    """Yields the two halves of a group. If the number of sources is odd, the first half is larger."""
    middle = (len(group) + 1) // 2
    yield from (half for half in (group[:middle], group[middle:]) if half)
