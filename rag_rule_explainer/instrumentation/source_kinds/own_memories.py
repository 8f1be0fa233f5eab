"""This module searches for turns of the conversation in the application's own data: in its objects, in
the variables that its functions enclose, and in files that it reads.

If a turn in a prompt is neither in the input nor in a memory of the framework, it may be from the
application's own memory, or it may be an example that never changes. This module finds out which of the
two is the case. It also finds second copies of turns.
"""

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

from ..copies.guarded_code import own_code
from ..rewinding.companies import is_own
from ..shared_state.contents import is_collection
from ..shared_state.held import Held
from ..shared_state.holdings import Holdings
from .contents_beside import is_message
from .enclosed_data import NO_DATA, Holding, content_of_cell, enclosed_by, reads_held
from .turn_copies import TurnCopies, told
from .turn_remains import Copy, TurnRemains

_PROMPTS = ("Prompt", "Template")
"""If the name of a framework's class contains one of these words, its objects are prompts."""
_MEMORIES = re.compile("Memory|History|Store|Saver|Context|Index|Model|LLM")
"""Matches the names of the frameworks' classes whose objects are not searched for copies of turns. They
are memories, from which other code removes the omitted turns, or no memories at all, such as models."""
_SEARCHED = re.compile("(?:Tool|Retriever)$")
"""Matches the names of the frameworks' classes of tools and retrievers. Their objects are not searched,
because their texts appear in the results that they return."""
_LARGEST = 1_000_000
"""The size in bytes of the largest file that is decoded before the search. In a larger file, only the
unchanged texts of messages are searched for."""
_MOST_LISTED, _SOME = 400, 200
"""``_MOST_LISTED`` is the length of the longest list of which every element is checked. Of a longer list,
``_SOME`` elements at each end are checked."""
_UNCHANGING = frozenset[type]({tuple, frozenset})
_NUMBERS = (int, float, complex, type(None))
CODE = (".py", ".pyi", ".pyc", ".so")
_SHORTEST = 3
"""The minimum number of characters of a part of a template that is searched for in an example."""
_FILLED = re.compile(r"\{[^{}]*\}|%[sdr]|%\(\w+\)[sdr]")
"""Matches the placeholders in a template, such as ``{question}`` or ``%s``."""
_MOST_OTHER = 0.2
"""The maximum share of an example's characters that may come from no text in the code."""


@dataclass(slots=True, eq=False)
class OwnMemories:
    """An ``OwnMemories`` searches the data that an application had before its first run (``before``), and
    the files that this run read (``files``). ``is_ignored``: see ``TurnRemains``."""

    before: Holdings | None = None
    files: Collection[str] = field(default_factory=set[str])
    is_ignored: Callable[[str], bool] = lambda _: False

    def is_own_memory(self, texts: Collection[str]) -> bool:
        """Returns True iff one of these texts is in an object of the user's, or in a variable that a
        function encloses. Texts in code, in variables of modules and classes, and in the frameworks'
        prompts do not count: they are examples."""
        for held in self._all:
            said = [value for _, value in held.plain if isinstance(value, str)]
            is_there = any(text and text in value for value in said for text in texts)
            if is_there and not held.is_of_model and self._is_memory(held):
                return True
        return False

    def is_constant(self, texts: Sequence[str]) -> bool:
        """Returns True iff the texts of an example are constants: they are in code, in variables or in
        templates. If not, the run read them elsewhere, such as from a file, so they may be a
        conversation. Also returns True if the texts are only in files that the user ignores, because such
        files never change."""
        known = set(self.before.texts()) if self.before is not None else set[str]()
        left = [text for text in texts if text.strip() and text not in known]
        if not left or self.before is None:
            return True
        in_files = [path for path, _ in self._in_files(TurnCopies({"": left}))]
        if in_files or not self.before.complete:
            return all(map(self.is_ignored, in_files))
        parts = {told(part).squeezed for each in known for part in _FILLED.split(each)}
        return all(_is_made_of(told(text).squeezed, parts) for text in left)

    def file_with(self, texts: Sequence[str]) -> str:
        """Returns the first file that the run has read and that has one of these texts; empty if there is
        none."""
        copies = TurnCopies({"": [text for text in texts if text.strip()]})
        return next((path for path, _ in self._in_files(copies)), "")

    def is_in(self, texts: Sequence[str], content: Any) -> bool:
        """Returns True iff ``content``, such as an input, contains all these texts, in any form."""
        copies = TurnCopies({str(place): [each] for place, each in enumerate(texts) if each.strip()})
        found = TurnRemains(copies).found_in(content, "")
        return bool(copies.turns) and all(each in found and found[each].text for each in copies.turns)

    def copies_of(
        self,
        turns: Mapping[str, Sequence[str]],
        question: str,
        more: Mapping[str, Any],
        given: Sequence[object] = (),
    ) -> dict[str, Copy]:
        """Returns the turns of which the application has a second copy, by id, each with the place of
        the copy. The copy may be in the application's objects, in variables that functions enclose, in
        collections of its modules, in files that the run has read, or in the contents ``more``.
        ``given``: the objects in the input; they are not searched here, because other code searches
        them."""
        copies = TurnCopies(turns, question)
        remains, found = TurnRemains(copies, self.is_ignored), dict[str, Copy]()
        any_field = TurnRemains(copies)
        own = [(each.path, each.content) for each in self.contents(given)]
        talk = ((path, each) for path, each in own if _is_of_talk(each, any_field))
        for path, content in chain(more.items(), talk):
            for identity, place in remains.found_in(content, path).items():
                if place.text:
                    found.setdefault(identity, place)
        for path, ids in self._in_files(copies):
            if not self.is_ignored(path):
                found.update({each: Copy(path, _IN_A_FILE) for each in ids if each not in found})
        return found

    def constants(self) -> Iterator[str]:
        """Yields the texts that code has: in functions, in variables of modules that they use, in
        classes, and in prompts of the frameworks."""
        for held in self._all:
            if held.is_of_model:
                continue
            chain_up = [held, *self._above(held)]
            at = next((place for place, each in enumerate(chain_up) if not is_collection(each.thing)), 0)
            owner = chain_up[at].thing
            enclosed = own_code(owner).co_freevars if isinstance(owner, FunctionType) else ()
            if isinstance(owner, (CodeType, ModuleType, type, FunctionType)) or is_of_prompts(owner):
                names = (
                    [chain_up[at - 1].name] * len(held.plain) if at else [name for name, _ in held.plain]
                )
                for name, (_, value) in zip(names, held.plain, strict=True):
                    if isinstance(value, str) and name not in enclosed:
                        yield value

    @property
    def _all(self) -> Sequence[Held]:
        return () if self.before is None else self.before.all

    def contents(self, given: Sequence[object]) -> Iterator[Holding]:
        """Yields what the application holds that its runs may change: attributes of the user's objects,
        what functions enclose, and collections in variables of modules. ``given``: the objects in the
        input."""
        left_out = {id(each) for each in given}
        for held in self._all:
            thing, above = held.thing, [*self._above(held)]
            if held.is_of_model or _loses_turns(thing) or isinstance(thing, NO_DATA):
                continue
            if any(_is_elsewhere(each.thing, left_out) for each in (held, *above)):
                continue
            if isinstance(thing, FunctionType):
                yield from enclosed_by(thing)
            elif is_collection(thing) and type(thing) not in _UNCHANGING:
                function = above[0].thing if above else None
                if isinstance(function, FunctionType) and reads_held(function, held):
                    yield Holding(f"{function.__name__}.{held.name}", held.name, thing, is_global=True)
            elif held.is_users and not is_collection(thing):
                attributes, kind = {**getattr(thing, "__dict__", {})}, type(thing).__name__
                yield from (Holding(f"{kind}.{name}", name, each) for name, each in attributes.items())

    def _above(self, held: Held) -> Iterator[Held]:
        return iter(()) if self.before is None else self.before.above(held)

    def _in_files(self, copies: TurnCopies) -> Iterator[tuple[str, Collection[str]]]:
        """Yields each file that the run has read and that contains copies of turns, with the ids of these
        turns."""
        for path in sorted(self.files):
            for each in (path, f"{path}-wal"):
                ids = _in_file(each, copies)
                if ids:
                    yield path, ids

    def _is_memory(self, held: Held) -> bool:
        inner: object = held.thing
        for each in (held, *self._above(held)):
            thing = each.thing
            if is_of_prompts(thing):
                return False
            if isinstance(thing, FunctionType):
                return any(content_of_cell(cell) is inner for cell in thing.__closure__ or ())
            if isinstance(thing, (CodeType, ModuleType, type)):
                return False
            if each.is_users:
                return True
            inner = thing
        return False


_IN_A_FILE = "the file has it"


def is_of_prompts(thing: object) -> bool:
    """Returns True iff an object is a prompt of a framework."""
    return any(part in kind.__name__ for kind in type(thing).__mro__ for part in _PROMPTS)


def _is_elsewhere(thing: object, left_out: Collection[int]) -> bool:
    """Returns True iff an object is not searched here: its id is in ``left_out``, or it is a prompt, a
    tool or a retriever."""
    is_searched = any(_SEARCHED.search(each.__name__) for each in type(thing).__mro__)
    return id(thing) in left_out or is_of_prompts(thing) or is_searched


def _loses_turns(thing: object) -> bool:
    """Returns True iff an object is a message, or a memory of a framework. Replays get a copy of such a
    memory without the omitted turns."""
    kinds = [each for each in type(thing).__mro__ if not is_own(each.__module__)]
    if any(_MEMORIES.search(each.__name__) for each in kinds):
        return True
    return not is_collection(thing) and is_message(thing)


def _is_of_talk(content: Any, remains: TurnRemains) -> bool:
    """Returns True iff ``content`` may be a record of the conversation. In a list of more than two
    elements, at least half of the elements must contain copies of turns. A list with fewer may be, for
    example, a list of documents that a reply quotes."""
    if isinstance(content, Mapping):
        entries = cast("Mapping[Any, Any]", content)
        return any(_is_of_talk(each, remains) for each in ([*entries], *entries.values()))
    if isinstance(content, (list, tuple, set, frozenset, deque)) and len(cast("list[Any]", content)) > 2:
        listed = list(cast("list[Any]", content))
        ends = listed if len(listed) <= _MOST_LISTED else [*listed[:_SOME], *listed[-_SOME:]]
        elements = [each for each in ends if not isinstance(each, _NUMBERS)]
        having = sum(bool(remains.found_in([each, ""], "")) for each in elements)
        return having * 2 >= len(elements) > 0
    return bool(remains.found_in(content, ""))


def _is_made_of(text: str, parts: Collection[str]) -> bool:
    """Returns True iff at most a small rest of the text remains if all ``parts`` are removed from it."""
    if text in parts:
        return True
    left = text
    for part in sorted(parts, key=len, reverse=True):
        if len(part) >= _SHORTEST and part in text:
            left = left.replace(part, "")
    return len(left) <= _MOST_OTHER * len(text)


def _in_file(path: str, copies: TurnCopies) -> Collection[str]:
    """Returns the ids of the turns of which the file contains a copy."""
    file = Path(path)
    try:
        if path.endswith(CODE) or not file.is_file():
            return ()
        content = file.read_bytes()
    except OSError:
        return ()
    if len(content) <= _LARGEST:
        return [each for each, at in TurnRemains(copies).found_in(content, path).items() if at.text]
    texts = {each: [text.encode() for text in said] for each, said in copies.turns.items()}
    return [each for each, said in texts.items() if any(len(one) > 8 and one in content for one in said)]
