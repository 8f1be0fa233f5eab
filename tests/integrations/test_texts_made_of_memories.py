"""Later requests that an application makes of what it remembers, or of its instructions, compared with
the application that has none of it."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_rag_rule_explainer import RuleExplainer as OfLangChain
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState, StateGraph
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import ChatMemoryBuffer
from llama_index_rag_rule_explainer import RuleExplainer as OfLlamaIndex

from rag_rule_explainer import Explanation, SourceLeak, contains
from tests.integrations.langchain.models import Telling
from tests.integrations.later_shapes import FIXED, INNOCENT, QUESTION, TURNS, Messages, Shape
from tests.integrations.test_texts_made_of_turns import (
    ALL,
    ASKED,
    PAID,
    ROLES,
    Chatting,
    Tell,
    by_brute_force,
    deciding,
    run,
    scripted,
    some,
    tallied,
)

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]

IDS = ("memory 1", "memory 2")
Explained = Callable[..., Explanation]


def read(messages: Iterable[BaseMessage]) -> Messages:
    return [(ROLES.get(each.type, each.type), str(each.text)) for each in messages]


def telling(tell: Tell) -> Telling:
    return Telling(says=lambda messages: tell(read(messages)))


def remembered() -> list[BaseMessage]:
    kinds = {"user": HumanMessage, "assistant": AIMessage}
    return [kinds[role](text) for role, text in TURNS]


def of_a_checkpointer(tell: Tell, shape: Shape, **options: Any) -> Explanation:
    model = telling(tell)

    def answer(state: MessagesState) -> Any:
        said = run(lambda messages: model.invoke(messages).text, shape, read(state["messages"]))
        return {"messages": [AIMessage(said)]}

    graph: Any = StateGraph(MessagesState).add_node("answer", answer)
    graph = graph.set_entry_point("answer").compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    graph.update_state(config, {"messages": remembered()}, as_node="answer")
    explainer = OfLangChain(graph, contains("is paid"), source_kinds=["memory"], **options)
    return explainer.explain({"messages": [QUESTION]}, config)


def of_a_history(tell: Tell, shape: Shape, **options: Any) -> Explanation:
    model = telling(tell)
    history = InMemoryChatMessageHistory(messages=remembered())

    def answer(given: Any) -> str:
        messages = [*read(given["history"]), ("user", given["question"])]
        return run(lambda sent: model.invoke(sent).text, shape, messages)

    names = {"input_messages_key": "question", "history_messages_key": "history"}
    chain: Any = RunnableWithMessageHistory(RunnableLambda(answer), lambda: history, **names)  # pyright: ignore[reportArgumentType] -- names of parameters
    explainer = OfLangChain(chain, contains("is paid"), source_kinds=["memory"], **options)
    return explainer.explain({"question": QUESTION[1]})


def of_a_buffer(tell: Tell, shape: Shape, **options: Any) -> Explanation:
    llm = Chatting(tell=tell)
    kept = [ChatMessage(text, role=MessageRole(role)) for role, text in TURNS]
    memory = ChatMemoryBuffer.from_defaults(chat_history=kept, token_limit=10_000)

    def ask(messages: Messages) -> str:
        said = [ChatMessage(text, role=MessageRole(role)) for role, text in messages]
        return llm.chat(said).message.content or ""

    def answer(question: Any) -> str:
        had = [(each.role.value, each.content or "") for each in memory.get()]
        return run(ask, shape, [*had, ("user", question)])

    explainer = OfLlamaIndex(answer, contains("is paid"), source_kinds=["memory"], **options)
    return explainer.explain(QUESTION[1])


class Remembering:
    """An application that remembers by itself, in an attribute of its own."""

    def __init__(self, tell: Tell, shape: Shape) -> None:
        self.shape, self.turns, self.model = shape, tuple(TURNS), telling(tell)

    def __call__(self, question: str) -> str:
        given = [*self.turns, ("user", question)]
        return run(lambda messages: self.model.invoke(messages).text, self.shape, given)


def of_its_own(tell: Tell, shape: Shape, **options: Any) -> Explanation:
    application = Remembering(tell, shape)
    chained: Any = RunnableLambda(lambda question: application(str(question)))
    kinds: Any = ["memory", "examples"]
    ignored = [r"Now what\?", *options.pop("ignore", ())]
    explainer = OfLangChain(chained, contains("is paid"), source_kinds=kinds, ignore=ignored, **options)
    return explainer.explain(QUESTION[1])


def of_examples(tell: Tell, shape: Shape, **options: Any) -> Explanation:
    """An application whose prompt has examples that never change."""
    model = telling(tell)

    def answer(question: Any) -> str:
        given = [*TURNS, ("user", str(question))]
        return run(lambda messages: model.invoke(messages).text, shape, given)

    ignored = [r"Now what\?", *options.pop("ignore", ())]
    kinds: Any = {"source_kinds": ["examples"], "ignore": ignored}
    explainer = OfLangChain(RunnableLambda(answer), contains("is paid"), **kinds, **options)
    return explainer.explain(QUESTION[1])


def false_ones(
    explained: Explained, shapes: dict[str, Shape], *, known: bool, omit: str = "remove", **options: Any
) -> list[str]:
    """What differs from brute force and is proved; with ``known``, also what is not proved."""
    faults, kinds = list[str](), dict[str, int]()
    for name, shape in shapes.items():
        salt = deciding(shape, omit)
        truth = by_brute_force(shape, salt, omit)
        try:
            explanation = explained(scripted(salt), shape, omit=omit, miner="exact", **options)
        except SourceLeak:
            kinds["refused"] = kinds.get("refused", 0) + 1
            continue
        names = [each.id for each in explanation.sources]

        def truth_of(kept: tuple[str, ...], truth: Any = truth, names: Any = names) -> bool:
            return truth[tuple(f"turn {names.index(each) + 1}" for each in kept)]

        wrong, unknown, is_proved = tallied(explanation, truth_of)
        if (wrong and is_proved) or (known and (unknown or wrong or not is_proved)):
            faults.append(f"{name}: {wrong} wrong, {unknown} unknown, {explanation.warnings}"[:400])
        kind = "UNKNOWN" if unknown else "proved" if is_proved else "unverified"
        kinds[kind] = kinds.get(kind, 0) + 1
    print(f"{len(shapes)} shapes: {kinds}, {len(faults)} faults")
    return faults


@pytest.mark.parametrize(
    ("framework", "omit", "first"),
    [
        (of_a_checkpointer, "remove", 0),
        (of_a_checkpointer, "blank", 1),
        (of_a_history, "remove", 2),
        (of_a_history, "blank", 3),
        (of_a_buffer, "remove", 4),
        (of_a_buffer, "blank", 5),
    ],
)
def test_probes_are_runs_without_the_memory(framework: Explained, omit: str, first: int) -> None:
    assert not false_ones(framework, some(ALL, first, 9), known=True, omit=omit)


@pytest.mark.slow
@pytest.mark.parametrize("omit", ["remove", "blank"])
@pytest.mark.parametrize("framework", [of_a_checkpointer, of_a_history, of_a_buffer])
def test_all_probes_are_runs_without_the_memory(framework: Explained, omit: str) -> None:
    assert not false_ones(framework, ALL, known=True, omit=omit)


def test_what_an_application_makes_of_a_memory_of_its_own_is_not_proved() -> None:
    assert not false_ones(of_its_own, some(ALL, 0, 3), known=False)


@pytest.mark.slow
@pytest.mark.parametrize("omit", ["remove", "blank"])
def test_nothing_that_it_makes_of_a_memory_of_its_own_is_proved(omit: str) -> None:
    assert not false_ones(of_its_own, ALL, known=False, omit=omit)


def test_a_text_that_the_user_names_has_nothing_to_do_with_the_examples() -> None:
    names = ["another agent alone", "another agent with the conversation"]
    shapes = {name: INNOCENT[name] for name in names}
    assert not false_ones(of_examples, shapes, known=True, ignore=["You pay bills.*"])


SECTIONS = {"Refunds": "Twenty days for all.", "Tone": "Kind and brief, Ann."}


def system(kept: Iterable[str]) -> str:
    return "".join(f"# {name}\n{text}\n" for name, text in SECTIONS.items() if name in set(kept))


MADE_OF_SECTIONS: dict[str, Callable[[str], Messages]] = {
    "in few words": lambda said: [("system", " ".join(said.split()[3:5])), QUESTION],
    "renamed": lambda said: [("system", said.replace("# Refunds", "# Money")), QUESTION],
    "reworded": lambda said: [("system", said.replace("Twenty days", "20 d.")), QUESTION],
    "moved to the user": lambda said: [("user", f"{QUESTION[1]} {said[:30]}")],
    "without a heading": lambda said: [("system", said.replace("#", "")), QUESTION],
    "in one line": lambda said: [("system", " ".join(said.split())), QUESTION],
    "another level": lambda said: [("system", said.replace("# ", "## ")), QUESTION],
    "as a tag": lambda said: [("system", f"<rules>{said}</rules>"), QUESTION],
    "count of sections": lambda said: [("system", f"{said.count('#')} rules"), QUESTION],
    "initials of it": lambda said: [("system", "".join(each[0] for each in said.split())), QUESTION],
    "a number of it": lambda said: [("system", str(len(said))), QUESTION],
    "a flag of it": lambda said: [("system", "Pay!" if "Twenty" in said else "No."), QUESTION],
    "upper case of it": lambda said: [("system", said.upper()), QUESTION],
    "backwards": lambda said: [("system", said[::-1]), QUESTION],
    "as an example": lambda said: [("user", "Rules?"), ("assistant", said[10:20]), QUESTION],
    "as the user": lambda said: [("user", said), QUESTION],
    "names of it": lambda said: [("system", " ".join(said.split("# ")[1:])[:9]), QUESTION],
    "hash of it": lambda said: [
        ("system", hashlib.sha256(said.encode()).hexdigest()[:6]),
        QUESTION,
    ],
    "words in order": lambda said: [("system", " ".join(sorted(said.split()))), QUESTION],
    "short words of it": lambda said: [
        ("system", " ".join(each for each in said.split() if len(each) < 5)),
        QUESTION,
    ],
}
FIXED_SYSTEM: dict[str, Callable[[str], Messages]] = {
    "the same instructions": lambda said: [("system", said), QUESTION] if said else [QUESTION],
    "with something new": lambda said: [
        *([("system", said)] if said else []),
        QUESTION,
        ("user", "Now what? Now what?"),
    ],
}


def conversing(ask: Callable[[Messages], str], later: Callable[[str], Messages], said: str) -> str:
    first = ask([*([("system", said)] if said else []), QUESTION])
    return ask([*later(said), ("assistant", first), ASKED])


def explain_sections(
    tell: Tell, later: Callable[[str], Messages], *, where: str, ignore: Sequence[str] = ()
) -> Explanation:
    """``where``: where the application has its instructions: in its "input", in a "constant", or in
    "both", and then it takes the constant."""
    model, said = telling(tell), system(SECTIONS)

    def ask(messages: Messages) -> str:
        return model.invoke(messages).text

    def constant(_: Any) -> str:
        return conversing(ask, later, said)

    def passed(messages: Any) -> str:
        own = "".join(each["content"] for each in messages if each["role"] == "system")
        return conversing(ask, later, own)

    asked: Any = [{"role": "user", "content": QUESTION[1]}]
    if where != "constant":
        asked.insert(0, {"role": "system", "content": said})
    explainer = OfLangChain(
        RunnableLambda(passed if where == "input" else constant),
        contains("is paid"),
        source_kinds=["instructions"],
        miner="exact",
        ignore=[r"Now what\?", *ignore],
    )
    return explainer.explain(asked)


def of_sections(later: Callable[[str], Messages], salt: int, kept: Sequence[str]) -> bool:
    tell = scripted(salt)
    return conversing(tell, later, system(kept)) == PAID


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("where", ["input", "constant"])
@pytest.mark.parametrize("name", [*MADE_OF_SECTIONS, *FIXED_SYSTEM])
def test_what_an_application_makes_of_its_instructions(name: str, where: str) -> None:
    check_made_of_instructions(name, where)


@pytest.mark.parametrize("name", ["renamed", "the same instructions"])
def test_what_it_makes_of_those_of_its_own_that_are_in_the_input_too(name: str) -> None:
    check_made_of_instructions(name, "both")


def check_made_of_instructions(name: str, where: str) -> None:
    later = {**MADE_OF_SECTIONS, **FIXED_SYSTEM}[name]
    subsets = [(), ("Refunds",), ("Tone",), ("Refunds", "Tone")]
    tables = {salt: [of_sections(later, salt, each) for each in subsets] for salt in range(16)}
    paid = [salt for salt, table in tables.items() if table[-1]]
    salt = next((salt for salt in paid if not all(tables[salt])), paid[0])
    explanation = explain_sections(scripted(salt), later, where=where)
    wrong, unknown, is_proved = tallied(
        explanation,
        lambda kept: of_sections(later, salt, [each.partition(": ")[2] for each in kept]),
    )
    kind = "UNKNOWN" if unknown else "proved" if is_proved else "unverified"
    print(f"{name}, {where}: {kind}, {wrong} wrong")
    assert not (wrong and is_proved)
    if where == "input" or name in FIXED_SYSTEM:
        assert (unknown, wrong, is_proved) == (0, 0, True), explanation.warnings


def always(_: Sequence[tuple[str, str]]) -> str:
    return PAID


def test_the_doubt_names_the_text_and_the_way_out() -> None:
    def later(said: str) -> Messages:
        return [("system", FIXED), QUESTION]

    doubted = explain_sections(always, later, where="constant")
    assert any("You pay bills" in each and "ignore=" in each for each in doubted.warnings)
    assert {each.claim for each in doubted.rules} == {"unverified"}
    named = explain_sections(always, later, where="constant", ignore=["You pay bills.*"])
    assert not named.warnings
