"""A judge behind an endpoint, named on the command line."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_rule_explainer.storing.opened import close_all
from tests.cli.runs import QUESTION, UNREACHABLE, RagRules, assert_refused, explanation_of, rules_of
from tests.support.judging import judging
from tests.support.openai_server import OpenAIServer


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(judging(lambda answer: "1889" in answer)) as server:
        yield server


@pytest.fixture
def given(sources: Path, server: OpenAIServer) -> tuple[object, ...]:
    asked = ("explain", "--question", QUESTION, "--sources", sources, "--json")
    return (*asked, "--judge-model", "j", "--judge-base-url", server.base_url)


@pytest.mark.waits
def test_a_condition_in_words(
    with_key: RagRules, given: tuple[object, ...], server: OpenAIServer, tmp_path: Path
) -> None:
    reference = tmp_path / "facts.txt"
    reference.write_text("The tower is from 1889.", encoding="utf-8")
    run = with_key(*given, "--predicate", "judged:agrees with the facts", "--reference", reference)
    told = rules_of(explanation_of(run))
    assert told[0].startswith(
        "whenever plaque is retained, the answer agrees with the facts (judged by j at 127.0.0.1:"
    )
    sent = json.loads(server.requests[0]["messages"][-1]["content"])
    assert sent["criterion"] == "The answer agrees with the facts"
    assert sent["reference"] == "The tower is from 1889."
    assert {body["model"] for body in server.requests} == {"j"}
    opposite = with_key(
        *given, "--predicate", "not:judged:agrees with the facts", "--rules", "retention", "--yes"
    )
    assert "it is not so that" in explanation_of(opposite).predicates.popitem()[1]


@pytest.mark.waits
@pytest.mark.parametrize(
    ("predicate", "truth"),
    [("consistent-with:eighteen eighty-nine", "eighteen eighty-nine"), ("same-answer", None)],
)
def test_others_that_a_judge_decides(
    with_key: RagRules,
    given: tuple[object, ...],
    server: OpenAIServer,
    predicate: str,
    truth: str | None,
) -> None:
    explanation = explanation_of(with_key(*given, "--predicate", predicate, "--judge-samples", 3))
    host = server.base_url.split("/")[2]
    assert f"judged by j at {host}, majority of 3" in next(iter(explanation.predicates.values()))
    sent = [json.loads(body["messages"][-1]["content"]) for body in server.requests]
    assert {each["truth"] for each in sent} == {truth or explanation.baseline.text}


@pytest.mark.waits
def test_a_rerun_with_a_store_pays_no_judge(
    with_key: RagRules, given: tuple[object, ...], server: OpenAIServer, tmp_path: Path
) -> None:
    store = ("--store", tmp_path / "a.db", "--namespace", "n", "--predicate", "judged:is right")
    first = explanation_of(with_key(*given, *store))
    paid = len(server.requests)
    again = explanation_of(with_key(*given, *store))
    close_all()
    assert len(server.requests) == paid == first.counts.judge_requests
    assert rules_of(again) == rules_of(first)


@pytest.mark.waits
def test_an_estimate_asks_no_judge_and_needs_no_key(
    rag_rules: RagRules, sources: Path, server: OpenAIServer
) -> None:
    asked = ("estimate", "--question", QUESTION, "--sources", sources, "--predicate", "judged:is right")
    judge = ("--judge-model", "j", "--judge-base-url", server.base_url, "--judge-samples", 3)
    told = rag_rules(*asked, *judge, "--price", "j=2,8", "--rules", "retention")
    assert told.code == 0
    assert "at most 3 opinions for each distinct answer, so between 2 and 27, each in" in told.out
    assert "cost at most 0." in told.out
    batched = rag_rules(*asked, *judge, "--judge-batch", 9, "--rules", "retention")
    assert "so between 2 and 27, in as many requests or fewer" in batched.out
    as_json = json.loads(rag_rules(*asked, *judge, "--json").out)
    assert (as_json["judge"]["fewest"], as_json["judge"]["cost"]) == (2, None)
    assert server.requests == []
    assert_refused(rag_rules(*asked), "name a model with --judge-model")


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("--predicate", "judged:is right"), "name a model with --judge-model"),
            (("--predicate", "judged:", "--judge-model", "j"), "no text after the colon"),
            (("--predicate", "judged", "--judge-model", "j"), "is not a predicate"),
            (("--predicate", "contains:x", "--judge-model", "j"), "has nothing to decide"),
            (("--judge-base-url", UNREACHABLE), "goes with --judge-model only"),
            (("--judge-samples", "3"), "goes with --judge-model only"),
            (("--judge-batch", "3"), "goes with --judge-model only"),
            (("--reference", "x.txt"), "goes with --judge-model only"),
            (("--reference", "x.txt", "--judge-model", "j"), "goes with judged:TEXT only"),
            (
                ("--reference", "no.txt", "--judge-model", "j", "--predicate", "judged:is right"),
                "there is no no.txt; give --reference a text file",
            ),
        ],
    )
    def test_what_does_not_go_together(
        self, with_key: RagRules, sources: Path, arguments: tuple[str, ...], said: str
    ) -> None:
        run = with_key("explain", "--question", QUESTION, "--sources", sources, *arguments)
        assert_refused(run, said)

    def test_no_key(self, rag_rules: RagRules, sources: Path) -> None:
        run = rag_rules(
            *("explain", "--question", QUESTION, "--sources", sources),
            *("--judge-model", "j", "--predicate", "judged:is right"),
        )
        assert_refused(run, "OPENAI_API_KEY", "export it")

    def test_an_unreachable_judge(self, with_key: RagRules, sources: Path) -> None:
        run = with_key(
            *("explain", "--question", QUESTION, "--sources", sources, "--retries", 0),
            *("--judge-model", "j", "--judge-base-url", UNREACHABLE, "--predicate", "judged:is right"),
        )
        assert_refused(run, "the predicate failed on the baseline's answer", "the judge failed")
