"""What the client's requests and replies say, however they are made and however they end."""

import asyncio
import json
from collections.abc import Callable
from contextlib import contextmanager
from threading import Thread
from typing import Any

import openai
import pytest
from plain_rag_rule_explainer import RuleExplainer, gate, tool

from rag_rule_explainer import BaselineFailed, Explanation, InvalidInput
from tests.integrations import responses_server
from tests.integrations.known import BAD, TEXTS, blames_b_and_d, shown_in
from tests.integrations.plain.models import BAD_NEWS, Models, client_of, news
from tests.integrations.plain.zoo.agents import agent
from tests.integrations.plain.zoo.shapes import Index, chat, shown, user
from tests.support.completions import Completion
from tests.support.openai_server import OpenAIServer
from tests.support.responses import Refused

EARLY = ("length", "content_filter", "tool_calls", None)


@contextmanager
def asking(script: Callable[[dict[str, Any]], Any], **settings: Any) -> Any:
    """An application that asks a server of its own, whole and streamed."""
    index = Index()
    with OpenAIServer(script) as server, client_of(server.base_url) as client:

        def whole(question: str) -> str:
            messages = user(shown(index.search(question)))
            reply = client.chat.completions.create(model="m", messages=messages, **settings)
            return reply.choices[0].message.content or ""

        def streamed(question: str) -> str:
            messages = user(shown(index.search(question)))
            stream: Any = client.chat.completions.create(model="m", messages=messages, stream=True)
            return "".join(each.choices[0].delta.content or "" for each in stream if each.choices)

        def opened(question: str) -> str:
            messages = user(shown(index.search(question)))
            completions = client.chat.completions.with_streaming_response
            with completions.create(model="m", messages=messages) as response:
                return json.loads(response.read())["choices"][0]["message"]["content"] or ""

        yield {"whole": whole, "streamed": streamed, "opened": opened}


def texts(body: dict[str, Any]) -> str:
    return "\n".join(str(each.get("content")) for each in body["messages"])


@pytest.mark.waits
@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("end", EARLY)
@pytest.mark.parametrize("way", ["whole", "streamed", "opened"])
def test_a_reply_that_is_cut_off_is_no_answer(way: str, end: str | None) -> None:
    """Also where what is left of it says what the whole would not have said."""

    def script(body: dict[str, Any]) -> Any:
        names = shown_in(texts(body))
        return Completion("There is bad", end) if names == "ac" else news(names)

    if way != "streamed" and end is None:
        pytest.skip("a whole reply has its end")
    with asking(script) as applications:
        explanation = RuleExplainer(
            applications[way], predicate=BAD, miner="exhaustive", retries=0
        ).explain("why?")
    failed = [probe for probe in explanation.probes if probe.error]
    assert [probe.kept for probe in failed] == [("a", "c")]
    assert not explanation.complete


@pytest.mark.waits
def test_a_baseline_that_is_cut_off_is_none() -> None:
    with (
        asking(lambda _: Completion(BAD_NEWS, "length")) as applications,
        pytest.raises(BaselineFailed, match="length"),
    ):
        RuleExplainer(applications["whole"], predicate=BAD, retries=0).explain("why?")


@pytest.mark.waits
def test_a_refusal_is_told_as_one() -> None:
    for said in (Completion(None, refusal="I cannot."), Completion(BAD_NEWS, refusal="I cannot.")):
        with (
            asking(lambda _, said=said: said) as applications,
            pytest.raises(BaselineFailed, match="a model refused to answer"),
        ):
            RuleExplainer(applications["streamed"], predicate=BAD, retries=0).explain("why?")


@pytest.mark.waits
def test_a_length_limit_may_count() -> None:
    with asking(lambda body: Completion(news(shown_in(texts(body))), "length")) as applications:
        explainer = RuleExplainer(applications["whole"], predicate=BAD, allow_length=True)
        assert blames_b_and_d(explainer.explain("why?"))


@pytest.mark.waits
def test_an_apology_for_a_model_that_failed_is_no_answer(models: Models) -> None:
    def script(body: dict[str, Any]) -> Any:
        if shown_in(texts(body)) == "bd":
            raise Refused(500, "overloaded")
        return news(shown_in(texts(body)))

    with asking(script) as applications:

        def apologising(question: str) -> str:
            try:
                # A request before it goes well.
                chat(models, "Rewrite: it")
                return applications["whole"](question)
            except openai.APIError:
                return "Sorry, no news."

        explanation = RuleExplainer(apologising, predicate=BAD, miner="exhaustive", retries=0).explain(
            "why?"
        )
    assert [probe.kept for probe in explanation.probes if probe.error] == [("b", "d")]


def test_a_stream_that_is_left_early_counts_as_far_as_it_was_read(models: Models) -> None:
    index, streams = Index(), list[Any]()

    def first_piece(question: str) -> str:
        stream = models.client.chat.completions.create(
            model="m", messages=user(shown(index.search(question))), stream=True
        )
        streams.append(stream)
        return next(chunk.choices[0].delta.content or "" for chunk in stream)

    explanation = RuleExplainer(first_piece, predicate=BAD, ignore=["streams"]).explain("why?")
    # A stream that the garbage collector closes while its client opens another one would wait for itself.
    for each in streams:
        each.close()
    assert blames_b_and_d(explanation)
    assert all(rule.proved for rule in explanation.rules)


@pytest.mark.parametrize("is_decoded", [True, False])
def test_a_reply_that_is_read_off_the_wire_is_seen_unless_its_raw_bytes_are(
    is_decoded: bool, models: Models
) -> None:
    index = Index()

    def application(question: str) -> str:
        with models.client.chat.completions.with_streaming_response.create(
            model="m", messages=user(shown(index.search(question)))
        ) as response:
            raw = response.http_response.iter_raw
            body = response.read() if is_decoded else b"".join(raw())
            return json.loads(body)["choices"][0]["message"]["content"]

    explanation = RuleExplainer(application, predicate=BAD).explain("why?")
    assert explanation.scope == "seen"
    assert explanation.rules
    assert {rule.proved for rule in explanation.rules} == {is_decoded}


def test_tokens_are_those_that_the_replies_report(models: Models) -> None:
    def application(question: str) -> str:
        return chat(models, shown(search(question)))

    search = gate(Index("bd").find)
    explanation = RuleExplainer(application, predicate=BAD, miner="exhaustive").explain("why?")
    assert explanation.spent.replays["output_tokens"] == 5 * explanation.counts.replays
    words = len(shown(Index("bd").find("")).split())
    assert explanation.baseline.models == {
        "m": {"input_tokens": words, "output_tokens": 5, "total_tokens": words + 5}
    }


@pytest.mark.waits
def test_other_requests_of_the_process_are_nobody_elses(models: Models) -> None:
    """A thread that was there before asks the same client meanwhile."""
    index, others = Index("bd"), list[str]()

    def beside() -> None:
        others.append(chat(models, TEXTS["a"]))

    def application(question: str) -> str:
        return chat(models, shown(index.search(question)))

    explainer = RuleExplainer(application, predicate=BAD, progress=lambda _: alongside())

    def alongside() -> None:
        thread = Thread(target=beside)
        thread.start()
        thread.join()

    explanation = explainer.explain("why?")
    assert others
    assert [sorted(rule.sources) for rule in explanation.retention_rules] == [["b", "d"]]


def of_an_agent(models: Models, *, marked: bool, **parameters: Any) -> tuple[Explanation, list[str]]:
    index, sent = Index("bd"), list[str]()

    def send(query: str) -> str:
        sent.append(query)
        return "it was sent"

    application = agent(
        models,
        {"send": tool(send) if marked else send, "look_up": lambda query: shown(index.search(query))},
    )
    return RuleExplainer(application, predicate=BAD, **parameters).explain("why?"), sent


def test_a_tool_that_acts_is_warned_of_though_nobody_marked_it(models: Models) -> None:
    explanation, sent = of_an_agent(models, marked=False)
    assert len(sent) > 1
    (warning,) = explanation.warnings
    assert "the tool 'send' retrieved nothing" in warning


def test_a_stub_stands_in_for_a_marked_tool_alone(models: Models) -> None:
    explanation, sent = of_an_agent(models, marked=True, stub_tools={"send": "it was sent"})
    assert (sent, explanation.warnings) == ([], ())
    with pytest.raises(InvalidInput, match="put @tool on that function"):
        of_an_agent(models, marked=False, stub_tools={"send": "it was sent"})


ENDS = responses_server.ENDS


@pytest.mark.waits
@pytest.mark.spread(fast=2, slow=3)
@pytest.mark.parametrize(
    ("end", "streaming"),
    [
        (ENDS[0], False),
        (ENDS[-1], True),
        *(pytest.param(end, how, marks=pytest.mark.slow) for end in ENDS for how in (False, True)),
    ],
)
def test_responses_end_as_they_say(end: str, streaming: bool) -> None:
    """A reply that is not whole counts for nothing, though its text be bad."""
    index = Index()

    def says(prompt: str) -> tuple[str, str]:
        names = shown_in(prompt)
        return (BAD_NEWS, end) if names == "ac" else (news(names), "completed")

    with responses_server.responses_server(says) as base_url, client_of(base_url) as client:

        def application(question: str) -> Any:
            content = shown(index.search(question))
            return client.responses.create(model="m", input=content, stream=streaming)

        explanation = RuleExplainer(application, predicate=BAD, miner="exhaustive", retries=0).explain(
            "why?"
        )
    assert [probe.kept for probe in explanation.probes if probe.error] == [("a", "c")]


def test_an_async_client_is_seen_in_every_task(models: Models) -> None:
    index = Index()

    async def application(question: str) -> str:
        async def note(each: dict[str, str]) -> str:
            reply = await models.aclient.chat.completions.create(
                model="m", messages=user(f"Note {each['text']}")
            )
            return reply.choices[0].message.content or ""

        notes = await asyncio.gather(*map(note, index.search(question)))
        reply = await models.aclient.chat.completions.create(
            model="m", messages=user("\n".join(["Reduce", *notes]))
        )
        return reply.choices[0].message.content or ""

    assert blames_b_and_d(RuleExplainer(application, predicate=BAD).explain("why?"))
