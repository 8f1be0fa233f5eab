"""What became of rules, as people read it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from rag_rule_explainer import (
    Answer,
    Explanation,
    InvalidInput,
    Limits,
    Source,
    contains,
    diff,
    equals,
)
from rag_rule_explainer.explanation.origin import MinerRecord
from tests.comparison.explaining import RETENTION, explained, needs, told


def forged(explanation: Explanation, **fields: object) -> Explanation:
    """The same with these fields, which no file may hold: reading asks for the evidence of each claim."""
    return explanation.model_copy(update=fields)


def claimed(explanation: Explanation, claim: Any, **fields: Any) -> Explanation:
    """Its retention rules, resting on something else; of a miner that looks at some subsets."""
    rules = tuple(replace(rule, claim=claim, **fields) for rule in explanation.retention_rules)
    return forged(explanation, retention_rules=rules, miner=MinerRecord("sampled", "many sources"))


class TestRules:
    def test_lost_and_gained_with_the_answer_that_shows_it(self) -> None:
        comparison = diff(explained(needs("D1"), **RETENTION), explained(needs("D2"), **RETENTION))
        assert told(comparison) == [
            "1 lost, 1 gained, 0 unchanged",
            (
                "lost: whenever D1 is retained, the answer contains 'yes' [proved on all 4 subsets]"
                " — in B with D1 and D3 retained, the answer is 'no'"
            ),
            (
                "gained: whenever D2 is retained, the answer contains 'yes' [proved on all 4 subsets]"
                " — in A with D2 and D3 retained, the answer is 'no'"
            ),
        ]
        assert comparison.fails() is comparison.fails("lost") is comparison.fails("gained") is True

    def test_weakened_to_a_larger_rule_is_lost_and_strengthened_is_gained(self) -> None:
        a, b = explained(needs("D1"), **RETENTION), explained(needs("D1", "D2"), **RETENTION)
        weaker, stronger = diff(a, b), diff(b, a)
        assert told(weaker)[1:] == [
            (
                "weakened: whenever D1 is retained, the answer contains 'yes' [proved on all 4 subsets]"
                " — in B with D1 and D3 retained, the answer is 'no';"
                " B has instead: whenever D1 and D2 are retained [proved on all 2 subsets]"
            ),
        ]
        assert (weaker.fails("lost"), weaker.fails("gained"), weaker.fails()) == (True, False, True)
        assert told(stronger)[1].startswith("strengthened: whenever D1 is retained, ")
        assert "; A has instead: whenever D1 and D2 are retained [proved" in told(stronger)[1]
        assert (stronger.fails("lost"), stronger.fails("gained")) == (False, True)

    def test_nothing_changed(self) -> None:
        comparison = diff(explained(needs("D1")), explained(needs("D1")))
        assert told(comparison) == ["no rule differs, 2 unchanged"]
        assert comparison.clean

    def test_an_answer_that_is_not_known_is_not_told(self) -> None:
        a, b = explained(needs("D1"), **RETENTION), explained(needs("D2"), **RETENTION)
        without_answers = tuple(replace(probe, answers=()) for probe in b.probes)
        told_of = told(diff(a, forged(b, probes=without_answers)))
        assert told_of[1].endswith("in B with D1 and D3 retained, it is not so")
        assert told(diff(a, forged(b, probes=())))[1].endswith(
            "in B with D1 and D3 retained, the answer is 'no'"
        )
        assert told(diff(a, forged(b, probes=(), witnesses=())))[1].endswith("B is complete without it")

    def test_a_rule_about_nothing(self) -> None:
        a, b = explained(lambda _: True, **RETENTION), explained(needs("D1"), **RETENTION)
        assert (
            "— in B with D2 and D3 retained, the answer is 'no'; B has instead: whenever D1 is"
            in told(diff(a, b))[1]
        )
        assert "; A has instead: whenever D1 is retained [" in told(diff(b, a))[1]
        assert "strengthened: always, whichever of these sources are retained," in told(diff(b, a))[1]

    def test_long_lists_are_counted(self) -> None:
        names = [f"s{number}" for number in range(8)]
        a = explained(lambda shown: len(shown) >= 4, names, miner="exact", **RETENTION)
        b = explained(lambda shown: len(shown) >= 3, names, miner="exact", **RETENTION)
        lost = told(diff(a, b))
        assert lost[0] == "56 strengthened, 0 unchanged"
        assert lost[-1] == "strengthened: … and 6 more"
        assert told(diff(b, a))[1].count(" retained [") == 3


class TestClaims:
    PROVED = explained(needs("D1"), **RETENTION)

    @pytest.mark.parametrize("claim", ["tested", "voted"])
    def test_a_weaker_claim_is_told_and_is_no_loss(self, claim: Any) -> None:
        b = claimed(self.PROVED, claim, observed=3)
        comparison = diff(self.PROVED, b)
        assert [change.what for change in comparison.changes] == ["weakened"]
        assert comparison.fails() is True
        assert comparison.fails("lost") is False
        assert "[proved on all 4 subsets] — B has instead: [" in told(comparison)[1]
        back = diff(b, self.PROVED)
        assert [change.what for change in back.changes] == ["strengthened"]
        assert back.fails("gained") is False

    @pytest.mark.parametrize("claim", ["relative", "unverified"])
    def test_a_claim_about_some_subsets_decides_nothing(self, claim: Any) -> None:
        b = claimed(self.PROVED, claim, observed=3)
        comparison, back = diff(self.PROVED, b), diff(b, self.PROVED)
        assert [change.what for change in comparison.changes] == ["perhaps lost"]
        assert comparison.fails() is comparison.fails("lost") is None
        assert "[proved on all 4 subsets] — B has instead: [" in told(comparison)[1]
        assert [change.what for change in back.changes] == ["perhaps gained"]
        assert back.fails() is back.fails("gained") is None
        assert "[proved on all 4 subsets] — A has instead: [" in told(back)[1]

    @pytest.mark.parametrize("claim", ["relative", "unverified"])
    def test_a_smaller_rule_about_some_subsets_replaces_nothing(self, claim: Any) -> None:
        a = explained(needs("D1", "D2"), **RETENTION)
        b = forged(claimed(self.PROVED, claim, observed=3), probes=(), witnesses=())
        assert [change.what for change in diff(a, b).changes] == ["perhaps lost", "perhaps gained"]
        assert diff(a, b).fails() is diff(a, b).fails("lost") is diff(a, b).fails("gained") is None
        assert [change.what for change in diff(b, a).changes] == ["perhaps lost", "perhaps gained"]

    def test_a_relative_rule_is_lost_where_the_very_subset_breaks(self) -> None:
        names = ("D1", "D2", "D3")
        relative = claimed(explained(needs("D1"), names, **RETENTION), "relative", observed=3)
        broken = forged(explained(needs("D2"), names, **RETENTION), miner=MinerRecord("sampled", ""))
        assert diff(relative, broken).fails("lost") is True
        unseen = forged(relative, probes=(), witnesses=())
        assert diff(unseen, broken).fails("lost") is None

    def test_claims_that_differ_in_kind_never_look_alike(self) -> None:
        tested, voted = claimed(self.PROVED, "tested"), claimed(self.PROVED, "voted")
        comparison = diff(tested, voted)
        assert [change.what for change in comparison.changes] == ["changed"]
        assert "[tested: " in told(comparison)[1]
        assert "B has instead: [voted: " in told(comparison)[1]
        assert comparison.fails() is True
        assert comparison.fails("lost") is False
        assert comparison.fails("gained") is None

    def test_a_smaller_share_is_weaker_and_fewer_draws_are_not(self) -> None:
        a = claimed(self.PROVED, "tested", observed=4)
        fewer = claimed(self.PROVED, "tested", observed=2)
        assert diff(a, fewer).changes == ()
        whole = claimed(self.PROVED, "confident", observed=4)
        failing = claimed(self.PROVED, "confident", observed=3, broken=1)
        assert [change.what for change in diff(whole, failing).changes] == ["weakened"]
        assert [change.what for change in diff(failing, whole).changes] == ["strengthened"]

    def test_a_part_of_a_rule_that_rests_on_less(self) -> None:
        part = self.PROVED.retention_rules[0]
        whole = replace(part, sources=("D1", "D2"), observed=2, applicable=2, minimal=False)
        tested = replace(part, claim="tested", observed=3)
        a = forged(self.PROVED, retention_rules=(part, whole))
        b = claimed(self.PROVED, "tested", observed=3)
        assert [(c.what, len(c.before[0].sources)) for c in diff(a, b).changes] == [
            ("weakened", 2),
            ("weakened", 1),
        ]
        assert diff(a, b).fails("lost") is False
        assert diff(b, a).fails("gained") is False
        # A part that is new has its own entry, and one is enough.
        alone = forged(explained(needs("D1", "D2"), **RETENTION), retention_rules=(whole,))
        (change,) = diff(alone, b).changes
        assert (change.what, change.after) == ("strengthened", (tested,))

    def test_what_sampling_did_not_find_again_is_not_lost_without_a_probe(self) -> None:
        other = forged(self.PROVED, retention_rules=(), miner=MinerRecord("sampled", ""), probes=())
        comparison = diff(self.PROVED, forged(other, witnesses=()))
        assert "perhaps lost: " in told(comparison)[1]
        assert "not found again in B, whose miner does not look at every subset" in told(comparison)[1]
        assert comparison.fails("lost") is None
        broken = explained(needs("D2"), **RETENTION)
        sampled = forged(broken, retention_rules=(), miner=MinerRecord("sampled", ""))
        assert diff(self.PROVED, sampled).fails("lost") is True


class TestNotKnown:
    A = explained(needs("D1"), ["D1", "D2", "D3", "D4"], **RETENTION)

    def test_a_search_that_was_stopped_loses_nothing_it_does_not_deny(self) -> None:
        b = explained(needs("D1"), ["D1", "D2", "D3", "D4"], limits=Limits(2), **RETENTION)
        comparison = diff(self.A, b)
        assert told(comparison)[0] == "1 perhaps lost, 0 unchanged"
        assert "the limit of 2 replays is reached" in told(comparison)[1]
        assert told(comparison)[-1].startswith("inconclusive: B may have more retention rules: B is not ")
        assert comparison.fails() is comparison.fails("lost") is comparison.fails("gained") is None
        back = diff(b, self.A)
        assert told(back)[0] == "1 perhaps gained, 0 unchanged"
        assert back.fails("gained") is None
        assert back.fails("lost") is False

    def test_a_verdict_that_is_missing(self) -> None:
        def fails_once(shown: frozenset[str]) -> bool | Exception:
            return ValueError("\x1b[31mdown") if shown == frozenset({"D1", "D2"}) else "D1" in shown

        b = explained(fails_once, ["D1", "D2", "D3", "D4"], **RETENTION)
        comparison = diff(self.A, b)
        assert (
            r"B has no verdict with D1 and D2 retained: ValueError: \x1b[31mdown" in told(comparison)[1]
        )
        assert comparison.fails("lost") is None

    def test_a_stopped_search_that_breaks_a_rule_denies_it(self) -> None:
        b = explained(
            lambda shown: shown != frozenset({"D1", "D2", "D4"}),
            self.A_NAMES,
            limits=Limits(5),
            **RETENTION,
        )
        assert not b.complete
        comparison = diff(self.A, b)
        assert comparison.fails("lost") is True
        assert "in B with D1, D2 and D4 retained, the answer is 'no'" in str(comparison)

    A_NAMES = ("D1", "D2", "D3", "D4")

    def test_the_kind_that_came_to_its_end_is_settled(self) -> None:
        def fails_without(shown: frozenset[str]) -> bool | Exception:
            return ValueError("down") if shown == frozenset({"D2"}) else "D1" in shown

        a, b = explained(needs("D1")), explained(fails_without)
        assert {entry.kind.value for entry in b.unresolved} == {"omission"}
        without = forged(b, probes=(), witnesses=())
        other = explained(needs("D2")).retention_rules
        comparison = diff(forged(a, retention_rules=other, probes=(), witnesses=()), without)
        assert [change.what for change in comparison.changes] == ["lost", "gained", "perhaps lost"]

    def test_a_stop_that_left_nothing_listed(self) -> None:
        b = forged(self.A, retention_rules=(), complete=False, stop_reason="stopped", probes=())
        comparison = diff(self.A, forged(b, witnesses=()))
        assert comparison.fails("lost") is None
        assert "— B is not complete: stopped" in told(comparison)[1]


class TestWhatIsNotCompared:
    def test_a_kind_that_one_side_did_not_mine(self) -> None:
        comparison = diff(explained(needs("D1")), explained(needs("D1"), **RETENTION))
        assert told(comparison) == [
            "no rule differs, 1 unchanged",
            "not compared: omission rules: only A mined them",
        ]
        assert comparison.fails() is comparison.fails("lost") is None

    def test_another_condition(self) -> None:
        a = explained(needs("D1"), omission_predicate=equals("no"))
        comparison = diff(a, explained(needs("D1")))
        assert "their conditions differ: \"the answer is 'no'\" in A, " in told(comparison)[-1]
        assert comparison.fails() is None

    def test_nothing_in_common(self) -> None:
        a = explained(needs("D1"), **RETENTION)
        with pytest.raises(InvalidInput, match="omission rules: only B mined them"):
            diff(a, explained(needs("D1"), rules="omission"))
        with pytest.raises(InvalidInput, match="conditions differ"):
            diff(a, explained(needs("D1"), predicate=contains("no"), **RETENTION))
        with pytest.raises(InvalidInput, match="given a str"):
            diff(a, "b.json")  # type: ignore[arg-type] -- a mistake, on purpose
        with pytest.raises(InvalidInput, match="'loss'"):
            diff(a, a).fails("loss")  # pyright: ignore[reportArgumentType] -- a mistake, on purpose

    def test_other_questions_and_answers_are_said_first(self) -> None:
        a = explained(needs("D1"))
        b = forged(explained(needs("D1"), question="what?"), baseline=Answer("no"), warnings=("odd",))
        assert diff(a, b).fails() is None
        assert told(diff(a, forged(b, scope="seen"))) == [
            "UNDECIDED: the questions differ: 'question?' in A, 'what?' in B",
            "WARNING: the sources are given in A, seen in B",
            "WARNING: B: odd",
            "answer: 'the baseline says yes' in A, 'no' in B",
            "no rule differs, 2 unchanged",
        ]


def test_hostile_texts_stay_on_their_line() -> None:
    evil = "\x1b[2J\n\u202eD1"
    a = explained(needs(evil), [Source(evil, "x"), Source("b", evil)], question=evil)
    b = explained(needs("b"), [Source(evil, "y"), Source("c", "z")], question="?")
    assert all(line.isprintable() for line in told(diff(a, b)))
    assert json.loads(diff(a, b).model_dump_json())["schema_version"] == 1
    assert repr(diff(a, b)).isprintable()
