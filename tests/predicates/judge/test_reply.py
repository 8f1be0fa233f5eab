"""A reply becomes a verdict where it is well-formed, and nowhere else."""

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from rag_rule_explainer import Judgement, Verdict
from rag_rule_explainer.predicates.judge.majority import majority, soonest
from rag_rule_explainer.predicates.judge.reply import Opinion, judgements_in
from tests.support.messages import entries

IDS = ("aa", "bb")
HOLDS, BREAKS, UNKNOWN = Verdict.HOLDS, Verdict.BREAKS, Verdict.UNKNOWN


class Opinions(BaseModel):
    """A structured output, as a model returns it."""

    opinions: list[Opinion]


def verdicts(said: object) -> dict[str, Verdict]:
    return {identity: judged.verdict for identity, judged in judgements_in(said, IDS).items()}


def opinions(*entries: object) -> str:
    return json.dumps({"opinions": entries})


YES: dict[str, Any] = {"id": "aa", "reason": "it is", "verdict": "yes"}
NO: dict[str, Any] = {"id": "bb", "reason": "it is not", "verdict": "no"}


@pytest.mark.parametrize(
    "said",
    [
        opinions(YES, NO),
        opinions(YES, NO).encode(),
        f"```json\n{opinions(YES, NO)}\n```",
        json.dumps([YES, NO]),
        {"opinions": [YES, NO]},
        '{"aa": "yes", "bb": "no"}',
        '{"aa": true, "bb": {"verdict": false}}',
        {"aa": True, "bb": BREAKS},
        {"aa": Judgement(HOLDS), "bb": False},
        Opinions(opinions=[Opinion(**YES), Opinion(**NO)]),
        opinions(YES, NO, {"id": "cc", "reason": "", "verdict": "yes"}),
    ],
)
def test_well_formed(said: object) -> None:
    assert verdicts(said) == {"aa": HOLDS, "bb": BREAKS}


def test_unsure_is_unknown_and_the_reason_is_kept() -> None:
    judged = judgements_in(opinions({"id": "aa", "reason": "who\x1b[2J knows", "verdict": "unsure"}), IDS)
    assert judged == {"aa": Judgement(UNKNOWN, "who\\x1b[2J knows")}


def test_a_long_reason_is_shortened() -> None:
    judged = judgements_in(opinions(YES | {"reason": "x" * 10_000}), IDS)
    assert len(judged["aa"].reason) == 500


@pytest.mark.parametrize(
    "entries",
    [
        [NO],
        [YES, YES, NO],
        [YES, YES | {"verdict": "no"}, NO],
        [YES | {"id": 1}, NO],
        [YES | {"id": None}, NO],
        [YES | {"id": ["aa"]}, NO],
        [YES | {"id": "AA"}, NO],
        [YES | {"verdict": "Yes"}, NO],
        [YES | {"verdict": "true"}, NO],
        [YES | {"verdict": 1}, NO],
        [YES | {"verdict": None}, NO],
        [YES | {"verdict": ["yes"]}, NO],
        [YES | {"reason": 5}, NO],
        ["yes", None, 3, NO],
    ],
)
def test_an_opinion_that_is_spoilt_spoils_no_other(entries: list[Any]) -> None:
    assert verdicts(opinions(*entries)) == {"bb": BREAKS}
    assert verdicts({"opinions": entries}) == {"bb": BREAKS}


@pytest.mark.parametrize(
    "said",
    [
        "",
        "yes",
        "true",
        "null",
        "[]",
        "{}",
        "All of them are right: " + opinions(YES, NO),
        opinions(YES, NO) + " I hope this helps!",
        opinions(YES, NO)[:-1],
        opinions(YES, NO) * 2,
        '{"opinions": NaN}',
        '{"opinions": [], "opinions": [{"id": "aa", "reason": "", "verdict": "yes"}]}',
        '{"aa": "yes", "aa": "no"}',
        "[" * 100_000,
        b"\xff\xfe",
        None,
        3,
        object(),
        {"aa": None, "bb": "maybe"},
        {"aa": {"id": "bb", "verdict": "yes"}},
    ],
)
def test_malformed(said: object) -> None:
    assert verdicts(said) == {}


@given(st.binary() | st.text(st.characters(codec=None)))
def test_any_bytes_are_no_verdict(said: bytes | str) -> None:
    assert verdicts(said) == {}


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(["yes", "no"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["aa", "bb", "id", "verdict", "reason", "opinions"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(_json)
def test_any_json_says_what_stands_in_it(said: Any) -> None:
    """By a second reading, which knows the two forms and no exceptions."""
    fields = entries(said)
    listed: Any = fields.get("opinions") if isinstance(said, dict) else said
    words: dict[Any, Verdict] = {
        "yes": HOLDS,
        "no": BREAKS,
        "unsure": UNKNOWN,
        True: HOLDS,
        False: BREAKS,
    }
    expected: dict[str, Verdict] = {}
    for identity in IDS:
        told: list[Any] = []
        if isinstance(listed, list):
            listed_entries = [entries(each) for each in cast("list[Any]", listed)]
            told = [each for each in listed_entries if each.get("id") == identity]
        elif identity in fields:
            told = [entries(fields[identity]) or {"verdict": fields[identity]}]
        word = told[0].get("verdict") if len(told) == 1 else None
        if not isinstance(word, (bool, str)) or word not in words:
            continue
        if told[0].get("id", identity) == identity and isinstance(told[0].get("reason", ""), str):
            expected[identity] = words[word]
    assert verdicts(json.dumps(said)) == expected == verdicts(cast("object", said))


def test_a_majority_is_more_than_a_draw() -> None:
    yes, no, unsure = Judgement(HOLDS, "so"), Judgement(BREAKS, "not so"), Judgement(UNKNOWN)
    assert majority([], 1) is None
    assert majority([unsure], 1) == unsure
    assert majority([yes, yes], 3) == Judgement(HOLDS, "2 of 2 judges for it, 0 against; so")
    assert majority([yes, no], 3) is None
    assert majority([yes, no, no], 3) == Judgement(BREAKS, "1 of 3 judges for it, 2 against; not so")
    assert majority([yes, no], 2) == Judgement(UNKNOWN, "1 of 2 judges for it, 1 against")
    assert majority([unsure, unsure, yes], 3) == Judgement(HOLDS, "1 of 3 judges for it, 0 against; so")


@given(st.integers(1, 9), st.lists(st.sampled_from([HOLDS, BREAKS, UNKNOWN]), min_size=9, max_size=9))
def test_a_majority_stands_whatever_comes_after(samples: int, told: list[Verdict]) -> None:
    taken: list[Judgement] = []
    while (early := majority(taken, samples)) is None:
        more = soonest(taken, samples)
        assert 1 <= more <= samples - len(taken)
        taken += [Judgement(verdict) for verdict in told[len(taken) : len(taken) + more]]
    late = majority([Judgement(verdict) for verdict in told[:samples]], samples)
    assert late is not None
    assert early.verdict is late.verdict
