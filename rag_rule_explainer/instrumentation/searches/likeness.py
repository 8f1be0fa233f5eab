"""This module decides whether two searches search the same documents. Only then may a search of a replay
get the result that the baseline recorded for the other search."""

import re
from collections import deque
from collections.abc import Hashable, Iterator
from functools import partial
from inspect import unwrap
from itertools import islice
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType
from typing import Any, NamedTuple, cast

from ..copies.copying import is_filled, own_attributes
from ..copies.guarded_code import own_code
from ..recording.captured import kind_of
from ..recording.recorder import Recording
from ..requests.volatile import Steady
from ..run_context import participation
from ..run_record import Participation
from ..shared_state.reaching import LEAVES, is_opaque
from .derived_texts import Known, texts_of_models
from .items import text_in

_MOST = 500
"""The maximum number of objects that are visited to describe one search. Further objects are ignored."""
_MOST_INSIDE = 50
"""The largest number of entries of a collection that are visited. Further entries are ignored."""
_LONG = 200
"""In a text of more characters than this, dates and ids are not replaced."""
_NOT_READ = (*LEAVES, Participation)
"""Types of objects whose content is not read, because it is not what a search searches. A search that
the user wrapped in ``gate(...)`` refers to the run in which it was wrapped, a ``Participation``."""
_PLACEHOLDER = re.compile(r"<\w+>")
"""Matches the placeholders by which ``Steady`` replaces dates and random ids."""
_steady = Steady()


class Likeness:
    """A ``Likeness`` describes the objects that a search searches. If two ``Likeness`` objects are equal,
    a search of a replay may get the result that the baseline recorded for the other search.

    A search that existed before the first run is equal only to itself. A search that a run made for
    itself is equal to a search of the same class that has the same texts and refers to the same objects
    from before the first run. Dates and random ids in the texts may differ. A text that one of the runs
    retrieved, or derived from retrieved texts, may be missing in the search of the other run: a replay
    without a source cannot put the source's text into an index.
    """

    def __init__(self, search: Any) -> None:
        run = participation()
        self._before = None if run is None else run.shared
        self._search = _inner(search)
        # A run may change which documents an object searches, for example by setting the name of the
        # collection. So the texts among the object's attributes are part of the key.
        self._key = kind_of(self._search), own_texts(search)
        # In the baseline, the searched objects are read before the search runs, because the search may
        # store its results in them.
        is_recorded = run is not None and isinstance(run.gate, Recording)
        self._contents = self._read() if is_recorded else None

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Likeness) or self._key != other._key:
            return False
        if _are_one(self._search, other._search):
            return True
        mine, theirs = self._described(), other._described()
        return mine.fits(theirs) and theirs.fits(mine)

    def _described(self) -> "_Contents":
        if self._contents is None:
            self._contents = self._read()
        return self._contents

    def _read(self) -> "_Contents":
        parts = list(self._parts())
        retrieved = frozenset(part for part, is_retrieved in parts if is_retrieved)
        return _Contents(frozenset(part for part, is_retrieved in parts if not is_retrieved), retrieved)

    def _parts(self) -> Iterator[tuple[Hashable, bool]]:
        """Yields each text and each object inside the objects that the search searches. Each of them is
        yielded as a pair; the second value is True iff the text or object comes from texts that the run
        retrieved."""
        seen: set[int] = set()
        waiting = deque[tuple[Any, bool]]([(self._search, False)])
        own: _Retrieved | None = None
        while waiting and len(seen) < _MOST:
            thing, of_own = waiting.popleft()
            if isinstance(thing, (str, PurePath)):
                text = _text_of(str(thing))
                # An index may have a random id for each document, so an index of a replay without some
                # documents has fewer ids. Random ids are therefore treated like texts that come from
                # retrieved texts.
                yield ("text", text), of_own or _PLACEHOLDER.fullmatch(text) is not None
            elif isinstance(thing, CodeType):
                yield ("code", thing), of_own
            elif id(thing) not in seen and not isinstance(thing, _NOT_READ) and not is_opaque(thing):
                seen.add(id(thing))
                if self._before is not None and self._before.knew(thing):
                    yield ("shared", id(thing)), of_own
                    continue
                yield ("kind", kind_of(thing)), of_own
                own = own or _Retrieved()
                for part in _read(thing):
                    if thing is self._search and isinstance(part.value, (int, float)):
                        # Numbers at deeper levels are left out, because they may be internal counters of
                        # a library.
                        yield (part.name, part.value), of_own
                    waiting.append((part.value, of_own or own.holds(part)))


class _Contents(NamedTuple):
    """A ``_Contents`` has the texts and objects inside a searched object. ``retrieved``: the texts and
    objects that the run retrieved, or derived from retrieved texts. ``fixed``: all others."""

    fixed: frozenset[Hashable]
    retrieved: frozenset[Hashable]

    def fits(self, other: "_Contents") -> bool:
        """Returns True iff ``other`` contains all texts and objects that are ``fixed`` in this object. In
        ``other``, they may be ``fixed`` or ``retrieved``."""
        return self.fixed <= other.fixed | other.retrieved


class _Part(NamedTuple):
    """A ``_Part`` is a value inside an object, with the name of its attribute. ``beside``: if the value
    is a key of a dict, the entry under this key; if it is an entry of a dict, its key; None for other
    values."""

    name: str
    value: Any
    beside: Any = None


class _Retrieved:
    """A ``_Retrieved`` recognises entries of an index that the current run made of retrieved texts."""

    def __init__(self) -> None:
        run = participation()
        sources = [] if run is None else run.gate.retrieved()
        self._ids = {source.id for source in sources}
        self._texts = Known([*(source.text for source in sources), *texts_of_models()])

    def holds(self, part: _Part) -> bool:
        """Returns True iff ``part`` comes from retrieved texts: if it is a text that is derived from
        retrieved texts, or a document with such a text. The key and the value of an entry of a dict both
        count if one of the two is such a text or document, or the id of a retrieved document."""
        if not self._texts:
            return False
        return any(
            self._is_derived(each) or self._is_id(each) for each in (part.value, part.beside)
        ) and (part.beside is not None or not self._is_id(part.value))

    def _is_id(self, entry: object) -> bool:
        return isinstance(entry, str) and entry in self._ids

    def _is_derived(self, entry: object) -> bool:
        # A tuple may contain a document and its score, so the values inside it are checked.
        inside = cast("tuple[Any, ...]", entry) if isinstance(entry, tuple) else (entry,)
        texts = map(text_in, inside[:_MOST_INSIDE])
        # A single word is ignored: it may be the name of a collection that by chance is also in a
        # retrieved text.
        return any(len(each.split()) > 1 and self._texts.derives(each) for each in texts if each)


def _inner(search: Any) -> Any:
    """Returns the function that a decorated function wraps; any other search unchanged."""
    return unwrap(search) if isinstance(search, FunctionType) else search


def _are_one(search: Any, other: Any) -> bool:
    """Returns True iff ``search`` and ``other`` are the same object, or the same method of the same
    object."""
    if isinstance(search, MethodType) and isinstance(other, MethodType):
        # Python makes a new method object at every access, so the objects and the functions of the
        # methods are compared.
        return search.__self__ is other.__self__ and search.__func__ is other.__func__
    return search is other


def own_texts(search: Any) -> tuple[tuple[str, str], ...]:
    """Returns the short texts among the attributes of a search (for a method, of its object), each with
    the attribute's name. A run may change such a text, so that the search finds other documents. A short
    text has at most ``_LONG`` characters."""
    inner = _inner(search)
    owner: Any = inner.__self__ if isinstance(inner, MethodType) else inner
    held = [] if isinstance(owner, FunctionType) else _read(owner)
    return tuple(
        (part.name, _steady(part.value))
        for part in held
        if isinstance(part.value, str) and len(part.value) <= _LONG
    )


def _text_of(text: str) -> str:
    # A long text is a document. Its dates are part of its content, so they are not replaced.
    return text if len(text) > _LONG else _steady(text)


def _read(thing: object) -> list[_Part]:
    try:
        return list(_parts_of(thing))
    except Exception:  # an object of the user's may raise any error when it is read
        return []


def _parts_of(thing: Any) -> Iterator[_Part]:
    """Yields the values by which an object may differ from other objects of its class. Attributes of the
    class are left out, because all its objects share them."""
    if isinstance(thing, FunctionType):
        yield _Part("code", own_code(thing))
        yield from (_Part("", cell.cell_contents) for cell in thing.__closure__ or () if is_filled(cell))
        yield from (_Part("", each) for each in (thing.__defaults__, thing.__kwdefaults__))
    elif isinstance(thing, MethodType):
        yield from (_Part("", thing.__self__), _Part("", thing.__func__))
    elif isinstance(thing, partial):
        whole = cast("partial[Any]", thing)
        yield from (_Part("", whole.func), _Part("", whole.args), _Part("", whole.keywords))
    elif isinstance(thing, dict):
        entries = dict[Any, Any].items(cast("dict[Any, Any]", thing))
        for key, value in list(islice(entries, _MOST_INSIDE)):
            yield _Part("", key, value)
            yield _Part("", value, key)
    elif isinstance(thing, (list, tuple, set, frozenset, deque)):
        yield from (_Part("", each) for each in list(islice(cast("list[Any]", thing), _MOST_INSIDE)))
    else:
        yield from (_Part(name, value) for name, value in own_attributes(thing))
