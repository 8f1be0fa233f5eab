"""This module makes agents whose tool ``policy`` may read what the run has made. Each calls ``block`` iff
the text of this tool says so, and the truth about a source is what the agent does without it."""

import itertools
import json
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from rag_rule_explainer import Explanation

Omitted: TypeAlias = Collection[str]
Shape: TypeAlias = Callable[[Omitted], Any]
"""A function that makes an application without the results of tools, or items, that are omitted."""
MAILS = ["please pay", "lunch", "account 4711"]
ASKED = {"messages": [("user", "What is new?")]}
ORDER = ("inbox", "policy")


class Scripted(BaseChatModel):
    """A ``Scripted`` calls the tools of ``order``, and then ``block`` iff ``policy`` says so."""

    order: Sequence[str] = ORDER
    noting: bool = False
    """True if it calls ``remember`` after a mail with an account."""
    by_prompt: bool = False
    """True if it also goes by what the system's prompt says."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        called = [
            each["name"] for one in messages if isinstance(one, AIMessage) for each in one.tool_calls
        ]
        prompts = (str(each.content) for each in messages if isinstance(each, SystemMessage))
        said = "\n".join([told(messages), *(prompts if self.by_prompt else ())])
        wanted = next_call(called, said, self.order, noting=self.noting)
        calls: list[Any] = [{"name": wanted, "args": {}, "id": f"c{len(messages)}"}] if wanted else []
        reply = AIMessage("" if calls else "done", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=reply)])


def next_call(
    called: Sequence[str], said: str, order: Sequence[str] = ORDER, *, noting: bool = False
) -> str:
    """Returns the tool that the model calls next; empty if it answers. ``said``: what tools returned."""
    if noting and "inbox" in called and "4711" in said and "remember" not in called:
        return "remember"
    left = [each for each in order if each not in called]
    if left:
        return left[0]
    return "block" if "policy: block" in said and "block" not in called else ""


def told(messages: Sequence[Any]) -> str:
    """Returns the texts that tools have returned in a conversation."""
    return "\n".join(str(each.content) for each in messages if isinstance(each, ToolMessage))


def cut(source: str, result: Any, omitted: Omitted) -> Any:
    """Returns the result of a tool without what is omitted of it."""
    if source in omitted:
        return type(result)()
    if not isinstance(result, list):
        return result
    items: list[Any] = [*result]
    return [each for place, each in enumerate(items, 1) if f"{source}, item {place}" not in omitted]


def policy_for(text: object) -> str:
    """Returns what ``policy`` returns where it has read a text."""
    return "policy: block" if "4711" in str(text) else "policy: allow"


def calls_in(output: Any) -> list[str]:
    """Returns the names of the tools that a run called."""
    if isinstance(output, str):
        return list(json.loads(output))
    messages = [each for each in output["messages"] if isinstance(each, AIMessage)]
    return [each["name"] for one in messages for each in one.tool_calls]


def false_rules(explanation: Explanation, calls_block: Callable[[Omitted], bool]) -> list[str]:
    """Returns the rules, other than unverified ones, that a real run contradicts. ``calls_block``: runs
    the application without sources."""
    ids = [each.id for each in explanation.sources]
    subsets = [frozenset(each) for n in range(len(ids) + 1) for each in itertools.combinations(ids, n)]
    truth = {each: calls_block(frozenset(ids) - each) for each in subsets}
    found = list[str]()
    for rule in explanation.rules:
        own = frozenset(rule.sources)
        if str(rule.kind.value) == "retention":
            is_false = any(not true for kept, true in truth.items() if own <= kept)
        else:
            is_false = any(true for kept, true in truth.items() if not own & kept)
        if is_false and not explanation.doubted:
            found.append(str(rule))
    return found
