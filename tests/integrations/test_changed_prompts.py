"""Applications whose later requests hold a conversation, or instructions, that are not as they were in
the first one."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer as OfLangChain
from plain_rag_rule_explainer import RuleExplainer as OfPlain

from rag_rule_explainer import Explanation, RuleKind, Verdict, contains
from tests.integrations.langchain.models import Telling
from tests.integrations.plain.models import client_of
from tests.support.completions import Completion
from tests.support.messages import Body
from tests.support.openai_server import OpenAIServer

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]

Messages = list[tuple[str, str]]
Change = Callable[[Messages], Messages]
TURNS = [
    ("user", "Where is it?"),
    ("assistant", "At zz2q."),
    ("user", "And who?"),
    ("assistant", "zz4q."),
]
QUESTION = [("user", "What is new in my office?")]
STATE = "# State\nYou have read {} messages, zz2q.\n# Tone\nBe kind to all people here."


def says(text: str) -> str:
    """The first reply is always the same; the second says what the second request has."""
    if "Now what?" not in text:
        return "It is a fine day."
    return "It is paid." if "zz2q" in text else "It is not paid."


def with_state(messages: Messages) -> Messages:
    return [("system", STATE.format(len(messages))), *messages]


def without_the_oldest(messages: Messages) -> Messages:
    return messages[1:] if ("user", "Now what?") in messages else messages


def quoted(messages: Messages) -> Messages:
    if ("user", "Now what?") not in messages:
        return messages
    return [("user", "; ".join(f"{role} said {text}" for role, text in messages[:4])), *messages[4:]]


def shortened(messages: Messages) -> Messages:
    if ("user", "Now what?") not in messages:
        return messages
    return [(role, f"{text[:7]}...") for role, text in messages[:4]] + messages[4:]


Ask = Callable[[Messages], str]


def application(ask: Ask, change: Change) -> Callable[[Any], str]:
    def answer(asked: Any) -> str:
        messages = [(str(each["role"]), str(each["content"])) for each in asked]
        messages += [("assistant", ask(change(messages))), ("user", "Now what?")]
        return ask(change(messages))

    return answer


def given(messages: Messages) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for role, text in messages]


def of_langchain(change: Change, asked: Messages, **options: Any) -> Explanation:
    model = Telling(says=lambda messages: says("\n".join(str(each.text) for each in messages)))
    chained = RunnableLambda(application(lambda messages: model.invoke(messages).text, change))
    return OfLangChain(chained, contains("is paid"), **options).explain(given(asked))


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    def answering(body: Body) -> Completion:
        return Completion(says("\n".join(str(each.get("content")) for each in body["messages"])))

    with OpenAIServer(answering) as server:
        yield server.base_url


@pytest.fixture(params=["LangChain", "plain"])
def explained(request: pytest.FixtureRequest, base_url: str) -> Iterator[Callable[..., Explanation]]:
    if request.param == "LangChain":
        yield of_langchain
        return
    with client_of(base_url) as client:

        def ask(messages: Messages) -> str:
            sent: Any = given(messages)
            reply = client.chat.completions.create(model="m", messages=sent)
            return reply.choices[0].message.content or ""

        yield lambda change, asked, **options: OfPlain(
            application(ask, change), contains("is paid"), **options
        ).explain(given(asked))


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize(
    ("change", "asked", "kind", "blamed"),
    [
        (without_the_oldest, [*TURNS, *QUESTION], "turns", "turn 1"),
        (with_state, QUESTION, "instructions", "instructions: State"),
    ],
)
def test_what_is_left_of_a_part_is_left_out_of_later_requests(
    explained: Callable[..., Explanation], change: Change, asked: Messages, kind: str, blamed: str
) -> None:
    explanation = explained(change, asked, source_kinds=[kind], miner="exact")
    rules = [(rule.kind, set(rule.sources)) for rule in explanation.rules]
    assert rules == [(RuleKind.RETENTION, {blamed}), (RuleKind.OMISSION, {blamed})]
    dropped = 'later requests of the run lack messages of "turn 1", as the application drops old ones'
    assert any(dropped in each for each in explanation.notes) is (kind == "turns")
    assert explanation.ended


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("change", [quoted, shortened])
def test_a_turn_is_left_out_of_later_requests_that_hold_it_in_another_form(
    explained: Callable[..., Explanation], change: Change
) -> None:
    explanation = explained(change, [*TURNS, *QUESTION], source_kinds=["turns"], miner="exact")
    rules = [(rule.kind, set(rule.sources), rule.claim) for rule in explanation.rules]
    kinds = (RuleKind.RETENTION, RuleKind.OMISSION)
    assert rules == [(kind, {"turn 1"}, "proved") for kind in kinds]
    assert all(
        each.verdict is not Verdict.UNKNOWN for p in explanation.probes for each in p.verdicts.values()
    )
