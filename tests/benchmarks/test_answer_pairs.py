"""How far predicates on the wording agree with published data on which answers say the same."""

from pathlib import Path

import pytest

from rag_rule_explainer import check_judge
from rag_rule_explainer.checking import Share
from tests.benchmarks.ratios import STUDIES
from tests.checking.pairs import labelled, pairs_in
from tests.checking.ways import WAYS

pytestmark = pytest.mark.benchmark
TITLE = "real answer pairs: share, count, 95 % interval"
HEADING = ("data", "condition", "precision", "recall: truths", "recall: aliases", "false positive rate")


def test_answer_pairs(real_data: Path) -> None:
    sets = pairs_in(real_data)
    sets["all"] = [pair for pairs in sets.values() for pair in pairs]
    rows = STUDIES.setdefault(TITLE, [HEADING])
    for name, pairs in sets.items():
        for way, predicate_of in WAYS.items():
            check = check_judge(labelled(pairs), predicate_of=predicate_of)
            of_kind: list[Share | None] = []
            for kind in ("truth", "alias"):
                some = [pair for pair in pairs if pair.kind == kind]
                found = check_judge(labelled(some), predicate_of=predicate_of) if some else None
                of_kind.append(found and found.recall)
            shares = (check.precision, *of_kind, check.false_positive_rate)
            rows.append((name, way, *map(_told, shares)))


def _told(share: Share | None) -> str:
    if share is None or share.value is None or share.low is None or share.high is None:
        return "-"
    return f"{share.value:.3f} {share.count}/{share.of} [{share.low:.3f}, {share.high:.3f}]"
