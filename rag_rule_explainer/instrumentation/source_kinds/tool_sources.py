"""This module makes sources of the results of tools. It gives replays the results without the omitted
sources."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...probing.wholeness import Said
from ...sources import Source
from ...tool_calls import ToolCall
from ..executed_calls import NotedResult, ToolOutcome
from ..recording.serving import SOURCE_KIND
from ..requests.carrying import is_too_short
from ..requests.volatile import Steady
from ..result_field import FieldDoubt
from .cut_parts import cut_parts_in
from .dependent_fields import DependentField, dependent_fields
from .kinds import Omit
from .own_ids import OwnIds, readable_name
from .result_content import ContentOf, ResultContent, content_of_error, with_constants
from .result_fields import fields_left
from .result_parts import OnePart, ResultParts, parts_of_result


@dataclass(frozen=True, slots=True)
class _SplitResult:
    ids: tuple[str, ...]
    parts: ResultParts
    whole: ResultContent
    tool: str
    dependent: Sequence[DependentField]

    @classmethod
    def of(
        cls,
        whole: ResultContent,
        parts: ResultParts,
        call: ToolCall,
        steady: Steady,
        ids: Sequence[str] = (),
    ) -> "_SplitResult":
        """Returns a result that is split into ``parts``. ``call``: the call that had it."""
        return cls(tuple(ids), parts, whole, call.name, dependent_fields(parts, call, steady))

    def left(self, omitted: Collection[int], omit: Omit, doubt: FieldDoubt) -> Any:
        """Returns the result without the parts with these indexes."""
        result = self.whole.put(self.parts.without(omitted, omit))
        for one in self.dependent:
            if one.is_changed([*omitted], self.parts, omit):
                doubt(self.tool, one.field)
        if not omitted or not self.whole.fields:
            return result
        left = fields_left(self.whole.fields, self.parts, omitted, omit)
        for each in left.doubtful:
            doubt(self.tool, each)
        return self.whole.with_fields(result, left.fields)


@dataclass(frozen=True, slots=True)
class ToolSources:
    """A ``ToolSources`` holds the sources that are results of tools. Each item of a list is a source; any
    other result is one source, and so is the text of an error that a model was shown.

    The id of a source names the tool, the number of its call, and the item: "search_inbox #2, item 3".
    ``omit``: "remove" if omitted sources are removed, "blank" if their texts are emptied.
    ``steady``: replaces the parts of texts that differ from run to run without a meaning. It also knows
    which fields of results the user has named, as those that do not depend on the items. ``unvaried``:
    the tools whose errors have texts that cannot be omitted.
    """

    sources: tuple[Source, ...]
    omit: Omit
    content_of: ContentOf
    steady: Steady
    unvaried: tuple[str, ...] = ()
    _split: dict[tuple[str, int], _SplitResult] = field(
        default_factory=dict[tuple[str, int], _SplitResult]
    )

    @classmethod
    def of(
        cls,
        noted: Iterable[NotedResult],
        said: Sequence[Said],
        content_of: ContentOf,
        omit: Omit,
        taken: Iterable[str] = (),
        steady: Steady | None = None,
    ) -> "ToolSources":
        """Returns the sources in these results. ``said``: the models' replies. Their order gives the
        numbers of the calls, because tools that run at the same time may end in any order.
        ``content_of``: returns the part of a result that a model is shown. ``taken``: the ids of other
        sources, which no new source gets. ``steady``: see the class."""
        sources, split, numbers = list[Source](), dict[tuple[str, int], _SplitResult](), Counter[str]()
        ids, unvaried, steady = OwnIds.beside(taken), dict[str, None](), steady or Steady()
        for each in sorted(noted, key=lambda one: _turn(one, said)):
            numbers[each.call.name] += 1
            whole = content_of_error(each.result) if each.is_error else content_of(each.result)
            if whole is None:
                unvaried[each.call.name] = None
                continue
            whole = with_constants(whole, each.call.name, steady)
            parts = OnePart(whole.content) if each.is_error else parts_of_result(whole.content)
            if parts is None:
                continue
            name = f"{readable_name(each.call.name)} #{numbers[each.call.name]}"
            own = list(_sources_of(name, each.call, parts, ids))
            sources += own
            known = [one.id for one in own]
            split[each.key, each.place] = _SplitResult.of(whole, parts, each.call, steady, known)
        return cls(tuple(sources), omit, content_of, steady, tuple(unvaried), split)

    def served(
        self, key: str, place: int, kept: Collection[str], doubt: FieldDoubt
    ) -> tuple[Any, tuple[str, ...]] | None:
        """Returns two values for a tool call of the baseline: its result without the omitted sources, and
        the ids of the sources that remain in the result. Returns None if the result has no sources.
        ``key``: the key of the call, equal for equal calls. ``place``: the number of equal calls before
        it. ``kept``: the ids of the retained sources."""
        known = self._split.get((key, place))
        if known is None:
            return None
        omitted = [number for number, each in enumerate(known.ids) if each not in kept]
        result = known.left(omitted, self.omit, doubt)
        return result, tuple(each for each in known.ids if each in kept)

    @property
    def other_texts(self) -> Mapping[str, Sequence[str]]:
        """Returns, for the id of each heading that counts the items below it, the other texts that the
        heading has in replays without some of these items."""
        cut = [(each.ids[0], cut_parts_in(each.parts)) for each in self._split.values()]
        return {identity: each.other_headings for identity, each in cut if each and each.other_headings}

    def doubtful(self) -> Iterator[tuple[str, str]]:
        """Yields the id of the first source of each result that has a number of which it is unknown
        whether it counts or numbers the items, and the beginning of this result."""
        for each in self._split.values():
            cut = cut_parts_in(each.parts)
            if cut is not None and cut.is_doubtful:
                yield each.ids[0], cut.text.strip().partition("\n")[0]

    def ids_in(self, noted: NotedResult) -> tuple[str, ...]:
        """Returns the ids of the sources in a result of the baseline."""
        known = self._split.get((noted.key, noted.place))
        return () if known is None else known.ids

    def filtered(
        self, result: Any, tool: str, kept: Collection[str], doubt: FieldDoubt, own: Collection[str] = ()
    ) -> tuple[Any, tuple[str, ...]]:
        """Returns two values for the result of a call that the baseline did not make: the result without
        each part that has the text of an omitted source of the same tool, and the ids of the retained
        sources in it. If a part has the text of several sources, it is removed only if all of them are
        omitted. ``own``: the ids of the sources of the call; if any of them have the text of a part, no
        others count."""
        whole = with_constants(self.content_of(result), tool, self.steady)
        parts = parts_of_result(whole.content)
        if parts is None:
            return result, ()
        same = [each for each in self.sources if each.metadata.get("tool") == tool]
        named = [[each.id for each in same if each.text == text] for text in parts.texts]
        owners = [[each for each in ids if each in own] or ids for ids in named]
        omitted = [place for place, ids in enumerate(owners) if ids and not set(ids).intersection(kept)]
        delivered = [each for ids in owners for each in ids if each in kept]
        if not omitted:
            return result, tuple(delivered)
        split = _SplitResult.of(whole, parts, ToolCall(tool), self.steady)
        return split.left(omitted, self.omit, doubt), tuple(delivered)

    def held_of_others(self, result: Any, tool: str, kept: Collection[str]) -> str:
        """Returns the id of a source of another tool that is omitted, and whose text is a part of a
        result; empty if there is none. ``kept``: the ids of the retained sources."""
        parts = parts_of_result(with_constants(self.content_of(result), tool, self.steady).content)
        for text in parts.texts if parts is not None else ():
            named = [each for each in self.sources if each.text == text and not is_too_short(text)]
            is_known = any(each.id in kept or each.metadata.get("tool") == tool for each in named)
            if named and not is_known:
                return named[0].id
        return ""

    def made_again(
        self, key: str, place: int, result: Any, kept: Collection[str], doubt: FieldDoubt
    ) -> tuple[Any, tuple[str, ...]] | None:
        """Returns two values for the result of a tool that ran again for a call of the baseline: the
        result without the omitted sources, and the ids of the retained ones in it. Returns None if the
        result had no sources in the baseline.

        If the result is another one, items with the same texts are omitted from it. Of a result that is
        no list, a source is whatever the call returns: if it is omitted, nothing of another result is
        left. ``key``, ``place``, ``kept``: see ``served``."""
        known = self._split.get((key, place))
        if known is None:
            return None
        whole = with_constants(self.content_of(result), known.tool, self.steady)
        parts = parts_of_result(whole.content)
        if parts is None:
            return result, ()
        omitted = [number for number, each in enumerate(known.ids) if each not in kept]
        texts = ([*map(self.steady, each.texts)] for each in (parts, known.parts))
        if next(texts) == next(texts):
            left = replace(known, parts=parts, whole=whole).left(omitted, self.omit, doubt)
            return left, tuple(each for each in known.ids if each in kept)
        if len(omitted) < len(known.ids) or known.parts.is_list:
            return self.filtered(result, known.tool, kept, doubt, known.ids)
        every = range(len(parts.texts))
        return replace(known, parts=parts, whole=whole).left(every, self.omit, doubt), ()

    def omitting(
        self, kept: Collection[str], deliver: Callable[[Collection[str], bool], None], doubt: FieldDoubt
    ) -> "Omitting":
        """Returns an ``Omitting`` that removes the omitted sources from the results that one replay gets.
        ``kept``: the ids of the retained sources. ``deliver``: is called with the ids of the retained
        sources in each result, and with True iff the baseline had this result. ``doubt``: see
        ``FieldDoubt``."""
        return Omitting(self, frozenset(kept), deliver, doubt)


@dataclass(frozen=True, slots=True)
class Omitting:
    """An ``Omitting`` removes the omitted sources from the results of tools that one replay gets.
    ``kept``: the ids of the retained sources. ``deliver``: is called with the ids of the retained sources
    in each result, and with True iff the baseline had this result. ``doubt``: see ``FieldDoubt``."""

    sources: ToolSources
    kept: frozenset[str]
    deliver: Callable[[Collection[str], bool], None]
    doubt: FieldDoubt

    def recorded(self, key: str, place: int, outcome: ToolOutcome) -> ToolOutcome:
        """Returns the outcome of a call of the baseline, without the omitted sources. If it has no
        sources, returns ``outcome`` unchanged. ``key``: equal for equal calls. ``place``: the number of
        equal calls before this one. ``outcome``: the whole outcome."""
        served = self.sources.served(key, place, self.kept, self.doubt)
        if served is None:
            return outcome
        result, ids = served
        self.deliver(ids, True)
        return ToolOutcome(result) if outcome.error is None else ToolOutcome(error=result)

    def again(self, key: str, place: int, result: Any, tool: str) -> Any:
        """Returns the result of a tool that ran again for a call of the baseline, without the omitted
        sources. ``key``, ``place``: see ``recorded``."""
        made = self.sources.made_again(key, place, result, self.kept, self.doubt)
        if made is None:
            return self.new(result, tool)
        self.deliver(made[1], False)
        return made[0]

    def holds_others(self, result: Any, tool: str) -> str:
        """Returns the id of an omitted source of another tool whose text is a part of a result of
        ``tool``; empty if there is none."""
        return self.sources.held_of_others(result, tool, self.kept)

    def new(self, result: Any, tool: str) -> Any:
        """Returns a result of ``tool`` that the baseline did not have, without the omitted sources."""
        left, ids = self.sources.filtered(result, tool, self.kept, self.doubt)
        self.deliver(ids, False)
        return left


def _sources_of(name: str, call: ToolCall, parts: ResultParts, ids: OwnIds) -> Iterable[Source]:
    metadata = {SOURCE_KIND: "tools", "tool": call.name, "result": name}
    for number, text in enumerate(parts.texts, start=int(not parts.has_heading)):
        part = f"item {number}" if number else "heading"
        yield Source(ids.of(f"{name}, {part}" if parts.is_list else name), text, metadata)


def _turn(noted: NotedResult, said: Sequence[Said]) -> tuple[int, int]:
    """Returns the position of a tool call, by which the calls are numbered: the number of the models'
    replies before the call, and the index of the call among the calls in the last of these replies."""
    last = said[noted.replies - 1].called if 0 < noted.replies <= len(said) else ()
    same = [(each.name, each.arguments) == (noted.call.name, noted.call.arguments) for each in last]
    places = [place for place, is_same in enumerate(same) if is_same]
    return noted.replies, places[min(noted.place, len(places) - 1)] if places else len(last)
