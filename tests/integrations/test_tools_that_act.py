"""A tool that retrieves runs in replays, as its documents are the sources. Where it also acts, it is
refused by name before any replay, or stopped in the replay that would act."""

import json
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import llama_index_rag_rule_explainer
import plain_rag_rule_explainer
import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool
from plain_rag_rule_explainer import gate, offline_client
from typing_extensions import override

from rag_rule_explainer import Explanation, InvalidInput, Verdict, calls_tool, contains
from tests.integrations.acting import Doing, World, acts_of, harmless_of
from tests.integrations.known import TEXTS, blames_b_and_d, shown_in
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts, sent_in
from tests.integrations.llama_index.engines import retriever_of
from tests.integrations.llama_index.models import Telling as TellingLlama

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]
ASKED: Any = {"messages": [("user", "why?")]}
ACTS = (
    *("a file", "a file that goes", "a process", "a shell", "a request", "a message", "a mail"),
    *("an open socket", "an open file", "a database"),
)
HARMLESS = (
    *("nothing", "a list", "a log", "a file that it reads", "a request that reads", "rows"),
    *("a request that ranks", "a command that reads", "a temporary folder"),
)


class Paying(Telling):
    """Searches first, and pays where b and d are shown."""

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        done = [each.name for each in messages if isinstance(each, ToolMessage)]
        pays = {"b", "d"} <= set(sent_in(messages)) and "pay" not in done
        name = "search" if "search" not in done else "pay" if pays else ""
        made: Any = [{"name": name, "args": {}, "id": str(len(messages))}] if name else []
        return ChatResult(
            generations=[ChatGeneration(message=AIMessage("" if made else "Done.", tool_calls=made))]
        )


@pytest.fixture
def world(tmp_path: Path) -> Generator[World]:
    with World(tmp_path).served() as served:
        yield served


def in_langchain(doing: Doing, names: str = "abcd") -> Any:
    """An agent whose search also does this."""
    found = Counting(documents=facts(names))

    @tool
    def search() -> str:
        """Search."""
        documents = found.invoke("facts")
        doing()
        return "\n\n".join(each.page_content for each in documents) or "nothing"

    @tool
    def pay() -> str:
        """Pay."""
        return "paid"

    return create_agent(Paying(), [search, pay])


def explained(doing: Doing, **options: Any) -> Explanation:
    return RuleExplainer(in_langchain(doing), calls_tool("pay"), **options).explain(ASKED)


def in_llama_index(doing: Doing) -> Explanation:
    found = retriever_of()

    def search(query: str) -> str:
        """Search."""
        nodes = found.retrieve(query)
        doing()
        return "\n\n".join(each.text for each in nodes) or "nothing"

    agent = FunctionAgent(tools=[FunctionTool.from_defaults(search)], llm=TellingLlama())
    explainer = llama_index_rag_rule_explainer.RuleExplainer(
        agent, contains("bad"), on_new_tool_call="unknown"
    )
    return explainer.explain("why?")


def in_plain(doing: Doing) -> Explanation:
    @gate
    def find(query: str) -> list[str]:
        return [TEXTS[each] for each in "abd"]

    @plain_rag_rule_explainer.tool
    def search() -> str:
        texts = find("facts")
        doing()
        return "\n\n".join(texts) or "nothing"

    return _in_plain(search)


def in_plain_without_a_mark(doing: Doing) -> Explanation:
    @gate
    def find(query: str) -> list[str]:
        return [TEXTS[each] for each in "abd"]

    def search() -> str:
        texts = find("facts")
        doing()
        return "\n\n".join(texts) or "nothing"

    return _in_plain(search)


def _in_plain(search: Callable[[], str]) -> Explanation:
    def says(body: Any) -> Any:
        results = [str(each["content"]) for each in body["messages"] if each["role"] == "tool"]
        if results:
            return "bad news" if {"b", "d"} <= set(shown_in(results[0])) else "good news"
        function = {"name": "search", "arguments": json.dumps({})}
        return {"tool_calls": [{"id": "1", "type": "function", "function": function}]}

    client = offline_client(says)

    def answer(question: str) -> str:
        messages: list[Any] = [{"role": "user", "content": question}]
        message = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        messages += [
            {"role": "tool", "tool_call_id": each.id, "content": search()}
            for each in message.tool_calls or ()
        ]
        return (
            client.chat.completions.create(model="m", messages=messages).choices[0].message.content or ""
        )

    explainer = plain_rag_rule_explainer.RuleExplainer(
        answer, contains("bad"), on_new_tool_call="unknown"
    )
    return explainer.explain("why?")


@pytest.mark.parametrize("act", ACTS)
def test_a_tool_that_also_acts_is_refused_before_any_replay(world: World, act: str) -> None:
    doing, what = acts_of(world)[act]
    runs = list[str]()

    def noting() -> None:
        doing()
        runs.append(act)

    with pytest.raises(InvalidInput, match=f"'search' retrieves.*{what}.*safe_tools=\\['search'\\]"):
        explained(noting)
    assert len(runs) == 1


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("harmless", HARMLESS)
@pytest.mark.parametrize("way", ["whole_run", "next_action"])
def test_a_tool_that_does_no_harm_is_explained(world: World, harmless: str, way: Any) -> None:
    kept = list[str]()
    explanation = explained(harmless_of(world, kept)[harmless], replay_of=way)
    assert blames_b_and_d(explanation)
    assert all(each.proved for each in explanation.rules), explanation
    assert not explanation.warnings


def test_a_note_says_how_often_a_tool_ran() -> None:
    kept = list[str]()
    explanation = explained(lambda: kept.append("found"))
    times = len(kept) - 1
    note = f"the function of the tool 'search', which retrieves, ran in replays, {times} times in all"
    assert note in explanation.notes
    assert not any("'pay'" in each for each in explanation.notes)


def test_a_tool_that_is_named_safe_acts_again(world: World) -> None:
    explanation = explained(world.writes, safe_tools=["search"])
    assert blames_b_and_d(explanation)
    assert all("'search'" in each for each in explanation.notes if "ran in replays" in each)


@pytest.mark.parametrize("way", [in_llama_index, in_plain, in_plain_without_a_mark])
@pytest.mark.parametrize("act", ["a file", "a request"])
def test_other_frameworks_refuse_as_well(
    world: World, way: Callable[[Doing], Explanation], act: str
) -> None:
    doing, what = acts_of(world)[act]
    with pytest.raises(InvalidInput, match=f"'search' retrieves.*{what}"):
        way(doing)
    explanation = way(lambda: None)
    assert len(explanation.rules) == 3
    assert all(each.proved for each in explanation.rules)


@pytest.mark.parametrize("act", ["a file", "a request", "an open socket", "a process"])
def test_an_act_of_replays_alone_is_stopped_before_it_happens(world: World, act: str) -> None:
    """The search tells somebody where it finds little, which the first run did not."""
    found, doing = Counting(documents=facts("abcd")), acts_of(world)[act][0]

    @tool
    def search() -> str:
        """Search."""
        documents = found.invoke("facts")
        if len(documents) < 3:
            doing()
        return "\n\n".join(each.page_content for each in documents) or "nothing"

    before = world.state()
    explanation = RuleExplainer(
        create_agent(Paying(), [search]), calls_tool("pay"), unexecuted_tools=["pay"]
    ).explain(ASKED)
    assert world.state() == before
    judged = [each for probe in explanation.probes for each in probe.verdicts.values()]
    reasons = [each.reason for each in judged if each.verdict == Verdict.UNKNOWN]
    assert reasons
    assert all("ended before the tool 'search'" in each for each in reasons)


def test_where_all_tools_run_a_warning_names_it(world: World) -> None:
    agent = in_langchain(world.writes)
    explanation = RuleExplainer(agent, contains("Done")).explain(ASKED)
    assert any(
        "'search' retrieves" in each and "writes the file" in each for each in explanation.warnings
    )
