"""Workflows: how they are asked, what they end with, what they ask a human, and how they are run."""

import asyncio
import re
from itertools import count
from typing import Any, cast

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.response.schema import Response
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step
from llama_index.core.workflow.events import HumanResponseEvent, InputRequiredEvent
from llama_index.core.workflow.handler import WorkflowHandler
from llama_index_rag_rule_explainer import RuleExplainer, Unexplained, explained
from llama_index_rag_rule_explainer.reading import plain, question_in, texts_in
from workflows import events
from workflows.errors import WorkflowCancelledByUser

from rag_rule_explainer import (
    BaselineFailed,
    Case,
    InvalidInput,
    ReplayMissedGate,
    SourceLeak,
    StateShared,
)
from tests.integrations.known import BAD, blames_b_and_d, omission, retention, sets
from tests.integrations.llama_index.engines import retriever_of
from tests.integrations.llama_index.models import Telling, bad_with_b
from tests.integrations.llama_index.zoo.agents import sync_tool, texts_of
from tests.integrations.llama_index.zoo.humans import Confirming, Silent
from tests.integrations.llama_index.zoo.workflows import Ask, Citing, Mapping

IDLE = pytest.mark.skipif(
    not hasattr(events, "WorkflowIdleEvent"), reason="older releases do not tell that nothing goes on"
)


class Found(Event):
    count: int


class Completed(StopEvent):
    answer: str
    documents: int


class Reader(Workflow):
    """Reads what its plain start event has, tells what it found, and ends with an event of its own."""

    @step
    async def read(self, ctx: Context, ev: StartEvent) -> Completed:
        nodes = retriever_of("ab").retrieve(ev.user_input)
        ctx.write_event_to_stream(Found(count=len(nodes)))
        said = await Telling(says=bad_with_b).acomplete(texts_of(nodes) or "nothing")
        return Completed(answer=said.text, documents=len(nodes))


class Asking(Workflow):
    """Asks whether it may, before it answers."""

    @step
    async def ask(self, ev: StartEvent) -> InputRequiredEvent:
        return InputRequiredEvent(prefix="May I?")  # pyright: ignore[reportCallIssue] -- events take any field

    @step
    async def answer(self, ev: HumanResponseEvent) -> StopEvent:
        nodes = retriever_of("ab").retrieve("why?")
        said = await Telling(says=bad_with_b).acomplete(f"{ev.response}: {texts_of(nodes)}")
        return StopEvent(result=said.text)


@pytest.mark.parametrize("given", ["why?", {"user_input": "why?"}])
def test_a_plain_start_event_and_a_stop_event_of_ones_own(given: Any) -> None:
    explanation = RuleExplainer(Reader(), predicate=BAD).explain(given)
    assert explanation.question == "why?"
    assert explanation.baseline.text == "bad news"
    assert retention(explanation) == sets("b")


@pytest.mark.parametrize("key", ["task", "anything"])
def test_a_dict_with_one_text_is_a_question(key: str) -> None:
    class Keyed(Workflow):
        @step
        async def read(self, ev: StartEvent) -> StopEvent:
            nodes = retriever_of("ab").retrieve(ev.get(key))
            said = await Telling(says=bad_with_b).acomplete(texts_of(nodes) or "nothing")
            return StopEvent(result=said.text)

    explanation = RuleExplainer(Keyed(), predicate=BAD).explain({key: "why?", "top": 3})
    assert explanation.question == "why?"
    assert retention(explanation) == sets("b")


class Named(StartEvent):
    claim: str


class Sized(StartEvent):
    claim: str
    top_k: int


class Tagged(StartEvent):
    tags: list[str]
    topic: str = ""


class Styled(StartEvent):
    claim: str
    style: str


def started_by(kind: type[StartEvent]) -> Workflow:
    async def read(_: Workflow, ev: Any) -> StopEvent:
        nodes = retriever_of("ab").retrieve(getattr(ev, "claim", None) or ev.topic)
        return StopEvent(
            result=str(await Telling(says=bad_with_b).acomplete(texts_of(nodes) or "nothing"))
        )

    read.__qualname__ = f"By{kind.__name__}.read"
    read.__annotations__ = {"ev": kind, "return": StopEvent}
    made: Any = type(f"By{kind.__name__}", (Workflow,), {"read": step(read)})
    return made()


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (Named, "why?"),
        (Named, {"query": "why?"}),
        (Named, {"claim": "why?"}),
        (Named, {"question": "why?", "top_k": 3}),
        (Sized, {"query": "why?", "top_k": 3}),
        (Styled, {"query": "why?", "style": "short"}),
        (Tagged, {"topic": "why?", "tags": []}),
    ],
)
def test_a_question_is_the_one_text_that_a_start_event_needs(kind: type[StartEvent], given: Any) -> None:
    explanation = RuleExplainer(started_by(kind), predicate=BAD).explain(given)
    assert (explanation.question, retention(explanation)) == ("why?", sets("b"))


SEVERAL = "may be started in more than one way; pass the arguments of its run() as a dict, such as "
NEEDED = "pass all arguments of its run() as a dict, such as "


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    ("kind", "given", "said", "right"),
    [
        (
            Sized,
            "why?",
            f"BySized needs top_k to start; {NEEDED}{{'claim': '...', 'top_k': ...}} (--input)",
            {"claim": "why?", "top_k": 3},
        ),
        (
            Tagged,
            {"topic": "why?"},
            f"ByTagged needs tags to start; {NEEDED}{{'topic': '...', 'tags': ...}} (--input)",
            {"topic": "why?", "tags": ["a"]},
        ),
        (
            Styled,
            "why?",
            f"ByStyled {SEVERAL}{{'claim': '...', 'style': '...'}} (--input-key or --input)",
            {"claim": "why?", "style": "short"},
        ),
        (
            Tagged,
            "why?",
            f"ByTagged {SEVERAL}{{'topic': '...', 'tags': ...}} (--input-key or --input)",
            {"topic": "why?", "tags": ["a"]},
        ),
    ],
)
def test_a_start_event_that_needs_more_names_it_and_the_way_out_works(
    kind: type[StartEvent], given: Any, said: str, right: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput) as told:
        RuleExplainer(started_by(kind), predicate=BAD).explain(given)
    assert str(told.value) == f"the workflow {said}"
    explainer = RuleExplainer(
        started_by(kind), predicate=BAD, question_of=lambda given: given.get("claim") or given["topic"]
    )
    explanation = explainer.explain(right)
    assert retention(explanation) == sets("b")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("seconds", [None, 45])
def test_one_that_asks_a_human_says_so_at_once_and_the_way_out_works(seconds: float | None) -> None:
    workflow = Asking(timeout=seconds)
    with pytest.raises(BaselineFailed, match="asks a human") as told:
        RuleExplainer(workflow, predicate=BAD).explain({"query": "why?"})
    assert "HumanResponseEvent" in str(told.value)

    async def answered(question: str) -> Any:
        handler = workflow.run(query=question)
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                assert handler.ctx is not None
                handler.ctx.send_event(HumanResponseEvent(response="yes"))  # pyright: ignore[reportCallIssue] -- as above
        return await handler

    assert retention(RuleExplainer(answered, predicate=BAD).explain("why?")) == sets("b")


async def answered_by_hand(workflow: Any, **given: str) -> Any:
    handler = workflow.run(**given)
    async for event in handler.stream_events():
        if isinstance(event, InputRequiredEvent):
            handler.ctx.send_event(HumanResponseEvent(response="yes"))  # pyright: ignore[reportCallIssue] -- as above
    return await handler


def test_the_users_own_run_is_answered_by_its_handle_and_says_why_it_has_no_rules() -> None:
    workflow = explained(Asking(), predicate=BAD)
    done: Unexplained[Any] = asyncio.run(answered_by_hand(workflow, query="why?"))
    assert done.output == "bad news"
    assert isinstance(done.error, BaselineFailed)
    assert re.search("asks a human.*Pass a function that answers it", str(done.error))


@pytest.mark.waits
def test_the_users_own_run_may_be_awaited_before_it_is_answered() -> None:
    has_asked = asyncio.Event()

    class Late(Asking):
        @step
        async def ask(self, ev: StartEvent) -> InputRequiredEvent:
            has_asked.set()
            return await super().ask(ev)

    async def run() -> Any:
        handler = explained(Late(), predicate=BAD).run(query="why?")
        assert not handler.is_done()

        async def answer() -> None:
            await has_asked.wait()
            response = HumanResponseEvent(response="yes")  # pyright: ignore[reportCallIssue] -- as above
            if hasattr(WorkflowHandler, "send_event"):
                await handler.send_event(response)
            else:  # the oldest releases
                handler.ctx.send_event(response)

        answering = asyncio.create_task(answer())
        done = await handler
        await answering
        assert handler.is_done()
        if hasattr(WorkflowHandler, "get_stop_event"):
            assert handler.get_stop_event().result == "bad news"
        return done

    assert asyncio.run(run()).output == "bad news"


def test_a_run_that_waits_is_saved_cancelled_and_continued() -> None:
    workflow = explained(Asking(), predicate=BAD)

    async def run() -> Any:
        first = workflow.run(query="why?")
        async for event in first.stream_events():
            if isinstance(event, InputRequiredEvent):
                break
        saved = first.ctx.to_dict()
        await first.cancel_run()
        with pytest.raises(WorkflowCancelledByUser):
            await first
        again = workflow.run(ctx=Context.from_dict(cast("Any", workflow), saved))
        again.ctx.send_event(HumanResponseEvent(response="yes"))  # pyright: ignore[reportCallIssue] -- as above
        return await again

    assert asyncio.run(run()).output == "bad news"


def test_a_run_that_has_not_begun_can_be_cancelled() -> None:
    async def run() -> None:
        handler = explained(Asking(), predicate=BAD).run(query="why?")
        handler.cancel()
        with pytest.raises(asyncio.CancelledError):
            await handler

    asyncio.run(run())


def test_code_that_is_explained_answers_an_explained_workflow_in_every_run() -> None:
    inner = explained(Asking(), predicate=BAD)

    async def answer(question: str) -> str:
        return (await answered_by_hand(inner, query=question)).output

    assert retention(RuleExplainer(answer, predicate=BAD).explain("why?")) == sets("b")


def test_an_explained_class_of_workflows_is_run_as_one() -> None:
    async def run() -> Any:
        return await explained(Reader, predicate=BAD).run(user_input="why?")

    assert retention(asyncio.run(run()).explanation) == sets("b")


@IDLE
def test_one_that_waits_for_a_human_with_an_event_of_its_own_says_so() -> None:
    with pytest.raises(BaselineFailed, match=r"asks a human \(waiting for a HumanResponseEvent\)"):
        RuleExplainer(Silent(retriever_of()), predicate=BAD).explain("why?")


class Unsure(Confirming):
    """Asks a human only where it has found little."""

    @step
    async def answer(self, ctx: Context, ev: StartEvent) -> StopEvent:
        found = await self.retriever.aretrieve(ev.query)
        if len(found) < 2:
            asked = InputRequiredEvent(prefix="So little?")  # pyright: ignore[reportCallIssue] -- as above
            await ctx.wait_for_event(HumanResponseEvent, waiter_event=asked)
        return StopEvent(result=str(await self.llm.acomplete(texts_of(found) or "nothing")))


def test_a_replay_that_asks_a_human_is_undecided_and_answered_by_a_function() -> None:
    workflow = Unsure(retriever_of("bd"))
    explanation = RuleExplainer(workflow, predicate=BAD).explain("why?")
    assert {probe.kept for probe in explanation.probes if "asks a human" in (probe.error or "")} == {
        (),
        ("b",),
        ("d",),
    }
    assert [re.sub(r"(?s)\(.*", "", each) for each in explanation.warnings] == [
        "some replays have no verdict, so rules may be missing: the workflow Unsure asks a human "
    ]
    assert "Pass a function that answers it: " in explanation.warnings[0]
    assert explanation.warnings[0] in explanation.report()

    async def answered(question: str) -> Any:
        handler = workflow.run(query=question)
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                assert handler.ctx is not None
                handler.ctx.send_event(HumanResponseEvent(response="yes"))  # pyright: ignore[reportCallIssue] -- as above
        return await handler

    whole = RuleExplainer(answered, predicate=BAD).explain("why?")
    assert (retention(whole), omission(whole), whole.complete) == (sets("bd"), sets("b", "d"), True)
    assert whole.warnings == ()


class Outer(Workflow):
    """Has another one answer."""

    def __init__(self, inner: Workflow) -> None:
        super().__init__(timeout=None)
        self.inner = inner

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=await self.inner.run(query=ev.query))


def alone(inner: Workflow) -> Any:
    return inner


def called(inner: Workflow) -> Any:
    async def answer(question: str) -> Any:
        return await inner.run(query=question)

    return answer


@IDLE
@pytest.mark.parametrize(
    "way",
    [alone, pytest.param(called, marks=pytest.mark.slow), pytest.param(Outer, marks=pytest.mark.slow)],
)
def test_a_replay_that_stands_still_is_undecided_at_once_and_the_way_out_works(way: Any) -> None:
    workflow = way(Mapping(retriever_of("bd"), ends=False))
    explanation = RuleExplainer(workflow, predicate=BAD).explain("why?")
    undecided = [probe for probe in explanation.probes if probe.error]
    assert [probe.kept for probe in undecided] == [()]
    assert re.search("stands still.*answer_without_sources", undecided[0].error or "")
    assert explanation.counts.retries == 0
    whole = RuleExplainer(workflow, predicate=BAD, answer_without_sources="N/A").explain("why?")
    assert (retention(whole), omission(whole), whole.complete) == (sets("bd"), sets("b", "d"), True)


class Come(Event):
    text: str


class Later(Workflow):
    """Is sent an event by a task that is none of its steps, once it has stood still."""

    @step
    async def begin(self, ctx: Context, ev: StartEvent) -> Come | None:
        async def send() -> None:
            for _ in range(100):
                await asyncio.sleep(0)
            found = texts_of(await retriever_of("ab").aretrieve(ev.query))
            ctx.send_event(Come(text=found or "nothing"))

        task = asyncio.create_task(send())
        await ctx.store.set("sending", task)
        return None

    @step
    async def end(self, ev: Come) -> StopEvent:
        return StopEvent(result=str(await Telling(says=bad_with_b).acomplete(ev.text)))


def test_what_stands_still_in_the_first_run_may_in_every_other() -> None:
    explanation = RuleExplainer(Later(), predicate=BAD).explain("why?")
    assert (retention(explanation), explanation.complete) == (sets("b"), True)


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        (StartEvent(query="why?", top_k=3), {"query": "why?", "top_k": 3}),  # pyright: ignore[reportCallIssue] -- as above
        (StartEvent(anything="why?"), {"anything": "why?"}),  # pyright: ignore[reportCallIssue] -- as above
        (Ask(question="why?", tags=["t"]), {"question": "why?", "top_k": 4, "tags": ["t"]}),
        (
            {"start_event": Ask(question="why?"), "verbose": True},
            {"verbose": True, "question": "why?", "top_k": 4, "tags": []},
        ),
    ],
)
def test_a_start_event_is_read_as_what_it_was_made_with(given: Any, fields: dict[str, Any]) -> None:
    assert question_in(given) == "why?"
    assert plain(given) == fields
    assert "why?" in list(texts_in(given))


@pytest.mark.filterwarnings("ignore")
def test_an_explained_agent_and_workflow_are_run_with_what_theirs_are() -> None:
    agent = FunctionAgent(tools=[sync_tool(retriever_of("ab"))], llm=Telling(says=bad_with_b))
    citing = Citing(retriever_of("abd"))

    async def run(workflow: Any, *positional: Any, **named: Any) -> Any:
        done = await explained(workflow, predicate=BAD).run(*positional, **named)
        return done.explanation.question, retention(done.explanation)

    assert asyncio.run(run(agent, "why?")) == ("why?", sets("b"))
    with_context = run(citing, Context(citing), start_event=Ask(question="how?"))
    assert asyncio.run(with_context) == ("how?", sets("bd"))
    with pytest.raises(TypeError, match="by name"):
        explained(citing, predicate=BAD).run("why?", None, "more")


class Titled(StopEvent):
    title: str
    report: str


@pytest.mark.parametrize("way", ["streamed", "pieces"])
def test_what_a_workflow_hands_on_as_a_stream_is_read_to_its_end(way: str) -> None:
    class Streaming(Workflow):
        @step
        async def answer(self, ev: StartEvent) -> StopEvent:
            found = texts_of(await retriever_of("ab").aretrieve(ev.query))
            stream = await Telling(says=bad_with_b).astream_complete(found or "nothing")
            return StopEvent(
                result=stream if way == "streamed" else (each.delta async for each in stream)
            )

    explanation = RuleExplainer(Streaming(), predicate=BAD).explain("why?")
    assert (explanation.baseline.text, retention(explanation)) == ("bad news", sets("b"))


def test_an_event_of_which_nobody_knows_what_the_answer_is_is_named() -> None:
    class Two(Workflow):
        @step
        async def answer(self, ev: StartEvent) -> Titled:
            found = texts_of(await retriever_of("ab").aretrieve(ev.query))
            said = await Telling(says=bad_with_b).acomplete(found or "nothing")
            return Titled(title="On it", report=str(said))

    with pytest.raises(InvalidInput, match="of type Titled; pass answer_of="):
        RuleExplainer(Two(), predicate=BAD).explain("why?")
    way_out = RuleExplainer(Two(), predicate=BAD, answer_of=lambda event: event.report)
    assert retention(way_out.explain("why?")) == sets("b")


def test_an_explained_workflow_is_run_as_it_is() -> None:
    workflow = explained(Reader(), predicate=BAD)

    async def run() -> tuple[list[Event], Any]:
        handler = workflow.run(user_input="why?")
        return [event async for event in handler.stream_events()], await handler

    events, done = asyncio.run(run())
    assert [type(event) for event in events] == [Found, Completed]
    assert (done.output.answer, done.output.documents) == ("bad news", 2)
    assert retention(done.explanation) == sets("b")
    response: Any = workflow.query("why?")
    assert isinstance(response, Response)
    assert response.response == "bad news"
    assert [rule["sources"] for rule in (response.metadata or {})["rag_rules"]["retention_rules"]] == [
        ["b"]
    ]


def test_what_fails_ends_its_events_and_its_run() -> None:
    class Failing(Workflow):
        @step
        async def fail(self, ev: StartEvent) -> StopEvent:
            raise ValueError("no luck")

    async def run() -> list[Event]:
        handler = explained(Failing(), predicate=BAD).run(query="why?")
        events = [event async for event in handler.stream_events()]
        with pytest.raises(ValueError, match="no luck"):
            await handler
        return events

    assert not [event for event in asyncio.run(run()) if isinstance(event, Found)]


class Remembering(Workflow):
    """Keeps something on itself from run to run."""

    def __init__(self) -> None:
        super().__init__()
        self.llm, self.kept, self.turns = Telling(), dict[str, Any](), 0

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=await self.said(ev.question))

    async def said(self, question: str) -> str:
        raise NotImplementedError

    async def asked(self, text: str) -> str:
        return str(await self.llm.acomplete(text or "nothing was found"))


class KeepsAnswers(Remembering):
    async def said(self, question: str) -> str:
        found = texts_of(await retriever_of().aretrieve(question))
        self.kept["said"] = await self.asked(f"{self.kept.get('said', '')}\n{found}")
        return self.kept["said"]


class KeepsNodes(Remembering):
    async def said(self, question: str) -> str:
        if question not in self.kept:
            self.kept[question] = await retriever_of().aretrieve(question)
        return await self.asked(texts_of(self.kept[question]))


class KeepsFirstNodes(Remembering):
    async def said(self, question: str) -> str:
        found = await retriever_of().aretrieve(question)
        return await self.asked(texts_of(self.kept.setdefault("first", found)))


class KeepsReply(Remembering):
    async def said(self, question: str) -> str:
        found = texts_of(await retriever_of().aretrieve(question))
        if question not in self.kept:
            self.kept[question] = await self.asked(found)
        return self.kept[question]


class Numbers(Remembering):
    async def said(self, question: str) -> str:
        self.turns += 1
        found = texts_of(await retriever_of().aretrieve(question))
        return await self.asked(f"turn {self.turns}\n{found}")


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize(
    ("kind", "refusal"),
    [
        (KeepsAnswers, StateShared),
        (KeepsNodes, ReplayMissedGate),
        (KeepsFirstNodes, SourceLeak),
        pytest.param(KeepsReply, StateShared, marks=pytest.mark.slow),
        pytest.param(Numbers, StateShared, marks=pytest.mark.slow),
    ],
)
def test_one_that_keeps_state_on_itself_names_the_way_out_and_it_works(
    kind: type[Remembering], refusal: type[Exception]
) -> None:
    with pytest.raises(refusal, match=rf"RuleExplainer\(make_workflow\).* a new {kind.__name__}"):
        RuleExplainer(kind(), predicate=BAD).explain({"question": "why?"})
    assert blames_b_and_d(RuleExplainer(kind, predicate=BAD).explain({"question": "why?"}))


def test_other_parameters_with_the_same_prompt_are_another_request() -> None:
    llm, turns = Telling(says=bad_with_b), count(1)

    def answer(question: str) -> str:
        found = texts_of(retriever_of("ab").retrieve(question)) or "nothing"
        return str(llm.complete(found, temperature=next(turns) / 10))

    with pytest.raises(StateShared, match="request 1 to a model differs"):
        RuleExplainer(answer, predicate=BAD).explain("why?")


class Waiting(Workflow):
    """Says that it has begun, and waits for a human."""

    @step
    async def wait(self, ctx: Context, ev: StartEvent) -> StopEvent:
        ctx.write_event_to_stream(Found(count=0))
        return StopEvent(result=await ctx.wait_for_event(HumanResponseEvent))


class Outside(Workflow):
    """Waits for an event that no human sends."""

    @step
    async def wait(self, ctx: Context, ev: StartEvent) -> StopEvent:
        await ctx.wait_for_event(Found)
        nodes = retriever_of("ab").retrieve(ev.query)
        said = await Telling(says=bad_with_b).acomplete(texts_of(nodes) or "nothing")
        return StopEvent(result=said.text)


@IDLE
def test_a_workflow_that_waits_for_an_event_from_outside_is_told_as_one() -> None:
    with pytest.raises(BaselineFailed, match="waits for the event Found from outside") as told:
        RuleExplainer(Outside(timeout=None), predicate=BAD).explain({"query": "why?"})
    assert "human" not in str(told.value)
    assert "send_event(Found(...))" in str(told.value)

    async def sent(question: str) -> Any:
        handler = Outside(timeout=None).run(query=question)
        assert handler.ctx is not None
        handler.ctx.send_event(Found(count=1))
        return await handler

    assert retention(RuleExplainer(sent, predicate=BAD).explain("why?")) == sets("b")


async def test_other_workflows_may_go_on_meanwhile() -> None:
    other = Waiting(timeout=None).run()
    assert isinstance(await anext(other.stream_events()), Found)
    loop = asyncio.get_running_loop()

    def is_bad(case: Case) -> bool:
        loop.call_soon_threadsafe(other.ctx.send_event, Found(count=1))
        return "bad" in case.answer.text

    try:
        explanation = await RuleExplainer(Reader(), predicate=is_bad).aexplain("why?")
    finally:
        await other.cancel_run()
    assert explanation.complete
    assert retention(explanation) == sets("b")


class Alarmed(Workflow):
    """Warns once it has found two documents, and from then on."""

    is_alarmed: bool = False

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        nodes = retriever_of("ab").retrieve(str(ev.user_input))
        self.is_alarmed = self.is_alarmed or len(nodes) > 1
        word = "Warn" if self.is_alarmed else "Calm"
        model = Telling(says=lambda prompt: "bad news" if "Warn" in prompt else "good news")
        said = await model.acomplete(f"{word} the reader of: {texts_of(nodes)}")
        return StopEvent(result=said.text)


@pytest.mark.slow
def test_what_another_workflow_has_left_is_its_own_affair() -> None:
    other = Alarmed()
    assert not RuleExplainer(other, predicate=BAD).explain({"user_input": "why?"}).complete
    assert RuleExplainer(Reader(), predicate=BAD).explain("why?").complete
    assert other.is_alarmed
