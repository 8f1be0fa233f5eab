"""Later requests that an application makes of earlier turns, in any form, compared with the application
that was never given these turns."""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, count
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer as OfLangChain
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index_rag_rule_explainer import RuleExplainer as OfLlamaIndex
from plain_rag_rule_explainer import RuleExplainer as OfPlain
from typing_extensions import override

from rag_rule_explainer import Explanation, Verdict, contains
from tests.integrations.langchain.models import Telling
from tests.integrations.later_shapes import INNOCENT, LEAKS, QUESTION, TURNS, Messages, Shape
from tests.integrations.llama_index.models import Telling as LlamaIndexTelling
from tests.integrations.plain.models import client_of
from tests.support.completions import Completion
from tests.support.messages import Body
from tests.support.openai_server import OpenAIServer

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]

PAID, UNPAID, FIRST = "It is paid.", "It is open.", "It is a fine day."
ASKED = ("user", "Now what?")
ROLES = {"human": "user", "ai": "assistant"}
TURN_IDS = ("turn 1", "turn 2")
SUBSETS = [kept for size in range(3) for kept in combinations(TURN_IDS, size)]

Ask = Callable[[Messages], str]
Tell = Callable[[Sequence[tuple[str, str]]], str]
"""A scripted model: a function from the roles and texts of a request to the reply."""


def scripted(salt: int) -> Tell:
    """A model that decides by everything that the second request has."""

    def tell(messages: Sequence[tuple[str, str]]) -> str:
        said = [(ROLES.get(role, role), text) for role, text in messages]
        if said[-1] != ASKED:
            return FIRST
        return PAID if hashlib.sha256(f"{salt} {said}".encode()).digest()[0] % 2 else UNPAID

    return tell


def run(ask: Ask, shape: Shape, given: Messages) -> str:
    first = ask(given)
    return ask([*shape(given), ("assistant", first), ASKED])


def without(kept: Iterable[str], omit: str) -> Messages:
    given = Messages()
    for place, (role, text) in enumerate(TURNS):
        is_kept = TURN_IDS[place // 2] in kept
        if is_kept or omit == "blank":
            given.append((role, text if is_kept else ""))
    return [*given, QUESTION]


def by_brute_force(shape: Shape, salt: int, omit: str) -> dict[tuple[str, ...], bool]:
    return {each: run(scripted(salt), shape, without(each, omit)) == PAID for each in SUBSETS}


def deciding(shape: Shape, omit: str) -> int:
    """The first of a few salts with which it is paid, and not paid on other turns if that can be."""
    tables = {salt: list(by_brute_force(shape, salt, omit).values()) for salt in range(16)}
    paid = [salt for salt, table in tables.items() if table[-1]]
    return next((salt for salt in paid if not all(tables[salt])), paid[0])


def as_dicts(messages: Messages) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for role, text in messages]


def pairs(given: Any) -> Messages:
    return [(str(each["role"]), str(each["content"])) for each in given]


class Chatting(LlamaIndexTelling):
    tell: Any = None

    @override
    def _chat(self, messages: Sequence[ChatMessage], tools: Sequence[Any] = ()) -> ChatResponse:
        self._asked.append("")
        said = [(each.role.value, each.content or "") for each in messages]
        return ChatResponse(message=ChatMessage(self.tell(said), role=MessageRole.ASSISTANT), raw={})


Explained = Callable[..., tuple[Explanation, int]]
"""Explains, and says how many requests there were."""


def of_langchain(tell: Tell, shape: Shape, **options: Any) -> tuple[Explanation, int]:
    def says(messages: list[BaseMessage]) -> str:
        return tell([(each.type, str(each.text)) for each in messages])

    model = Telling(says=says)

    def application(given: Any) -> str:
        return run(lambda messages: model.invoke(messages).text, shape, pairs(given))

    explainer = OfLangChain(RunnableLambda(application), contains("is paid"), **options)
    return explainer.explain(as_dicts([*TURNS, QUESTION])), len(model.asked)


def of_langchain_async(tell: Tell, shape: Shape, **options: Any) -> tuple[Explanation, int]:
    def says(messages: list[BaseMessage]) -> str:
        return tell([(each.type, str(each.text)) for each in messages])

    model = Telling(says=says)

    async def application(given: Any) -> str:
        messages = pairs(given)
        first = (await model.ainvoke(messages)).text
        return (await model.ainvoke([*shape(messages), ("assistant", first), ASKED])).text

    explainer = OfLangChain(RunnableLambda(application), contains("is paid"), **options)
    explanation = asyncio.run(explainer.aexplain(as_dicts([*TURNS, QUESTION])))
    return explanation, len(model.asked)


def of_llama_index(tell: Tell, shape: Shape, **options: Any) -> tuple[Explanation, int]:
    llm = Chatting(tell=tell)

    def ask(messages: Messages) -> str:
        said = [ChatMessage(text, role=MessageRole(role)) for role, text in messages]
        return llm.chat(said).message.content or ""

    explainer = OfLlamaIndex(
        lambda given: run(ask, shape, pairs(given)),
        contains("is paid"),
        question_of=lambda given: given[-1]["content"],
        **options,
    )
    return explainer.explain(as_dicts([*TURNS, QUESTION])), len(llm.asked)


@pytest.fixture
def of_plain() -> Iterator[Explained]:
    tells, asked = list[Tell](), count()

    def answering(body: Body) -> Completion:
        next(asked)
        return Completion(tells[-1](pairs(body["messages"])))

    with OpenAIServer(answering) as server, client_of(server.base_url) as client:

        def ask(messages: Messages) -> str:
            sent: Any = as_dicts(messages)
            reply = client.chat.completions.create(model="m", messages=sent)
            return reply.choices[0].message.content or ""

        def explained(tell: Tell, shape: Shape, **options: Any) -> tuple[Explanation, int]:
            tells.append(tell)
            before = next(asked)
            explainer = OfPlain(
                lambda given: run(ask, shape, pairs(given)), contains("is paid"), **options
            )
            explanation = explainer.explain(as_dicts([*TURNS, QUESTION]))
            return explanation, next(asked) - before - 1

        yield explained


def tallied(
    explanation: Explanation, truth_of: Callable[[tuple[str, ...]], bool]
) -> tuple[int, int, bool]:
    """The numbers of probes that brute force answers otherwise, and that have no verdict; and whether the
    rules are proved. ``truth_of``: from the retained sources to whether it is paid."""
    wrong, unknown = 0, 0
    for probe in explanation.probes:
        if not probe.answers or any(e.verdict is Verdict.UNKNOWN for e in probe.verdicts.values()):
            unknown += 1
        else:
            wrong += (probe.answers[0].text == PAID) is not truth_of(tuple(probe.kept))
    claims = {each.claim for each in explanation.rules}
    return wrong, unknown, claims == {"proved"} and not explanation.warnings


def compare(explained: Explained, omit: str, shapes: dict[str, Shape]) -> list[str]:
    """What differs from brute force, or is not known, or costs more, for each shape."""
    faults, proved = list[str](), 0
    for name, shape in shapes.items():
        salt = deciding(shape, omit)
        truth = by_brute_force(shape, salt, omit)
        options: Any = {"source_kinds": ["turns"], "omit": omit, "miner": "exact"}
        explanation, requests = explained(scripted(salt), shape, **options)
        wrong, unknown, is_proved = tallied(explanation, truth.__getitem__)
        if wrong or unknown or not is_proved or requests != 2 * explanation.counts.replays:
            counts = f"{wrong} wrong, {unknown} unknown, {requests} requests"
            faults.append(f"{name}: {counts}, {explanation.counts} {explanation.warnings}"[:400])
        proved += is_proved
    print(f"{len(shapes)} shapes, omit={omit}: {proved} proved, {len(faults)} faults")
    return faults


def some(shapes: dict[str, Shape], first: int, step: int) -> dict[str, Shape]:
    return dict(list(shapes.items())[first::step])


ALL = {**LEAKS, **INNOCENT}


def test_probes_are_runs_without_the_turn() -> None:
    assert not compare(of_langchain, "remove", some(ALL, 0, 3))


@pytest.mark.parametrize(
    ("framework", "omit", "shapes"),
    [
        (of_langchain, "blank", some(ALL, 1, 9)),
        (of_langchain_async, "remove", some(ALL, 2, 9)),
        (of_langchain_async, "blank", some(ALL, 4, 9)),
        (of_llama_index, "remove", some(ALL, 5, 9)),
        (of_llama_index, "blank", some(ALL, 7, 9)),
    ],
)
def test_probes_of_other_frameworks_are_too(
    framework: Explained, omit: str, shapes: dict[str, Shape]
) -> None:
    assert not compare(framework, omit, shapes)


@pytest.mark.slow
@pytest.mark.parametrize("omit", ["remove", "blank"])
@pytest.mark.parametrize("framework", [of_langchain, of_langchain_async, of_llama_index])
def test_all_probes_of_all_frameworks_are(framework: Explained, omit: str) -> None:
    assert not compare(framework, omit, ALL)


@pytest.mark.parametrize(("omit", "first"), [("remove", 5), ("blank", 2)])
def test_probes_of_the_openai_client_are_too(of_plain: Explained, omit: str, first: int) -> None:
    assert not compare(of_plain, omit, some(ALL, first, 18))
