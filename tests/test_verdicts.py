"""What comes back from a replay."""

from rag_rule_explainer import Answer


class Accessor(str):
    """As LangChain's messages have it."""

    __slots__ = ()

    def __str__(self) -> str:
        raise AssertionError("code of a subclass was run")


def test_a_text_is_a_str_and_nothing_more() -> None:
    for given in (Accessor("yes"), Answer(Accessor("yes"), finish_reason="stop")):
        answer = Answer.of(given)
        assert type(answer.text) is str
        assert answer.text == "yes"
    assert Answer.of(Answer(Accessor("yes"), finish_reason="stop")).finish_reason == "stop"
