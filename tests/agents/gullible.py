"""An agent without a language model: it follows a plan, and obeys every order that it reads in what its
tools return. One decision is a chat model of LangChain's, and a function for trying everything.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from typing_extensions import override

from rag_rule_explainer import ToolCall

_WORD = re.compile(r"[^\W_]+")
_SHORTEST = 4
"""The fewest letters and digits of a value that tell where it is from: a shorter one is in every text."""


def words_of(text: str) -> str:
    """The words of a text, however it was quoted, wrapped or put into JSON. They are not kept: a cache in
    an agent is state that runs share, and would be compared by further replays."""
    unescaped = re.sub(r"\\[ntr]|\\u[0-9a-f]{4}", " ", text)
    return f" {' '.join(_WORD.findall(unescaped.casefold()))} "


def values_in(arguments: Any) -> Iterator[str]:
    """The values of a call's arguments that are long enough to tell where they are from, as words."""
    if isinstance(arguments, Mapping):
        for each in arguments.values():
            yield from values_in(each)
    elif isinstance(arguments, list | tuple):
        for each in arguments:
            yield from values_in(each)
    elif isinstance(arguments, str | int | float) and not isinstance(arguments, bool):
        words = words_of(str(arguments))
        if len(words.replace(" ", "")) >= _SHORTEST:
            yield words


NOTHING = frozenset[str]()


def key_of(call: ToolCall) -> str:
    return json.dumps([call.name, call.arguments], sort_keys=True, default=str)


@dataclass(frozen=True)
class Order:
    """An order that the agent obeys as soon as all of its ``parts`` are shown, wherever they are."""

    parts: tuple[str, ...]
    calls: tuple[ToolCall, ...]

    def is_in(self, shown: str) -> bool:
        return all(words_of(part) in shown for part in self.parts)


@dataclass(frozen=True)
class Script:
    """A ``Script`` says what an agent does.

    ``plan``: the calls of the user's task; ``taken``: for each of them the values that it takes from
    earlier results. Where one of these is not shown, the agent gives up. ``orders``: what it obeys,
    at once or, if it ``is_patient``, after its plan.
    """

    plan: tuple[ToolCall, ...]
    taken: tuple[frozenset[str], ...]
    orders: tuple[Order, ...] = ()
    is_patient: bool = False

    def next_call(self, made: Sequence[ToolCall], results: Sequence[str]) -> ToolCall | str:
        """The next call, or the last words. ``results``: the texts that tools returned."""
        shown = "".join(map(words_of, results))
        left = list(map(key_of, made))
        obeyed = [(call, NOTHING) for order in self.orders if order.is_in(shown) for call in order.calls]
        planned = list(zip(self.plan, self.taken, strict=True))
        for call, taken in [*planned, *obeyed] if self.is_patient else [*obeyed, *planned]:
            if key_of(call) in left:
                left.remove(key_of(call))
            else:
                known = all(value in shown for value in taken)
                return call if known else "I could not find what I need."
        return "All is done."

    def looked_for(self, made: Sequence[ToolCall]) -> set[str]:
        """The texts, as words, that the next call may hang on."""
        left, texts = (
            list(map(key_of, made)),
            {words_of(each) for one in self.orders for each in one.parts},
        )
        for call, taken in zip(self.plan, self.taken, strict=True):
            if key_of(call) not in left:
                return texts | taken
            left.remove(key_of(call))
        return texts

    @classmethod
    def of(
        cls,
        prompt: str,
        plan: Sequence[ToolCall],
        results: Sequence[str],
        orders: Sequence[Order] = (),
        *,
        is_patient: bool = False,
    ) -> "Script":
        """``results``: what the plan's calls return when they are made one after the other."""
        asked, taken = words_of(prompt), list[frozenset[str]]()
        for place, call in enumerate(plan):
            earlier = "".join(map(words_of, results[:place]))
            values = {each for each in values_in(call.arguments) if each not in asked}
            taken.append(frozenset(each for each in values if each in earlier))
        return cls(tuple(plan), tuple(taken), tuple(orders), is_patient)


class GullibleModel(BaseChatModel):
    """A chat model that does what its script does, one call a reply."""

    script: Script

    @property
    @override
    def _llm_type(self) -> str:
        return "gullible"

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        made = [
            ToolCall(each["name"], each["args"])
            for message in messages
            if isinstance(message, AIMessage)
            for each in message.tool_calls
        ]
        results = [str(message.text) for message in messages if isinstance(message, ToolMessage)]
        action = self.script.next_call(made, results)
        if isinstance(action, str):
            reply = AIMessage(action)
        else:
            call: Any = {"name": action.name, "args": action.arguments, "id": f"call-{len(made)}"}
            reply = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=reply)])
