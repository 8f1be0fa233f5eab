"""The rows of the table."""

from collections.abc import Callable
from dataclasses import dataclass

from rag_rule_explainer.rules import Claim
from tests.benchmarks.peers import ours, scores, sets
from tests.benchmarks.peers.subject import Subject


@dataclass(frozen=True, slots=True)
class Saying:
    """Says rules. ``most``: of how many sources it ends in any time."""

    name: str
    run: Callable[[Subject, int], list[Claim]]
    most: int = 200


@dataclass(frozen=True, slots=True)
class Scoring:
    """Gives scores."""

    name: str
    run: Callable[[Subject, int], list[float]]
    most: int = 200


Method = Saying | Scoring

BRUTE = Saying("brute force", ours.one_kind(ours.exhaustive), 10)
MONO = Saying("Mono (says: proved)", ours.one_kind(ours.mono), 10)
SAMPLED = Saying("sampled (says: 95 % / 5 %)", ours.one_kind(ours.sampled))
GROUPED = Saying("grouped (says: relative)", ours.one_kind(ours.grouped))
FIRST = Saying("its first rule (says: unverified)", ours.first_unverified)
MARCO = Saying("MARCO-style, takes it for monotone", sets.marco)
BRUTE_BOTH = Saying("brute force", ours.both_kinds(ours.exhaustive), 10)
DUAL = Saying("Dual (says: proved)", ours.both_kinds(ours.mono), 10)
SAMPLED_BOTH = Saying("sampled (says: 95 % / 5 %)", ours.both_kinds(ours.sampled))
GROUPED_BOTH = Saying("grouped (says: relative)", ours.both_kinds(ours.grouped))

SAYING = (
    BRUTE,
    MONO,
    SAMPLED,
    GROUPED,
    FIRST,
    MARCO,
    Saying("QuickXplain", sets.quickxplain),
    Saying("picire, delta debugging", sets.delta_debugging),
    Saying("anchor-exp, AnchorTabular", sets.anchors, 20),
)
SCORING = (
    Scoring("shap, permutation", scores.shap_permutation),
    Scoring("shapiq, ProxySPEX, budget 128", scores.proxy_spex),
    Scoring("LASSO on verdicts, 64 subsets", scores.lasso),
    Scoring("leave one out", scores.leave_one_out),
)
OF_ONE_KIND: tuple[Method, ...] = (*SAYING, *SCORING)
OF_BOTH_KINDS: tuple[Method, ...] = (BRUTE_BOTH, DUAL, SAMPLED_BOTH, GROUPED_BOTH)
EXACT = (BRUTE, MONO, BRUTE_BOTH, DUAL)
TESTED = (SAMPLED, SAMPLED_BOTH)
RELATIVE = (GROUPED, GROUPED_BOTH)
