"""This module gathers the sources of a first run that are not retrieved documents."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast

from ...errors import InvalidInput
from ...printable import printable, shortened
from ...sources import Source
from ..application import Application
from ..copies.copying import described
from ..executed_calls import NotedResult
from ..options import CallInput, Manner
from ..recording.captured import Captured
from ..recording.serving import SOURCE_KIND
from ..result_field import FieldDoubt
from ..run_record import Participation
from ..tool_replay import ToolReplay
from .failed_calls import shown_failures
from .independence import doubted_beside
from .kinds import SourceKind
from .prompt_sources import FirstPrompt, PromptSources
from .tool_sources import ToolSources
from .unvaried_turns import NOT_CHECKED, unvaried_turns

Item = TypeVar("Item")
_MOST_ESCAPES = 3
"""The maximum number of levels of nested objects whose descriptions are searched for a text. Each level
may add escapes to the text."""
_NO_RESULTS = (
    "nothing of the kinds in source_kinds was found. Tools: no tool that the application called "
    "returned anything that could be a source; tools of the framework and functions with @tool are "
    "recorded, and an empty list or text has nothing to omit. Turns, memory, examples: the first request "
    "to a model has no earlier message of a user with a reply. Instructions: it has no system message"
)
_NONE_BEFORE = (
    "nothing of the kinds in source_kinds came before the next action that is explained, which is the "
    "reply to request {number} of {of} of the run ({reply}): it is the first that meets the condition, "
    "or one of several. Name a later action, such as by calls_tool with arguments, or leave replay_of out"
)
_NONE_AFTER = (
    "no model was asked after the tools had run, as where a tool has return_direct=True, so no next "
    "action goes by what they returned; leave replay_of out, and the whole run is explained"
)
_UNKNOWN_RUN = (
    "source_kinds and replay_of need a run that is recorded from its beginning, and this run has ended; "
    "call explain(), or leave them out"
)


def gathered(
    captured: Captured[Item],
    first: Participation,
    manner: Manner,
    application: Application[Item],
    case: CallInput,
) -> Captured[Item]:
    """Returns ``captured``, which has the retrieved documents, with added sources of the other kinds that
    the user wants, such as results of tools. Also stores the added sources in ``first.prompt_sources``
    and ``first.tool_sources``. ``first``: the baseline."""
    others = list[Source]()
    if isinstance(first.prompts, FirstPrompt):
        first.prompt_sources = _prompt_sources(first, first.prompts, manner, application, case)
        others += first.prompt_sources.sources
    if first.takes_results:
        first.tool_sources = found = ToolSources.of(
            _outermost([*_noted_in(first), *_failed_in(first)], running_tools(first, manner)),
            first.watch.said,
            application.result_content,
            manner.omit,
            [each.id for each in others],
            manner.steady,
        )
        others += found.sources
    return replace(captured, others=tuple(_named_apart(others, captured.sources))) if others else captured


def _prompt_sources(
    first: Participation,
    found: FirstPrompt,
    manner: Manner,
    application: Application[Item],
    case: CallInput,
) -> PromptSources:
    config: Any = case.config
    entries = cast("dict[str, Any]", config) if isinstance(config, dict) else {}
    configured = described(entries.get("configurable"), deep=False)
    given = [*application.texts_in(case.given), described(case.keywords), configured]
    kind_of, kinds = partial(_kind_of, first, given), manner.source_kinds
    prompts = PromptSources.of(found.messages, kind_of, kinds, manner.omit, found.dropped)
    for identity in prompts.groups.keys() - prompts.held.keys():
        texts = prompts.texts_of(identity)
        if found.memories.is_own_memory(texts):
            prompts.held[identity] = "memory"
        elif found.memories.is_in(texts, [case.given, case.keywords, entries.get("configurable")]):
            prompts.held[identity] = "turns"
        elif not found.memories.is_constant(texts):
            prompts.held[identity] = "examples"
            prompts.files[identity] = found.memories.file_with(texts)
    data = {each: prompts.texts_of(each) for each in prompts.held if each in prompts.groups}
    more = {f"config.{name}": entries.get(name) for name in ("configurable", "metadata")}
    if data:
        prompts.beside.update(found.memories.copies_of(data, prompts.asked, more, case.objects))
        given = {"beside": [case.given, case.keywords], **{name: [each] for name, each in more.items()}}
        doubted_beside(prompts, found.memories, given, [*first.state.before.values()], case.objects)
    if any(each.metadata[SOURCE_KIND] in {"turns", "memory"} for each in prompts.sources):
        return prompts
    requests = [each.text for each in first.watch.requests]
    unvaried = unvaried_turns(kinds, case.given, first.state.before.values(), requests)
    return replace(prompts, unvaried=unvaried)


def _kind_of(first: Participation, given: Sequence[str], texts: Sequence[str]) -> SourceKind:
    """Returns the kind of a turn: "turns" if the input (``given``) contains all its texts, "memory" if
    the application's memory contains all of them, otherwise "examples". ``texts``: the texts of the user
    and the model in the turn. All are compared, because a single text, such as a question in an example,
    may also be in the input by chance."""
    if _all_in(texts, given):
        return "turns"
    remembered = [described(each) for each in [*first.state.before.values()]]
    return "memory" if _all_in(texts, remembered) else "examples"


def _all_in(texts: Sequence[str], where: Sequence[str]) -> bool:
    return all(any(form in each for each in where for form in _escaped(text)) for text in texts)


def _escaped(text: str) -> set[str]:
    """Returns the forms that a text may have in the description of an object. Each object that contains
    this object may add escapes for line ends, quotes and other characters."""
    forms = {text}
    for _ in range(_MOST_ESCAPES):
        forms |= {escaped for each in forms for escaped in (repr(each)[1:-1], json.dumps(each)[1:-1])}
    return forms


def constant_texts(
    texts_in: Callable[[Any], Iterable[str]], given: Any, first: Participation
) -> Iterator[str]:
    """Yields the texts that every replay gets: the texts of the input (``given``) that are no sources. If
    only parts of prompts are sources and nothing was retrieved, also yields the recorded results of
    tools. A request with such a text does not show an omitted source. ``texts_in``: yields the texts in
    an input or a result."""
    sources = frozenset[str]() if first.prompt_sources is None else first.prompt_sources.texts
    yield from (text for text in texts_in(given) if text not in sources)
    is_of_prompts = first.prompt_sources is not None and not first.takes_results
    if is_of_prompts and not first.retrieving_tools and not first.gate.queries:
        for each in _noted_in(first):
            yield from texts_in(each.result)


def other_texts(first: Participation) -> Mapping[str, Sequence[str]]:
    """Returns, for the ids of sources that count others, the texts that they have in replays without
    some of these."""
    return first.tool_sources.other_texts if isinstance(first.tool_sources, ToolSources) else {}


def check_kinds(manner: Manner, case: CallInput, *, has_ended: bool = False) -> None:
    """Raises InvalidInput if the settings do not fit this call. There are two such cases. In the first,
    documents were passed, but ``source_kinds`` has no "documents". In the second, the run was made before
    this call (``has_ended``). Then only a whole run with documents as sources can be explained, but the
    settings ask for more."""
    if has_ended and (manner.source_kinds != ("documents",) or manner.replay_of != "whole_run"):
        raise InvalidInput(_UNKNOWN_RUN)
    if "documents" not in manner.source_kinds and (case.documents is not None or case.add_documents):
        raise InvalidInput("documents were given, and source_kinds has no 'documents'; add it")


def why_no_sources(
    first: Participation, manner: Manner, application: Application[Item], retrievals: int
) -> str:
    """Returns the reason why a run has no sources. ``retrievals``: the number of retrievals in the
    run."""
    if "documents" in manner.source_kinds:
        return application.why_nothing(retrievals)
    action, prompts = first.action, first.prompt_sources
    if prompts is not None and prompts.unvaried:
        return prompts.unvaried.removeprefix(NOT_CHECKED)
    if action is not None and action.number == action.of and first.tool_record.noted:
        return _NONE_AFTER
    if action is not None and first.tool_record.noted:
        reply = printable(shortened(action.answer.shown, 120))
        return _NONE_BEFORE.format(number=action.number, of=action.of, reply=reply)
    return _NO_RESULTS


def tool_replay_of(
    first: Participation,
    manner: Manner,
    run: Participation,
    kept: Sequence[str],
    doubt: FieldDoubt,
) -> ToolReplay:
    """Returns the ``ToolReplay`` that answers the tool calls of the replay ``run``. ``first``: the
    baseline; ``kept``: the ids of the retained sources. ``doubt``: is called with each field of a tool's
    result of which it is not known what it is without the omitted sources."""
    omitting, gate = None, run.gate
    if first.tool_sources is not None:
        omitting = first.tool_sources.omitting(kept, gate.deliver_result, doubt)
    running = running_tools(first, manner)
    on_new = manner.on_new_tool_call or "unknown"
    is_other = gate.has_other_sources
    again = _running_again(first, manner, is_other=is_other)
    # Where only the next action is explained, the conversation before it stands as it is recorded.
    compares = first.action is None
    return ToolReplay(
        first.tool_record,
        running,
        manner.safe_tools,
        on_new,
        omitting,
        again,
        compares=compares,
        is_other=is_other,
    )


def _running_again(first: Participation, manner: Manner, *, is_other: bool) -> frozenset[str]:
    """Returns the names of the tools that run in a replay although the baseline made equal calls of them.

    In a replay on other sources than the baseline's (``is_other``), these are all tools that the user
    named safe: what they read may be other than in the baseline, and what they write may be read. In
    other replays, they are those that changed in the baseline what other code may read. If only the next
    action is explained, there are none, because the conversation before it is the recorded one.
    """
    if first.action is not None:
        return frozenset()
    return manner.safe_tools if is_other else manner.safe_tools & first.tool_record.writing


def running_tools(first: Participation, manner: Manner) -> set[str]:
    """Returns the names of the tools that run in replays.

    Tools that retrieve run. If results of tools are sources, a tool that the user named safe also runs if
    it called other tools or asked a model in the baseline. The calls of these other tools then get the
    recorded results without the omitted sources. If only the next action is explained, such a safe tool
    runs only if the action is taken inside it.
    """
    inner = (*first.tool_record.noted, *first.watch.said)
    outer = {name for each in inner for name in each.within}
    opened = outer & manner.safe_tools if "tools" in manner.source_kinds else set[str]()
    if first.action is not None:
        opened &= set(first.action.within)
    return first.retrieving_tools | opened


def only_running_tools(first: Participation, manner: Manner) -> frozenset[str] | None:
    """Returns the names of the tools that may run in replays; None if all tools may run."""
    if not manner.replays_tools or manner.on_new_tool_call == "live":
        return None
    return frozenset(running_tools(first, manner) | manner.safe_tools)


def _noted_in(first: Participation) -> list[NotedResult]:
    """Returns the results that tools had in the baseline. If the next action is explained, returns only
    the results that tools had before this action."""
    noted = list(first.tool_record.noted)
    return [each for each in noted if first.before is None or each.at < first.before]


def _failed_in(first: Participation) -> Iterator[NotedResult]:
    """Yields the failed tool calls of the baseline whose errors a model was shown. If the next action is
    explained, leaves out those after it."""
    failed = [each for each in first.tool_record.failed if first.before is None or each.at < first.before]
    yield from shown_failures(failed, (each.text for each in first.watch.requests))


def _outermost(noted: Sequence[NotedResult], running: Collection[str]) -> Iterator[NotedResult]:
    """Yields the results that replays get from the record: results of tools that do not run in replays.
    Leaves out the result of a call inside another tool that does not run either, because replays do not
    make this call. ``running``: the names of the tools that run in replays."""
    for each in noted:
        if each.call.name not in running and set(each.within) <= set(running):
            yield each


def _named_apart(sources: Sequence[Source], others: Sequence[Source]) -> Iterator[Source]:
    taken = {each.id for each in others}
    for each in sources:
        if each.id in taken:
            raise InvalidInput(
                f"the id {each.id!r} stands for a retrieved document and for another source; give the "
                "document another id"
            )
        yield each
