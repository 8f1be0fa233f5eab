"""Which source is which, and rules about sources that only one side has."""

from collections.abc import Sequence
from typing import Any

import pytest

from rag_rule_explainer import InvalidInput, Limits, Source, diff
from rag_rule_explainer.explanation.records import SourceRecord
from tests.comparison.explaining import RETENTION, explained, needs, told


def _same(_source: SourceRecord) -> str:
    return "same"


def _url(source: SourceRecord) -> str:
    return str(source.metadata["url"])


def _seven(_source: SourceRecord) -> int:
    return 7


class TestSources:
    def test_plain_texts_are_matched_by_their_text(self) -> None:
        a = explained(needs("D1"), [Source("D1", "one"), Source("D2", "two")], **RETENTION)
        b = explained(needs("D2"), [Source("D1", "two"), Source("D2", "one")], **RETENTION)
        assert told(diff(a, b)) == [
            "sources renamed: D1 is D2 in B, D2 is D1 in B",
            "no rule differs, 1 unchanged",
        ]

    def test_ids_that_last_are_matched_whatever_the_text(self) -> None:
        a = explained(needs("url"), [Source("url", "old"), "x"], **RETENTION)
        b = explained(needs("url"), [Source("url", "new"), "x"], **RETENTION)
        assert told(diff(a, b)) == ["sources with another text in B: url", "no rule differs, 1 unchanged"]

    def test_ids_made_up_anew_are_matched_by_text(self) -> None:
        a = explained(needs("7f3"), [Source("7f3", "one"), Source("8a1", "")], **RETENTION)
        b = explained(needs("c0d"), [Source("c0d", "one"), Source("e11", "")], **RETENTION)
        comparison = diff(a, b)
        assert [(each.a, each.b) for each in comparison.sources] == [
            ("7f3", "c0d"),
            ("8a1", None),
            (None, "e11"),
        ]
        assert comparison.clean

    def test_an_id_that_both_have_for_different_sources(self) -> None:
        a = explained(needs("D1"), [Source("D1", "one")], **RETENTION)
        b = explained(needs("D1"), [Source("D1", "other")], **RETENTION)
        comparison = diff(a, b)
        assert told(comparison)[:2] == ["sources only in A: D1", 'sources only in B: "D1 (B)"']
        assert "lost: whenever D1 is" in told(comparison)[3]
        assert 'gained: whenever "D1 (B)" is' in told(comparison)[4]

    def test_id_of(self) -> None:
        def sources(*urls: str) -> Sequence[Source]:
            return [Source(f"D{n}", f"{url}?{len(urls)}", {"url": url}) for n, url in enumerate(urls, 1)]

        a = explained(needs("D1"), sources("x", "y"), **RETENTION)
        b = explained(needs("D2"), sources("z", "x", "y"), **RETENTION)
        assert diff(a, b, id_of=_url).fails("lost") is False
        assert diff(a, b).fails("lost") is True

    @pytest.mark.parametrize(
        ("id_of", "said"),
        [
            (_same, "the sources D1 and D2 of A have one identity, 'same'; give id_of="),
            (_url, "id_of fails on source 'D1' of A: KeyError: 'url'"),
            (_seven, "id_of gives 7 for source 'D1' of A; give a str"),
        ],
    )
    def test_an_identity_that_is_none(self, id_of: Any, said: str) -> None:
        explanation = explained(needs("D1"), ["D1", "D2"], **RETENTION)
        with pytest.raises(InvalidInput) as refused:
            diff(explanation, explanation, id_of=id_of)
        assert said in str(refused.value)

    def test_two_sources_of_one_text(self) -> None:
        a = explained(needs("a1"), [Source("a1", "one"), Source("a2", "one")], **RETENTION)
        b = explained(needs("b1"), [Source("b1", "one")], **RETENTION)
        with pytest.raises(InvalidInput, match="the sources a1 and a2 of A have one text; give id_of="):
            diff(a, b)
        with pytest.raises(InvalidInput, match="of B have one text"):
            diff(b, a)
        assert diff(a, a).clean

    def test_a_rule_that_names_a_source_the_other_side_has_not(self) -> None:
        a = explained(needs("a", "b"), ["a", "b", "c"], **RETENTION)
        b = explained(needs("d"), ["a", "c", "d"], **RETENTION)
        assert told(diff(a, b)) == [
            "sources only in A: b",
            "sources only in B: d",
            "1 lost, 1 gained, 0 unchanged",
            (
                "lost: whenever a and b are retained, the answer contains 'yes' [proved on all 2 subsets]"
                " — b is not among the sources of B; in B with a and c retained, the answer is 'no'"
            ),
            (
                "gained: whenever d is retained, the answer contains 'yes' [proved on all 4 subsets]"
                " — d is not among the sources of A; in A with a and c retained, the answer is 'no'"
            ),
        ]

    def test_a_rule_that_names_a_source_the_other_side_has_not_may_hold_without_it(self) -> None:
        a = explained(needs("a", "b"), ["a", "b"], **RETENTION)
        assert told(diff(a, explained(needs("a"), ["a"], **RETENTION)))[1:] == [
            "1 strengthened, 0 unchanged",
            (
                "strengthened: whenever a is retained, the answer contains 'yes'"
                " [proved on the only subset] — in A with a retained, the answer is 'no';"
                " A has instead: whenever a and b are retained [proved on the only subset]"
            ),
        ]
        stopped = explained(needs("a"), ["a", "c"], limits=Limits(1), **RETENTION)
        assert diff(a, stopped).fails("lost") is None

    def test_a_rule_that_names_a_source_that_is_pinned_there(self) -> None:
        a = explained(needs("a", "b"), ["a", "b", "c"], **RETENTION)
        b = explained(needs("c"), ["a", "b", "c"], pinned=["b"], **RETENTION)
        assert "; in B with a and b retained, the answer is" in told(diff(a, b))[2]
        pinned = "UNDECIDED: other sources are pinned, and so never left out: b in"
        assert told(diff(a, b))[0] == f"{pinned} B alone"
        assert told(diff(b, a))[0] == f"{pinned} A alone"
        assert diff(a, b).fails() is diff(a, b).fails("lost") is diff(b, a).fails("gained") is None
        assert diff(b, b).undecided == ()

    def test_a_source_that_is_needed_now_and_pinned_now_is_not_seen(self) -> None:
        a = explained(needs("a", "b"), ["a", "b", "c"], **RETENTION)
        b = explained(needs("a", "b", "c"), ["a", "b", "c"], pinned=["c"], **RETENTION)
        assert diff(a, b).changes == ()
        assert diff(a, b).fails() is None

    def test_two_sources_of_one_text_that_nothing_is_matched_with(self) -> None:
        a = explained(needs("a1"), [Source("a1", "one"), Source("a2", "one"), "x"], **RETENTION)
        assert diff(a, explained(needs("x"), ["x"], **RETENTION)).fails("lost") is True
