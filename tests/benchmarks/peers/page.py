"""The page beside other methods: all of its figures come from here.

``python -m tests.benchmarks.peers.page FOLDER`` writes it, in an environment with the dependency group
``peers``. FOLDER has the real data.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rag_rule_explainer.experiments.rates import macro
from tests.benchmarks.peers import cited, graded, harder
from tests.benchmarks.peers.curves import (
    AT,
    BUDGETS,
    CONDITIONS,
    FEW,
    HOTPOTQA,
    METHODS,
    SAMPLED,
    against,
    all_named,
    among_first,
    conditions,
    curve,
    share,
)
from tests.documentation.making.places import DOCS

PAGE = DOCS / "explanation" / "peers.md"
PACKAGES = ("scikit-learn", "shap", "shapiq", "picire")
TITLES = {
    HOTPOTQA: "HotpotQA, as the offline reader answers it",
    harder.EITHER.name: "Either of two pairs",
    harder.MAJORITY.name: "Three of five",
    harder.BLOCKED.name: "A pair, a blocker, and what undoes it",
    harder.COPIES.name: "A pair of which each has a copy",
}
EXPLAINED = {
    HOTPOTQA: "For most of these, one source or one pair decides: the easiest case for every method.",
    harder.EITHER.name: "Nothing is lost without any one source, so leaving one out shows nothing.",
    harder.MAJORITY.name: "Any three of five sources are enough, so there are ten rules. This package "
    "finds its first one late: with 100 subsets it has named nothing.",
    harder.BLOCKED.name: "A pair decides, but a third source spoils it unless a fourth one is there. "
    "What takes this for monotone may miss the fourth.",
    harder.COPIES.name: "What decides stands in two sources each. Four pairs are rules.",
}
"""What is special about each."""


def table(heads: Sequence[object], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(map(str, heads))} |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def curves(data: Path) -> Iterator[str]:
    for name in CONDITIONS:
        made = conditions(name, data)
        size = made[0].lattice.size
        yield f"\n### {TITLES[name]}\n"
        yield f"{len(made)} records of {size} sources. {EXPLAINED[name]}\n"
        heads = ("method", *(f"{budget} subsets" for budget in BUDGETS))
        yield from table(heads, ((each.name, *curve(each, name, data)) for each in METHODS))


def without_a_number(data: Path) -> Iterator[str]:
    heads = ("method", *(TITLES[name] for name in CONDITIONS))
    rows = (
        (each.name, *(" / ".join(all_named(each, name, data)) for name in CONDITIONS)) for each in METHODS
    )
    yield from table(heads, rows)


def paired(data: Path) -> Iterator[str]:
    heads = ("this package, and", *(TITLES[name] for name in CONDITIONS))
    rows = (
        (each.name, *(difference(each, name, data) for name in CONDITIONS))
        for each in METHODS
        if each is not SAMPLED
    )
    yield from table(heads, rows)


def difference(method: Any, name: str, data: Path) -> str:
    found = against(method, name, data)
    chance = "p < 0.001" if found.p < 0.001 else f"p = {found.p:.3f}"
    return f"{found.difference:+.2f} [{found.low:+.2f}, {found.high:+.2f}], {chance}"


def relabelled(data: Path) -> Iterator[str]:
    records = graded.graded(data)
    right = sum(each.right for each in records)
    chance = macro((len(each.relevant), len(each.grades)) for each in records)
    yield (
        f"{len(records)} records of six sources, of which the reader answers {right} right. A source "
        f"drawn at random has a grade above zero in {chance.value:.2f} of the cases.\n"
    )
    heads = (
        "method",
        "precision at k",
        "of all that it names, with a grade",
        "of all grades, named",
    )
    yield from table(heads, ((each.name, *graded.row(each, records)) for each in METHODS))


def real_model() -> Iterator[str]:
    found = json.loads(cited.FILE.read_text(encoding="utf-8"))
    rows = [each for each in found["questions"].values() if each]
    asked = len(found["questions"])
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    yield (
        f"Begun on {found['date']}, with {versions}; weights (SHA-256) `{found['weights']}`; "
        f"{found['ablations']} ablations. It answers {len(rows)} of {asked} right: these count.\n"
    )
    heads = ("documents", "questions", "method", "precision at k", "all that it names", "CPU s")
    yield from table(heads, (row for copied in (False, True) for row in of_the_real_model(rows, copied)))


def of_the_real_model(rows: Sequence[Any], copied: bool) -> Iterator[Sequence[object]]:
    own = [each for each in rows if each["copied"] == copied]
    what = "four, and a copy of the right one" if copied else "four"

    def told(name: str, scores: Sequence[Sequence[float]], seconds: str) -> Sequence[object]:
        pairs = [
            (each, values, frozenset(each["wanted"])) for each, values in zip(own, scores, strict=True)
        ]
        hits = [(among_first(values, wanted, len(wanted)), len(wanted)) for _, values, wanted in pairs]
        named = [({n for n, v in enumerate(values) if v > 1e-9}, wanted) for _, values, wanted in pairs]
        spent = sum(each["seconds"][seconds] for each in own) / len(own)
        return (
            what,
            len(own),
            name,
            share(macro((hit.numerator, hit.denominator * of) for hit, of in hits)),
            share(macro((len(units & wanted), len(units)) for units, wanted in named)),
            f"{spent:.0f}",
        )

    def counted(each: Any, kind: str) -> list[float]:
        return [float(sum(n in rule for rule in each["rules"][kind])) for n in range(len(each["scores"]))]

    yield told("rules: the answer has the fact", [counted(each, "contains") for each in own], "rules")
    yield told("rules: the answer stays the same", [counted(each, "same") for each in own], "rules")
    yield told("ContextCite", [each["scores"] for each in own], "ContextCite")


def page(data: Path) -> str:
    """All of it."""
    text = Path(__file__).with_name("page.md").read_text(encoding="utf-8")
    parts = {
        "few": str(FEW),
        "at": str(AT),
        "packages": ", ".join(f"{name} {version(name)}" for name in PACKAGES),
        "curves": "\n".join(curves(data)),
        "all_named": "\n".join(without_a_number(data)),
        "paired": "\n".join(paired(data)),
        "relabelled": "\n".join(relabelled(data)),
        "real_model": "\n".join(real_model()),
    }
    for name, part in parts.items():
        text = text.replace("{" + name + "}", part)
    return text


if __name__ == "__main__":
    PAGE.write_text(page(Path(sys.argv[1])), encoding="utf-8")
