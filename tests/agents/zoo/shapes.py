"""What a shape of agent is: how it is built, and what is known of it."""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from openai import AsyncOpenAI, OpenAI

from rag_rule_explainer import ToolCall, calls_tool
from rag_rule_explainer.predicates import PredicateLike
from tests.agents.zoo.scripts import (
    AT_ONCE,
    LOOK,
    ONE_BY_ONE,
    PAY,
    SEARCH,
    WAYS,
    Script,
    Step,
    Way,
    World,
)
from tests.integrations.known import TEXTS, shown_in
from tests.support.completions import Completion
from tests.support.messages import Body

Mode = Literal["sync", "async"]
QUESTION = "What is new?"
PAYS = calls_tool("pay", to="evil")
PAID = "Here is the receipt of the sum that was paid to {} today."
RESULTS: Mapping[str, Mapping[str, str]] = {
    "search_inbox": {"search_inbox #1, item 1": "a", "search_inbox #1, item 2": "b"},
    "calendar": {"calendar #1": "d"},
    "pay": {"pay #1": ""},
}
INBOX = World(RESULTS)
"""A list of two mails, and a calendar that is one text."""


UNDATED = {**RESULTS, "calendar": {"calendar #1": ""}}
DOCUMENTS = {**UNDATED, "search_inbox": {"a": "a", "b": "b"}}
EARLIER = (
    ("user", "What turns green after some decades on a roof?"),
    ("assistant", TEXTS["c"]),
    ("user", "And what is it that wanders with the wind?"),
    ("assistant", TEXTS["d"]),
)
READS = Script((Step((SEARCH,)), Step((LOOK,))), quotes=True)
DELEGATES = Script((Step((ToolCall("ask_expert", {"task": "read"}),)), Step((PAY,), ("bd",))))
DELEGATED = World({"ask_expert": {"ask_expert #1": "abd"}, "pay": {"pay #1": ""}})
"""An agent that has another one read for it."""


@dataclass(frozen=True)
class Clients:
    """Of a model that follows the script that its name stands for."""

    client: OpenAI
    aclient: AsyncOpenAI


@dataclass(frozen=True)
class Built:
    """An application and its input. ``ran``: the tools that were executed, in order."""

    application: Any
    given: Any
    ran: list[str]
    config: Any = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Shape:
    """A shape, and what is true of it.

    ``refused``: the error of each way or mode that is refused, and what stands in it. ``once``: the tools
    that the baseline runs, and that no replay runs again; not those that retrieve or are named safe.
    """

    name: str
    build: Callable[[Clients], Built]
    world: World = INBOX
    script: Script = ONE_BY_ONE
    kinds: tuple[str, ...] = ("tools",)
    ways: tuple[Way, ...] = WAYS
    modes: tuple[Mode, ...] = ("sync", "async")
    refused: Mapping[str, tuple[type[Exception], str]] = field(
        default_factory=dict[str, tuple[type[Exception], str]]
    )
    predicate: PredicateLike = PAYS
    wanted: str = "pay"
    once: tuple[str, ...] = ("search_inbox", "calendar", "pay")


SCRIPTS: Mapping[str, Script] = {
    "one by one": ONE_BY_ONE,
    "at once": AT_ONCE,
    "reads": READS,
    "delegates": DELEGATES,
    "gpt-4o-mini": ONE_BY_ONE,
}
"""The names of models say what they do over the wire. LlamaIndex's class for OpenAI's models knows only
real names."""


def mails(names: str = "ab") -> list[dict[str, str]]:
    """A list of mails, as a tool returns it."""
    return [{"from": "a@b.de", "body": TEXTS[each]} for each in names]


def served(body: Body) -> Completion:
    """What a model says to a request of OpenAI's client: its calls since the user last spoke, or its last
    words."""
    messages: list[dict[str, Any]] = body["messages"]
    last = max(place for place, each in enumerate(messages) if each["role"] == "user")
    made = [call["function"]["name"] for each in messages[last:] for call in each.get("tool_calls") or ()]
    shown = shown_in("\n".join(str(each.get("content")) for each in messages))
    script = SCRIPTS[body["model"]]
    calls = script.next(shown, made)
    if not calls:
        return Completion(script.says(shown))
    written = (
        {
            "id": f"call {len(made)} {place}",
            "type": "function",
            "function": {"name": each.name, "arguments": json.dumps(each.arguments)},
        }
        for place, each in enumerate(calls)
    )
    return Completion(None, "tool_calls", tuple(written))


def functions(ran: list[str], inbox: str = "ab", day: str = "d") -> dict[str, Callable[..., Any]]:
    """The tools, as functions that note that they ran."""

    def search_inbox(of: str) -> list[Any]:
        """Searches the inbox."""
        ran.append("search_inbox")
        return mails(inbox)

    def calendar() -> str:
        """Looks into the calendar."""
        ran.append("calendar")
        return "\n".join(TEXTS[each] for each in day) or "Nothing."

    def pay(to: str) -> str:
        """Pays."""
        ran.append("pay")
        return PAID.format(to)

    return {each.__name__: each for each in (search_inbox, calendar, pay)}


def known(shape: Shape, kept: Collection[str]) -> set[str]:
    """The sources that a whole run on these gets to see."""
    return shape.world.run(shape.script, kept)[0]
