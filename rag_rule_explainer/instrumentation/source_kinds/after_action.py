"""If an action of an agent is explained, replays cannot show everything. This module makes notes that
tell this to the reader of the explanation. The kinds of note:

- Some sources are results of tools that were called together with the explained action (a tool call) or
  after it. So they did not lead to the action in the first run.
- Recorded replies of the model, which every replay gets, contain the text of some sources. So this text
  stays in the conversation even if these sources are omitted.
- Models replied after sources before the explained action, so sources may decide through these replies.
- The application itself called the tool of the action, and no model did.
- The application itself left some turns of the conversation out of its requests.
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from ...explanation.wording import few_of
from ...predicates.only_calls import reads_only_calls
from ...printable import printable, shortened
from ...probing.wholeness import Said
from ...sources import Source
from ...verdicts import Answer
from ..chosen_reply import holds_at_once
from ..doubts import pattern_of
from ..executed_calls import NotedResult
from ..options import Manner
from ..recording.serving import SOURCE_KIND
from ..requests.source_recognition import Request, Sight
from ..requests.volatile import Steady
from ..run_record import Participation
from .kinds import SourceKind
from .prompt_sources import SPEAKING
from .tool_sources import ToolSources

_AFTER = (
    "{named} came after the action of the first run and did not lead to it there; that may be otherwise "
    "in runs without other sources. replay_of='next_action' leaves out what came after it"
)
_REPEATED = (
    "fidelity not checked: replies of the model before the explained action repeat {named}, and every "
    "replay has these replies, also where they are omitted. What they do through these replies is not "
    "seen; replay_of='whole_run' shows it"
)
_EARLIER = (
    "{count} of the model before the explained request came after sources, and every replay was given "
    "{them} as recorded. So this says only that no source decides about the next action given the "
    "recorded conversation; what sources did through {them} is not seen: replay_of='whole_run' shows it"
)
_BY_THE_APPLICATION = (
    "no reply of a model calls {name!r}: the application itself called it after the explained reply, "
    "perhaps because of an earlier one, which every replay was given as recorded; replay_of='whole_run' "
    "shows what led to it"
)
_WITHOUT = "no source of the kind {kind!r} was found, so rules say nothing about this kind: {why}"
_NO_TURN = "the first request to a model has no earlier message of a user with a reply that {where}"
_WHY_WITHOUT: dict[SourceKind, str] = {
    "documents": "nothing was retrieved",
    "tools": "no tool that counts returned anything",
    "turns": _NO_TURN.format(where="is in the input"),
    "memory": _NO_TURN.format(where="the application remembers"),
    "examples": _NO_TURN.format(where="stands in the prompt"),
    "instructions": "the first request to a model has no system message",
}
_DROPPED = (
    "later requests of the run lack messages of {named}, as the application drops old ones; where it is "
    "not given an omitted turn at all, it may keep another one in its place"
)
_DOUBTFUL = (
    "fidelity not checked: a number in the result with {name} ({line}) may count the items or give their "
    "places, and replays that omit items leave it as it is. Let the tool say what it means, as 'Found 3 "
    "mails:' or 'Result 1:' do, or return JSON. If it has nothing to do with the number of items, say "
    "so: ignore=[r{pattern!r}]"
)
_UNVARIED = (
    "fidelity not checked: a model was shown the text of an error of the tool {name}, and no replay can "
    "leave it out, as the error cannot be copied without its text. Let the tool return the text instead, "
    "or raise an error that has only the text, such as ValueError(text)"
)
_LEFT_OUT = (
    "the first request of the run lacks {count} of the earlier messages that the application remembers "
    "or was given, the first of them {text}, as a limit of a memory leaves them out: they are no sources"
)


def dropped_by_the_application(first: Participation, given: object) -> Iterator[str]:
    """Yields a note if the application itself leaves turns out of requests to models. One note is about
    turns in the application's input or memory that are missing in the first request. Another note is
    about turns that are missing only in a later request. ``given``: the input of the run."""
    prompts = first.prompt_sources
    remembered = [] if prompts is None else [*first.state.before.values(), given]
    shown = () if prompts is None else [each.text for each in prompts.messages]
    found = dict.fromkeys(text for each in remembered for text in _said_in(each))
    left = [text for text in found if not any(text in each for each in shown)]
    if shown and left:
        yield _LEFT_OUT.format(count=len(left), text=repr(shortened(left[0], 60)))
    dropped: Sequence[str] = () if first.prompt_sources is None else first.prompt_sources.dropped
    if dropped:
        yield _DROPPED.format(named=few_of(dropped, 120))


def kinds_without_sources(
    first: Participation, manner: Manner, sources: Sequence[Source]
) -> Iterator[str]:
    """Yields a note for each kind of sources that the user asked for, and that none of ``sources``
    has."""
    found = {str(each.metadata.get(SOURCE_KIND) or "documents") for each in sources}
    is_told = first.prompt_sources is not None and first.prompt_sources.unvaried
    for kind in manner.source_kinds:
        if kind not in found and not (is_told and kind in {"turns", "memory"}):
            yield _WITHOUT.format(kind=kind, why=_WHY_WITHOUT[kind])


def _said_in(value: Any) -> Iterator[str]:
    """Yields the texts of users and models in the messages in a value. The messages must be dicts with a
    "role", as in memories of LlamaIndex."""
    if isinstance(value, (list, tuple)):
        for each in cast("Sequence[Any]", value):
            yield from _said_in(each)
    elif isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        if entries.get("role") in SPEAKING:
            blocks: Any = entries.get("blocks") or ()
            texts = [entries.get("content"), *(each.get("text") for each in blocks)]
            yield from (each for each in texts if isinstance(each, str) and each.strip())
        else:
            yield from _said_in(list(entries.values()))


def doubts_of_sources(first: Participation, sight: Sight, steady: Steady) -> str:
    """Returns the first reason why no rule can be proved, as a source was not varied as it should be;
    empty if there is none. ``steady``: has the user's ``ignore`` patterns."""
    found = first.tool_sources
    if first.prompt_sources is not None and first.prompt_sources.unvaried:
        return first.prompt_sources.unvaried
    if isinstance(found, ToolSources) and found.unvaried:
        return _UNVARIED.format(name=repr(found.unvaried[0]))
    several = found.doubtful() if isinstance(found, ToolSources) else ()
    unknown = next(((name, line) for name, line in several if not steady.is_ignored(line)), None)
    if unknown is None:
        return _repeated_by_replies(first, sight)
    name, line = unknown
    shown = shortened(printable(line), 60)
    return _DOUBTFUL.format(name=name, line=repr(shown), pattern=pattern_of(line[:60]))


def _repeated_by_replies(first: Participation, sight: Sight) -> str:
    """Returns a warning if an agent's next action is explained, and a recorded reply before this action
    contains the text of a source. This text stays in the conversation even if the source is omitted.
    Returns an empty text if no reply contains such a text."""
    if first.action is None:
        return ""
    before = first.watch.said[:-1]
    calls = (str(call.arguments) for each in before for call in each.called)
    ids = sorted(sight.seen_in([Request(text) for text in (*(each.text for each in before), *calls)]))
    return _REPEATED.format(named=few_of(ids, 120)) if ids else ""


def after_earlier_replies(first: Participation, sight: Sight) -> str:
    """Returns a note for an explanation that finds that no source decides about an agent's next action,
    if models had replied after sources before this action: sources may have decided through these
    replies, which every replay gets. Returns an empty text if there are no such replies."""
    if first.action is None or not first.action.served:
        return ""
    requests = [each for each in list(first.watch.exchanges)[:-1] if each.said is not None]
    results = [each.at for each in first.tool_record.noted if _has_sources(first, each)]
    is_in_all = first.prompt_sources is not None and bool(first.prompt_sources.sources)
    count = sum(
        is_in_all or any(at < each.at for at in results) or bool(sight.seen_in([each.request]))
        for each in requests
    )
    if not count:
        return ""
    said = "1 reply" if count == 1 else f"{count} replies"
    return _EARLIER.format(count=said, them="it" if count == 1 else "them")


def _has_sources(first: Participation, noted: NotedResult) -> bool:
    return first.tool_sources is not None and bool(first.tool_sources.ids_in(noted))


def called_by_the_application(first: Participation) -> Iterator[str]:
    """Yields a note if an agent's next action is explained, and no model called the tool of this action:
    the application called it, and the model's reply does not name it either."""
    said = first.watch.said[-1] if first.action is not None and first.watch.said else None
    if first.action is None or said is None or said.called:
        return
    for call in first.action.answer.calls or ():
        if call.name.lower() not in said.text.lower():
            yield _BY_THE_APPLICATION.format(name=call.name)


def came_after_the_action(first: Participation, manner: Manner, question: str) -> Iterator[str]:
    """Yields a note if a whole run is explained, and some of its sources are results of tools that were
    called together with the action or later. The action is the tool call with which the condition first
    holds. These results are still sources, because a replay without earlier results may take the action
    later, when it already has these results."""
    found, condition = first.tool_sources, manner.condition
    if found is None or first.action is not None or not reads_only_calls(condition):
        return
    made = _replies_before(first.watch.said, condition, question)
    if made is not None:
        record = first.tool_record
        late = [each for each in (*record.noted, *record.failed) if each.replies >= made]
        ids = [identity for each in late for identity in found.ids_in(each)]
        if ids:
            yield _AFTER.format(named=few_of(ids, 120))


def _replies_before(said: Sequence[Said], condition: object, question: str) -> int | None:
    """Returns the number of the model's reply with which the condition first held. (The condition is
    about tool calls.) Returns None if the condition never held, or if it also holds when no tool is
    called."""
    if holds_at_once(condition, Answer("", calls=()), question):
        return None
    for count in range(1, len(said) + 1):
        calls = tuple(call for reply in said[:count] for call in reply.called)
        if holds_at_once(condition, Answer("", calls=calls), question):
            return count
    return None
