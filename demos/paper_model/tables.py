"""This module makes Markdown tables of the results. The same answers give the same text."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from demos.paper_model.measures import Measured
from rag_rule_explainer.checking.figures import share
from rag_rule_explainer.experiments.rates import Rate, rate_of
from rag_rule_explainer.experiments.redteam import APPROACHES


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def ratio(rate: Rate) -> str:
    """A share with its 95 % interval over questions."""
    if rate.value is None or rate.low is None or rate.high is None:
        return "-"
    return f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]"


def between(value: float | None, low: float | None, high: float | None) -> str:
    return ratio(Rate(value, low, high))


def report(found: Measured) -> Iterator[str]:
    yield from accuracy(found)
    if not found.asked:
        yield "It answers no question right, so there is nothing to explain."
        return
    for part in (efficiency, agreeing, robustness, benchmark, votes, judging, redteam):
        yield ""
        yield from part(found)


def accuracy(found: Measured) -> Iterator[str]:
    right = sum(each.is_right for each in found.screened)
    yield "## Accuracy\n"
    counted = share(right, len(found.screened), "nothing was asked")
    yield f"Right with all sources, by majority: {counted}."
    single = rate_of((each.right, each.answers) for each in found.screened)
    yield f"Single answers that are right: {ratio(single)}."
    yield f"All else is about {len(found.asked)} of the questions that it answers right."


def efficiency(found: Measured) -> Iterator[str]:
    cells = defaultdict[tuple[int, str, str], list[tuple[float, int, int, float]]](list)
    for row in found.efficiency.rows:
        known = row.explored, row.calls, row.minimal_rules, row.seconds or 0.0
        cells[row.n, row.miner, row.kind].append(known)
    yield "## Efficiency\n"
    heads = ("sources", "miner", "rules", "explored", "calls", "minimal rules", "seconds")
    rows = (
        (n, miner, kind, f"{fmean(each[0] for each in own):.1%}", *means(each[1:] for each in own))
        for (n, miner, kind), own in cells.items()
    )
    yield from table(heads, rows)
    yield "\nMeans of a question. Dual explores a subset once for both kinds."


def means(rows: Iterable[Sequence[float]]) -> list[str]:
    return [f"{fmean(column):.1f}" for column in zip(*rows, strict=True)]


def agreeing(found: Measured) -> Iterator[str]:
    rows = found.agreement
    yield "## Agreement with brute force over the same stored answers\n"
    agree = sum(each.agrees for each in rows)
    yield f"The minimal rules of both kinds are the same on {agree} of {len(rows)} questions."
    anew = sum(each.asked_anew for each in rows)
    yield f"Answers asked for anew: {anew}."
    retention, omission = (fmean(getattr(r, kind) for r in rows) for kind in ("retention", "omission"))
    yield f"Minimal rules a question: {retention:.1f} retention, {omission:.1f} omission."
    alike = sum(each.as_labelled for each in rows)
    yield f"The rules are those of a careful reader: {share(alike, len(rows), 'nothing was asked')}."


def robustness(found: Measured) -> Iterator[str]:
    rows = found.robustness.rows
    last = max(row.samples for row in rows)
    shown = [row for row in rows if row.samples in {1, 3, 5, last}]
    yield "## Robustness\n"
    heads = ("rules", "samples", "expected", "found", "precision, micro", "recall, micro")
    yield from table(
        heads,
        (
            (
                row.kind.value,
                row.samples,
                row.expected,
                row.found,
                between(row.micro_precision, row.micro_precision_low, row.micro_precision_high),
                between(row.micro_recall, row.micro_recall_low, row.micro_recall_high),
            )
            for row in shown
        ),
    )
    yield f"\n{len(found.robustness.failures)} times a question lacks a verdict."


def benchmark(found: Measured) -> Iterator[str]:
    yield "## Benchmark\n"
    rows = [row for row in found.benchmark.rows if row.necessary == "all" and row.of]
    yield from table(
        ("measure", "share", "of"),
        ((row.measure, between(row.rate, row.low, row.high), f"{row.count} of {row.of}") for row in rows),
    )


def votes(found: Measured) -> Iterator[str]:
    yield "## Votes at the border, three sources\n"
    heads = ("votes", "printed rules that are true", "smallest true rules that are printed", "replays")
    counts = sorted({row.votes for row in found.votes})
    by = {count: [row for row in found.votes if row.votes == count] for count in counts}
    yield from table(
        heads,
        (
            (
                count,
                counted((row.true, row.true + row.false) for row in own),
                counted((row.found, row.there) for row in own),
                f"{fmean(row.replays for row in own):.1f}",
            )
            for count, own in by.items()
        ),
    )
    close = sum(row.close for row in by[counts[0]])
    yield f"\n{len(by[counts[0]])} questions. Subsets with 20 % to 80 % of right answers: {close}."


def counted(pairs: Iterable[tuple[int, int]]) -> str:
    found = rate_of(pairs)
    return f"{found.count} of {found.of}: {ratio(found)}"


def judging(found: Measured) -> Iterator[str]:
    yield "## The model as a judge\n"
    if found.judge is None:
        yield "Near-exact match settled every answer."
        return
    check = found.judge
    yield f"{check.cases} of {check.of} judgments were drawn; {check.unknown} have no verdict."
    rates = {
        "precision": share(check.tp, check.tp + check.fp, "nothing was judged true"),
        "recall": share(check.tp, check.tp + check.fn, "no judged answer is right"),
        "false positive rate": share(check.fp, check.fp + check.tn, "no judged answer is wrong"),
    }
    yield ""
    yield from table(("figure", "the model as a judge"), rates.items())


def redteam(found: Measured) -> Iterator[str]:
    yield "## Red-teaming\n"
    heads = (
        "adversarial sources",
        "attacks",
        "obeyed in every search",
        *(f"calls: {way}" for way in APPROACHES),
        "found",
    )
    yield from table(
        heads,
        (
            (
                each.sources,
                each.attacks,
                each.obeyed,
                *(calls(row.calls for row in each.rows if row.approach == way) for way in APPROACHES),
                f"{sum(row.found for row in each.rows)} of {len(each.rows)}",
            )
            for each in found.attacked
        ),
    )
    yield ""
    yield from sorted({f"- {why}" for each in found.attacked for why in each.why})


def calls(counts: Iterable[int]) -> str:
    own = list(counts)
    return f"{fmean(own):.1f}" if own else "-"
