"""The report as people read it, of explanations as they are made."""

import io
import math
import re
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any, get_args

import pytest
from rich.console import Console

from rag_rule_explainer import (
    Answer,
    Explainer,
    Explanation,
    Finding,
    Limits,
    Noise,
    RuleKind,
    Source,
    condition,
    contains,
    judged,
)
from rag_rule_explainer.explanation.explanation import Importance, MinerRecord, SourceRecord, Spent
from rag_rule_explainer.printable import printable
from rag_rule_explainer.probing.replaying import Baseline
from rag_rule_explainer.report import as_text, lines
from rag_rule_explainer.rules import ClaimStatus
from rag_rule_explainer.testing import OfflineJudge, ScriptedReplay

Script = Callable[[frozenset[str]], Answer | str | Exception]

ANSI_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def yes_if(*needed: str) -> Script:
    return lambda shown: "yes" if shown.issuperset(needed) else "no"


def explained(script: Script, sources: int = 3, **fields: Any) -> Explanation:
    texts = [f"text {number}" for number in range(1, sources + 1)]
    options: dict[str, Any] = {"predicate": contains("yes"), "miner": "exact", "retries": 0, **fields}
    return Explainer(ScriptedReplay(script), **options).explain("question?", texts)


def section(explanation: Explanation, heading: str) -> list[str]:
    """The lines under a heading, up to the next empty one."""
    all_lines = as_text(explanation).splitlines()
    start = all_lines.index(heading) + 1
    return all_lines[start : all_lines.index("", start) if "" in all_lines[start:] else None]


class TestVotes:
    def test_of_each_rule_and_of_what_is_none(self) -> None:
        said = iter(["yes", *["no"] * 2])

        def unsteady(shown: frozenset[str]) -> str:
            # With D1 alone, two answers of seven are the other one.
            return next(said, "yes") if shown == frozenset({"D1"}) else "yes" if "D1" in shown else "no"

        explanation = explained(unsteady, sources=2, noise=Noise(samples=9, vote="every"), concurrency=1)
        assert section(explanation, "Retention rules") == [
            "  - whenever D1 is retained, the answer contains 'yes'",
            "      voted: majority of 9 on every subset; on its own subset, votes: 5 for it, 2 against",
        ]
        assert section(explanation, "Omission rules") == [
            "  - whenever D1 is omitted, the answer does not contain 'yes'",
            "      voted: majority of 9 on every subset; on its own subset, votes: 5 for it, 0 against",
        ]
        against = section(explanation, "What is not a rule")
        assert against
        assert all(
            line.endswith((" (votes: 0 for it, 5 against)", " (votes: 2 for it, 5 against)"))
            for line in against
        )

    def test_without_any_nothing_is_said_of_them(self) -> None:
        assert "votes" not in as_text(explained(yes_if("D1")))


class TestJudges:
    @pytest.mark.parametrize(
        ("needed", "told"), [([], "  1 request to the judge"), (["D1"], "  2 requests to the judge")]
    )
    def test_what_they_were_asked(self, needed: list[str], told: str) -> None:
        script = yes_if(*needed)
        judge = OfflineJudge(["yes"])
        assert told in section(explained(script, predicate=judged("agrees", judge)), "Cost")

    def test_without_any_nothing_is_said_of_them(self) -> None:
        assert "judge" not in as_text(explained(yes_if("D1")))


class TestRules:
    def test_one_source(self) -> None:
        report = as_text(explained(yes_if("D1")))
        assert "  - whenever D1 is retained, the answer contains 'yes'\n" in report
        assert "  - whenever D1 is omitted, the answer does not contain 'yes'\n" in report

    def test_two_sources(self) -> None:
        report = as_text(explained(yes_if("D1", "D3")))
        assert "  - whenever D1 and D3 are retained, the answer contains 'yes'\n" in report

    def test_three_sources(self) -> None:
        report = as_text(explained(yes_if("D1", "D2", "D3")))
        assert "  - whenever D1, D2 and D3 are retained, the answer contains 'yes'\n" in report

    def test_no_source(self) -> None:
        report = as_text(explained(yes_if()))
        assert (
            "  - always, whichever of these sources are retained, the answer contains 'yes'\n" in report
        )

    def test_none_at_all(self) -> None:
        none = explained(lambda _: "no")
        assert section(none, "Retention rules") == ["  none with this outcome: the answer contains 'yes'"]
        assert (
            "  - there is no retention rule: with all sources retained, "
            "the answer does not contain 'yes'" in section(none, "Notes")
        )

    def test_each_says_what_it_rests_on(self) -> None:
        assert section(explained(yes_if("D1")), "Retention rules") == [
            "  - whenever D1 is retained, the answer contains 'yes'",
            "      proved on all 4 subsets",
        ]
        only = section(explained(yes_if("D1", "D2", "D3")), "Retention rules")
        assert only[1:] == ["      proved on the only subset"]

    def test_a_kind_that_was_not_mined_is_not_shown(self) -> None:
        report = as_text(explained(yes_if("D1"), rules="retention"))
        assert "Retention rules\n" in report
        assert "mission" not in report

    def test_sets_implicated_in_both_kinds_of_one_condition_are_absolute(self) -> None:
        def script(shown: frozenset[str]) -> str:
            return "yes" if "D3" in shown or ("D1" in shown) == ("D2" in shown) else "no"

        explanation = explained(script, omission_predicate=contains("yes"))
        assert section(explanation, "Retention rules") == [
            "  - whenever D3 is retained, the answer contains 'yes'",
            "      proved on all 4 subsets; relative",
            "  - whenever D1 and D2 are retained, the answer contains 'yes'",
            "      proved on all 2 subsets; absolute",
        ]
        assert "      proved on all 2 subsets; absolute" in section(explanation, "Omission rules")

    def test_nothing_is_absolute_or_relative_for_two_conditions(self) -> None:
        report = as_text(explained(yes_if("D1")))
        assert "absolute" not in report
        assert "relative" not in report


class TestEvidence:
    def finding(self, claim: ClaimStatus, **fields: Any) -> Finding:
        return Finding(RuleKind.RETENTION, ("D1",), "it holds", claim, 4, 0, 4, **fields)

    def test_no_two_kinds_of_claim_read_alike(self) -> None:
        claims: tuple[ClaimStatus, ...] = get_args(ClaimStatus)
        worded = {self.finding(claim).evidence for claim in claims}
        assert len(worded) == len(claims) == 6

    def test_only_what_was_proved_says_so(self) -> None:
        for claim, minimal in product(get_args(ClaimStatus), (True, None)):
            says_so = "proved" in self.finding(claim, minimal=minimal).evidence
            assert says_so is (claim == "proved")

    def test_a_guarantee_is_told_in_its_own_words(self) -> None:
        guarantee = "60 of 2^48 subsets drawn, fails on at most 5 % with 95 % confidence"
        assert self.finding("tested", sampling=guarantee).evidence == f"tested: {guarantee}"

    def test_the_report_shows_the_wording_of_the_finding(self) -> None:
        explanation = explained(yes_if("D1"))
        for claim in get_args(ClaimStatus):
            finding = self.finding(claim)
            shown = section(
                explanation.model_copy(update={"retention_rules": (finding,)}), "Retention rules"
            )
            assert shown == ["  - whenever D1 is retained, it holds", f"      {finding.evidence}"]


class TestRest:
    def test_question_answer_and_sources_come_first(self) -> None:
        sources = [
            Source("short", "some text\nin two lines"),
            Source("a-longer-id", "text", {"title": "A title"}),
        ]
        explainer = Explainer(ScriptedReplay(lambda _: "yes"), predicate=contains("yes"))
        report = as_text(explainer.explain("Is it so?", sources))
        assert report.startswith(
            "Question: Is it so?\n"
            "Answer: yes\n"
            "\n"
            "Sources (2, given)\n"
            "  short        some text in two lines\n"
            "  a-longer-id  A title\n"
        )

    def test_sources_of_an_application_are_as_retrieved(self) -> None:
        explainer = Explainer(ScriptedReplay(lambda _: "yes"), predicate=contains("yes"))
        explanation = explainer.explain(
            "question?", ["text"], Baseline(Answer("yes"), replays=1, scope="retrieved")
        )
        assert "Sources (1, as retrieved)\n" in as_text(explanation)

    def test_what_was_held_out_and_pinned_is_shown_and_a_warning_comes_before_all_sources(self) -> None:
        explainer = Explainer(ScriptedReplay(lambda _: "yes"), predicate=contains("yes"))
        baseline = Baseline(
            Answer("yes"), held_out=(Source("unseen", "a text\x1b[31m"),), warnings=("mind the \x1b gap",)
        )
        sources = [Source("a", "one"), Source("b", "two")]
        report = as_text(explainer.explain("question?", sources, baseline, pinned=["b"]))
        assert "Answer: yes\nWARNING: mind the" in report
        assert "  b  two (pinned)\n" in report
        assert "Held out: retrieved, but never shown to the model\n  - unseen  a text" in report
        assert "\x1b" not in report
        assert report.index("WARNING") < report.index("Sources (2")
        assert "2 of 2 subsets probed" in report

    def test_counterfactuals_say_what_flips_the_outcome_and_to_what(self) -> None:
        assert section(explained(yes_if("D1", "D2")), "What would flip it") == [
            "  - from all sources, removing D2 flips the outcome: the answer becomes 'no'",
            "  - from all sources, removing D1 flips the outcome: the answer becomes 'no'",
            "  - from no sources, adding D1 and D2 flips the outcome: the answer becomes 'yes'",
            "  To keep it away, whatever else is left out, remove D1 (proved), or D2 (proved).",
        ]

    def test_witnesses_say_why_larger_sets_are_no_rules(self) -> None:
        assert section(explained(yes_if("D1")), "What is not a rule") == [
            "  - retaining D2 and D3: no, the answer was 'no'",
            "  - omitting D2 and D3: no, the answer was 'yes'",
        ]

    def test_most_of_them_are_named_by_what_is_not_among_them(self) -> None:
        assert section(explained(yes_if("D2"), sources=5), "What is not a rule") == [
            "  - retaining all but D2: no, the answer was 'no'",
            "  - omitting the others, with only D2 left: no, the answer was 'yes'",
        ]

    def test_importance_leaves_out_sources_that_count_for_nothing(self) -> None:
        assert section(explained(yes_if("D1", "D2")), "Importance from 0 to 1 (Banzhaf, Shapley)") == [
            "  D1  retention  0.500  0.500",
            "  D2  retention  0.500  0.500",
            "  D1  omission   0.500  0.500",
            "  D2  omission   0.500  0.500",
        ]

    def test_many_sources_are_reported_in_no_time(self) -> None:
        def took(sources: int) -> float:
            many = explained(yes_if("D9"), sources=sources, miner="sampled", rules="retention")
            best = math.inf
            for _ in range(2):
                started = time.thread_time()
                assert "omitting" not in as_text(many)
                best = min(best, time.thread_time() - started)
            return best

        # Four times as long: sixteen times where each name is looked for in a new set.
        assert took(8000) < 9 * took(2000) + 0.01

    def test_importance_is_as_sure_as_the_rules(self) -> None:
        tested = explained(yes_if("D9"), sources=12, miner="sampled", rules="retention")
        heading = "Importance from 0 to 1 (Banzhaf, Shapley, as far as these rules are so)"
        assert section(tested, heading) == ["  D9  retention  1.000  1.000"]

    @pytest.mark.parametrize(("miner", "claim"), [("exact", "proved"), ("sampled", "tested")])
    def test_only_what_was_proved_before_a_stop_is_called_true(self, miner: Any, claim: str) -> None:
        stopped = explained(yes_if("D9"), 12, miner=miner, limits=Limits(replays=90))
        assert not stopped.complete
        assert claim in {rule.claim for rule in stopped.rules}
        assert ("what is shown is true, more may exist" in as_text(stopped)) is (claim == "proved")

    def test_no_heading_stands_alone(self) -> None:
        for explanation in (explained(yes_if()), explained(lambda _: "no"), explained(yes_if("D1"))):
            all_lines = as_text(explanation).splitlines()
            assert all_lines[-1]
            for heading, below in zip(["", *all_lines], [*all_lines, ""], strict=True):
                if heading and not heading.startswith((" ", "Question", "Answer", "WARNING")):
                    assert below.startswith("  "), heading

    def test_the_cost_is_counted_by_purpose(self) -> None:
        cost = section(explained(yes_if("D1")), "Cost")
        assert cost == [
            ("  8 of 8 subsets probed; 9 replays (1 baseline, 1 repeat check, 7 samples, 0 retries)"),
            "  miner: exact (asked for; 3 sources, at most 8 probes)",
            "  complete: these are all the rules there are",
        ]

    def test_tokens_are_shown_where_they_were_counted(self) -> None:
        explanation = explained(lambda _: Answer("yes", usage={"input_tokens": 3, "output_tokens": 1}))
        spent = explanation.spent.replays
        told = f"{spent['input_tokens']} input_tokens, {spent['output_tokens']} output_tokens"
        assert f"  replays: {told}" in section(explanation, "Cost")


class TestIncomplete:
    def test_a_limit_is_named_and_what_is_left_open_is_listed(self) -> None:
        explanation = explained(yes_if("D1"), sources=5, limits=Limits(replays=6))
        assert section(explanation, "Cost")[-1] == (
            "  not complete (the limit of 6 replays is reached): what is shown is true, more may exist"
        )
        assert "these are all the rules" not in as_text(explanation)
        assert section(explanation, "Left open")

    def test_a_kind_without_rules_has_none_so_far(self) -> None:
        explanation = explained(yes_if("D1"), limits=Limits(replays=2))
        assert section(explanation, "Omission rules") == [
            "  none found so far with this outcome: the answer does not contain 'yes'"
        ]

    @pytest.mark.parametrize("rules", ["retention", "both"])
    def test_a_failed_replay_is_left_open_with_its_error_once(self, rules: str) -> None:
        def script(shown: frozenset[str]) -> str | Exception:
            return TimeoutError("too slow") if shown == frozenset({"D1", "D2"}) else "yes"

        # What holds for every answer takes both kinds through all subsets.
        always = condition(lambda _: True, "the answer is one")
        explanation = explained(script, rules=rules, predicate=always, omission_predicate=always)
        assert len(explanation.unresolved) == (2 if rules == "both" else 1)
        assert section(explanation, "Left open") == ["  - D1 and D2: TimeoutError: too slow"]
        assert section(explanation, "Cost")[-1] == (
            "  not complete (1 subset has no verdict: TimeoutError: too slow): "
            "what is shown is true, more may exist"
        )

    def test_a_failure_without_any_source_is_named(self) -> None:
        explanation = explained(lambda shown: "yes" if shown else TimeoutError(), rules="retention")
        assert section(explanation, "Left open") == ["  - no sources: TimeoutError"]


class TestLength:
    def test_many_rules_and_witnesses_are_counted(self) -> None:
        any_four_of_eight = explained(lambda shown: "yes" if len(shown) >= 4 else "no", sources=8)
        rules = section(any_four_of_eight, "Retention rules")
        assert len(any_four_of_eight.retention_rules) == 70
        assert len([line for line in rules if line.startswith("  - ")]) == 50
        assert rules[-1] == "  … and 20 more"
        witnesses = section(any_four_of_eight, "What is not a rule")
        assert len(any_four_of_eight.witnesses) == 56 + 70
        assert len(witnesses) == 11
        assert witnesses[-1] == "  … and 116 more"

    def test_long_texts_are_cut(self) -> None:
        explainer = Explainer(ScriptedReplay(lambda _: "yes " * 10_000), predicate=contains("yes"))
        report = as_text(explainer.explain("why? " * 10_000, [Source("i" * 5_000, "text " * 10_000)]))
        assert len(report) < 20_000

    def test_a_long_id_does_not_push_the_other_texts_aside(self) -> None:
        explainer = Explainer(ScriptedReplay(lambda _: "yes"), predicate=contains("yes"))
        sources = [Source("D1", "first text"), Source("i" * 5_000, "text")]
        shown = section(explainer.explain("question?", sources), "Sources (2, given)")
        assert shown[0] == "  D1".ljust(44) + "first text"

    def test_subsets_beyond_counting_are_a_power_of_two(self) -> None:
        many = tuple(SourceRecord(f"D{number}", "text") for number in range(20_000))
        explanation = explained(yes_if("D1")).model_copy(update={"sources": many})
        assert " of 2^20000 subsets probed; " in as_text(explanation)


HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07\u202eevil\u2066[red]x[/red][link=file:]y\r\n\nOmission rules\n  - lie\x9b31m"
)


def hostile_explanation() -> Explanation:
    """With hostile text wherever text from outside can stand."""

    def script(shown: frozenset[str]) -> Answer | Exception:
        if len(shown) == 1:
            return RuntimeError(HOSTILE)
        return Answer(f"yes{HOSTILE}" if len(shown) > 2 else HOSTILE, usage={HOSTILE: 1})

    sources = [Source(f"{HOSTILE}{n}", HOSTILE, {"title": f"{n}{HOSTILE}"}) for n in range(4)]
    explainer = Explainer(
        ScriptedReplay(script), predicate=condition(lambda case: "yes" in case.answer.text, HOSTILE)
    )
    made = explainer.explain(HOSTILE, sources, Baseline(Answer(f"yes{HOSTILE}"), notes=(HOSTILE,)))
    assert made.retention_rules
    assert made.counterfactuals
    assert made.witnesses
    assert made.unresolved
    return made


def forged_explanation() -> Explanation:
    """Read back from JSON that somebody else wrote."""
    made = hostile_explanation()
    forged = made.model_copy(
        update={
            "miner": MinerRecord(HOSTILE, HOSTILE),
            "stop_reason": HOSTILE,
            "importance": (Importance(RuleKind.OMISSION, made.sources[0].id, 0.5, 0.5),),
            "spent": Spent({HOSTILE: 1}),
            "retention_rules": tuple(
                replace(finding, claim="tested", sampling=HOSTILE) for finding in made.retention_rules
            ),
        }
    )
    return Explanation.model_validate_json(forged.model_dump_json())


@pytest.mark.parametrize("make", [hostile_explanation, forged_explanation])
class TestHostileText:
    def test_no_line_holds_anything_but_printable_text(self, make: Callable[[], Explanation]) -> None:
        for line in lines(make()):
            assert line.plain == printable(line.plain)

    def test_nothing_pretends_to_be_a_line_of_the_report(self, make: Callable[[], Explanation]) -> None:
        all_lines = as_text(make()).splitlines()
        assert all_lines.count("Omission rules") == 1
        assert "  - lie" not in {line[:7] for line in all_lines}

    def test_markup_is_shown_and_not_obeyed(self, make: Callable[[], Explanation]) -> None:
        explanation = make()
        file = io.StringIO()
        terminal = Console(file=file, force_terminal=True, color_system="standard", highlight=False)
        for line in lines(explanation):
            terminal.print(line, soft_wrap=True)
        shown = file.getvalue()
        assert ANSI_STYLE.sub("", shown) == as_text(explanation)
        assert "[red]x[/red][link=file:]y" in shown
        assert "\x1b[31m" not in shown


def test_an_explanation_read_back_without_sources_can_be_shown() -> None:
    empty = explained(yes_if()).model_copy(update={"sources": ()})
    assert "Sources (0, given)\n" in as_text(empty)
