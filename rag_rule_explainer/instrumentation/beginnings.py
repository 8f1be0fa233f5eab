"""This module prepares a run before it begins. The preparation depends on the kinds of sources, and on
whether replays repeat the whole run or one request to a model (the options ``source_kinds`` and
``replay_of``)."""

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

from ..probing.wholeness import Said
from ..sources import Source
from .conversation import Conversation
from .fidelity import Fidelity
from .made_tools import MadeTools
from .next_action import begin_action
from .options import Manner
from .recording.serving import Serving
from .requests.exchanges import sent_parameters
from .requests.unrecorded_tools import check_none_ran, end_if_one_ran
from .result_field import ResultField
from .run_context import inside_retrieval, participation
from .run_record import Participation
from .searches.guarded_tools import ToolGuards
from .shared_state.holdings import Holdings
from .source_kinds.asked_requests import AskedRequests, PromptEditing
from .source_kinds.checked_requests import CheckedRequests
from .source_kinds.doubts_of_turns import copied_beside
from .source_kinds.gathering import other_texts, tool_replay_of
from .source_kinds.kinds import IN_PROMPTS
from .source_kinds.new_texts import NewTexts, forms_of
from .source_kinds.own_memories import OwnMemories
from .source_kinds.prompt_omitting import PromptOmitting
from .source_kinds.prompt_sources import FirstPrompt
from .source_kinds.recorded_requests import RecordedRequests
from .source_kinds.taking_out import TakingOut
from .tool_replay import ToolReplay

_UNRESOLVED = (
    "the replay was ended at the call {call}, as nothing shows what the application runs for it "
    "(unexecuted_tools=[{name!r}] says that it runs nothing)"
)


def begin_baseline(
    run: Participation, manner: Manner, before: Holdings, guards: ToolGuards | None
) -> None:
    """Makes a baseline record the data that its replays will need: results of tools, models' replies and
    parts of prompts, as far as the user's options use them. ``before``: the objects of the application;
    ``guards``: the ``ToolGuards`` that guard the functions of its tools; None if there are none."""
    if guards is not None and (manner.replays_tools or manner.stub_tools):
        run.guards = guards
        guards.guard_all(each.thing for each in before.all)
    run.takes_results = "tools" in manner.source_kinds
    if manner.replay_of == "next_action":
        run.conversation = Conversation(run.watch)
        run.asked = AskedRequests(keeps_models=True)
    if not set(manner.source_kinds).isdisjoint(IN_PROMPTS):
        run.prompts = FirstPrompt(
            keeps_models=manner.replay_of == "next_action",
            memories=OwnMemories(before, run.read, manner.steady.is_ignored),
        )
        run.tool_record.tools.made.keeps_parts = True
    asked = run.prompts or run.asked
    if isinstance(asked, AskedRequests) and asked.keeps_models:
        run.watch.exchanges.after_reply.append(lambda _: asked.used.note_reply())


def begin_replay(
    run: Participation,
    first: Participation,
    manner: Manner,
    kept: Sequence[Source],
    fidelity: Fidelity,
) -> None:
    """Makes a replay get the recorded results of tools, without the omitted sources. A replay of the next
    action also gets models' recorded replies. ``first``: the baseline; ``kept``: the retained sources;
    ``fidelity``: is told the reason if the rules cannot be proved."""
    ids, note = [each.id for each in kept], fidelity.note
    run.guards, run.acts = first.guards, first.acts

    def doubt(tool: str, field: ResultField) -> None:
        if field.is_state or field.is_shown or fidelity.rewinding.may_read(field.name):
            note(field.doubt_about(tool))

    if first.prompt_sources is not None:
        _begin_omitting(run, first, manner, kept, note)
    elif (recorded := _recorded(run, first, manner, ids)) is not None:
        run.asked = CheckedRequests(recorded, run.gate.leave_undecided, note, omits=_omits(run, ids))
    if manner.replays_tools:
        answering = run.tool_replay = tool_replay_of(first, manner, run, ids, doubt)
        check_none_ran(run)
        run.watch.exchanges.before_sending.append(lambda _: answering.check())
        # If another replay has meanwhile run a tool that must not run in replays, rules would be wrong.
        # So this replay ends too.
        run.watch.exchanges.after_reply.append(lambda _: end_if_one_ran(run))
        if first.action is None:
            _end_at_new_tools(run, first, answering)
    if first.action is not None:
        begin_action(run, first.action)


def _begin_omitting(
    run: Participation,
    first: Participation,
    manner: Manner,
    kept: Sequence[Source],
    note: Callable[[str], None],
) -> None:
    """Removes the texts of omitted parts of the prompt from a replay: from its input, from the memory
    with which it starts, and from its requests. ``note``: is called with the reason if the rules cannot
    be proved."""
    known, ids = first.prompt_sources, frozenset(each.id for each in kept)
    of_prompts = {each.id for each in known.sources}
    taking_out = TakingOut(
        known,
        frozenset(of_prompts - ids),
        lambda each, copy: note(copied_beside(each, copy)),
        manner.steady.is_ignored,
    )
    run.state.edit = _edit_noted(taking_out, run.tool_record.tools.made)
    results = [text for each in first.tool_record.noted for text in forms_of(each.result)]
    new_texts = NewTexts(
        lambda: [*(each.reply for each in run.watch.exchanges if each.reply), *run.made],
        [*results, *(each.text for each in kept if each.id not in of_prompts)],
        manner.steady,
        run.gate.leave_undecided,
        note,
    )
    recorded = _recorded(run, first, manner, ids, of_prompts)
    run.prompts = PromptOmitting(
        known,
        ids,
        run.gate.deliver_result,
        taking_out,
        new_texts,
        recorded,
        omits=_omits(run, ids),
    )


def _omits(run: Participation, kept: Collection[str]) -> bool:
    """Returns True iff a replay omits a source of any kind. ``kept``: the ids of the retained sources."""
    return any(each.id not in kept for each in _served_in(run))


def _recorded(
    run: Participation,
    first: Participation,
    manner: Manner,
    kept: Collection[str],
    of_prompts: Collection[str] = (),
) -> RecordedRequests | None:
    """Returns the object that compares the requests of a replay with those of the baseline. Returns None
    if whole runs are replayed, and not only the agent's next action. ``kept``: the ids of the retained
    sources; ``of_prompts``: those of the sources that are parts of prompts."""
    asked = first.prompts or first.asked
    if first.action is None or not isinstance(asked, AskedRequests):
        return None
    exchanges = list(first.watch.exchanges)[: len(first.action.served)]
    results = [text for each in first.tool_record.noted for text in forms_of(each.result)]
    served = [each for each in _served_in(run) if each.id not in of_prompts]
    others = other_texts(first)
    recorded = RecordedRequests(
        asked.requests_of(exchanges),
        manner.steady,
        [text for each in served for text in (each.text, *others.get(each.id, ()))],
        [sent_parameters(each.sent) for each in exchanges],
        lambda: [*results, *run.made],
        asked.varying,
        [each.text for each in served if each.id not in kept],
        holds_out=run.gate.holds_out,
    )
    run.watch.exchanges.after_reply.append(lambda _: recorded.used.note_reply())
    return recorded


def _edit_noted(taking_out: TakingOut, made: MadeTools) -> Callable[[Any], Any]:
    """Returns a function that removes the omitted sources from an input or a memory with which a replay
    starts. If it removes something, it also sets ``made.begins_otherwise``: the replay may then make
    other tools than the baseline."""
    made.keeps_parts = True

    def edited(content: Any) -> Any:
        left = taking_out.edited(content)
        made.begins_otherwise = made.begins_otherwise or bool(taking_out.taken)
        return left

    return edited


def _served_in(run: Participation) -> Sequence[Source]:
    return run.gate.sources if isinstance(run.gate, Serving) else ()


def _end_at_new_tools(run: Participation, first: Participation, answering: ToolReplay) -> None:
    """Makes a replay end as soon as a model's reply calls a new tool, which the baseline did not call.
    The application then cannot run this tool as a plain function. A reply that calls a tool in
    ``first.calls.unresolved`` also ends the replay: the baseline called this tool, but did not show which
    code runs for it.

    In two cases, a reply that calls a new tool does not end the replay; only running the tool does. The
    first is that it is unknown which code ran for another tool call of the baseline. The second is that
    the application ran no tool in the baseline, and returned the tool calls as its answer.
    """
    unresolved = first.calls.unresolved
    executed = (*first.executed, *first.inside)
    ran = {each.call.name for each in executed} | first.calls.settled_names
    known = {*ran, *answering.retrieving, *answering.safe, *run.stubs, *run.unexecuted_tools}
    named = {call.name for said in first.watch.said if not said.apart for call in said.to_run}
    leaves_all = bool(first.calls.returned) and not first.executed
    ends = answering.on_new == "unknown" and not leaves_all and named - unresolved <= known
    if not ends and not unresolved:
        return

    def end(_: str = "") -> None:
        calls = [call for said in list(run.watch.said) if not said.apart for call in said.to_run]
        for call in calls:
            if call.name in unresolved:
                answering.end_at(call, _UNRESOLVED)
            if ends and call.name not in known:
                answering.end_at(call)

    run.watch.exchanges.after_reply.append(end)
    run.watch.exchanges.during_reply.append(end)


def note_reply(key: Hashable, raw: Any, said: Said) -> None:
    """Records the reply to a request of the current run, if replays get recorded replies. Call it before
    the application gets the reply. ``key``: identifies the request; ``raw``: the reply in the framework's
    type, None if it cannot be given to a replay; ``said``: the text and the tool calls of the reply."""
    run = participation()
    if run is not None and run.conversation is not None:
        run.conversation.note(key, raw, said)


def note_failure(key: Hashable, error: Exception) -> None:
    """Records the error that a model raised for a request of the current run, if replays get recorded
    replies. ``key``: identifies the request."""
    run = participation()
    if run is not None and run.conversation is not None:
        run.conversation.note_failure(key, error)


def recorded_reply(key: Hashable) -> Any:
    """Returns the recorded reply that the request with this key gets in the current replay; None if the
    request is to be sent to the model. Raises the error that the model raised in the baseline, if there
    is one in place of the reply."""
    run = participation()
    if run is None or run.conversation is None:
        return None
    place = run.conversation.place_served(key)
    checking = run.prompts or run.asked
    if place is not None and isinstance(checking, (PromptOmitting, CheckedRequests)):
        sent = list(run.conversation.exchanges)[place].sent
        checking.check_parameters(place, sent_parameters(sent))
    return run.conversation.reply_to(key)


def ends_at_next_action() -> bool:
    """Returns True iff the current run is a replay with ``replay_of="next_action"``, and no retrieval is
    running. Such a replay ends at the model's reply, before the application can run a tool that the reply
    calls. So the application must get no part of a streamed reply before the reply is complete."""
    run = participation()
    is_replay = run is not None and run.conversation is not None and run.tool_replay is not None
    return is_replay and not inside_retrieval.get()


def prompt_editing() -> PromptEditing | None:
    """Returns the object that edits each request of the current run before it is sent; None if requests
    are sent unchanged, for example outside of runs and inside a retrieval."""
    run = participation()
    if run is None or inside_retrieval.get():
        return None
    run.tool_record.tools.made.settle()
    return run.prompts or run.asked
