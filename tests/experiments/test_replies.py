"""What an answer is, and how it is worded."""

import pytest

from rag_rule_explainer import Answer, Source
from rag_rule_explainer.experiments.examples import Example
from rag_rule_explainer.experiments.replies import LabelledReply, ReplyKind, TruthIn, has_truth, reply
from rag_rule_explainer.verdicts import Verdict

SOURCES = (
    Source("D1", "He was born in Lima."),
    Source("D2", "The founder is Ana Diaz."),
    Source("D3", "Lima is large.", {"title": "Capitals"}),
    Source("D4", "Soup is hot."),
)
EXAMPLE = Example("q", "Where was the founder born?", "Lima", SOURCES, ("D1", "D2"), 2)
HOLDS, BREAKS, UNKNOWN = Verdict.HOLDS, Verdict.BREAKS, Verdict.UNKNOWN


def of(
    text: str, verdict: Verdict = BREAKS, kept: tuple[int, ...] = (1, 2), **more: bool | str
) -> LabelledReply:
    shown = [SOURCES[place - 1] for place in kept]
    answer = Answer(text, finish_reason=str(more.get("finish", "stop")))
    return reply(EXAMPLE, shown, answer, verdict, judged=bool(more.get("judged")), besides=2)


@pytest.mark.parametrize(
    ("text", "verdict", "judged", "kind"),
    [
        ("Lima", HOLDS, False, ReplyKind.RIGHT),
        # Whatever it looks like, what is consistent with the truth is right.
        ("I don't know", HOLDS, True, ReplyKind.RIGHT),
        ("N/A", BREAKS, False, ReplyKind.ABSTAINS),
        ("n/a.", UNKNOWN, True, ReplyKind.ABSTAINS),
        ("N/A (the sources do not say)", BREAKS, False, ReplyKind.ABSTAINS),
        ("The answer cannot be inferred from the sources.", BREAKS, True, ReplyKind.ABSTAINS),
        ("N/Affirmative", BREAKS, False, ReplyKind.WRONG),
        ("N/A, but perhaps Lima", BREAKS, False, ReplyKind.UNSETTLED),
        ("He was born in Lima.", BREAKS, False, ReplyKind.UNSETTLED),
        ("Not in Lima", BREAKS, True, ReplyKind.WRONG),
        ("Somewhere", UNKNOWN, True, ReplyKind.UNSETTLED),
        ("Quito", BREAKS, False, ReplyKind.WRONG),
        ("Limassol", BREAKS, False, ReplyKind.WRONG),
    ],
)
def test_what_it_is(text: str, verdict: Verdict, judged: bool, kind: ReplyKind) -> None:
    assert of(text, verdict, judged=judged).kind is kind


@pytest.mark.parametrize(
    ("text", "verdict", "more"),
    [
        ("Lima", HOLDS, False),
        ("In the Lima", BREAKS, False),  # one word besides: "in"
        ("Lima, Peru, Americas", BREAKS, True),
        ("He was born in Lima.", HOLDS, True),
        ("He was born in Quito.", BREAKS, False),
        ("N/A", BREAKS, False),
    ],
)
def test_more_than_the_answer(text: str, verdict: Verdict, more: bool) -> None:
    assert of(text, verdict).says_more is more


def test_instructions() -> None:
    assert not of("Lima", HOLDS).deviates
    assert not of("Quito").deviates  # wrong, but an answer
    assert of("N/A").deviates
    assert not of("N/A", kept=(1, 3)).deviates
    assert of("Lima", HOLDS, kept=(1, 3)).deviates
    assert of("Lima", HOLDS, finish="length").deviates
    assert of("I don't know.", kept=(1,)).reworded
    assert of("I don't know.", kept=(1,)).deviates
    assert not of("N/A.", kept=(1,)).reworded


def test_where_the_truth_stands() -> None:
    assert of("Lima", HOLDS, (1, 3)).truth_in is TruthIn.NECESSARY
    assert of("Lima", HOLDS, (2, 3, 4)).truth_in is TruthIn.DISTRACTOR
    assert of("Lima", HOLDS, (2, 4)).truth_in is TruthIn.NOWHERE
    assert of("Lima", HOLDS, ()).truth_in is TruthIn.NOWHERE


@pytest.mark.parametrize(
    ("text", "truth", "has"),
    [
        ("in 1,889 then", "1889", True),
        ("31889", "1889", False),
        ("There is no news", "no", False),
        ("No, they are not", "no", True),
        ("Yes.", "yes", True),
        ("Eyes", "yes", False),
        ("anything", "!?", False),
    ],
)
def test_has_the_truth_in_it(text: str, truth: str, has: bool) -> None:
    assert has_truth(text, truth) is has


def test_a_truth_of_yes_stands_nowhere() -> None:
    sources = (Source("D1", "Yes, it is."),)
    yes = Example("q", "Is it?", "yes", sources, ("D1",), 1)
    found = reply(yes, sources, Answer("yes"), HOLDS, judged=False, besides=2)
    assert (found.truth_in, found.has_all) == (TruthIn.NOWHERE, True)
