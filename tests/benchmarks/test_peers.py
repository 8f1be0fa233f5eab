"""What else one could take, on the same conditions: distinct subsets looked at, and what is said then.

Needs the dependency group ``peers``; without one of them its rows are left out. A, B and C are those of
ten sources: a pair; either of two pairs; a pair with a blocker, which is not monotone. Of more: a pair.
"""

import json
import random
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer.lattice import Lattice, Mask
from rag_rule_explainer.mining import Miner, Mono, RuleSearch, Transversal
from rag_rule_explainer.mining.hitting import HittingSets
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.verdicts import Verdict
from tests.benchmarks.ratios import STUDIES
from tests.mining.blockers import blocked, violation
from tests.test_poisoned_answers import Incident, incident, reader

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]
TITLE = "the peers: distinct subsets looked at, CPU seconds where they count, and what is said"
POISONED = "PoisonedRAG texts that change the offline reader's answer: who is blamed"
BLOCKED = "random conditions with blockers, 8 to 12 sources: what is wrong of the rules that are reported"
SEEDS = 5


@dataclass
class Question:
    """A condition on subsets of units, its minimal retention rules, and what was looked at."""

    name: str
    size: int
    condition: Callable[[frozenset[int]], bool]
    rules: frozenset[frozenset[int]]
    seen: dict[frozenset[int], bool] = field(default_factory=dict[frozenset[int], bool])

    def __call__(self, kept: Iterable[int]) -> bool:
        subset = frozenset(kept)
        if subset not in self.seen:
            self.seen[subset] = self.condition(subset)
        return self.seen[subset]

    def said(self, found: Iterable[Iterable[int]]) -> str:
        """Of sets that are said to suffice."""
        sets = frozenset(map(frozenset, found))
        if sets == self.rules:
            return "all rules"
        if not all(any(rule <= each for rule in self.rules) for each in sets):
            return "WRONG"
        return f"{len(sets & self.rules)} of {len(self.rules)} rules"

    def ranked(self, scores: Iterable[float]) -> str:
        """Of scores: whether the sources that matter are before all others."""
        score = list(scores)
        named = frozenset[int]().union(*self.rules)
        others = [score[n] for n in range(self.size) if n not in named]
        if max(map(abs, score)) < 1e-9:
            return "all scores 0"
        missed = [n for n in sorted(named) if score[n] <= max(others) + 1e-9]
        return f"scores, miss {len(missed)} of {len(named)}" if missed else "scores"


def questions() -> list[Question]:
    pair = frozenset({2, 6})
    either = frozenset({frozenset({0, 1}), frozenset({2, 3})})
    ten = [
        Question("A", 10, lambda t: pair <= t, frozenset({pair})),
        Question("B", 10, lambda t: any(rule <= t for rule in either), either),
        Question("C", 10, lambda t: pair <= t and not (4 in t and 7 not in t), frozenset({pair | {7}})),
    ]
    more = (20, 50, 100, 200)
    return ten + [Question(f"n = {n}", n, lambda t: pair <= t, frozenset({pair})) for n in more]


Method = Callable[[Question, int], str]


def mined(miner: Miner, question: Question) -> list[Mask]:
    lattice = Lattice(question.size)
    search = RuleSearch(miner, lattice)
    while asks := search.ask():
        search.tell({ask.mask: Verdict.of(question(lattice.units(ask.mask))) for ask in asks})
    return [claim.antecedent for claim in search.claims]


def exact(question: Question, _seed: int) -> str:
    if question.size > 10:
        return "-"
    return question.said(map(Lattice(question.size).units, mined(Mono(RuleKind.RETENTION), question)))


def sampled_masks(question: Question, seed: int) -> list[Mask]:
    return mined(Transversal(RuleKind.RETENTION, seed=seed), question)


def sampled(question: Question, seed: int) -> str:
    return question.said(map(Lattice(question.size).units, sampled_masks(question, seed)))


def marco(question: Question, _seed: int) -> str:
    return question.said(map(Lattice(question.size).units, marco_masks(question)))


def marco_masks(question: Question) -> list[Mask]:
    """Hitting sets of grown falsifiers, where what holds alone is taken for a rule."""
    lattice = Lattice(question.size)
    candidates, found = HittingSets(lattice), list[Mask]()
    while (candidate := candidates.smallest()) is not None:
        if question(lattice.units(candidate)):
            found.append(candidate)
            candidates.block(candidate)
            continue
        grown = candidate
        for unit in range(lattice.size):
            if not question(lattice.units(grown | lattice.bit(unit))):
                grown |= lattice.bit(unit)
        candidates.hit(lattice.complement(grown))
    return found


def leave_one_out(question: Question, _seed: int) -> str:
    everything = range(question.size)
    full = question(everything)
    return question.ranked(full - question(n for n in everything if n != out) for out in everything)


def lasso(question: Question, seed: int) -> str:
    linear = pytest.importorskip("sklearn.linear_model")
    draw = random.Random(seed)
    masks = [[draw.randint(0, 1) for _ in range(question.size)] for _ in range(64)]
    holds = [float(question(n for n, kept in enumerate(mask) if kept)) for mask in masks]
    return question.ranked(linear.Lasso(alpha=0.01).fit(masks, holds).coef_)


def shap_permutation(question: Question, seed: int) -> str:
    shap, np = pytest.importorskip("shap"), pytest.importorskip("numpy")
    explainer = shap.explainers.Permutation(_of_rows(question), np.zeros((1, question.size)), seed=seed)
    rows = np.ones((1, question.size))
    return question.ranked(explainer(rows, max_evals=10 * (2 * question.size + 1), silent=True).values[0])


def proxy_spex(question: Question, seed: int) -> str:
    shapiq = pytest.importorskip("shapiq")
    game = shapiq.ProxySPEX(n=question.size, index="FBII", max_order=2, random_state=seed)
    values = game.approximate(budget=128, game=_of_rows(question))
    scores = [0.0] * question.size
    for units, value in values.interactions.items():
        for unit in units:
            scores[unit] += abs(float(value))
    return question.ranked(scores)


def anchors(question: Question, seed: int) -> str:
    if question.size > 20:
        return "-"
    tabular, np = pytest.importorskip("anchor.anchor_tabular"), pytest.importorskip("numpy")
    np.random.seed(seed)
    names = [str(n) for n in range(question.size)]
    train = np.random.randint(0, 2, (1000, question.size))
    explainer = tabular.AnchorTabularExplainer(
        ["breaks", "holds"], names, train, {n: ["out", "in"] for n in range(question.size)}
    )
    rows = _of_rows(question)

    def classified(drawn: Any) -> Any:
        return rows(drawn).astype(int)

    found = explainer.explain_instance(np.ones(question.size, dtype=int), classified, threshold=0.95)
    return question.said([found.features()])


def delta_debugging(question: Question, _seed: int) -> str:
    picire = pytest.importorskip("picire")
    outcome = {True: picire.Outcome.FAIL, False: picire.Outcome.PASS}

    def test(config: list[int], _id: object) -> Any:
        return outcome[question(config)]

    return question.said([picire.DD(test)(list(range(question.size)))])


def _of_rows(question: Question) -> Callable[[Any], Any]:
    np = pytest.importorskip("numpy")

    def holds(rows: Any) -> Any:
        return np.array([float(question(n for n, kept in enumerate(row) if kept)) for row in rows])

    return holds


METHODS: dict[str, Method] = {
    "Mono (exact)": exact,
    "sampled, 95 % / 5 %": sampled,
    "MARCO-style, takes it for monotone": marco,
    "picire, delta debugging": delta_debugging,
    "anchor-exp, AnchorTabular": anchors,
    "shap, permutation": shap_permutation,
    "shapiq, ProxySPEX, budget 128": proxy_spex,
    "LASSO on 64 subsets": lasso,
    "leave one out": leave_one_out,
}


@pytest.mark.parametrize("name", METHODS)
def test_peers(name: str) -> None:
    rows = STUDIES.setdefault(TITLE, [("method", *(question.name for question in questions()))])
    cells = list[str]()
    for place in range(len(questions())):
        cells.append(_cell(METHODS[name], place))
    rows.append((name, *cells))


def _cell(method: Method, place: int) -> str:
    """Over all seeds: mean subsets, mean seconds, and the worst that was said."""
    looked, seconds, said = list[int](), list[float](), list[str]()
    for seed in range(SEEDS):
        question = questions()[place]
        start = time.process_time()
        said.append(method(question, seed))
        seconds.append(time.process_time() - start)
        looked.append(len(question.seen))
    if said[0] == "-":
        return "-"
    told = " / ".join(sorted(set(said)))
    spent = statistics.mean(seconds)
    return f"{statistics.mean(looked):.0f}{f', {spent:.1f} s' if spent >= 0.1 else ''}: {told}"


@pytest.mark.parametrize("name", ["sampled, 95 % / 5 %", "MARCO-style, takes it for monotone"])
def test_conditions_that_are_not_monotone(name: str) -> None:
    heading = (
        "method",
        "conditions",
        "with a wrong rule",
        "rules",
        "not rules",
        "fail on over 5 %",
        "probes",
    )
    rows = STUDIES.setdefault(BLOCKED, [heading])
    wrong, probes, shares = 0, 0, list[float]()
    for seed in range(500):
        draw = random.Random(seed)
        lattice = Lattice(draw.randint(8, 12))
        holds = blocked(draw, lattice.size)
        question = Question("", lattice.size, lambda t: holds(lattice.mask(t)), frozenset())  # noqa: B023
        found = marco_masks(question) if name.startswith("MARCO") else sampled_masks(question, seed)
        violated = [violation(lattice, mask, holds) for mask in found]
        wrong += any(violated)
        shares += violated
        probes += len(question.seen)
    not_rules, over = sum(share > 0 for share in shares), sum(share > 0.05 for share in shares)
    counts = (500, wrong, len(shares), not_rules, over, round(probes / 500))
    rows.append((name, *map(str, counts)))


def test_attack_texts(real_data: Path) -> None:
    """The sources to blame: rules, leaving one out, and SHAP for as many replays and as many sources."""
    lines = (real_data / "poisonedrag_hotpotqa_context.jsonl").read_text(encoding="utf-8").splitlines()
    found = (incident(json.loads(line), 1 + n % 5, n) for n, line in enumerate(lines))
    incidents = [each for each in found if each is not None]
    heading = ("method", "answers changed", "an attack is blamed", "precision", "recall", "replays")
    rows = STUDIES.setdefault(POISONED, [heading])
    for name, blame in BLAMERS.items():
        rightly = blamed = attacks = hit = replays = 0
        for each in incidents:
            question = as_question(each)
            names = blame(each, question)
            hit += bool(names & each.attacks)
            rightly, blamed = rightly + len(names & each.attacks), blamed + len(names)
            attacks, replays = attacks + len(each.attacks), replays + len(question.seen)
        shares = f"{rightly / max(blamed, 1):.2f}", f"{rightly / attacks:.2f}"
        rows.append((name, str(len(incidents)), str(hit), *shares, f"{replays / len(incidents):.0f}"))


def as_question(each: Incident) -> Question:
    """Whether the answer stays the same, of subsets of the sources by number."""

    def same(kept: frozenset[int]) -> bool:
        shown = [source for n, source in enumerate(each.sources) if n in kept]
        return reader(each.explanation.question, shown) == each.explanation.baseline.text

    return Question("", len(each.sources), same, frozenset())


def by_rules(each: Incident, question: Question) -> frozenset[str]:
    for probe in each.explanation.probes:
        question(n for n, source in enumerate(each.sources) if source.id in probe.kept)
    return each.blamed


def by_leaving_out(each: Incident, question: Question) -> frozenset[str]:
    everything = frozenset(range(question.size))
    question(everything)
    return frozenset(each.sources[n].id for n in everything if not question(everything - {n}))


def by_shap(each: Incident, question: Question) -> frozenset[str]:
    """As many of the highest scores as the rules name sources, for about as many replays."""
    shap, np = pytest.importorskip("shap"), pytest.importorskip("numpy")
    explainer = shap.explainers.Permutation(_of_rows(question), np.zeros((1, question.size)), seed=0)
    once = 2 * question.size + 1
    times = max(1, round(each.explanation.counts.probes / once))
    scores = explainer(np.ones((1, question.size)), max_evals=times * once, silent=True).values[0]
    highest = sorted(range(question.size), key=lambda n: -scores[n])[: len(each.blamed)]
    return frozenset(each.sources[n].id for n in highest if scores[n] > 1e-9)


BLAMERS: dict[str, Callable[[Incident, Question], frozenset[str]]] = {
    "rules, sampled": by_rules,
    "leave one out": by_leaving_out,
    "shap, permutation": by_shap,
}
