"""Near-duplicates as one unit: rules against brute force over units, and what is said of them."""

import json
import time
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rag_rule_explainer import (
    Answer,
    Explainer,
    Explanation,
    InvalidInput,
    Noise,
    RuleKind,
    Sampled,
    Settings,
    Source,
    Store,
    contains,
    diff,
    equals,
    judged,
    load,
)
from rag_rule_explainer.lattice import Lattice, Subset
from rag_rule_explainer.report import as_text
from rag_rule_explainer.sources import Arrangement, SourceSet
from rag_rule_explainer.storing.opened import close_all
from rag_rule_explainer.testing import OfflineJudge, ScriptedReplay
from tests.drawing import examples

Rules = set[tuple[RuleKind, frozenset[str]]]
Shown = Iterable[str]


def given_sources(*groups: str) -> list[Source]:
    """A text for each group, which all its letters have; in the order of the alphabet."""
    return [
        Source(letter, f"The text of {group[0]}.", {"document": letter})
        for letter, group in sorted((letter, group) for group in groups for letter in group)
    ]


def saying(holds: Callable[[frozenset[str]], bool]) -> ScriptedReplay:
    return ScriptedReplay(lambda shown: "yes" if holds(shown) else "no")


def explained(
    holds: Callable[[frozenset[str]], bool], sources: list[Source], **fields: Any
) -> Explanation:
    pinned = fields.pop("pinned", ())
    options: dict[str, Any] = {"merge_duplicates": True, "check_repeatable": False, **fields}
    explainer = Explainer(saying(holds), predicate=contains("yes"), **options)
    return explainer.explain("?", sources, Answer("yes"), pinned=pinned)


def found(explanation: Explanation) -> Rules:
    return {(rule.kind, frozenset(rule.sources)) for rule in explanation.rules}


def by_brute_force(holds: Callable[[frozenset[str]], bool], groups: list[str], pinned: str) -> Rules:
    """By the definition, over unions of groups."""
    unions = [
        frozenset("".join(some)) for n in range(len(groups) + 1) for some in combinations(groups, n)
    ]
    everything = frozenset("".join(groups))
    rules: Rules = set()
    for kind in RuleKind:
        wanted = kind is RuleKind.RETENTION
        valid = [
            named
            for named in unions
            if all(
                holds((wider if wanted else everything - wider) | {*pinned}) is wanted
                for wider in unions
                if wider >= named
            )
        ]
        rules |= {(kind, named) for named in valid if not any(other < named for other in valid)}
    return rules


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[str], str, Callable[[frozenset[str]], bool]]:
    letters = draw(st.permutations("abcdefg"))
    cuts = sorted(draw(st.sets(st.integers(1, 6), min_size=1, max_size=4)))
    bounds = list(zip([0, *cuts], [*cuts, 7], strict=True))
    groups = ["".join(sorted(letters[start:end])) for start, end in bounds]
    pinned = draw(st.sampled_from(["", groups[0][0]]))
    groups[0] = groups[0].replace(pinned, "") if pinned else groups[0]
    salt = draw(st.integers(0, 2**32))
    table = draw(st.sampled_from(["random", "monotone"]))
    named = frozenset(draw(st.sets(st.sampled_from("abcdefg"), min_size=1, max_size=3)))

    def holds(shown: frozenset[str]) -> bool:
        if table == "monotone":
            return named <= shown
        return hash((salt, tuple(sorted(map(ord, shown))))) % 4 != 0

    return [group for group in groups if group], pinned, holds


@given(cases())
@settings(max_examples=examples(60))
def test_rules_are_those_over_units(case: tuple[list[str], str, Any]) -> None:
    groups, pinned, holds = case
    sources = given_sources(*groups, *pinned)
    # The pinned one has the text of those that it is not tied to.
    sources = [Source(s.id, f"The text of {groups[0][0]}.") if s.id == pinned else s for s in sources]
    explanation = explained(holds, sources, pinned=[*pinned], miner="exact")
    assert found(explanation) == by_brute_force(holds, groups, pinned)
    assert {tie.sources for tie in explanation.ties} == {tuple(g) for g in groups if len(g) > 1}
    assert all(rule.proved for rule in explanation.rules)
    assert explanation.counts.probes <= 2 ** len(groups)
    for rule in explanation.rules:
        assert rule.applicable == 2 ** sum(not set(group) <= set(rule.sources) for group in groups)
    for probe in (*explanation.probes, *explanation.witnesses, *explanation.counterfactuals):
        ids = getattr(probe, "kept", None) or getattr(probe, "sources", ())
        assert all({*ids} & {*group} in (set(), {*group}) for group in groups)
    # What it says of itself passes for true where it is read back.
    assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation


@given(cases())
@settings(max_examples=examples(20))
def test_sampled_and_grouped_rules_are_rules_over_units(case: tuple[list[str], str, Any]) -> None:
    groups, _, holds = case
    sources = given_sources(*groups)
    for miner in (Sampled(), "grouped"):
        explanation = explained(holds, sources, miner=miner)
        for rule in explanation.rules:
            assert all({*rule.sources} & {*group} in (set(), {*group}) for group in groups)
        assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation


def test_units_are_the_map_from_masks_to_what_is_shown() -> None:
    sources = SourceSet.of(given_sources("ad", "b", "c"), ["c"], tied_from=0.9)
    assert [tuple(source.id for source in unit) for unit in sources.units] == [("a", "d"), ("b",)]
    first, second = (sources.lattice.bit(unit) for unit in range(2))
    assert Arrangement.of(sources, Subset(first)).ids == ("a", "c", "d")
    assert Arrangement.of(sources, Subset(second)).ids == ("b", "c")
    # What is pinned keeps its place; the recorded order is the same arrangement, however it is said.
    assert Arrangement.of(sources, (1, 0)).ids == ("b", "a", "c", "d")
    assert Arrangement.of(sources, (0, 1)).key == Arrangement.of(sources, sources.full).key
    assert sources.mask_of(["a"]) == sources.mask_of(["d", "a"]) == first
    assert sources.ids_of(first | second) == ("a", "b", "d")
    assert sources.lattice == Lattice(2)


def either(shown: frozenset[str]) -> bool:
    return "D2" in shown or "D7" in shown or "D9" in shown


def nine() -> list[Source]:
    texts = ["Calcium helps." if n in {2, 7, 9} else f"Text {n}." for n in range(1, 10)]
    return [Source(f"D{n}", text) for n, text in enumerate(texts, start=1)]


def test_a_rule_says_what_is_tied() -> None:
    explanation = explained(either, nine())
    (rule,) = explanation.retention_rules
    assert rule.sources == ("D2", "D7", "D9")
    assert rule.rule == (
        "whenever D2 (with its near-duplicates D7 and D9) is retained, the answer contains 'yes'"
    )
    assert (rule.proved, rule.minimal, rule.applicable) == (True, True, 64)
    assert str(explanation.counterfactuals[0]).startswith(
        "from all sources, removing D2 (with its near-duplicates D7 and D9) flips the outcome"
    )
    assert explanation.miner.reason == "9 sources, with near-duplicates tied 7, at most 128 probes"
    assert (
        "D2, D7 and D9 are tied as near-duplicates: retained or left out together, and counted as one "
        "source. Any two of them share all of their word shingles"
    ) in explanation.notes
    power = next(index for index in explanation.importance if index.banzhaf)
    assert (power.source, power.tied, power.banzhaf) == ("D2", ("D7", "D9"), 1)
    assert len(explanation.importance) == 2 * 7
    report = as_text(explanation)
    assert "D7  Calcium helps. (tied to D2)" in report
    assert "(with D7 and D9)" in report
    assert "of 128 subsets" in report
    assert (
        "complete: these are all the rules there are, with near-duplicates kept or left out together"
        in report
    )


def test_what_is_tied_beside_a_rule_is_said_as_well() -> None:
    explanation = explained(lambda shown: "D1" in shown, nine(), rules="retention")
    (rule,) = explanation.rules
    assert (rule.tied, rule.tied_beside) == ((), 1)
    assert rule.evidence == (
        "proved on all 64 subsets; 1 group of other near-duplicates kept or left out as a whole"
    )


def test_without_the_setting_nothing_is_tied() -> None:
    explanation = explained(either, nine(), merge_duplicates=False, miner="exact")
    assert not explanation.ties
    assert {rule.sources for rule in explanation.retention_rules} == {("D2",), ("D7",), ("D9",)}
    assert all("near-duplicate" not in note for note in explanation.notes)


def test_that_nothing_was_tied_is_said() -> None:
    explanation = explained(either, nine()[:2])
    assert "no sources are near-duplicates, so none are tied" in explanation.notes


@pytest.mark.parametrize("named", [{"D2"}, {"D9"}, {"D2", "D7"}])
def test_any_id_of_a_unit_stands_for_it(named: set[str]) -> None:
    explainer = Explainer(saying(either), predicate=contains("yes"), merge_duplicates=True)
    held = explainer.verify(named, "retention", "?", nine())
    assert held.holds
    assert held.sources == ("D2", "D7", "D9")
    assert str(held).startswith("held: whenever D2 (with its near-duplicates D7 and D9) is retained")
    with_more = Explainer(
        saying(lambda shown: either(shown) and "D1" in shown),
        predicate=contains("yes"),
        merge_duplicates=True,
    )
    broken = with_more.verify(named, "retention", "?", nine())
    assert broken.holds is False
    assert str(broken).startswith(
        "broken: retaining D2 (with its near-duplicates D7 and D9) does not bring it about with D2, D7"
    )


def test_groups_by_metadata_and_halves_of_them_hold_whole_units() -> None:
    sources = given_sources("ae", "b", "cd", "f")
    for granularity in ((), ("document",)):
        explanation = explained(
            lambda shown: {"a", "c"} <= shown, sources, miner="grouped", granularity=granularity
        )
        assert {rule.sources for rule in explanation.retention_rules} == {("a", "c", "d", "e")}
        (rule,) = explanation.retention_rules
        assert rule.rule.startswith(
            "whenever a (with its near-duplicate e) and c (with its near-duplicate d) are retained"
        )


def test_updates_and_votes_speak_of_units() -> None:
    explainer = Explainer(
        saying(either), predicate=contains("yes"), merge_duplicates=True, noise=Noise(samples=3)
    )
    *updates, explanation = explainer.stream("?", nine())
    assert isinstance(explanation, Explanation)
    told = {str(update) for update in updates if not isinstance(update, Explanation)}
    assert any("D2 (with its near-duplicates D7 and D9) is retained" in each for each in told)
    assert "votes: 2 for it, 0 against" in as_text(explanation)


def test_answers_are_stored_under_what_was_shown(tmp_path: Any) -> None:
    store = Store(f"sqlite:///{tmp_path}/answers.db", "v1")
    try:
        alone = explained(either, nine(), miner="exact", merge_duplicates=False, store=store)
        tied = explained(either, nine(), store=store)
    finally:
        close_all()
    assert alone.counts.replays > 100
    # All that a search over units asks was asked by one over sources.
    assert tied.counts.replays == 0


def test_of_what_is_stored_a_judge_is_asked_about_units_alone(tmp_path: Any) -> None:
    store = Store(f"sqlite:///{tmp_path}/answers.db", "v1")
    # Each subset has an answer of its own.
    replay = ScriptedReplay(lambda shown: f"yes {' '.join(sorted(shown))}" if either(shown) else "no")
    judge = OfflineJudge(["yes"])
    try:
        Explainer(replay, predicate=contains("yes"), miner="exact", store=store).explain("?", nine())
        paid = len(replay.calls)
        tied = Explainer(
            replay, predicate=judged("it says yes", judge), merge_duplicates=True, store=store
        ).explain("?", nine(), f"yes {' '.join(f'D{n}' for n in range(1, 10))}")
    finally:
        close_all()
    assert paid == len(replay.calls)
    assert tied.ties
    copies = {"D2", "D7", "D9"}
    assert judge.answers
    assert all({*answer.split()} & copies in (set(), copies) for answer in judge.answers)


def test_an_estimate_counts_units() -> None:
    explainer = Explainer(saying(either), predicate=contains("yes"), merge_duplicates=True)
    estimated = explainer.estimate("?", nine())
    assert estimated.worst.replays == 2**7 + 1


def test_diff_denies_nothing_of_a_part_of_what_is_tied() -> None:
    tied = explained(either, nine(), rules="retention")
    alone = explained(either, nine(), rules="retention", merge_duplicates=False, miner="exact")
    comparison = diff(tied, alone)
    assert {change.what for change in comparison.changes} == {"perhaps gained"}
    assert "D2, D7 and D9 were tied in A, never one without the rest" in str(comparison)
    assert "tied as near-duplicates in A alone: D2, D7 and D9" in comparison.warnings
    assert {change.what for change in diff(alone, tied).changes} == {"perhaps lost"}
    assert not diff(tied, tied).changes
    # Without the tied ones nothing holds, and that is known of all.
    never = explained(lambda shown: "D1" in shown, nine(), rules="retention")
    assert {change.what for change in diff(tied, never).changes} == {"lost", "gained"}


FORGED: dict[str, Callable[[Any], object]] = {
    "half a unit in a rule": lambda saved: saved["retention_rules"][0].update(sources=["D2"]),
    "half a unit in a probe": lambda saved: saved["probes"][0].update(kept=["D2"]),
    "a rule without its ties": lambda saved: saved["retention_rules"][0].update(tied=[]),
    "a rule with other ties": lambda saved: saved["retention_rules"][0].update(tied=[["D7", "D2", "D9"]]),
    "ties beside that there are not": lambda saved: saved["retention_rules"][0].update(tied_beside=1),
    "subsets of sources": lambda saved: saved["retention_rules"][0].update(applicable=256, observed=256),
    "no ties after all": lambda saved: saved.update(ties=[]),
    "a tie of nobody": lambda saved: saved["ties"][0].update(sources=["D2", "D7", "D99"]),
    "a tie of one": lambda saved: saved["ties"].append({"sources": ["D1"], "similarity": 1.0}),
    "two ties of one source": lambda saved: saved["ties"].append(
        {"sources": ["D1", "D2"], "similarity": 1.0}
    ),
    "a tie of a pinned source": lambda saved: saved["sources"][1].update(pinned=True),
    "more than alike": lambda saved: saved["ties"][0].update(similarity=1.5),
}


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_ties_that_contradict_the_rest_are_refused(forge: Callable[[Any], object]) -> None:
    saved = json.loads(explained(either, nine()).model_dump_json())
    Explanation.model_validate_json(json.dumps(saved))
    forge(saved)
    with pytest.raises(ValidationError):
        Explanation.model_validate_json(json.dumps(saved))


@pytest.mark.parametrize("wrong", [1, 0, 0.0, 1.5, -0.5, "yes", None, float("nan")])
def test_what_is_no_share_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="merge_duplicates is"):
        Settings(merge_duplicates=wrong)


@pytest.mark.slow
def test_thousands_of_near_duplicates_are_explained_saved_and_read_as_fast_as_other_sources(
    tmp_path: Path,
) -> None:
    alike = [Source(f"D{n}", "") for n in range(5000)]
    replay = ScriptedReplay(lambda ids: "yes" if ids else "no")
    explainer = Explainer(replay, predicate=equals("yes"), merge_duplicates=0.9, miner="exact")
    explanation = explainer.explain("?", alike)
    assert [rule.tied for rule in explanation.rules] == [(tuple(each.id for each in alike),)] * 2
    explanation.save(tmp_path / "saved.json")
    explanation.save(tmp_path / "saved.html")

    def seconds(read: Callable[[], object]) -> float:
        began = time.thread_time()
        read()
        return time.thread_time() - began

    plain = min(seconds(lambda: json.loads((tmp_path / "saved.json").read_bytes())) for _ in range(3))
    for saved in (tmp_path / "saved.json", tmp_path / "saved.html"):
        assert load(saved) == explanation
        # It took a hundred times as long: each source's tie was hashed, with all sources in it.
        assert min(seconds(lambda: load(saved)) for _ in range(2)) < 30 * plain  # noqa: B023 -- called here
