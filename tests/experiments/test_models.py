"""Who is examined, over a real socket."""

from collections.abc import Iterator, Sequence

import pytest

from rag_rule_explainer import Answer, Explainer, InvalidInput, Source, consistent_with
from rag_rule_explainer.experiments.models import (
    NO_ANSWER,
    Endpoint,
    Examined,
    offline_reader,
    shuffled,
)
from rag_rule_explainer.testing import OfflineJudge
from rag_rule_explainer.verdicts import Case, Verdict
from tests.support.completions import Completion
from tests.support.judging import judging
from tests.support.openai_server import OpenAIServer

SOURCES = (Source("D1", "The tower was built in 1889.", {"title": "Tower"}), Source("D2", "Soup is hot."))
QUESTION = "When was the tower built?"


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("A_KEY", "very secret")
    return "A_KEY"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(lambda _: Completion("1889, as it", "length")) as server:
        yield server


def test_the_offline_reader_reads() -> None:
    model = offline_reader()
    assert model.replay(QUESTION, SOURCES) == Answer("1889")
    assert model.replay(QUESTION, SOURCES[1:]) == Answer(NO_ANSWER)
    assert model.pace == 1


@pytest.mark.waits
def test_an_endpoint_is_sent_what_is_configured(key: str, server: OpenAIServer) -> None:
    endpoint = Endpoint("gpt-x", server.base_url, key, 0.5, 20, "minimal")
    answer = endpoint.examined().replay(QUESTION, SOURCES)
    assert isinstance(answer, Answer)
    assert (answer.text, answer.finish_reason) == ("1889, as it", "length")
    assert answer.usage is not None
    assert answer.usage["output_tokens"] == 3
    (sent,) = server.requests
    assert (sent["model"], sent["temperature"], sent["reasoning_effort"]) == ("gpt-x", 0.5, "minimal")
    assert sent["max_completion_tokens"] == 20


@pytest.mark.waits
def test_the_papers_settings_are_the_usual_ones(key: str, server: OpenAIServer) -> None:
    Endpoint("gpt-x", server.base_url, key).examined().replay(QUESTION, SOURCES)
    (sent,) = server.requests
    assert (sent["temperature"], sent["max_completion_tokens"]) == (1.0, 100)
    assert "reasoning_effort" not in sent
    prompt = str(sent["messages"])
    for part in (
        "You answer questions from the sources you are given",
        "Infer the answer",
        "If it cannot be inferred from them, answer N/A",
        "Return the final answer only",
        QUESTION,
        "<source 1>\\nTower\\nThe tower was built in 1889.\\n</source 1>",
        "<source 2>\\nSoup is hot.\\n</source 2>",
    ):
        assert part in prompt


def test_the_namespace_says_what_answers_depend_on_and_no_secret(key: str) -> None:
    usual = Endpoint("m", "http://user:password@localhost:1/v1", key)
    written = (
        "m",
        "n",
        "m,url=http://localhost:2/v1",
        "m,temperature=0",
        "m,tokens=50",
        "m,effort=low",
    )
    spaces = [Endpoint.of(each, usual).namespace for each in written]
    assert len(set(spaces)) == len(written)
    assert Endpoint.of("m,key=ANOTHER", usual).namespace == spaces[0]
    assert "at http://localhost:1/v1" in spaces[0]
    assert not any("password" in each or "secret" in each for each in spaces)
    assert "secret" not in repr(usual.examined())


def test_a_model_as_written(key: str) -> None:
    written = "some/model:7b,url=http://h/v1,key=K,temperature=0,tokens=9,effort=low"
    assert Endpoint.of(written) == Endpoint("some/model:7b", "http://h/v1", "K", 0.0, 9, "low")
    assert Endpoint.of("m", Endpoint("usual", key=key)).key == key
    lazy = Endpoint.of("m,effort=low,as=m lazy", Endpoint("usual", key=key))
    assert (lazy.name, lazy.examined().name) == ("m", "m lazy")
    assert "lazy" not in lazy.namespace


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "is empty"),
        ("m,temperature=hot", "is no number"),
        ("m,temperature=-1", "give 0 or more"),
        ("m,temperature=nan", "give 0 or more"),
        ("m,tokens=0", "give 1 or more"),
        ("m,colour=red", "says nothing"),
        ("m,url", "says nothing"),
        ("m,url=", "says nothing"),
    ],
)
def test_a_model_that_is_written_wrongly(written: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Endpoint.of(written)


def test_without_its_key_a_model_is_not_asked(key: str) -> None:
    with pytest.raises(InvalidInput, match="OPENAI_API_KEY is not set, and m needs a key"):
        Endpoint("m").examined()
    with pytest.raises(InvalidInput, match="OPENAI_API_KEY is not set"):
        Endpoint("m").judge()


def test_a_key_that_is_given_for_its_variable_is_not_shown(key: str) -> None:
    for written in ("m,key=s3cr3t", "m,key=s3cr3t,tokens=x", "m,api_key=s3cr3t"):
        with pytest.raises(InvalidInput) as refused:
            Endpoint.of(written).examined()
        assert "s3cr3t" not in str(refused.value)


@pytest.mark.waits
def test_a_judge_over_the_wire(key: str) -> None:
    with OpenAIServer(judging(lambda answer: "1889" in answer)) as server:
        judge = Endpoint("judge", server.base_url, key, None, None).judge()
        predicate = consistent_with("1889", judge=judge)
        explainer = Explainer(
            lambda _, sources: f"It has {len(sources)}; 1889.",
            predicate=predicate,
            check_repeatable=False,
        )
        explanation = explainer.explain(QUESTION, SOURCES)
        assert explanation.complete
        assert {"temperature", "max_completion_tokens"}.isdisjoint(server.requests[0])
    case = Case(QUESTION, Answer(""), Answer("1889"), SOURCES, SOURCES)
    settled = consistent_with("1889", judge=OfflineJudge())(case)
    assert getattr(settled, "verdict", None) is Verdict.HOLDS


def test_all_sources_can_be_shown_in_another_order() -> None:
    seen: list[list[str]] = []

    def replay(_: str, sources: Sequence[Source]) -> str:
        seen.append([source.id for source in sources])
        return ""

    sources = [Source(f"D{n}", "text") for n in range(1, 9)]
    model = shuffled(Examined("m", "space", replay), 3)
    model.replay(QUESTION, sources)
    model.replay(QUESTION, sources[::2])
    model.replay("Another?", sources)
    whole, half, other = seen
    assert sorted(whole) == [source.id for source in sources] != whole
    assert half == [each for each in whole if each in half]  # the order of a subset is that of all
    assert other != whole
    assert model.namespace == "space, shuffled by 3"
