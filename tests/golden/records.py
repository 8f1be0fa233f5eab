"""What comes out beside an explanation: news of it, verifications, comparisons, checks of judges,
summaries, estimates, and errors."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Literal

from rag_rule_explainer import (
    Answer,
    Assumptions,
    Comparison,
    Explainer,
    Explanation,
    LabelledCase,
    Limits,
    Noise,
    Price,
    ProgressReport,
    RagRuleError,
    Settings,
    Source,
    check_judge,
    consistent_with,
    contains,
    diff,
    equals,
    judged,
    same_answer,
)
from rag_rule_explainer.predicates import Predicate
from rag_rule_explainer.testing import ScriptedReplay
from tests.golden import normal
from tests.golden.conditions import NAMED, by_words, unsure_of_some
from tests.golden.faulty import RARE, failing, varying
from tests.golden.goldens import PAIR, QUESTION, Explanations, Script, Write, explaining, needs, numbered
from tests.golden.short import ids, rule, short, update

Kind = Literal["retention", "omission"]


def explainer(script: Script = PAIR, **settings: Any) -> Explainer:
    fields: dict[str, Any] = {"concurrency": 1, **settings}
    return Explainer(ScriptedReplay(script), contains("yes"), **fields)


def streamed(make: Callable[[], Explainer], sources: int) -> Write:
    def write() -> Mapping[str, str]:
        return {"updates.txt": "\n".join(_news(make().stream(QUESTION, numbered(sources)))) + "\n"}

    return write


def _news(stream: Iterable[Any]) -> Iterator[str]:
    for news in stream:
        yield short(news).rstrip() if isinstance(news, Explanation) else update(news)


def verified(named: Iterable[str], kind: Kind, sources: int, make: Callable[[], Explainer]) -> Write:
    def write() -> Mapping[str, str]:
        found = make().verify(named, kind, QUESTION, numbered(sources))
        told = [f"{found.kind.value} {ids(found.sources)}: holds {found.holds}"]
        told += [] if found.finding is None else [rule(found.finding)]
        told += [] if found.witness is None else [f"witness {ids(found.witness.kept)}"]
        explanation = normal.explanation(json.loads(found.explanation.model_dump_json()))
        return {
            "verification.txt": "\n".join([*told, short(found.explanation)]),
            "explanation.json": normal.laid_out(explanation),
        }

    return write


def compared(a: Callable[[], Explanation], b: Callable[[], Explanation]) -> Write:
    def write() -> Mapping[str, str]:
        found = diff(a(), b())
        content = normal.laid_out(json.loads(found.model_dump_json()))
        return {"comparison.json": content, "comparison.txt": "\n".join(_changes(found)) + "\n"}

    return write


def _changes(found: Comparison) -> Iterator[str]:
    for change in found.changes:
        yield f"{change.what} {change.kind.value}"
        yield from (f"  before {rule(each)}" for each in change.before)
        yield from (f"  after {rule(each)}" for each in change.after)
        if change.broken is not None:
            yield f"  broken {ids(change.broken.kept)} {json.dumps(change.broken.answer)}"
    yield from (f"unsettled {each.side} {each.kind.value}" for each in found.unsettled)
    fails = {fail_on: found.fails(fail_on) for fail_on in ("lost", "gained", "any")}
    yield f"unchanged {found.unchanged}, fails {json.dumps(fails)}"


def labelled() -> list[LabelledCase]:
    said = [("on 9 May", True), ("May 9", True), ("the ninth of May", True), ("on 19 May", False)]
    said += [("on 9 May", True), ("\x1b[2Jyes on 9 May", False), ("I do not know", False)]
    return [LabelledCase(QUESTION, text, label, truth="on 9 May") for text, label in said]


def is_the_truth(case: LabelledCase) -> Predicate:
    return consistent_with(case.truth or "")


def checked(**settings: Any) -> Callable[..., Write]:
    def of(**asked: Any) -> Write:
        def write() -> Mapping[str, str]:
            known: dict[str, Any] = {"concurrency": 1, "retries": 0, **settings}
            found = check_judge(labelled(), settings=Settings(**known), **asked)
            told = json.loads(found.model_dump_json())
            counts = ("cases", "distinct", "tp", "fp", "tn", "fn", "unknown", "judge_requests", "tokens")
            counted = [f"{name} {json.dumps(told[name])}\n" for name in counts]
            return {"check.json": normal.laid_out(told), "check.txt": "".join(counted)}

        return write

    return of


def estimated(sources: int, *, predicate: Any = None, **settings: Any) -> Write:
    def write() -> Mapping[str, str]:
        condition = contains("yes") if predicate is None else predicate
        asking = Explainer(ScriptedReplay(PAIR), condition, **settings)
        found = asking.estimate(QUESTION, numbered(sources), assuming=Assumptions(answer_tokens=10))
        courses = {"best": found.best, "typical": found.typical, "worst": found.worst}
        counts = [f"{name} {json.dumps(asdict(course))}\n" for name, course in courses.items()]
        return {"estimate.json": normal.laid_out(asdict(found)), "estimate.txt": "".join(counts)}

    return write


def summary() -> Mapping[str, str]:
    found = explaining(PAIR, 3, miner="grouped")().summary()
    told = {**json.loads(found.model_dump_json()), "made_at": normal.MADE_AT if found.made_at else ""}
    return {"summary.json": normal.laid_out(told)}


def progress() -> Mapping[str, str]:
    """What is told of every probe: but for how long it took."""
    reports: list[ProgressReport] = []
    explainer(failing(("D1", "D3")), retries=0, progress=reports.append).explain(QUESTION, numbered(3))
    told = [
        f"{each.probes} of {each.upper_bound}, replays {each.replays}, failures {each.failures}, "
        f"done {each.done}"
        for each in reports
    ]
    return {"progress.txt": "\n".join(dict.fromkeys(told)) + "\n"}


REFUSED: dict[str, Callable[[], object]] = {
    "no sources": lambda: explainer().explain(QUESTION, []),
    "two of one id": lambda: explainer().explain(QUESTION, [Source("a", "x"), Source("a", "y")]),
    "an empty id": lambda: Source(" ", "x"),
    # A mistake, on purpose.
    "a question that is none": lambda: explainer().explain(7, ["a"]),  # type: ignore[arg-type]
    "an unknown setting": lambda: explainer(miners="exact"),
    "an unknown miner": lambda: explainer(miner="best"),
    "sampled with all rules": lambda: explainer(miner="sampled", minimal=False),
    "too many for exact": lambda: explainer(miner="exact").explain(QUESTION, numbered(21)),
    "pinned that is not there": lambda: explainer().explain(QUESTION, ["a"], pinned=["D7"]),
    "confidence of too many": lambda: explainer(noise=Noise(min_confidence=0.9)).explain(
        QUESTION, numbered(13)
    ),
    "votes of one": lambda: Noise(samples=1, vote="every"),
    "cost without prices": lambda: explainer(limits=Limits(cost=1.0)),
    "a limit of nothing": lambda: Limits(replays=0),
    "a negative price": lambda: Price(-1.0, 1.0),
    "the baseline fails": lambda: explainer(failing(("D1",)), retries=0).explain(QUESTION, ["a"]),
    "the baseline is cut off": lambda: explainer(
        lambda ids: Answer("yes", finish_reason="length"), retries=0
    ).explain(QUESTION, ["a"]),
    "the answer does not repeat": lambda: Explainer(
        ScriptedReplay(varying(PAIR, 2)), same_answer(), concurrency=1
    ).explain(QUESTION, numbered(2)),
    "the condition is not met": lambda: explainer(lambda ids: "no", false_condition="error").explain(
        QUESTION, ["a"]
    ),
    "a rule of nobody": lambda: explainer().verify({"D9"}, "retention", QUESTION, numbered(2)),
    "no replay": lambda: Explainer().explain(QUESTION, ["a"]),
    "no cases": lambda: check_judge([], equals("a")),
    # A mistake, on purpose.
    "a label that is none": lambda: LabelledCase(QUESTION, "a", "no"),  # type: ignore[arg-type]
}


def refused() -> Mapping[str, str]:
    """The errors' types: what they say is not compared."""
    return {"errors.txt": "".join(f"{name}: {error_of(given)}\n" for name, given in REFUSED.items())}


def error_of(given: Callable[[], object]) -> str:
    try:
        given()
    except RagRuleError as error:
        return ", ".join(kind.__name__ for kind in type(error).__mro__ if issubclass(kind, RagRuleError))
    return "none"


def _changed(**settings: Any) -> Callable[[], Explanation]:
    return explaining(needs(("D1",), ("D3", "D4")), 4, **settings)


EXPLANATIONS: Explanations = {}
WRITTEN: dict[str, Write] = {
    "stream-exact": streamed(explainer, 3),
    "stream-sampled": streamed(lambda: explainer(varying(PAIR, 5), miner=RARE, rules="retention"), 8),
    "stream-grouped": streamed(lambda: explainer(miner="grouped"), 8),
    "stream-voted": streamed(lambda: explainer(varying(PAIR, 4), noise=3, check_repeatable=False), 3),
    "stream-stopped": streamed(lambda: explainer(limits=8), 4),
    "verify-proved": verified(["D1", "D2"], "retention", 4, explainer),
    "verify-not-minimal": verified(["D1", "D3"], "omission", 4, explainer),
    "verify-broken": verified(["D2"], "retention", 4, explainer),
    "verify-tested": verified(["D2"], "omission", 12, lambda: explainer(miner=RARE)),
    "verify-stopped": verified(["D1"], "omission", 4, lambda: explainer(limits=5)),
    "verify-undecided": verified(
        ["D1"], "omission", 3, lambda: explainer(failing(("D2", "D3")), retries=0)
    ),
    "verify-voted": verified(
        ["D1"], "omission", 3, lambda: explainer(varying(PAIR, 4), noise=3, check_repeatable=False)
    ),
    "diff-same": compared(explaining(PAIR, 4), explaining(PAIR, 4)),
    "diff-changed": compared(explaining(PAIR, 4), _changed()),
    "diff-back": compared(_changed(), explaining(PAIR, 4)),
    "diff-stopped": compared(explaining(PAIR, 4), _changed(limits=8)),
    "diff-fewer-sources": compared(explaining(needs(("D1", "D4")), 4), explaining(PAIR, 3)),
    "diff-other-condition": compared(
        explaining(PAIR, 3), explaining(PAIR, 3, omission_predicate=equals("no"))
    ),
    "diff-one-kind": compared(explaining(PAIR, 3), _changed(rules="retention")),
    "diff-tested": compared(explaining(PAIR, 8), explaining(PAIR, 8, miner=RARE)),
    "check-wording": checked()(predicate_of=is_the_truth),
    "check-judged": checked()(predicate=by_words("9 may")),
    "check-unsure": checked()(predicate=judged("is right", unsure_of_some, judge_name=NAMED)),
    "check-in-batches": checked()(predicate=by_words("9", batch=4)),
    "check-limited": checked(limits=Limits(tokens=300), prices={"*": Price(1.0, 2.0)})(
        predicate=by_words("9")
    ),
    "estimate-three": estimated(3),
    "estimate-fifty": estimated(50, prices={"m": Price(1.0, 2.0)}),
    "estimate-voted": estimated(6, noise=5),
    "estimate-grouped": estimated(20, miner="grouped", rules="retention"),
    "estimate-judged": estimated(5, predicate=by_words("9")),
    "summary": summary,
    "progress": progress,
    "errors": refused,
}
