"""Where no smallest change was recorded, each form says what was seen, or how little was tried."""

import json
from collections.abc import Callable, Sequence
from itertools import combinations
from random import Random
from typing import Any
from urllib.parse import unquote

import pytest
from pydantic import ValidationError

from rag_rule_explainer import Explainer, Explanation, Partition, Source, Verdict, contains
from rag_rule_explainer.report import as_html, as_markdown, as_text, notebook_html
from rag_rule_explainer.report.changes import flipping_changes

IDS = "abcd"
SOURCES = [Source(each, f"{each} says something of its own") for each in IDS]


def answering(holds: Callable[[str], bool], fails: Callable[[str], bool]) -> Callable[..., str]:
    def answer(_question: str, shown: Sequence[Source]) -> str:
        kept = "".join(source.id for source in shown)
        if fails(kept):
            raise ValueError("away")
        return "yes" if holds(kept) else "no"

    return answer


def explained(
    holds: Callable[[str], bool],
    fails: Callable[[str], bool] = lambda _: False,
    pinned: Sequence[str] = (),
    **fields: Any,
) -> Explanation:
    app = answering(holds, fails)
    return Explainer(app, predicate=contains("yes"), retries=0, **fields).explain(
        "?", SOURCES, pinned=pinned
    )


EVERY = {"text": as_text, "markdown": as_markdown, "html": as_html, "notebook": notebook_html}


@pytest.mark.parametrize("form", EVERY)
class TestNone:
    def test_tried(self, form: str) -> None:
        said = EVERY[form](explained(lambda kept: "a" in kept and "b" in kept, limits=1))
        assert "None is known: no removal was tried." in said

    def test_has_a_verdict(self, form: str) -> None:
        said = EVERY[form](explained(lambda _: True, lambda kept: len(kept) < 4))
        assert "None is known: no removal was tried." in said

    def test_of_those_that_were_tried(self, form: str) -> None:
        said = EVERY[form](explained(lambda kept: "c" in kept and "d" in kept, limits=3))
        assert "None was found; 1 of 15 removals was tried." in said

    def test_where_all_documents_were_not_judged(self, form: str) -> None:
        app = answering(lambda kept: "a" in kept, lambda _: False)
        verified = Explainer(app, predicate=contains("yes")).verify({"b"}, "retention", "?", SOURCES)
        said = EVERY[form](verified.explanation)
        assert "None is known: no probe says what comes out with everything retained." in said


def test_what_was_seen_is_a_change_although_none_was_recorded() -> None:
    found = flipping_changes(explained(lambda kept: kept == "a"))
    assert found.removals == ()
    assert found.is_open
    assert "The smallest removal is not known. To have it found, explain the opposite" in found.remark


@pytest.mark.parametrize("seed", range(60))
def test_what_is_said_of_removals_is_true(seed: int) -> None:
    lots = Random(seed)
    table = {
        "".join(kept): lots.random() < lots.choice([0.2, 0.7])
        for size in range(5)
        for kept in combinations(IDS, size)
    }
    fields = lots.choice(
        [
            {},
            {"limits": lots.randint(1, 12)},
            {"miner": "sampled"},
            {"partition": 2},
            {"rules": "omission"},
        ]
    )
    pinned = lots.choice([(), ("b",)])
    explanation = explained(
        table.__getitem__, lambda kept: kept != IDS and lots.random() < 0.1, pinned=pinned, **fields
    )
    found = flipping_changes(explanation)
    for each in found.removals:
        less = [
            named
            for size in range(1, len(each.sources))
            for named in combinations(each.sources, size)
            if table["".join(kept for kept in IDS if kept not in named)] is not table[IDS]
        ]
        assert table["".join(kept for kept in IDS if kept not in each.sources)] is not table[IDS]
        assert not (found.smallest and less)
    if not found.removals and "None was found" in found.remark:
        assert not any(
            table["".join(probe.kept)] is not table[IDS]
            for probe in explanation.probes
            if any(each.verdict is not Verdict.UNKNOWN for each in probe.verdicts.values())
        )
    if not found.removals and not found.is_open:
        kept_pinned = [table[kept] for kept in table if set(pinned) <= set(kept)]
        assert all(each is table[IDS] for each in kept_pinned)


def test_subsets_are_not_said_to_be_without_pinned_documents() -> None:
    explanation = explained(lambda kept: "a" in kept, pinned=["a", "b"])
    html, cell = as_html(explanation), notebook_html(explanation)
    assert "documents that are not pinned (2); the pinned ones (2) are always kept" in html
    for shown in (html, cell):
        assert "no others kept</text>" in unquote(shown)
        assert "all 2 others kept</text>" in unquote(shown)
        assert "none kept</text>" not in unquote(shown)
    assert "the condition holds: a, b" in cell
    assert ": no documents" not in cell
    assert 'data-always="[&#34;a&#34;, &#34;b&#34;]"' in html


def test_each_form_says_what_was_always_retained() -> None:
    explanation = explained(lambda kept: "a" in kept and "c" in kept, pinned=["a", "b"])
    assert len(explanation.rules) == 2
    told = [str(explanation), str(explanation.summary()), notebook_html(explanation)]
    told += [explanation.report(form) for form in ("text", "csv", "latex")]
    told += ["\n".join(map(repr, explanation.rules)), explanation.to_markdown().split("<details>")[0]]
    told.append("\n".join(rule.evidence for rule in explanation.summary().rules))
    told.append(explanation.to_dataframe(library="pandas").to_csv())
    for text in told:
        assert text.count("proved on all 2 subsets; with a and b always retained") == 2, text
    assert as_html(explanation).count("With a and b always retained.") == 2
    saved = json.loads(explanation.to_json())
    earlier = {rule.pop("pinned") for rule in saved["retention_rules"] + saved["omission_rules"]}
    assert earlier == {"with a and b always retained"}
    assert Explanation.model_validate_json(json.dumps(saved)) == explanation
    saved["retention_rules"][0]["pinned"] = "with d always retained"
    with pytest.raises(ValidationError, match="names other pinned sources than there are"):
        Explanation.model_validate_json(json.dumps(saved))


def test_nothing_is_said_to_decide_nothing_where_pinned_documents_may() -> None:
    explanation = explained(lambda kept: "a" in kept, pinned=["a"])
    assert "what happens without the pinned ones was not tried" in str(explanation.notes)
    assert "no source decides" not in str(explanation.notes)


def test_nothing_is_said_to_decide_nothing_where_near_duplicates_stayed_together() -> None:
    alike = [Source(each, "the very same words stand here" if each in "ab" else each * 9) for each in IDS]
    app = answering(lambda _: True, lambda _: False)
    explanation = Explainer(app, predicate=contains("yes"), merge_duplicates=True).explain("?", alike)
    html = as_html(explanation)
    assert "There is none while near-duplicates stay together" in html
    assert "None decides while near-duplicates stay together." in html
    assert "whichever of these sources are retained, near-duplicates together" in str(explanation.notes)


def test_a_rule_of_a_batch_does_not_say_that_nothing_decides() -> None:
    explanation = explained(
        lambda kept: kept not in {"a", "b", ""}, partition=Partition(2, others="retained")
    )
    assert any(not rule.sources and rule.claim == "relative" for rule in explanation)
    assert "None decides" not in as_html(explanation)


@pytest.mark.parametrize("seed", range(20))
def test_the_opposite_of_a_condition_that_is_not_met_has_all_smaller_removals_tried(seed: int) -> None:
    lots = Random(seed)
    table = {"".join(kept): lots.random() < 0.5 for size in range(4) for kept in combinations(IDS, size)}
    app = answering({**table, IDS: False}.__getitem__, lambda _: False)
    (unmet, met) = (
        flipping_changes(Explainer(app, predicate=each, retries=0).explain("?", SOURCES))
        for each in (contains("yes"), ~contains("yes"))
    )
    if "To have it found" in unmet.remark:
        assert met.smallest
        if any(table.values()):
            fewest = min(4 - len(kept) for kept, holds in table.items() if holds)
            assert min(len(each.sources) for each in met.removals) == fewest
