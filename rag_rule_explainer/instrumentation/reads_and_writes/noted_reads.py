"""This module notes what a tool of the baseline reads of what it was given besides the model's
arguments, such as the state of a graph.

A tool that does not run in a replay would have read the same there, if all that it read in the baseline
is the same.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

from typing_extensions import override

from ...probing.wholeness import Said
from ...probing.whose import is_users
from ...tool_calls import ToolCall
from ..comparable import comparable_value
from .environment_reads import CallVariables
from .file_reads import CallFiles, RunFiles
from .outside_reads import CallsOutside
from .store_writes import StorePlace, StoreWrite, StoreWrites

ReadPath: TypeAlias = tuple[Hashable, ...]
"""A ``ReadPath`` says what was read: the names that lead to it."""
KEYS = "the keys"
"""The end of the path of all keys of a dict."""
MISSING_VALUE = "there is no such value"
"""This text is in place of the value at a path where there is none."""


class StoreRead(NamedTuple):
    """A ``StoreRead`` is a read of a store. ``place``: where it looked; ``others``: what all code but
    tools had written there before in the run."""

    place: StorePlace
    others: list[StoreWrite]


@dataclass(slots=True, eq=False)
class NotedReads:
    """A ``NotedReads`` holds what one call of a tool has read, by its path, as it was at that time."""

    found: dict[ReadPath, Any] = field(default_factory=dict[ReadPath, Any])
    given: object = None
    """The arguments of the tool that reads."""
    files: CallFiles = field(default_factory=CallFiles)
    """The files that it uses."""
    variables: CallVariables = field(default_factory=CallVariables)
    """The environment variables that it uses."""
    writes_stream: bool = False
    """True if it has written to a stream that code outside of it reads."""
    outside: CallsOutside = field(default_factory=CallsOutside)
    """This object holds what it uses outside of this process."""
    stores: StoreWrites = field(default_factory=StoreWrites)
    """The writes of its run to stores."""
    in_stores: dict[ReadPath, StoreRead] = field(default_factory=dict[ReadPath, StoreRead])
    """This dict holds the reads that looked into a store."""
    wrote: set[StorePlace] = field(default_factory=set[StorePlace])
    """The places in stores to which the tool has written."""

    def note(self, path: ReadPath, value: object, place: StorePlace | None = None) -> None:
        """Records that the tool has read a value. Only the first read of a path counts, because the tool
        itself may have changed it since. ``place``: where in a store it was; None if it was in none."""
        if path not in self.found:
            self.found[path] = comparable_value(value)
            if place is not None:
                self.in_stores[path] = StoreRead(place, self.stores.of_others(place))


reads_in_use: ContextVar[NotedReads | None] = ContextVar("rag_rule_reads", default=None)
"""The ``NotedReads`` of the tool that runs in this context; None if what it reads does not matter."""


class AskingReply(NamedTuple):
    """An ``AskingReply`` is the reply of a model that asked for a tool call. ``number``: the number of
    replies so far; ``calls``: the names and the arguments of the calls of this reply."""

    number: int = 0
    calls: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, number: int, calls: Iterable[ToolCall]) -> "AskingReply":
        """Returns the ``AskingReply`` with these calls."""
        return cls(number, tuple((each.name, str(each.arguments)) for each in calls))

    def place_of(self, call: ToolCall) -> int:
        """Returns the place of a call in the reply, from 0; -1 if the reply did not ask for it."""
        wanted = (call.name, str(call.arguments))
        return self.calls.index(wanted) if wanted in self.calls else -1


@dataclass(frozen=True, slots=True)
class GivenToTool:
    """A ``GivenToTool`` is what a tool is called with. ``values``: all arguments. ``whole``: what the
    model did not give and what counts as read. ``look``: returns the value at a path that a tool read;
    raises a LookupError if there is none, and any other error if it cannot be read. ``asked``: the reply
    that asked for the call; ``files``: those that the run has written; ``stores``: what it has written to
    stores."""

    values: object = None
    whole: Mapping[ReadPath, Any] = field(default_factory=dict[ReadPath, Any])
    look: Callable[[ReadPath], object] = field(
        default_factory=lambda: dict[ReadPath, object]().__getitem__
    )
    asked: AskingReply = field(default_factory=AskingReply)
    files: RunFiles = field(default_factory=RunFiles)
    stores: StoreWrites = field(default_factory=StoreWrites)

    def now(self, path: ReadPath) -> object:
        """Returns the value at a path, ``MISSING_VALUE`` if there is none."""
        if path in self.whole:
            return self.whole[path]
        try:
            return self.look(path)
        except LookupError:
            return MISSING_VALUE


class Replied(Protocol):
    """A ``Replied`` holds the replies of models in a run."""

    @property
    def said(self) -> Sequence[Said]:
        """Returns the replies, the last one at the end."""
        ...


class RunOfTools(Protocol):
    """A ``RunOfTools`` is a run that calls a tool. ``files``: those that it has written; ``stores``: its
    writes to stores."""

    files: RunFiles
    stores: StoreWrites

    @property
    def watch(self) -> Replied:
        """Returns what holds the replies of models in the run."""
        ...


def asked_by(given: GivenToTool | None, run: RunOfTools) -> GivenToTool:
    """Returns what a tool is called with in a run. Its last reply is the one that asked for it."""
    said = run.watch.said
    asked = AskingReply.of(len(said), said[-1].called if said else ())
    return replace(given or GivenToTool(), asked=asked, files=run.files, stores=run.stores)


def is_read_by_user(module: object) -> bool:
    """Returns True iff the code of a module of this name is the user's, and none of a library."""
    return is_users(str(module))


def value_at_key(entries: Mapping[Any, Any], key: Any) -> object:
    """Returns the value that ``ReadEntries`` notes for a key, or for ``KEYS``."""
    return sorted(map(repr, entries)) if key is KEYS else entries[key]


def note_store_place(place: StorePlace) -> bool:
    """Records that a tool reads at a place of a store whose content is not compared, only who wrote it.
    Returns False if no tool of a baseline runs."""
    noted = reads_in_use.get()
    if noted is not None:
        noted.in_stores.setdefault(place, StoreRead(place, noted.stores.of_others(place)))
    return noted is not None


class ReadEntries(dict[Any, Any]):
    """A ``ReadEntries`` equals a dict, and notes which entries code reads. Setting or deleting an entry
    sets or deletes that of the dict too. ``is_left_out``: returns True for keys that are not noted.
    ``place``: where in a store the dict is; None if it is in none."""

    def __init__(
        self,
        own: dict[Any, Any],
        noted: NotedReads,
        path: ReadPath,
        is_left_out: Callable[[Any], bool] = lambda _: False,
        place: StorePlace | None = None,
    ) -> None:
        super().__init__(own)
        self._place = place
        self._is_left_out = is_left_out
        self._own = own
        self._noted = noted
        self._path = path

    def _note(self, key: Any) -> None:
        if self._is_left_out(key):
            return
        value = super().get(key, MISSING_VALUE)
        place = None if self._place is None else (*self._place, str(key))
        self._noted.note((*self._path, key), value, place)

    def _note_keys(self) -> None:
        names = (repr(each) for each in self._own if not self._is_left_out(each))
        self._noted.note((*self._path, KEYS), sorted(names), self._place)

    def _note_all(self) -> None:
        self._note_keys()
        for each in list(super().keys()):
            self._note(each)

    @override
    def __getitem__(self, key: Any) -> Any:
        self._note(key)
        return super().__getitem__(key)

    @override
    def get(self, key: Any, default: Any = None) -> Any:
        self._note(key)
        return super().get(key, default)

    @override
    def __contains__(self, key: object) -> bool:
        self._note_keys()
        return super().__contains__(key)

    def __bool__(self) -> bool:
        return super().__len__() > 0

    @override
    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self._own[key] = value

    @override
    def __delitem__(self, key: Any) -> None:
        super().__delitem__(key)
        del self._own[key]

    @override
    def __reduce_ex__(self, protocol: Any) -> Any:
        self._note_all()
        return dict, (self._own.copy(),)


def _noting(name: str, note: Callable[[ReadEntries], None], *, writes: bool = False) -> Any:
    method = getattr(dict, name)

    def noting(self: ReadEntries, *args: Any, **kwargs: Any) -> Any:
        note(self)
        found = method(self, *args, **kwargs)
        if writes:
            getattr(self._own, name)(*args, **kwargs)  # pyright: ignore[reportPrivateUsage] -- it is a method of the class
        return found

    noting.__name__ = name
    return noting


_OF_KEYS = ("__iter__", "__len__", "__reversed__", "keys")
_OF_ALL = ("items", "values", "copy", "__repr__", "__eq__", "__ne__", "__or__", "__ror__")
_OF_WRITES = ("pop", "popitem", "setdefault", "clear", "update", "__ior__")
for _name in _OF_KEYS:
    setattr(ReadEntries, _name, _noting(_name, ReadEntries._note_keys))  # pyright: ignore[reportPrivateUsage] -- it is a method of the class
for _name in _OF_ALL:
    setattr(ReadEntries, _name, _noting(_name, ReadEntries._note_all))  # pyright: ignore[reportPrivateUsage] -- it is a method of the class
for _name in _OF_WRITES:
    setattr(ReadEntries, _name, _noting(_name, ReadEntries._note_all, writes=True))  # pyright: ignore[reportPrivateUsage] -- it is a method of the class
