"""Random conditions with random settings, explained, and held against the definitions of a rule.

What is right is said here once more, by sets and by trying everything, and by nothing of the package:
a retention rule S holds iff the condition does on every subset T of the units with S ⊆ T, an omission
rule S iff it does on every T with S ∩ T = ∅; it is minimal iff no proper subset of S is a rule.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

from rag_rule_explainer import (
    Answer,
    AnswerNotRepeatable,
    BaselineFailed,
    Case,
    Explainer,
    Explanation,
    Finding,
    Limits,
    Noise,
    Partition,
    RuleKind,
    Sampled,
    Source,
)

Units = frozenset[int]
Table = dict[Units, bool]
WAY, RULE = "way", "rule"
"""Beside the settings: how the condition of omission rules follows from the other, and the one rule that
is verified, where no others are looked for."""


def subsets(units: Units) -> Iterator[Units]:
    """All subsets, small ones first."""
    listed = sorted(units)
    every = chain.from_iterable(combinations(listed, size) for size in range(len(listed) + 1))
    return map(frozenset[int], every)


class Broken(ValueError):
    """What an application raises that cannot answer about some sources."""


@dataclass
class Condition:
    """What the application answers, by the units that are retained, and which of them it fails on."""

    groups: list[list[str]]
    pinned: list[str]
    order: list[str]
    texts: dict[str, str]
    tables: dict[RuleKind, Table]
    failing: set[Units]
    without_sources: str | None
    asked: list[Units] = field(default_factory=list[Units])
    interrupt_at: int | None = None
    interrupt: Callable[[], object] = bool

    @property
    def all_units(self) -> Units:
        return frozenset(range(len(self.groups)))

    def units_of(self, ids: Sequence[str]) -> Units:
        """The units that these ids are, each of them whole; pinned ids are none."""
        kept = set(ids) - set(self.pinned)
        units = frozenset(n for n, group in enumerate(self.groups) if kept & set(group))
        assert kept == {each for n in units for each in self.groups[n]}, "a tie was split"
        assert len(ids) == len(set(ids))
        return units

    def says(self, units: Units) -> str:
        if self.is_answered_without(units):
            assert self.without_sources is not None
            return self.without_sources
        return "".join("ny"[self.tables[kind][units]] for kind in RuleKind)

    def is_answered_without(self, units: Units) -> bool:
        return self.without_sources is not None and not units and not self.pinned

    def holds(self, kind: RuleKind, units: Units) -> bool | None:
        """None where the application fails."""
        if units in self.failing and not self.is_answered_without(units):
            return None
        return self.says(units)[list(RuleKind).index(kind)] == "y"

    async def replay(self, _question: str, shown: Sequence[Source]) -> Answer:
        ids = [source.id for source in shown]
        assert set(self.pinned) <= set(ids)
        assert ids == [each for each in self.order if each in set(ids)], "the order has changed"
        units = self.units_of(ids)
        self.asked.append(units)
        if len(self.asked) == self.interrupt_at:
            self.interrupt()
        for _ in range(hash((units, 7)) % 4):  # so that they end in another order than they began
            await asyncio.sleep(0)
        if units in self.failing:
            raise Broken("it fails on these")
        return Answer(self.says(units), usage={"input_tokens": 1, "output_tokens": 1})

    def speaks_of(self, kind: RuleKind, rule: Units, among: Units) -> Iterator[Units]:
        """The subsets that a rule speaks about; all but ``among`` is as a rule's own subset has it."""
        retains = kind is RuleKind.RETENTION
        beside = frozenset[int]() if retains else self.all_units - among
        for free in subsets(among - rule):
            yield free | beside | (rule if retains else frozenset[int]())

    def is_rule(self, kind: RuleKind, rule: Units, among: Units | None = None) -> bool:
        among = self.all_units if among is None else among
        return all(self.holds(kind, each) is True for each in self.speaks_of(kind, rule, among))

    def share(self, kind: RuleKind, rule: Units) -> Fraction:
        held = [self.holds(kind, each) is True for each in self.speaks_of(kind, rule, self.all_units)]
        return Fraction(sum(held), len(held))

    def rules(self, kind: RuleKind, *, minimal: bool, share: float = 1.0) -> set[Units]:
        wide = [each for each in subsets(self.all_units) if self.share(kind, each) >= share]
        if not minimal:
            return set(wide)
        return {each for each in wide if not any(other < each for other in wide)}


KINDS_OF_TABLE = ("monotone", "blocker", "random", "rare", "constant", "threshold")


def _table(draw: random.Random, units: Units) -> Table:
    kind = draw.choice(KINDS_OF_TABLE)
    names = sorted(units)

    def some(most: int = 3) -> Units:
        return frozenset(draw.sample(names, min(len(names), draw.randint(0, most))))

    needed = [some() for _ in range(draw.randint(1, 3))]
    blocking = [some() | frozenset(draw.sample(names, min(1, len(names)))) for _ in range(2)]
    share = {"random": 0.5, "rare": 0.95}.get(kind, 0.5)
    least, constant, turned = draw.randint(0, len(names)), draw.random() < 0.5, draw.random() < 0.3
    table = Table()
    for each in subsets(units):
        if kind == "monotone":
            value = any(need <= each for need in needed)
        elif kind == "blocker":
            value = any(need <= each for need in needed) and not any(
                block and block <= each for block in blocking
            )
        elif kind == "threshold":
            value = len(each) >= least
        elif kind == "constant":
            value = constant
        else:
            value = draw.random() < share
        table[each] = value ^ turned
    return table


def drawn(draw: random.Random) -> tuple[Condition, dict[str, Any]]:
    """A condition and the settings to explain it with."""
    count = draw.choices(range(1, 8), (4, 8, 14, 14, 8, 3, 1))[0]
    ids = [f"s{n}" for n in range(count)]
    pinned = [each for each in ids if draw.random() < 0.15] if draw.random() < 0.25 else []
    pinned = pinned[: count - 1]
    free = [each for each in ids if each not in pinned]
    groups = [[each] for each in free]
    if ties := (len(free) > 2 and draw.random() < 0.15):
        tied = sorted(draw.sample(free, draw.randint(2, len(free) - 1)), key=ids.index)
        groups = [[each] for each in free if each not in tied]
        groups = sorted([*groups, tied], key=lambda group: ids.index(group[0]))
    words = {each: f"text number {each} of many texts about {each}" for each in ids}
    texts = {each: words[next((g[0] for g in groups if each in g), each)] for each in ids}
    units = frozenset(range(len(groups)))
    first = _table(draw, units)
    way = draw.choice(("negation", "other", "same"))
    second = (
        _table(draw, units) if way == "other" else {t: v ^ (way == "negation") for t, v in first.items()}
    )
    tables = {RuleKind.RETENTION: first, RuleKind.OMISSION: second}
    failing = (
        {each for each in subsets(units) if draw.random() < 0.08} if draw.random() < 0.3 else set[Units]()
    )
    without = draw.choice(("yn", "ny", "nn", "yy")) if draw.random() < 0.15 else None
    if way != "other" and without is not None:
        without = without[0] + ("yn" if way == "negation" else "ny")[without[0] == "y"]
    condition = Condition(groups, pinned, ids, texts, tables, failing, without)
    settings = _settings(draw, count, ties=ties, way=way)
    settings["answer_without_sources"] = without
    if settings.get("miner") in {"exact", "exhaustive", "auto"} and draw.random() < 0.15:
        named = [each for each in free if draw.random() < 0.4]
        settings[RULE] = named, draw.choice(list(RuleKind))
    if draw.random() < 0.15:
        condition.interrupt_at = draw.randint(1, 1 + (1 << count))
    return condition, settings


def _settings(draw: random.Random, count: int, *, ties: bool, way: str) -> dict[str, Any]:
    miners = ("exact", "exact", "exact", "exhaustive", "auto", "sampled", "grouped", "partition", "share")
    miner = draw.choice(miners)
    settings: dict[str, Any] = {
        "rules": draw.choice(("both", "both", "retention", "omission")),
        "concurrency": draw.randint(1, 8),
        "lockstep": draw.random() < 0.2,
        "seed": draw.randint(0, 9),
        "check_repeatable": draw.random() < 0.5,
        "reuse_answers": draw.random() < 0.9,
        "merge_duplicates": 0.95 if ties else False,
        "retries": 0,
        WAY: way,
        RULE: None,
    }
    if miner in {"exact", "exhaustive", "partition"}:
        settings["minimal"] = draw.random() < 0.8
    if miner == "partition":
        others = draw.choice((None, "omitted", "retained"))
        settings["partition"] = Partition(draw.randint(1, count), others)
    elif miner == "share":
        settings["noise"] = Noise(min_confidence=draw.choice((0.5, 0.75, 0.9)))
    elif miner == "sampled":
        few, beside = draw.choice((1, 2, 20, 20)), draw.random() < 0.3
        settings["miner"] = Sampled(
            max_rules=few, neighbours=beside, max_violation=draw.choice((0.05, 0.3))
        )
    else:
        settings["miner"] = miner
    if miner == "exact":
        settings["speculate"] = draw.choice((0.0, 0.1, 0.5, 0.9))
    if miner != "share" and draw.random() < 0.15:
        vote = draw.choice((None, "border", "every"))
        settings["noise"] = Noise(samples=draw.choice((3, 5)), vote=vote)
    caps: dict[str, Any] = {"failures": draw.choice((None, None, 1, 3))}
    if draw.random() < 0.25:
        caps["replays"] = draw.randint(1, 2 + (1 << count))
    elif draw.random() < 0.1:
        caps["tokens"] = draw.randint(1, 4 << count)
    elif draw.random() < 0.03:
        caps["seconds"] = draw.uniform(0.0001, 0.01)
    settings["limits"] = Limits(**caps)
    return settings


def _first(case: Case) -> bool:
    return case.answer.text[0] == "y"


def _second(case: Case) -> bool:
    return case.answer.text[1] == "y"


async def explained(condition: Condition, settings: dict[str, Any]) -> Explanation | None:
    """None where the baseline fails, so that there is nothing to explain."""
    way = settings[WAY]
    fields = {name: value for name, value in settings.items() if name not in {WAY, RULE}}
    omission = {"negation": None, "other": _second, "same": _first}[way]
    explainer = Explainer(condition.replay, predicate=_first, omission_predicate=omission, **fields)
    sources = [Source(each, condition.texts[each]) for each in condition.order]
    inquiry = explainer._session(  # pyright: ignore[reportPrivateUsage] -- to interrupt it
        "?", sources, None, {"pinned": condition.pinned}, settings[RULE]
    )
    condition.interrupt = inquiry.interrupt
    try:
        return await inquiry.explanation()
    except BaselineFailed:
        assert condition.all_units in condition.failing or condition.interrupt_at == 1
        return None
    except AnswerNotRepeatable:
        raise AssertionError("every answer repeats itself") from None


class Check:
    """Holds one explanation against the condition it is about."""

    def __init__(self, condition: Condition, settings: dict[str, Any], explanation: Explanation) -> None:
        self.condition, self.settings, self.explanation = condition, settings, explanation
        noise: Noise = settings.get("noise", Noise())
        self.votes, self.share = noise.votes, noise.min_confidence
        wanted = {settings["rules"]} if settings[RULE] is None else {settings[RULE][1].value}
        self.kinds = [kind for kind in RuleKind if wanted & {"both", kind.value}]
        assert {*explanation.predicates} == {*self.kinds}

    def everything(self) -> Counter[str]:
        """Raises AssertionError; else says what was looked at."""
        seen = Counter[str]()
        self.reads_back()
        self.counters()
        self.probes()
        for rule in self.explanation.rules:
            self.rule(rule)
            seen[rule.claim] += 1
        self.changes()
        explanation = self.explanation
        if explanation.complete:
            seen["complete"] += 1
            for kind in self.kinds:
                seen["nothing missed"] += self.nothing_is_missed(kind)
        return seen

    def reads_back(self) -> None:
        explanation = self.explanation
        again = Explanation.model_validate_json(explanation.model_dump_json())
        assert again == explanation, "it reads back as another one"
        assert str(again) == str(explanation)
        assert not (explanation.complete and (explanation.stop_reason or explanation.unresolved))
        assert explanation.ended or explanation.stop_reason or explanation.unresolved
        assert explanation.complete or explanation.stop_reason or explanation.unresolved

    def counters(self) -> None:
        counts, asked = self.explanation.counts, self.condition.asked
        assert counts.replays == len(asked), (counts, len(asked))
        assert counts.replays == counts.baseline + counts.repeat_check + counts.samples + counts.retries
        assert (counts.baseline, counts.retries, counts.stored) == (1, 0, 0)
        kept = [probe.kept for probe in self.explanation.probes]
        assert counts.probes == len(kept) == len(set(kept))
        assert 0 <= counts.wasted <= counts.probes
        cap = self.settings["limits"].replays
        assert cap is None or len(asked) <= cap, "the limit was exceeded"
        if not self.votes and self.settings["reuse_answers"]:
            assert counts.samples <= counts.probes

    def probes(self) -> None:
        for probe in self.explanation.probes:
            assert set(self.condition.pinned) <= set(probe.kept)
            units = self.condition.units_of(probe.kept)
            for kind, judgement in probe.verdicts.items():
                told = {"HOLDS": True, "BREAKS": False, "UNKNOWN": None}[judgement.verdict.name]
                assert told is self.condition.holds(kind, units), (probe.kept, kind, told)

    def rule(self, rule: Finding) -> None:
        condition, kind = self.condition, rule.kind
        units = condition.units_of(rule.sources)
        subjects = [condition.holds(kind, each) for each in self._subjects(rule, units)]
        assert rule.applicable == len(subjects)
        assert 0 <= rule.observed <= subjects.count(True)
        assert 0 <= rule.broken <= subjects.count(False)
        assert not rule.broken or rule.claim == "confident"
        if rule.proved:
            assert not self.votes
            assert rule.observed == rule.applicable == subjects.count(True), "a false proof"
        if rule.claim == "relative" and rule.kept and not rule.with_others:
            among = condition.units_of([each for each in rule.kept if each not in condition.pinned])
            assert condition.is_rule(kind, units, among), "false of what it is relative to"
        if rule.claim == "confident" and self.explanation.complete:
            assert Fraction(rule.observed, rule.applicable) == condition.share(kind, units) >= self.share
        if rule.proved and rule.minimal is not None:
            smaller = any(self._is_rule(kind, units - {unit}) for unit in units)
            assert smaller is (not rule.minimal), "wrong about being minimal"
        if rule.relation == "absolute":
            others = [each for each in self.explanation.rules if each.kind is not kind]
            inside = [each for each in others if set(each.sources) <= set(rule.sources)]
            assert any(each.claim not in {"relative", "unverified"} for each in inside)

    def _subjects(self, rule: Finding, units: Units) -> Iterator[Units]:
        """What the rule speaks about; one of a batch with all others of the batch's outside."""
        condition = self.condition
        if rule.with_others:
            units |= condition.all_units - condition.units_of(rule.kept)
        return condition.speaks_of(rule.kind, units, condition.all_units)

    def _is_rule(self, kind: RuleKind, units: Units) -> bool:
        return self.condition.share(kind, units) >= self.share

    def nothing_is_missed(self, kind: RuleKind) -> bool:
        """True where it is known which rules there are."""
        miner, size = self.settings.get("miner", "share"), len(self.condition.groups)
        # So few subsets that every rule is tried on all of its own.
        tries_all = isinstance(miner, Sampled) and (1 << size) <= 8
        if "partition" in self.settings or not (
            tries_all or miner in {"exact", "exhaustive", "auto", "share"}
        ):
            return False
        minimal = self.settings.get("minimal", True)
        wanted = self.condition.rules(kind, minimal=minimal, share=self.share)
        found = [self.condition.units_of(r.sources) for r in self.explanation.rules if r.kind is kind]
        assert len(found) == len(set(found))
        assert set(found) == wanted, f"{kind.value}: found {found}, there are {wanted}"
        claims = {rule.claim for rule in self.explanation.rules if rule.kind is kind}
        assert claims <= ({"voted", "confident"} if self.votes else {"proved", "confident"})
        return True

    def changes(self) -> None:
        condition = self.condition
        for witness in self.explanation.witnesses:
            own = condition.units_of(witness.kept)
            assert condition.holds(witness.kind, own) is False
            units = condition.units_of(witness.sources)
            retains = witness.kind is RuleKind.RETENTION
            assert own == (units if retains else condition.all_units - units)
        for change in self.explanation.counterfactuals:
            units, removal = condition.units_of(change.sources), change.change == "removal"
            after = [condition.all_units - each if removal else each for each in subsets(units)]
            assert condition.holds(change.kind, after[-1]) is False, "it flips nothing"
            assert all(condition.holds(change.kind, each) is True for each in after[:-1]), (
                "a smaller one flips"
            )


def tried(seed: int, numbers: range) -> Counter[str]:
    """Explains the conditions of these numbers; what was seen, counted. Raises AssertionError, saying
    which one it is."""

    async def all_of_them() -> Counter[str]:
        seen = Counter[str]()
        for number in numbers:
            draw = random.Random(f"{seed} {number}")
            condition, settings = drawn(draw)
            try:
                explanation = await explained(condition, settings)
                if explanation is None:
                    seen["no baseline"] += 1
                    continue
                seen["explained"] += 1
                seen += Check(condition, settings, explanation).everything()
                seen["stopped"] += bool(explanation.stop_reason)
            except Exception as error:
                raise AssertionError(
                    f"condition {number} of seed {seed}, {settings}: {error!r}"
                ) from error
        return seen

    return asyncio.run(all_of_them())
