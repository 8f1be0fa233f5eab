"""An explanation in a few lines: rules, claims and counts, and no prose."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from rag_rule_explainer import Explanation, Finding, RuleKind, Update


def short(found: Explanation) -> str:
    """All that may not change where nothing but words does."""
    return "\n".join(_lines(found)) + "\n"


def rule(found: Finding) -> str:
    """A rule with what it rests on."""
    told = [
        f"{found.kind.value} {ids(found.sources)}: {found.claim}",
        f"observed {found.observed} broken {found.broken} applicable {found.applicable}",
        f"draws {found.draws}" if found.draws else "",
        {True: "minimal", False: "not minimal", None: "perhaps minimal"}[found.minimal],
        found.relation or "",
        f"kept {ids(found.kept)}" if found.kept else "",
        "with all others" if found.with_others else "",
        *(f"tied {ids(tie)}" for tie in found.tied),
        f"tied beside {found.tied_beside}" if found.tied_beside else "",
        *(f"breaks {ids(kept)}" for kept in found.breaking),
    ]
    return "; ".join(filter(None, told))


def update(news: Update) -> str:
    """A rule as far as it is known by then."""
    return f"{news.probes}: {'withdrawn ' if news.withdrawn else ''}{rule(news.finding)}"


def ids(named: Iterable[str]) -> str:
    """As they are, or as JSON where they are no plain words."""
    return "{" + " ".join(each if each.isalnum() else json.dumps(each) for each in named) + "}"


def _lines(found: Explanation) -> Iterator[str]:
    yield f"answer {json.dumps(found.baseline.text)}"
    yield f"sources {ids(source.id for source in found.sources)}"
    yield f"pinned {ids(source.id for source in found.sources if source.pinned)}"
    yield f"held out {ids(source.id for source in found.held_out)}"
    yield f"tied {' '.join(ids(tie.sources) for tie in found.ties)}"
    yield f"scope {found.scope}"
    yield f"miner {found.miner.name}, seed {found.seed}"
    yield f"complete {found.complete}, ended {found.ended}, stopped {bool(found.stop_reason)}"
    yield f"warnings {len(found.warnings)}, notes {len(found.notes)}"
    yield from map(rule, found.rules)
    for witness in found.witnesses:
        yield f"witness {witness.kind.value} {ids(witness.sources)}: {ids(witness.kept)}"
    for change in found.counterfactuals:
        answer = json.dumps(change.answer)
        yield f"{change.change} {change.kind.value} {ids(change.sources)}: {answer}"
    for index in found.importance:
        shares = f"banzhaf {index.banzhaf:.6f} shapley {index.shapley:.6f} error {index.error:.6f}"
        yield f"importance {index.kind.value} {ids([index.source, *index.tied])}: {shares}"
    for entry in found.unresolved:
        yield f"unresolved {entry.kind.value} {ids(entry.kept)}"
    yield f"counts {_told(asdict(found.counts))}"
    yield f"spent {json.dumps(asdict(found.spent))}"
    for kind in found.predicates:
        yield f"verdicts {kind.value} {_told(_verdicts(found, kind))}"
    votes = Counter[str]()
    for probe in found.probes:
        votes["failed"] += bool(probe.error)
        votes["answers"] += len(probe.answers)
        for counted in probe.votes.values():
            votes["for"] += counted.holds
            votes["against"] += counted.breaks
    yield f"probes {len(found.probes)} {_told(votes)}"


def _verdicts(found: Explanation, kind: RuleKind) -> Counter[str]:
    return Counter(probe.verdicts[kind].verdict.value for probe in found.probes if kind in probe.verdicts)


def _told(counts: dict[str, int]) -> str:
    return " ".join(f"{name} {count}" for name, count in sorted(counts.items()) if count)
