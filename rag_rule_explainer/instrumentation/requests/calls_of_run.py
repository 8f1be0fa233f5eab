"""This module records the tool calls that a run's models made, and whether each was run and answered."""

import threading
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...tool_calls import ToolCall
from ..executed_calls import ExecutedCall
from .exchanges import moment
from .tools_in_use import tools_in_use


@dataclass(slots=True, eq=False)
class MadeCall:
    """A ``MadeCall`` is a tool call in a model's reply, by which the model asks the application to run a
    tool.

    ``identity``: its id; if the model gave none, the name of the tool, or an empty text. ``at``: the
    moment of the reply, a number that is higher for later events. ``within``: the names of the tools that
    were running when the model was asked. ``answered``: the moment of the first request with the call's
    result; None if there is none. ``text``: the text of this result. ``settled``: True iff it is known
    that no code of the application ran for this call.
    """

    identity: str
    call: ToolCall
    at: int
    within: tuple[str, ...] = ()
    answered: int | None = None
    text: str = ""
    settled: bool = False


class UnrecordedTool(NamedTuple):
    """An ``UnrecordedTool`` is a tool that a model called, although no recorded tool ran for this call.
    ``within``: the names of the tools that were running when the model was asked. ``at``: the moment of
    the request with the call's result; if there is none, the moment of the reply with the call.
    ``is_answered``: True iff a request has a result of the call."""

    name: str
    within: tuple[str, ...] = ()
    at: int = 0
    is_answered: bool = True


@dataclass(slots=True, eq=False)
class CallsOfRun:
    """A ``CallsOfRun`` holds the tool calls that the models of one run made. Thread-safe.

    ``returned``: the names of the tools whose calls the application returned as its answer, for its
    caller to run. ``unresolved``: the names of the tools whose calls end a replay, because it is unknown
    which code the application runs for these calls. ``last_step``: the moment at which the last step of
    an agent's graph began; 0 if there was none. ``remote``: the names of the tools that the provider of a
    model ran over MCP.
    """

    returned: set[str] = field(default_factory=set[str])
    unresolved: frozenset[str] = frozenset()
    last_step: int = 0
    remote: set[str] = field(default_factory=set[str])
    _made: list[MadeCall] = field(default_factory=list[MadeCall])
    _by_reply: dict[Hashable, list[MadeCall]] = field(default_factory=dict[Hashable, list[MadeCall]])
    _guard: threading.Lock = field(default_factory=threading.Lock)

    @property
    def names(self) -> set[str]:
        """Returns the names of the tools that were called."""
        return {each.call.name for each in list(self._made)}

    @property
    def settled_names(self) -> set[str]:
        """Returns the names of the tools that have a ``settled`` call: no code of the application ran for
        it."""
        return {each.call.name for each in list(self._made) if each.settled}

    @property
    def left_to_the_caller(self) -> set[str]:
        """Returns the names of the tools whose calls the application returned as its answer, so that the
        application's caller can run these tools. Leaves out the tools in ``unresolved``: replays end at
        the model's reply with such a call, before the application can return the call."""
        return self.returned - self.unresolved

    def first_of(self, names: Collection[str]) -> int | None:
        """Returns the moment of the first reply that calls one of these tools; None if there is none."""
        return next((each.at for each in list(self._made) if each.call.name in names), None)

    def note_reply(self, key: Hashable, calls: Iterable[tuple[str, ToolCall]]) -> None:
        """Records the calls in a model's reply, with their ids. Call it before the application gets the
        reply. Call it again whenever more of a streamed reply has arrived; the recorded moment of a call
        does not change then. ``key``: identifies the request."""
        within, now = tools_in_use.get(), moment()
        with self._guard:
            own = self._by_reply.setdefault(key, [])
            count = 0
            for count, (identity, call) in enumerate(calls, start=1):
                if count <= len(own):
                    own[count - 1].identity, own[count - 1].call = identity, call
                else:
                    own.append(MadeCall(identity, call, now, within))
                    self._made.append(own[-1])
            for each in own[count:]:
                self._made.remove(each)
            del own[count:]

    def note_answered(
        self, results: Iterable[tuple[str, str]], executed: Sequence[ExecutedCall] = ()
    ) -> list[MadeCall]:
        """Records the results of tool calls that a request contains, and returns the calls of this run
        that now have a result. ``results``: pairs of the id of a call, of any run, and the text of its
        result, in the request's order. ``executed``: the recorded tools that ran."""
        texts, now = defaultdict[str, list[str]](list), moment()
        for identity, text in results:
            texts[identity].append(text)
        found = list[MadeCall]()
        with self._guard:
            for identity, several in texts.items():
                # Some models use the same id for several calls. The last results with this id belong to
                # the last calls, because the first results may belong to earlier turns of the
                # conversation.
                own = [each for each in self._made if each.identity == identity and identity]
                if len({each.call.name for each in own}) > 1:
                    # The models of agents that run at the same time may use the same id, too. The result
                    # is then of a tool that has run, and not of one that another agent is about to run.
                    own.sort(key=lambda made: made.answered is None and _has_run(made, executed))
                for made, text in zip(reversed(own), reversed(several), strict=False):
                    if made.answered is None:
                        made.answered, made.text = now, text
                    found.append(made)
        return found

    def note_step(self) -> None:
        """Records that a step of an agent's graph begins."""
        self.last_step = moment()

    def note_settled(self, identity: str) -> None:
        """Records that the framework itself answers the call with this id, so that no code of the
        application runs for it."""
        with self._guard:
            made = next((each for each in reversed(self._made) if each.identity == identity), None)
            if made is not None and identity:
                made.settled = True

    def note_own(self, name: str) -> None:
        """Records that the framework runs one of its own tools, such as a tool that hands over to another
        agent. No code of the application runs for such a call. So the first call of this tool for which
        this was not yet known becomes ``settled``."""
        with self._guard:
            made = next(
                (each for each in self._made if each.call.name == name and not each.settled), None
            )
            if made is not None:
                made.settled = True

    def unexecuted(self, executed: Sequence[ExecutedCall]) -> list[MadeCall]:
        """Returns the calls for which no recorded tool ran. Leaves out ``settled`` calls, for which
        nothing ran.

        ``executed``: the recorded tools that ran. Each is matched with one call: the call with its id,
        preferably with its name as well, or else a call with its arguments, or else one with its name.
        """
        with self._guard:
            left = list(self._made)
        known = {each.identity for each in left if each.identity}
        free = list(executed)
        for fits in (_by_identity_and_name, _by_identity, _by_arguments, _by_name):
            for made in list(left):
                place = next((n for n, each in enumerate(free) if fits(made, each, known)), None)
                if place is not None:
                    del free[place]
                    left.remove(made)
        return [each for each in left if not each.settled]


def _has_run(made: MadeCall, executed: Sequence[ExecutedCall]) -> bool:
    return any(_by_identity_and_name(made, each, set()) for each in executed)


def _by_identity_and_name(made: MadeCall, ran: ExecutedCall, known: set[str]) -> bool:
    return made.call.name == ran.call.name and _by_identity(made, ran, known)


def _by_identity(made: MadeCall, ran: ExecutedCall, _: set[str]) -> bool:
    return bool(made.identity) and ran.identity == made.identity and made.at < ran.at


def _by_arguments(made: MadeCall, ran: ExecutedCall, known: set[str]) -> bool:
    return _by_name(made, ran, known) and made.call.arguments == ran.call.arguments


def _by_name(made: MadeCall, ran: ExecutedCall, known: set[str]) -> bool:
    """Returns True iff ``ran``, a recorded execution of a tool, fits the call ``made`` by the tool's name
    and by time: it took place between the reply with the call and the request with its result. Returns
    False if ``ran`` has the id of another call. ``known``: the ids of all calls."""
    is_others = ran.identity in known and ran.identity != made.identity
    in_time = made.at < ran.at and (made.answered is None or ran.at < made.answered)
    return made.call.name == ran.call.name and in_time and not is_others
