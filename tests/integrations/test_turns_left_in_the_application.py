"""Turns that the application still has where they are omitted: rules are not proved. Beside each stands
an application from which the turns can be taken out, whose rules are."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

import pytest
from langchain_core.chat_history import BaseChatMessageHistory, InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState, StateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import Memory
from llama_index_rag_rule_explainer import RuleExplainer as OfLlamaIndex
from typing_extensions import override

from rag_rule_explainer import Explanation, contains
from tests.integrations.later_shapes import QUESTION, TURNS, Messages
from tests.integrations.test_texts_made_of_memories import read, remembered, telling
from tests.integrations.test_texts_made_of_turns import Chatting, as_dicts, pairs

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]

ALL = [*TURNS, QUESTION]
LEFT, BESIDE = "only be left out of requests", "a second time"


def paid_if(word: str, *, first: bool = False) -> Callable[[Sequence[tuple[str, str]]], str]:
    def tell(messages: Sequence[tuple[str, str]]) -> str:
        said = messages[:1] if first else messages
        return "It is paid." if any(word in text for _, text in said) else "It is open."

    return tell


VIP = telling(paid_if("VIP", first=True))
BONN = telling(paid_if("Bonn"))


def with_a_flag(messages: Messages) -> str:
    """The first request has something that was made of a turn."""
    told = "A VIP." if "4711" in str(messages) else "A guest."
    return VIP.invoke([("system", told), *messages]).text


def as_it_is(messages: Messages) -> str:
    return BONN.invoke(messages).text


def lines(text: Any) -> Messages:
    found = [each.partition(": ") for each in str(text).splitlines()]
    return [(role, said) for role, _, said in found]


def triples(given: Any) -> Messages:
    return [(role, text) for _, role, text in given]


def logged(given: Any) -> Messages:
    return [("system", f"A VIP? {given['log']}"), *pairs(given["messages"])]


def explained(application: Callable[[Any], str], given: Any, **options: Any) -> Explanation:
    kinds: Any = {"source_kinds": ["turns"], "miner": "exact", **options}
    chain = RunnableLambda(application)
    explainer = RuleExplainer(chain, contains("is paid"), question_of=str, **kinds)
    return explainer.explain(given)


def claims(explanation: Explanation) -> set[str]:
    return {str(each.claim) for each in explanation.rules}


TEXT = "\n".join(f"{role}: {text}" for role, text in ALL)
LEFT_IN: dict[str, tuple[Callable[[Any], Messages], Any]] = {
    "a text": (lines, TEXT),
    "JSON": (lambda given: pairs(json.loads(given)), json.dumps(as_dicts(ALL))),
    "triples": (triples, [(place, *each) for place, each in enumerate(ALL)]),
    "dicts of another form": (
        lambda given: [(each["sender"], each["body"]) for each in given],
        [{"sender": role, "body": text} for role, text in ALL],
    ),
}


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("name", LEFT_IN)
@pytest.mark.parametrize("answer", [with_a_flag, as_it_is])
def test_what_stays_in_the_input_is_not_proved(name: str, answer: Callable[[Messages], str]) -> None:
    read_in, given = LEFT_IN[name]
    explanation = explained(lambda each: answer(read_in(each)), given)
    assert claims(explanation) == {"unverified"}
    assert LEFT in explanation.warnings[0]
    assert "list of messages" in explanation.warnings[0]


@pytest.mark.parametrize("answer", [with_a_flag, as_it_is])
def test_what_is_taken_out_of_the_input_is_proved(answer: Callable[[Messages], str]) -> None:
    explanation = explained(lambda each: answer(pairs(each)), as_dicts(ALL))
    assert claims(explanation) == {"proved"}
    assert not explanation.warnings


def test_a_turn_of_which_the_first_request_has_a_beginning_is_not_taken_out() -> None:
    messages: Messages = [*TURNS[:2], ("assistant", "Ask Bob."), QUESTION]
    bob = telling(paid_if("Bob"))

    def routed(given: Any) -> str:
        said = pairs(given)
        bob.invoke([each for each in said if each[1] != "Ask Bob."])
        return bob.invoke(said).text

    assert "proved" not in claims(explained(routed, as_dicts(messages)))


TALK = TURNS
BESIDE_IT: dict[str, Any] = {
    "lines of a transcript": [f"{role}: {text}" for role, text in TALK],
    "questions": [text for role, text in TALK if role == "user"],
    "an answer": TALK[-1][1],
    "dicts with a third field": [{"q": TALK[0][1], "a": TALK[1][1], "at": 7}],
    "a window": TALK[1:],
    "in capital letters": " ".join(text for _, text in TALK).upper(),
    "keys": {TALK[0][1]: 1},
}
INNOCENT_BESIDE: dict[str, Any] = {
    "the question": QUESTION[1],
    "settings": {"user": "Ann", "limit": 4711, "roles": ["user", "assistant"]},
    "the messages once more": list(TALK),
}


@pytest.mark.parametrize("name", BESIDE_IT)
def test_a_turn_that_stands_beside_the_messages_is_not_taken_out(name: str) -> None:
    model = telling(paid_if("is the key", first=True) if "q" in name else paid_if("4711", first=True))

    def answer(given: Any) -> str:
        return model.invoke(logged(given)).text

    explanation = explained(answer, {"messages": as_dicts(ALL), "log": BESIDE_IT[name]})
    assert claims(explanation) == {"unverified"}
    assert "'beside.log" in explanation.warnings[0]


@pytest.mark.parametrize("name", INNOCENT_BESIDE)
def test_other_data_beside_the_messages_do_no_harm(name: str) -> None:
    given = {"messages": as_dicts(ALL), "log": INNOCENT_BESIDE[name]}
    explanation = explained(lambda each: BONN.invoke(logged(each)).text, given)
    assert claims(explanation) == {"proved"}
    assert not explanation.warnings


class InDict(BaseChatMessageHistory):
    """A history whose messages stand in no list."""

    def __init__(self, messages: Iterable[BaseMessage]) -> None:
        self.kept = dict(enumerate(messages))

    @property
    @override
    def messages(self) -> list[BaseMessage]:  # pyright: ignore[reportIncompatibleVariableOverride] -- read alone
        return list(self.kept.values())

    @override
    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        self.kept.update(enumerate(messages, len(self.kept)))

    @override
    def clear(self) -> None:
        self.kept.clear()


def of_a_history(history: BaseChatMessageHistory) -> Explanation:
    names = {"input_messages_key": "question", "history_messages_key": "history"}

    def answer(given: Any) -> str:
        return as_it_is([*read(given["history"]), ("user", given["question"])])

    chain: Any = RunnableWithMessageHistory(RunnableLambda(answer), lambda: history, **names)  # pyright: ignore[reportArgumentType] -- names of parameters
    explainer = RuleExplainer(chain, contains("is paid"), source_kinds=["memory"], miner="exact")
    return explainer.explain({"question": QUESTION[1]})


def test_a_history_must_be_one_that_loses_the_turn() -> None:
    assert claims(of_a_history(InMemoryChatMessageHistory(messages=remembered()))) == {"proved"}
    doubted = of_a_history(InDict(remembered()))
    assert claims(doubted) == {"unverified"}
    assert LEFT in doubted.warnings[0]


class Remembering:
    def __init__(self) -> None:
        self.turns = tuple(TURNS)

    def __call__(self, question: Any) -> str:
        return as_it_is([*self.turns, ("user", str(question))])


def of_constants(question: Any) -> str:
    return as_it_is([*TURNS, ("user", str(question))])


def test_a_memory_of_its_own_is_no_constant_prompt() -> None:
    own = Remembering()
    options: Any = {"source_kinds": ["memory", "examples"], "miner": "exact"}
    chains = [RunnableLambda(lambda question: own(question)), RunnableLambda(of_constants)]
    doubted, proved = (
        RuleExplainer(each, contains("is paid"), **options).explain(QUESTION[1]) for each in chains
    )
    assert claims(doubted) == {"unverified"}
    assert LEFT in doubted.warnings[0]
    assert claims(proved) == {"proved"}


def joined(one: list[str], two: list[str]) -> list[str]:
    return [*one, *two]


class Noting(MessagesState):
    facts: Annotated[list[str], joined]


@pytest.mark.parametrize(
    ("facts", "claim"), [([TURNS[1][1]], "unverified"), (["Speaks German."], "proved")]
)
def test_a_thread_has_a_turn_in_no_other_channel(facts: list[str], claim: str) -> None:
    def answer(state: Noting) -> Any:
        known = ("system", f"A VIP? {state['facts']}")
        return {"messages": [AIMessage(as_it_is([known, *read(state["messages"])]))]}

    graph: Any = StateGraph(Noting).add_node("answer", answer)
    graph = graph.set_entry_point("answer").compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    graph.update_state(config, {"messages": remembered(), "facts": facts}, as_node="answer")
    options: Any = {"source_kinds": ["memory"], "miner": "exact"}
    explanation = RuleExplainer(graph, contains("is paid"), **options).explain(
        {"messages": [QUESTION]}, config
    )
    assert claims(explanation) == {claim}


@pytest.mark.parametrize(("fact", "claim"), [(TURNS[1][1], "unverified"), ("German.", "proved")])
def test_a_store_has_no_turn_either(fact: str, claim: str) -> None:
    def answer(state: MessagesState, *, store: BaseStore) -> Any:
        known = [str(each.value["fact"]) for each in store.search(("facts",))]
        said = [("system", f"A VIP? {known}"), *read(state["messages"])]
        return {"messages": [AIMessage(as_it_is(said))]}

    store = InMemoryStore()
    store.put(("facts",), "1", {"fact": fact})
    graph: Any = StateGraph(MessagesState).add_node("answer", answer)
    graph = graph.set_entry_point("answer").compile(checkpointer=InMemorySaver(), store=store)
    config: Any = {"configurable": {"thread_id": "1"}}
    graph.update_state(config, {"messages": remembered()}, as_node="answer")
    options: Any = {"source_kinds": ["memory"], "miner": "exact"}
    explanation = RuleExplainer(graph, contains("is paid"), **options).explain(
        {"messages": [QUESTION]}, config
    )
    assert claims(explanation) == {claim}


RULES = "# Refunds\nTwenty days for all.\n# Tone\nKind and brief."


@pytest.mark.parametrize(("beside", "claim"), [(RULES, "unverified"), ("In a letter.", "proved")])
def test_a_section_stands_once_in_the_input(beside: str, claim: str) -> None:
    twenty = telling(paid_if("Twenty"))

    def answer(given: Any) -> str:
        return twenty.invoke(pairs(given["messages"])).text

    messages = as_dicts([("system", RULES), QUESTION])
    given = {"messages": messages, "policy": beside}
    assert claims(explained(answer, given, source_kinds=["instructions"])) == {claim}


def of_a_llama_index_memory() -> Any:
    said = [ChatMessage(text, role=MessageRole(role)) for role, text in TURNS]
    memory = Memory.from_defaults(session_id="1")
    memory.put_messages(said)
    return memory


@pytest.mark.parametrize("omit", ["remove", "blank"])
def test_a_memory_with_a_database_loses_the_turn(omit: Any) -> None:
    def tell(messages: Sequence[tuple[str, str]]) -> str:
        return "It is paid." if "Bonn" in str(messages) else "It is open."

    engine = SimpleChatEngine.from_defaults(llm=Chatting(tell=tell), memory=of_a_llama_index_memory())
    options: Any = {"source_kinds": ["memory"], "miner": "exact", "omit": omit}
    explanation = OfLlamaIndex(engine, contains("is paid"), **options).explain(QUESTION[1])
    assert claims(explanation) == {"proved"}
    assert {each.sources for each in explanation.retention_rules} == {("memory 2",)}
