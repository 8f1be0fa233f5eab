"""More of what has gone wrong for others: callbacks, threads, retries, bounds, tools, and traces."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import create_retriever_tool, tool
from langchain_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from rag_rule_explainer import Explanation, NoSourcesCaptured
from rag_rule_explainer.session.plan import MOST_REWOUND
from tests.integrations.known import BAD, ids, omission, retention, sets
from tests.integrations.langchain.models import Telling, sent_in
from tests.integrations.langchain.zoo import graphs, lcel
from tests.integrations.langchain.zoo.agents import GIVEN
from tests.integrations.langchain.zoo.shapes import joined, retriever_of
from tests.representing import SELDOM

# LangChain silences warnings of its own in a way that is not thread-safe: now and then one gets through,
# and would fail a replay.
pytestmark = pytest.mark.filterwarnings("ignore")

SUBSETS = 16
awaiting = pytest.mark.parametrize("awaiting", SELDOM)


def is_the_truth(explanation: Explanation) -> bool:
    return (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))


def explained_by(
    explainer: RuleExplainer[Any, Any], given: Any, awaiting: bool, config: Any = None
) -> Explanation:
    if awaiting:
        return asyncio.run(explainer.aexplain(given, config))
    return explainer.explain(given, config)


def chain_to(model: Runnable[Any, Any]) -> Runnable[Any, Any]:
    return retriever_of() | joined | (lambda text: text or "nothing") | model | lcel.PARSED


class Removing(BaseCallbackHandler):
    """Does to what a retriever found what a callback should not."""

    run_inline = True

    @override
    def on_retriever_end(self, documents: Any, **_: Any) -> None:
        documents[:] = [each for each in documents if each.id != "d"]


@awaiting
def test_a_callback_that_removes_what_was_found_removes_it_for_everybody(awaiting: bool) -> None:
    explainer = RuleExplainer(lcel.declared(retriever_of()), predicate=BAD, miner="exhaustive")
    explanation = explained_by(explainer, "?", awaiting, {"callbacks": [Removing()]})
    # The model was never shown it, so there is nothing bad to explain, and it is no source.
    assert ids(explanation) == ["a", "b", "c"]
    assert explanation.baseline.text == "good news"
    assert retention(explanation) == set()
    assert is_the_truth(explained_by(explainer, "?", awaiting))


@awaiting
def test_a_thread_that_was_only_explained_still_retrieves(awaiting: bool) -> None:
    built = graphs.with_a_thread()
    explainer: Any = RuleExplainer(built.application, predicate=BAD)
    for asked in (1, 2):
        assert is_the_truth(explained_by(explainer, built.given, awaiting, built.config))
        assert built.live() == asked
    explainer.invoke(built.given, built.config)
    assert built.live() == 3
    # From now on the thread has its context, as after any run, and there is nothing to explain by.
    with pytest.raises(NoSourcesCaptured):
        explained_by(explainer, built.given, awaiting, built.config)
    assert built.application.invoke(built.given, built.config)["answer"] == "bad news"
    assert built.live() == 3


class Flaky(Telling):
    """Fails the first time that it is shown something."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        asked_before = sent_in(messages) in self.asked
        result = super()._generate(messages, *args, **kwargs)
        if not asked_before:
            raise ConnectionError("at first it is down")
        return result


def retried(model: Telling) -> Runnable[Any, Any]:
    return model.with_retry(wait_exponential_jitter=False, stop_after_attempt=2)


@awaiting
def test_a_model_with_retry_is_asked_again_within_its_replay(awaiting: bool) -> None:
    model = Flaky()
    explainer = RuleExplainer(chain_to(retried(model)), predicate=BAD, miner="exhaustive", concurrency=1)
    explanation = explained_by(explainer, "?", awaiting)
    assert is_the_truth(explanation)
    assert explanation.counts.retries == 0
    # It goes by what it was asked, so replays that find it as before the baseline fail at first again.
    # These are all replays but the one on all sources, because what it was asked depends on the sources.
    assert len(model.asked) == explanation.counts.replays + SUBSETS + SUBSETS - 1


@awaiting
def test_a_batch_as_completed_is_retried_inside(awaiting: bool) -> None:
    explainer = RuleExplainer(chain_to(retried(Flaky())), predicate=BAD)

    async def completed() -> list[Any]:
        return [each async for each in explainer.abatch_as_completed(["one", "two"])]

    found: list[Any] = (
        asyncio.run(completed()) if awaiting else list(explainer.batch_as_completed(["one", "two"]))
    )
    assert sorted(place for place, _ in found) == [0, 1]
    assert all(is_the_truth(each.explanation) for _, each in found)


class Meeting(Telling):
    """Answers no replay before four are being answered at once, and knows the most that were."""

    _running: int = 0
    _peak: int = 0

    @property
    def peak(self) -> int:
        return self._peak

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self._count(1)
        while not self._goes_on(messages):
            time.sleep(0.001)
        self._count(-1)
        return super()._generate(messages, *args, **kwargs)

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self._count(1)
        while not self._goes_on(messages):  # noqa: ASYNC110 -- it may be asked on several loops
            await asyncio.sleep(0.001)
        self._count(-1)
        return super()._generate(messages)

    def _goes_on(self, messages: list[BaseMessage]) -> bool:
        # Nothing else is under way before a baseline is in; and afterwards all is over at some time.
        return self._peak >= 4 or len(sent_in(messages)) == 4

    def _count(self, more: int) -> None:
        with self._lock:
            self._running += more
            self._peak = max(self._peak, self._running)


BOUND: Any = {"max_concurrency": 4}
QUESTIONS = ["one", "two", "three"]


def in_threads_of_ones_own(explainer: Any) -> list[Explanation]:
    with ThreadPoolExecutor(3) as threads:
        return list(threads.map(lambda question: explainer.explain(question, BOUND), QUESTIONS))


def on_one_loop(explainer: Any) -> list[Explanation]:
    async def together() -> list[Explanation]:
        return await asyncio.gather(*(explainer.aexplain(question, BOUND) for question in QUESTIONS))

    return asyncio.run(together())


@pytest.mark.spread(fast=2)
@pytest.mark.waits
@pytest.mark.parametrize("ask", [in_threads_of_ones_own, on_one_loop])
def test_max_concurrency_bounds_calls_that_know_nothing_of_each_other(
    ask: Callable[[Any], list[Explanation]],
) -> None:
    model = Meeting()
    # What the model counts for this test is no memory: set back to 0, it would wait for four requests.
    harmless = [r"\b_?(?:peak|running)\b"]
    found = ask(
        RuleExplainer(chain_to(model), predicate=BAD, miner="exhaustive", concurrency=16, ignore=harmless)
    )
    assert all(map(is_the_truth, found))
    assert len(model.asked) == sum(each.counts.replays for each in found)
    # It also keeps what it was asked, so some replays find that as it was before the baseline.
    assert all(SUBSETS + 2 <= each.counts.replays <= SUBSETS + 2 + MOST_REWOUND for each in found)
    assert model.peak == 4


class Acting(Telling):
    """Sends a mail, searches, and then answers."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        result = super()._generate(messages, *args, **kwargs)
        replies = [message.text for message in messages if isinstance(message, ToolMessage)]
        if not replies:
            calls = [
                {"name": "send_mail", "args": {"text": "on it"}, "id": "1"},
                {"name": "search", "args": {"query": "?"}, "id": "2"},
            ]
            result.generations[0].message = AIMessage("", tool_calls=calls)
        elif "sent" not in replies:
            result.generations[0].message = AIMessage("The mail was not sent.")
        return result


def acting() -> tuple[Any, list[str]]:
    mails: list[str] = []

    @tool
    def send_mail(text: str) -> str:
        """Send a mail."""
        mails.append(text)
        return "sent"

    search = create_retriever_tool(retriever_of(), "search", "Search the index.")
    return create_agent(Acting(), [send_mail, search]), mails


@pytest.mark.slow
@awaiting
def test_of_an_agents_tools_those_that_act_are_warned_of(awaiting: bool) -> None:
    agent, mails = acting()
    explanation = explained_by(RuleExplainer(agent, predicate=BAD), GIVEN, awaiting)
    assert is_the_truth(explanation)
    assert len(mails) == explanation.counts.replays
    (warning,) = explanation.warnings
    assert "'send_mail'" in warning


@awaiting
def test_a_stub_answers_an_agent_in_place_of_its_tool(awaiting: bool) -> None:
    agent, mails = acting()
    explainer = RuleExplainer(agent, predicate=BAD, stub_tools={"send_mail": "sent"})
    explanation = explained_by(explainer, GIVEN, awaiting)
    assert is_the_truth(explanation)
    assert (mails, explanation.warnings) == ([], ())
    assert agent.invoke(GIVEN)["messages"][-1].text == "bad news"
    assert mails == ["on it"]


class Tags(BaseCallbackHandler):
    """The tags and metadata of every run of any kind."""

    def __init__(self) -> None:
        self.told: list[tuple[str, list[str], dict[str, Any]]] = []
        self._guard = threading.Lock()

    def _note(self, kind: str, told: dict[str, Any]) -> None:
        with self._guard:
            self.told.append((kind, told.get("tags") or [], told.get("metadata") or {}))

    @override
    def on_chain_start(self, *_: Any, **told: Any) -> None:
        self._note("chain", told)

    @override
    def on_chat_model_start(self, *_: Any, **told: Any) -> None:
        self._note("model", told)

    @override
    def on_retriever_start(self, *_: Any, **told: Any) -> None:
        self._note("retriever", told)


@awaiting
def test_every_run_below_a_replay_can_be_filtered_by_its_tag(awaiting: bool) -> None:
    tags = Tags()
    explainer = RuleExplainer(lcel.declared(retriever_of()), predicate=BAD, miner="exhaustive")
    explanation = explained_by(explainer, "?", awaiting, {"callbacks": [tags]})
    replayed = [each for each in tags.told if "rag-rule-replay" in each[1]]
    # Before anything else comes the run that holds all others.
    root, *first = [each for each in tags.told if "rag-rule-replay" not in each[1]]
    assert {kind for kind, *_ in replayed} == {"chain", "model", "retriever"}
    # A replay makes the runs that the baseline made, neither fewer nor more, inside one of its own.
    assert len(replayed) == (explanation.counts.replays - 1) * (len(first) + 1)
    assert all("rag_rule_kept" in metadata for *_, metadata in replayed)
    assert all("rag-rule-baseline" in found for _, found, _ in first)
    assert (root[1], set(root[2])) == ([], {"rag_rule_explanation"})
