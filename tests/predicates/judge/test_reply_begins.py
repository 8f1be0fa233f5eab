"""What may stand before a judge's JSON, and what an error shows of a reply that is none."""

import pytest

from rag_rule_explainer import BaselineFailed, Explainer, JudgeRequest, Source, judged
from rag_rule_explainer.predicates.judge.reply import judgements_in
from rag_rule_explainer.testing import ScriptedReplay
from rag_rule_explainer.verdicts import Verdict

SOURCES = [Source("a", "It is 1889."), Source("b", "Soup is served at noon.")]


@pytest.mark.parametrize("before", ["\ufeff", "<think>It is {hard}.</think>\n", "<think></think>"])
def test_thoughts_and_a_byte_order_mark_are_no_part_of_the_reply(before: str) -> None:
    assert judgements_in(f'{before}{{"x": "yes"}}', ["x"])["x"].verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    "reply", ['Sure: {"x": "yes"}', '<think>{"x": "yes"}', '{"x": "yes"} <think></think>']
)
def test_other_text_around_it_is_refused(reply: str) -> None:
    assert judgements_in(reply, ["x"]) == {}


def test_a_reply_that_is_no_opinion_is_shown_where_it_ends_the_call() -> None:
    def judge(_: JudgeRequest) -> str:
        return "I cannot help with that."

    explainer = Explainer(
        ScriptedReplay(lambda _: "1889"), predicate=judged("is right", judge), retries=0
    )
    with pytest.raises(BaselineFailed, match=r"the reply begins with 'I cannot help with that.'"):
        explainer.explain("When?", SOURCES)
