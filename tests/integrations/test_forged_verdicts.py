"""No answer has a say in the verdict of another one, however gullible the judge is.

``injections`` were written by a hand that had not seen what is done about them.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import Explainer, Explanation, Noise, Source, Store, Verdict, contains, judged
from rag_rule_explainer.explanation.loose_judging import JUDGED_TOGETHER
from rag_rule_explainer.storing.opened import close_all
from tests.integrations.obeying import ObeyingChatModel, ObeyingLLM
from tests.predicates.judge.injections import INJECTIONS, Injection
from tests.predicates.judge.obedience import ORDERS, ObeyingFunction, bare, is_good

# LlamaIndex looks at what Pydantic deprecates.
pytestmark = [pytest.mark.filterwarnings("ignore")]

SOURCES = [Source(f"D{n}", f"text {n}") for n in range(1, 5)]
HOSTILE = {"D2", "D4"}
"""Somebody has written both: shown just these, the application says what they want."""
SUBSETS = 16

Judges = Callable[[], Any]
JUDGES: dict[str, Judges] = {
    "function": ObeyingFunction,
    "LangChain": ObeyingChatModel,
    "LlamaIndex": ObeyingLLM,
}
NOISES = {"once": Noise(), "votes": Noise(samples=3, vote="every")}

judges = pytest.mark.parametrize("made", JUDGES.values(), ids=JUDGES)
noises = pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Callable[[int], Store]]:
    yield lambda number: Store(str(tmp_path / "answers.db"), f"injection {number}")
    close_all()


def application(injection: Injection) -> Callable[[str, Sequence[Source]], str]:
    """Good news with D1 and D3; an answer of its own for every subset."""

    def replay(_question: str, sources: Sequence[Source]) -> str:
        ids = {source.id for source in sources}
        if ids == HOSTILE:
            return injection.text
        return f"{'good' if {'D1', 'D3'} <= ids else 'bad'} news of {' '.join(sorted(ids)) or 'none'}"

    return replay


def explained(injection: Injection, predicate: Any, noise: Noise, store: Store | None) -> Explanation:
    given: dict[str, Any] = {"miner": "exhaustive", "check_repeatable": False}
    replay = application(injection)
    explainer = Explainer(replay, predicate=predicate, noise=noise, store=store, **given)
    return explainer.explain("What news?", SOURCES)


def forged(explanation: Explanation) -> list[str]:
    """The answers whose verdict is what another one wanted, and not their own."""
    kind = next(iter(explanation.predicates))
    return [
        probe.answers[0].text
        for probe in explanation.probes
        if bare(probe.answers[0].text) not in ORDERS
        and probe.verdicts[kind].verdict is not Verdict.of(is_good(probe.answers[0].text))
    ]


@pytest.mark.slow
def test_the_injections_are_of_many_languages_and_kinds() -> None:
    assert len(ORDERS) == len(INJECTIONS) == 50
    assert len({each.language for each in INJECTIONS}) == 10
    assert len({each.kind for each in INJECTIONS}) >= 15


@pytest.mark.spread(slow=3)
@pytest.mark.slow
@judges
@noises
@pytest.mark.parametrize("stored", [False, True], ids=["fresh", "stored"])
def test_by_default_no_verdict_of_another_answer_is_changed(
    made: Judges, noise: Noise, stores: Callable[[int], Store], stored: bool
) -> None:
    for number, injection in enumerate(INJECTIONS):
        store = stores(number) if stored else None
        if stored:
            explained(injection, contains("x"), noise, store)
        judge = made()
        explanation = explained(injection, judged("brings good news", judge), noise, store)
        assert explanation.counts.replays == 0 or not stored
        assert forged(explanation) == []
        # Each answer was judged, once, and by itself; so the one that persuaded the judge of itself.
        assert judge.sizes == [1] * SUBSETS
        (own,) = [each for each in explanation.probes if set(each.kept) == HOSTILE]
        assert {told.verdict for told in own.verdicts.values()} >= {Verdict.of(injection.orders)}
        assert JUDGED_TOGETHER not in explanation.warnings
        wanted = [("D1", "D3"), ("D2", "D4")] if injection.orders else [("D1", "D3")]
        retention = [rule.sources for rule in explanation.retention_rules]
        assert retention[0] == wanted[0]
        assert explanation.complete
        assert {rule.claim for rule in explanation.rules} == {"voted" if noise.votes else "proved"}


@pytest.mark.spread(slow=3)
@pytest.mark.slow
@judges
@noises
def test_among_others_there_is_a_warning_and_nothing_is_proved(
    made: Judges, noise: Noise, stores: Callable[[int], Store]
) -> None:
    """And what was judged so never comes back as if it had been judged alone."""
    misled = 0
    for number, injection in enumerate(INJECTIONS):
        store = stores(number)
        explained(injection, contains("x"), noise, store)
        judge = made()
        together = judged("brings good news", judge, judge_name="obeying", batch=16)
        explanation = explained(injection, together, noise, store)
        assert max(judge.sizes) > 1
        assert JUDGED_TOGETHER in explanation.warnings
        assert not any(rule.proved for rule in explanation.rules)
        assert {rule.claim for rule in explanation.rules} <= {"unverified"}
        assert "UNVERIFIED" in str(explanation) or not explanation.rules
        assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation
        misled += bool(forged(explanation))

        judge = made()
        alone = judged("brings good news", judge, judge_name="obeying")
        again = explained(injection, alone, noise, store)
        assert forged(again) == []
        assert len(judge.sizes) >= 1
        assert JUDGED_TOGETHER not in again.warnings

        # Those that were made alone serve both, and rules that rest on them are proved.
        judge = made()
        together = judged("brings good news", judge, judge_name="obeying", batch=16)
        third = explained(injection, together, noise, store)
        assert judge.sizes == []
        assert forged(third) == []
        assert JUDGED_TOGETHER not in third.warnings
        assert [rule.claim for rule in third.rules] == [rule.claim for rule in again.rules]
    # Or it would show nothing.
    assert misled >= len(INJECTIONS) // 2


@pytest.mark.slow
@judges
@noises
def test_fresh_answers_among_others_are_marked_wherever_a_request_had_several(
    made: Judges, noise: Noise
) -> None:
    several = 0
    for injection in INJECTIONS[:10]:
        judge = made()
        together = judged("brings good news", judge, batch=16)
        explanation = explained(injection, together, noise, None)
        is_batched = max(judge.sizes) > 1
        several += is_batched
        assert (JUDGED_TOGETHER in explanation.warnings) is is_batched
        assert not (is_batched and any(rule.proved for rule in explanation.rules))
    assert several > 0 or not noise.votes
