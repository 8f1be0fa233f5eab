"""gate(): tools with an artifact, whose content is put together of what is kept, and tools of classes."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langchain_rag_rule_explainer import RuleExplainer, gate
from langchain_rag_rule_explainer.artifacts import ToolResult

from rag_rule_explainer import Explanation, InvalidInput, NoSourcesCaptured
from rag_rule_explainer.instrumentation.clients import ItemsOf
from tests.integrations.known import BAD, TEXTS, blames_b_and_d, ids
from tests.integrations.langchain.models import facts
from tests.integrations.langchain.zoo.agents import GIVEN, Calling

pytestmark = pytest.mark.filterwarnings("ignore")

DOCUMENTS = [
    Document(id=each.id, page_content=each.page_content, metadata={"source": f"{each.id}.txt", "page": n})
    for n, each in enumerate(facts("abcd"))
]


def joined(found: list[Document]) -> str:
    return "\n\n".join(each.page_content for each in found)


def marked(found: list[Document]) -> str:
    """As LangChain's tutorials do it."""
    return "\n\n".join(f"Source: {each.metadata}\nContent: {each.page_content}" for each in found)


def tagged(found: list[Document]) -> str:
    return "".join(f'<doc id="{d.id}" page="{d.metadata["page"]}">{d.page_content}</doc>' for d in found)


def ruled(found: list[Document]) -> str:
    return "\n---\n".join(f"- {each.page_content} ({each.metadata['source']})" for each in found)


def blocks(found: list[Document]) -> list[dict[str, str]]:
    return [{"type": "text", "text": each.page_content} for each in found]


def numbered(found: list[Document]) -> str:
    return "\n\n".join(f"[{n}] {each.page_content}" for n, each in enumerate(found, start=1))


def counted(found: list[Document]) -> str:
    return f"Found {len(found)} documents:\n\n{joined(found)}"


def shortened(found: list[Document]) -> str:
    return "\n\n".join(each.page_content[:40] for each in found)


def turned(found: list[Document]) -> str:
    return joined(found[::-1])


def tool_of(
    shown: Callable[[list[Document]], Any], seen: list[Any], *, awaited: bool = False, **made: Any
) -> BaseTool:
    def search(query: str) -> tuple[Any, Any]:
        """Finds documents."""
        seen.append(query)
        return shown(DOCUMENTS), made.get("artifact", DOCUMENTS)

    async def asearch(query: str) -> tuple[Any, Any]:
        return search(query)

    functions: Any = {"coroutine": asearch} if awaited else {"func": search}
    return StructuredTool.from_function(
        **functions, name="search", description="Finds documents.", response_format="content_and_artifact"
    )


def explained(tool: BaseTool) -> Explanation:
    agent: Any = create_agent(Calling(tool="search"), [tool])
    return RuleExplainer(agent, predicate=BAD).explain(GIVEN)


def told(content: Any) -> Any:
    """Without the ids that LangChain gives to blocks."""
    if isinstance(content, str):
        return content
    return [{key: each[key] for key in each if key != "id"} for each in content]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("shown", [joined, marked, tagged, ruled, blocks])
def test_a_content_that_joins_its_documents_is_joined_again_of_what_is_kept(shown: Any) -> None:
    contents: list[Any] = []

    class Reading(Calling):
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            contents.extend(each for each in messages if isinstance(each, ToolMessage))
            return super()._generate(messages, *args, **kwargs)

    seen: list[Any] = []
    agent: Any = create_agent(Reading(tool="search"), [gate(tool_of(shown, seen))])
    explanation = RuleExplainer(agent, predicate=BAD).explain(GIVEN)
    assert blames_b_and_d(explanation)
    assert sorted(ids(explanation)) == list(TEXTS)
    assert seen == ["why?"]
    for message in contents:
        assert told(message.content) == shown(message.artifact)
    assert {len(message.artifact) for message in contents} >= {0, 1, 3, 4}


@pytest.mark.parametrize("shown", [numbered, counted, shortened, turned, lambda found: {"n": len(found)}])
def test_a_content_that_is_made_otherwise_is_refused_and_says_what_to_do(shown: Any) -> None:
    with pytest.raises(InvalidInput, match=r"the tool 'search'.*Gate the search that it calls") as caught:
        explained(gate(tool_of(shown, [])))
    assert "ItemsOf(take_apart, put_together)" in str(caught.value)


def test_it_is_taken_apart_by_functions_of_the_users() -> None:
    pair = ItemsOf(lambda pair: pair[1], lambda _, kept: (numbered(kept), kept))
    assert blames_b_and_d(explained(gate(tool_of(numbered, []), items_of=pair)))


@pytest.mark.slow
def test_an_async_tool_and_artifacts_of_other_kinds() -> None:
    seen: list[Any] = []
    dicts = [{"id": name, "text": text} for name, text in TEXTS.items()]
    pairs = [(each, 0.5) for each in DOCUMENTS]
    web = {
        "query": "why?",
        "results": [{"url": name, "title": name, "content": text} for name, text in TEXTS.items()],
        "response_time": 0.5,
    }
    for artifact in (dicts, pairs, web):
        tool = gate(tool_of(joined, seen, awaited=True, artifact=artifact))
        agent: Any = create_agent(Calling(tool="search"), [tool])
        assert blames_b_and_d(asyncio.run(RuleExplainer(agent, predicate=BAD).aexplain(GIVEN)))
    assert seen == ["why?"] * 3


def test_one_document_is_all_of_the_content_and_none_is_no_source() -> None:
    def search(query: str) -> tuple[str, list[Document]]:
        """Finds documents."""
        return f"Just one: {TEXTS['b']} {TEXTS['d']}", [Document(id="b", page_content=TEXTS["b"])]

    one = StructuredTool.from_function(search, response_format="content_and_artifact")
    explanation = explained(gate(one))
    assert [rule.sources for rule in explanation.rules] == [("b",), ("b",)]
    nothing = gate(tool_of(lambda _: "Nothing was found.", [], artifact=[]))
    with pytest.raises(NoSourcesCaptured) as found_nothing:
        explained(nothing)
    assert "gate(tool)" not in str(found_nothing.value)


def test_a_tool_that_may_search_is_named_where_no_search_was_seen() -> None:
    def search(query: str) -> str:
        """Finds documents."""
        return f"{TEXTS['b']} {TEXTS['d']}"

    with pytest.raises(NoSourcesCaptured, match=r"searches \('search'\), pass gate\(tool\) in its place"):
        explained(StructuredTool.from_function(search))


class Searching(BaseTool):
    """A tool of a class of its own, which is told who runs it."""

    name: str = "search"
    description: str = "Finds documents."

    def _run(self, query: str, run_manager: Any = None) -> list[str]:
        assert run_manager is not None
        return list(TEXTS.values())


class AwaitedSearching(Searching):
    """The same with an async method."""

    async def _arun(self, query: str, run_manager: Any = None) -> list[str]:
        return self._run(query, run_manager)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("kind", [Searching, AwaitedSearching])
def test_a_tool_of_a_class_of_its_own(kind: type[BaseTool]) -> None:
    tool = kind()
    gated = gate(tool)
    assert isinstance(gated, kind)
    assert tool.invoke({"query": "outside"}) == gated.invoke({"query": "outside"}) == list(TEXTS.values())
    agent: Any = create_agent(Calling(tool="search"), [gated])
    for explanation in (
        RuleExplainer(agent, predicate=BAD).explain(GIVEN),
        asyncio.run(RuleExplainer(agent, predicate=BAD).aexplain(GIVEN)),
    ):
        (rule,) = explanation.retention_rules
        told = {source.text for source in explanation.sources if source.id in rule.sources}
        assert told == {TEXTS["b"], TEXTS["d"]}
        assert not any("made live" in note for note in explanation.notes)


def test_an_artifact_that_lists_documents_among_other_fields_is_refused() -> None:
    """Its content was one source, and its rules were proved."""
    listed = {"docs": [{"id": "a", "text": "first"}], "advice": "take a"}
    with pytest.raises(InvalidInput, match=r"the tool 'search'.*among other fields.*items_of="):
        ToolResult("search").rows(("first second", listed))
    assert ToolResult("search").rows(("first", {"took": 3})) is not None


def test_an_artifact_that_lists_documents_beside_their_number_is_cut() -> None:
    documents = [{"id": "a", "text": "first"}, {"id": "b", "text": "second"}]
    pair = ("first\n\nsecond", {"docs": documents, "total": 2})
    result = ToolResult("search")
    (row,) = result.rows(pair) or [[]]
    assert [result.read(each) for each in row] == [("first", "a", {}), ("second", "b", {})]
    assert result.response([row], pair) == pair
    assert result.response([row[1:]], pair) == ("second", {"docs": documents[1:], "total": 1})


def test_json_content_without_documents_in_its_artifact_is_cut() -> None:
    content = '[{"id": "a", "text": "first"}, {"id": "b", "text": "second"}]'
    result = ToolResult("search")
    (row,) = result.rows((content, None)) or [[]]
    assert [each and each.text for each in map(result.read, row)] == ["first", "second"]
    assert result.response([row], (content, None)) == (content, None)
    assert result.response([row[:1]], (content, None)) == ('[{"id": "a", "text": "first"}]', None)
    assert result.response([[]], (content, None)) == ("[]", None)
