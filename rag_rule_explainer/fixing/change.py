"""This module describes a change of the corpus (documents that are left out, replaced or added), and
recognises these documents in the results of searches."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, cast

from ..allowed import brief, checked_list
from ..errors import InvalidInput
from ..explanation.explanation import Explanation
from ..sources import Source
from ..sources.given import given_parts, no_source
from .fixes import Fix, fixes_of

_MARK = "#"
"""This character is between the name of a document and a hash, if several documents have the same
name."""
_UNNAMED = "doc-"
NOTHING_TO_CHANGE = (
    "nothing is left out, replaced or added; name documents in exclude=, replace= or add=, or leave "
    "exclude= away to try the first fix of the explanation"
)
_NO_FIX = (
    "the explanation has no fix that is sure, so there is nothing to try ({why}); name the documents in "
    "exclude="
)


class NamesSources(Protocol):
    """A ``NamesSources`` is an object with ids of sources, such as a ``Fix`` or a rule."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Returns the ids of the sources."""
        ...


Excluded: TypeAlias = NamesSources | Iterable[str]
"""The types by which a caller may name documents to leave out: a fix, a rule, or a list of ids."""


@dataclass(frozen=True, slots=True)
class CorpusChange:
    """A ``CorpusChange`` holds the documents that the corpus no longer contains, and the documents that
    it contains instead or in addition.

    ``excluded``: the documents that are left out. ``names``: the names of further documents that are left
    out. They were not among the sources, so only their names are known. ``replaced``: pairs of a document
    and the same document with its new text. ``added``: the added documents, as the caller passed them.
    """

    excluded: tuple[Source, ...] = ()
    names: tuple[str, ...] = ()
    replaced: tuple[tuple[Source, Source], ...] = ()
    added: tuple[Any, ...] = ()

    def excluded_as(self, found: Source) -> str:
        """Returns the id or the name by which this change leaves out a retrieved source; empty if the
        source is not left out."""
        names = [each for each in (found.id, _plain_name(found.id)) if each in self.names]
        ids = (each.id for each in self.excluded if is_same_document(each, found))
        return next(iter((*names, *ids)), "")

    def in_place_of(self, found: Source) -> Source | None:
        """Returns the document that replaces a retrieved source; None if the source is not replaced."""
        return next((new for old, new in self.replaced if is_same_document(old, found)), None)

    def also_without(self, explanation: Explanation, sources: Iterable[str]) -> "CorpusChange":
        """Returns a change that also leaves out these sources of an explanation."""
        among = {*sources}
        more = [each for each in sources_in(explanation) if each.id in among]
        # If a document still causes the bad outcome with its new text, it is left out.
        new = [new.id for _, new in self.replaced if new.id in among]
        replaced = tuple(pair for pair in self.replaced if pair[1].id not in new)
        olds = [old for old, each in self.replaced if each.id in new]
        return replace(self, excluded=(*self.excluded, *olds, *more), replaced=replaced)

    def origin_of(self, shown: Source) -> str:
        """Returns in words why a source is shown that was not shown before the change: its text was
        rewritten, it was added, or it took the place of a source that was left out."""
        if any(is_same_document(new, shown) for _, new in self.replaced):
            return "rewritten"
        parts = (given_parts(each) for each in self.added)
        is_added = any(each is not None and each.text == shown.text for each in parts)
        return "added" if is_added else "promoted by the backfill"

    @property
    def left_out(self) -> tuple[str, ...]:
        """Returns the ids of all documents that are left out."""
        return tuple(dict.fromkeys((*(each.id for each in self.excluded), *self.names)))


def change_of(
    before: Explanation,
    exclude: Excluded | None,
    replaced: Mapping[str, Any] | None,
    added: Sequence[Any],
    corpus: Sequence[Source] = (),
) -> CorpusChange:
    """Returns the change that the arguments of a caller describe. ``before``: the explanation to which
    the ids belong. ``corpus``: further documents that may be named, if they are known.

    Without ``exclude``, ``replaced`` and ``added``, the change leaves out the sources of the first sure
    fix. Raises InvalidInput if there is no sure fix, and for arguments of a wrong type.
    """
    if exclude is None and not replaced and not added:
        exclude = first_fix(before)
    sources = {each.id: each for each in (*corpus, *sources_in(before))}
    ids: tuple[str, ...] = () if exclude is None else _ids("exclude", exclude)
    pairs = tuple(_replacements(sources, replaced or {}))
    twice = {old.id for old, _ in pairs}.intersection(ids)
    if twice:
        raise InvalidInput(f"{sorted(twice)[0]!r} is in exclude and in replace; leave it in one of them")
    if not ids and not pairs and not added:
        raise InvalidInput(NOTHING_TO_CHANGE)
    return CorpusChange(
        tuple(sources[each] for each in ids if each in sources),
        tuple(each for each in ids if each not in sources),
        pairs,
        tuple(added),
    )


def first_fix(before: Explanation) -> Fix:
    """Returns the first sure fix of an explanation. Raises InvalidInput if there is none."""
    fixes = fixes_of(before)
    if fixes.first_sure is None:
        raise InvalidInput(_NO_FIX.format(why=fixes.why or "none passed its test"))
    return fixes.first_sure


def sources_in(explanation: Explanation) -> Iterator[Source]:
    """Yields the sources of an explanation."""
    for each in explanation.sources:
        yield Source(each.id, each.text, each.metadata)


def is_same_document(one: Source, other: Source) -> bool:
    """Returns True iff two sources of different retrievals are the same document. The id of a document
    may differ between retrievals if other documents of the same name are retrieved with it; its text may
    not differ."""
    if one.text != other.text:
        return False
    names = _plain_name(one.id), _plain_name(other.id)
    return one.id == other.id or names[0] == names[1] or all(each.startswith(_UNNAMED) for each in names)


def _plain_name(identity: str) -> str:
    return identity.rpartition(_MARK)[0] or identity


def _ids(name: str, given: Excluded) -> tuple[str, ...]:
    named: Any = getattr(given, "sources", given)
    ids = checked_list(name, named, "ids of sources, or a fix")
    for each in ids:
        if not isinstance(each, str) or not each.strip():
            raise InvalidInput(f"{name} has {brief(each)}; give the ids of sources")
    return tuple(dict.fromkeys(ids))


def _replacements(sources: Mapping[str, Source], given: Any) -> Iterator[tuple[Source, Source]]:
    if not isinstance(given, Mapping):
        raise InvalidInput(f"replace is {brief(given)}; give a dict from ids to new texts")
    for identity, text in cast("Mapping[Any, Any]", given).items():
        if identity not in sources:
            raise InvalidInput(f"replace names {no_source([str(identity)], tuple(sources))}")
        if not isinstance(text, str) or not text.strip():
            raise InvalidInput(
                f"replace has {brief(text)} for {identity!r}; give the new text, or name it in exclude"
            )
        old = sources[identity]
        yield old, Source(identity, text, old.metadata)
