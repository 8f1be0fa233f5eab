"""A toy miner of orders, "whenever D3 comes before D1 ...", and an explainer that asks it.

It is a change request, counted: beside the miner, nothing outside tests was changed for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, permutations
from typing import Any

from typing_extensions import override

from rag_rule_explainer import Answer, Explainer, Explanation
from rag_rule_explainer.lattice import Lattice, Order
from rag_rule_explainer.mining import Ask, Mining, RuleSearch, Wanted
from rag_rule_explainer.predicates import as_predicate
from rag_rule_explainer.probing.answer_cache import AnswerCache
from rag_rule_explainer.probing.budget import Budget
from rag_rule_explainer.probing.drivers import drive
from rag_rule_explainer.probing.judging import judgings
from rag_rule_explainer.probing.limits import Limits
from rag_rule_explainer.probing.loop import run_blocking
from rag_rule_explainer.probing.prober import Prober
from rag_rule_explainer.probing.replayer import Replayer
from rag_rule_explainer.probing.replaying import Baseline, Replay
from rag_rule_explainer.probing.retries import Retries
from rag_rule_explainer.probing.sampler import Sampler
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.sources import Arrangement, SourceSet
from rag_rule_explainer.verdicts import Verdict
from tests.integrations.known import BAD

Precedence = tuple[int, int]


@dataclass(frozen=True)
class OrderClaim:
    """Whenever the first unit of each of these pairs comes before the second, the condition holds."""

    before: frozenset[Precedence]


@dataclass(frozen=True)
class Precedences:
    """All minimal rules about orders of all units: from none on, one precedence more at a time."""

    kind: RuleKind = RuleKind.RETENTION

    def __call__(self, lattice: Lattice, /) -> Mining[Order, OrderClaim]:
        orders = list(permutations(range(lattice.size)))
        verdicts = dict[Order, Verdict]()

        def claims() -> tuple[OrderClaim, ...]:
            held = {pairs_of(each) for each in orders if verdicts.get(each) is Verdict.HOLDS}
            return tuple(OrderClaim(each) for each in minimal_rules(list(map(pairs_of, orders)), held))

        asks = tuple(Ask(order, rank) for rank, order in enumerate(orders))
        while len(verdicts) < len(orders):
            verdicts.update((yield Wanted(asks, claims)))
            asks = ()
        return claims()


def pairs_of(order: Iterable[int]) -> frozenset[Precedence]:
    return frozenset(combinations(order, 2))


def minimal_rules(
    orders: Sequence[frozenset[Precedence]], held: set[frozenset[Precedence]]
) -> list[frozenset[Precedence]]:
    level, found = {frozenset[Precedence]()}, list[frozenset[Precedence]]()
    while level:
        valid = {rule for rule in level if all(each in held for each in orders if rule <= each)}
        found += [rule for rule in valid if not any(other < rule for other in found)]
        level = {
            frozenset.intersection(*(each for each in orders if {*rule, pair} <= each))
            for rule in level - valid
            for pair in frozenset[Precedence]().union(*(each for each in orders if rule <= each)) - rule
        }
    return [rule for rule in found if not any(other < rule for other in found)]


@dataclass(frozen=True)
class Mined:
    """What the search came to: its claims in ids, and the answers by the order of ids shown."""

    rules: set[frozenset[tuple[str, str]]]
    answers: Mapping[tuple[str, ...], Answer]


class OrderExplainer(Explainer):
    """Mines rules about orders first, at the seam at which every integration asks its explainer; then
    explains by subsets on the same baseline, as if nothing had happened."""

    mined: Mined

    @override
    def explain(self, question: str, sources: Any, baseline: Any = None, **fields: Any) -> Explanation:
        replay, found = fields["replay"], SourceSet.of(sources)
        self.mined = run_blocking(partial(self._mined, question, found, baseline, replay))
        return super().explain(question, sources, baseline, **fields)

    async def _mined(
        self, question: str, sources: SourceSet, baseline: Baseline, replay: Replay
    ) -> Mined:
        budget = Budget(Limits())
        replayer = Replayer(question, replay, self.limiter, budget, Retries(0))
        prober = Prober(Sampler(replayer, AnswerCache(budget, remember=True)), baseline.answer)
        (judging,) = judgings([as_predicate(BAD)])
        answers = dict[tuple[str, ...], Answer]()

        async def probe(_search: RuleSearch[Order, OrderClaim], order: Order) -> Verdict:
            arrangement = Arrangement.of(sources, order)
            probe = await prober.probe(arrangement, judging)
            assert probe.reply.answer is not None, probe.judgement.reason
            answers[arrangement.ids] = probe.reply.answer
            return probe.judgement.verdict

        search = RuleSearch(Precedences(), sources.lattice)
        await drive((search,), probe, self.limiter.size)
        assert search.finished
        named = [unit[0].id for unit in sources.units]
        rules = {frozenset((named[x], named[y]) for x, y in claim.before) for claim in search.claims}
        return Mined(rules, answers)


def mined_by(explainer: Any) -> Mined:
    """What an integration's explainer finds with that in the place of its own."""
    ours = OrderExplainer(predicate=BAD)
    # LangChain's explainer has one for each bound on concurrency.
    holder = getattr(explainer, "_explainers", explainer)
    setattr(holder, "_explainer" if holder is explainer else "_unbounded", ours)
    explanation = explainer.explain("why?")
    assert explanation.ended, explanation.warnings
    return ours.mined


def by_definition(names: str, truth: Any) -> set[frozenset[tuple[str, str]]]:
    """The minimal rules by brute force: of all partial orders, those on all of whose permutations the
    truth holds, and that contain no other."""
    every = {order: frozenset(combinations(order, 2)) for order in permutations(names)}
    pairs = list(permutations(names, 2))
    valid = list[frozenset[tuple[str, str]]]()
    for chosen in range(1 << len(pairs)):
        rule = frozenset(pair for place, pair in enumerate(pairs) if chosen >> place & 1)
        orders = [order for order, within in every.items() if rule <= within]
        if not orders or frozenset.intersection(*(every[order] for order in orders)) != rule:
            continue  # nothing, or not closed: what follows from it is part of it
        if all(truth("".join(order)) for order in orders):
            valid.append(rule)
    return {rule for rule in valid if not any(other < rule for other in valid)}


def places_in(prompt: str, texts: Mapping[str, str]) -> str:
    """The names of the texts in a prompt, in the order in which they stand there."""
    found = {prompt.index(text): name for name, text in texts.items() if text in prompt}
    return "".join(found[place] for place in sorted(found))


def c_before_a(order: str) -> bool:
    return 0 <= order.find("c") < order.find("a")


def a_last_or_d_right_before_b(order: str) -> bool:
    """No single precedence makes it true: its rules name several."""
    return order.endswith("a") or "db" in order
