"""The real ChatOpenAI over HTTP, where event loops and thread pools go wrong."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_openai import ChatOpenAI
from langchain_rag_rule_explainer import RuleExplainer, chat_replay
from pydantic import SecretStr
from typing_extensions import override

from rag_rule_explainer import BaselineFailed, Explainer, Explanation, Retries, Source, contains
from rag_rule_explainer.cli import main
from rag_rule_explainer.cli.stories import LONG_COVID
from rag_rule_explainer.probing.loop import run_blocking
from rag_rule_explainer.testing.prompts import qa_prompt
from tests.support.completions import Completion
from tests.support.faults import Fault
from tests.support.messages import read_offline
from tests.support.openai_server import OpenAIServer

pytestmark = pytest.mark.waits

PROMPT = ChatPromptTemplate.from_template("Answer from the sources.\n\n{context}\n\nQuestion: {question}")
NOWHERE = "http://127.0.0.1:1/v1"
"""Nobody listens there."""


class Fixed(BaseRetriever):
    documents: list[Document]

    @override
    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self.documents


@contextmanager
def chat_model(
    base_url: str, *, keep_alive: bool = True, streaming: bool = False, timeout: float | None = None
) -> Generator[ChatOpenAI]:
    """With an HTTP client of its own: the one that langchain-openai shares would outlive the test. It
    leaves all trying again to us. ``timeout``: the seconds that it waits for a reply itself."""
    limits = httpx.Limits(max_keepalive_connections=None if keep_alive else 0)
    with httpx.Client(limits=limits) as client:
        yield ChatOpenAI(
            model="m",
            base_url=base_url,
            api_key=SecretStr("any will do"),
            http_client=client,
            http_async_client=httpx.AsyncClient(limits=limits),
            max_retries=0,
            streaming=streaming,
            timeout=timeout,
        )


def chain_of(model: ChatOpenAI, documents: Sequence[Document]) -> Runnable[str, str]:
    def shown(documents: list[Document]) -> str:
        return "\n\n".join(f"<source>\n{each.page_content}\n</source>" for each in documents)

    context = Fixed(documents=list(documents)) | RunnableLambda(shown)
    question = {"context": context, "question": RunnablePassthrough[str]()}
    return question | PROMPT | model | StrOutputParser()


STORY = [Document(id=each.id, page_content=f"{each.title}\n{each.text}") for each in LONG_COVID.documents]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


def is_the_storys(explanation: Explanation) -> bool:
    blamed = [("preprint-17",)]
    found = (explanation.retention_rules, explanation.omission_rules)
    return explanation.complete and all([rule.sources for rule in rules] == blamed for rules in found)


def test_every_way_of_asking_gives_the_same_rules(server: OpenAIServer) -> None:
    with chat_model(server.base_url) as model:
        explainer = RuleExplainer(chain_of(model, STORY), predicate=contains(LONG_COVID.symptom))

        async def inside_a_loop() -> list[Explanation]:
            explained = await explainer.ainvoke(LONG_COVID.question)
            blocking = explainer.explain(LONG_COVID.question)
            found = [explained.explanation, blocking, await explainer.aexplain(LONG_COVID.question)]
            await model.root_async_client.close()
            return found

        found = [explainer.explain(LONG_COVID.question) for _ in range(2)]
        found += asyncio.run(inside_a_loop())
        found += [explainer.explain(LONG_COVID.question)]
    for each in found:
        assert is_the_storys(each), (str(each), each.warnings, each.notes, each.unresolved)
    assert {explanation.counts.replays for explanation in found} == {10}


def test_nothing_of_ours_is_bound_to_an_event_loop_of_the_past(server: OpenAIServer) -> None:
    # A client that keeps connections keeps them for its first loop: with it, not even the chain by
    # itself survives a second asyncio.run.
    with chat_model(server.base_url, keep_alive=False) as model:
        explainer = RuleExplainer(chain_of(model, STORY), predicate=contains(LONG_COVID.symptom))
        asks = [explainer.aexplain, explainer.aexplain]
        found = [asyncio.run(ask(LONG_COVID.question)) for ask in asks]
        found += [explainer.explain(LONG_COVID.question), asyncio.run(asks[0](LONG_COVID.question))]
    assert all(map(is_the_storys, found))


def test_an_async_replay_finds_itself_on_the_same_loop_every_time(server: OpenAIServer) -> None:
    sources = [Source(each.id, each.text, {"title": each.title}) for each in LONG_COVID.documents]
    with chat_model(server.base_url) as model:

        async def replay(question: str, sources: Sequence[Source]) -> str:
            prompt = qa_prompt(question, [source.passage for source in sources])
            return (await model.ainvoke(prompt)).text

        explainer = Explainer(replay, predicate=contains(LONG_COVID.symptom))

        async def inside_a_loop() -> Explanation:
            return explainer.explain(LONG_COVID.question, sources)

        found = [explainer.explain(LONG_COVID.question, sources) for _ in range(2)]
        found += [asyncio.run(inside_a_loop())]
        run_blocking(model.root_async_client.close, lambda: None)
    assert all(map(is_the_storys, found))


def test_the_tokens_of_all_replays_are_summed(server: OpenAIServer) -> None:
    with chat_model(server.base_url) as model:
        explainer = RuleExplainer(chain_of(model, STORY), predicate=contains(LONG_COVID.symptom))
        explanation = explainer.explain(LONG_COVID.question)
    asked = sum(len(body["messages"][0]["content"].split()) for body in server.requests)
    assert len(server.requests) == explanation.counts.replays
    assert explanation.spent.replays["input_tokens"] == asked
    assert set(explanation.spent.replays) == {"input_tokens", "output_tokens", "total_tokens"}
    answers = [answer for probe in explanation.probes for answer in probe.answers]
    assert all(answer.usage and answer.usage["input_tokens"] > 0 for answer in answers)


def blocking(explainer: RuleExplainer[str, str]) -> Explanation:
    return explainer.explain("?")


def blocking_inside_a_loop(explainer: RuleExplainer[str, str]) -> Explanation:
    async def inside() -> Explanation:
        return explainer.explain("?")

    return asyncio.run(inside())


def on_the_callers_loop(explainer: RuleExplainer[str, str]) -> Explanation:
    return asyncio.run(explainer.aexplain("?"))


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(blocking, marks=pytest.mark.slow),
        pytest.param(blocking_inside_a_loop, marks=pytest.mark.slow),
        on_the_callers_loop,
    ],
)
def test_thirty_two_replays_really_are_in_flight_at_once(
    ask: Callable[[RuleExplainer[str, str]], Explanation],
) -> None:
    numbers, together = count(), threading.Barrier(32)

    def script(body: dict[str, Any]) -> str:
        # Each of these waits for the other ones: nothing but 32 calls at once gets through.
        if 1 <= next(numbers) <= 32:
            together.wait(120)
        return "yes"

    documents = [Document(id=name, page_content=name) for name in "abcdef"]
    with OpenAIServer(script) as server, chat_model(server.base_url, keep_alive=False) as model:
        explanation = ask(
            RuleExplainer(
                chain_of(model, documents),
                predicate=contains("yes"),
                miner="exhaustive",
                concurrency=32,
                check_repeatable=False,
            )
        )
    assert explanation.ended
    assert explanation.counts.replays == 64
    assert server.peak == 32


def test_an_endpoint_that_refuses_connections_is_a_failed_baseline() -> None:
    with chat_model(NOWHERE) as model:
        explainer = RuleExplainer(chain_of(model, STORY), retries=0)
        with pytest.raises(BaselineFailed, match="Connection error"):
            explainer.explain(LONG_COVID.question)
        with pytest.raises(BaselineFailed, match="Connection error"):
            asyncio.run(explainer.aexplain(LONG_COVID.question))
        with pytest.raises(BaselineFailed, match="Connection error"):
            Explainer(chat_replay(model), retries=0).explain("?", ["a source"])


def test_an_endpoint_that_dies_under_way_leaves_unknowns_with_their_reason() -> None:
    with ExitStack() as server_open:
        server = server_open.enter_context(OpenAIServer(lambda _: "yes"))
        with chat_model(server.base_url) as model:
            replay = chat_replay(model)

            def dying(question: str, sources: Sequence[Source]) -> Any:
                if len(sources) < 2:
                    server_open.close()
                return replay(question, sources)

            explanation = Explainer(dying, predicate=contains("yes"), concurrency=1, retries=0).explain(
                "?", ["one", "two", "three"]
            )
    assert not explanation.complete
    assert explanation.unresolved
    assert all("Connection error" in each.reason for each in explanation.unresolved)


SPOILT = [fault for fault in Fault if fault not in (Fault.HANG, Fault.RATE_LIMITED)]


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("streaming", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("fault", SPOILT)
def test_a_reply_that_is_none_is_asked_for_again_and_never_judged(fault: Fault, streaming: bool) -> None:
    came = Counter[str]()

    def spoilt_first(body: dict[str, Any]) -> Completion:
        said, content = read_offline(body), str(body["messages"])
        came[content] += 1
        return Completion(said, fault=fault if came[content] == 1 else None)

    sources = [Source(each.id, each.text, {"title": each.title}) for each in LONG_COVID.documents]
    with OpenAIServer(spoilt_first) as server, chat_model(server.base_url, streaming=streaming) as model:
        retries = Retries(most=1, first_wait=0, longest_wait=0)
        explainer = Explainer(chat_replay(model), predicate=contains(LONG_COVID.symptom), retries=retries)
        explanation = explainer.explain(LONG_COVID.question, sources)
    assert is_the_storys(explanation)
    # The repeat check has luck already.
    assert explanation.counts.retries == explanation.counts.replays - len(came) - 1 == len(came)
    assert explanation.spent.replays.get("output_tokens", 0) >= server.tokens.completion


def test_a_reply_that_is_cut_off_counts_where_it_is_said_to() -> None:
    cut_off = Completion("the whole of it", finish_reason="length")
    with OpenAIServer(lambda _: cut_off) as server, chat_model(server.base_url) as model:
        with pytest.raises(BaselineFailed, match="cut off"):
            Explainer(chat_replay(model), retries=0).explain("?", ["a source"])
        allowing = Explainer(chat_replay(model, allow_length=True), retries=0)
        assert allowing.explain("?", ["a source"]).baseline.text == "the whole of it"


def test_the_package_prompt_reaches_the_model_as_one_user_message(server: OpenAIServer) -> None:
    with chat_model(server.base_url) as model:
        sources = [Source(each.id, each.text, {"title": each.title}) for each in LONG_COVID.documents]
        explainer = Explainer(chat_replay(model), predicate=contains(LONG_COVID.symptom))
        explanation = explainer.explain(LONG_COVID.question, sources)
    assert is_the_storys(explanation)
    assert explanation.baseline.finish_reason == "stop"
    assert explanation.spent.replays["total_tokens"] > 0
    everything = server.requests[0]["messages"][0]["content"]
    assert all(each.passage in everything for each in sources)
    for body in server.requests:
        (message,) = body["messages"]
        assert message["role"] == "user"
        assert LONG_COVID.question in message["content"]


@pytest.fixture
def on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., int | str | None]:
    file = tmp_path / "sources.jsonl"
    lines = [{"id": each.id, "title": each.title, "text": each.text} for each in LONG_COVID.documents]
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", "any will do")
    question = ["--question", LONG_COVID.question, "--predicate", f"contains:{LONG_COVID.symptom}"]

    def run(*more: str) -> int | str | None:
        with pytest.raises(SystemExit) as ended:
            main(["explain", "--sources", str(file), *question, "--model", "m", *more])
        return ended.value.code

    return run


def test_the_command_line_explains_a_model_behind_an_endpoint(
    server: OpenAIServer,
    on_the_command_line: Callable[..., int | str | None],
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert on_the_command_line("--base-url", server.base_url, "--json", "--temperature", "0") == 0
    printed = capfd.readouterr()
    explanation = Explanation.model_validate_json(printed.out)
    assert is_the_storys(explanation)
    assert {(body["model"], body["temperature"]) for body in server.requests} == {("m", 0.0)}
    assert len(server.requests) == explanation.counts.replays
    assert "at most 10 replays" in printed.err


def test_the_command_line_prints_the_rules_as_text(
    server: OpenAIServer,
    on_the_command_line: Callable[..., int | str | None],
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert on_the_command_line("--base-url", server.base_url) == 0
    assert "whenever preprint-17 is retained" in capfd.readouterr().out


def test_the_command_line_says_in_one_line_that_an_endpoint_is_not_there(
    on_the_command_line: Callable[..., int | str | None], capfd: pytest.CaptureFixture[str]
) -> None:
    assert on_the_command_line("--base-url", NOWHERE, "--retries", "0") == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "Traceback" not in printed.err
    *_, last = printed.err.splitlines()
    assert last.startswith("rag-rules: ")
    assert "Connection error" in last
