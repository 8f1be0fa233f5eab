"""This module describes a change of the corpus: documents that are left out, replaced or added. It
recognises these documents in the results of searches."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, cast

from ..allowed import brief, checked_list
from ..errors import InvalidInput
from ..explanation.explanation import Explanation
from ..explanation.origin import content_hash
from ..sources import Source
from ..sources.given import given_parts, no_source, without_mark
from .fixes import Fix, fixes_of

_MARK = "#"
"""The character between a name that several documents have and the hash that is added to it, as in
"a.pdf#59215921"."""
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
    """A ``NamesSources`` is an object that names sources by their ids, such as a ``Fix`` or a rule."""

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

    ``excluded``: those documents that are left out and whose texts are known. ``names``: the names of the
    other documents that are left out; their texts are not known, because they were not retrieved.
    ``replaced``: pairs of a document and the same document with its new text. ``added``: the added
    documents, as the caller passed them.
    """

    excluded: tuple[Source, ...] = ()
    names: tuple[str, ...] = ()
    replaced: tuple[tuple[Source, Source], ...] = ()
    added: tuple[Any, ...] = ()

    def excluded_as(self, found: Source) -> str:
        """Returns the id or the name by which this change leaves out a retrieved source; empty if the
        source is not left out."""
        names = [each for each in (found.id, without_mark(found.id)) if each in self.names]
        ids = (each.id for each in self.excluded if is_same_document(each, found))
        return next(iter((*names, *ids)), "")

    def in_place_of(self, found: Source) -> Source | None:
        """Returns the document that replaces a retrieved source; None if the source is not replaced."""
        return next((new for old, new in self.replaced if is_same_document(old, found)), None)

    def also_without(
        self, explanation: Explanation, sources: Iterable[str], before: Explanation | None = None
    ) -> "CorpusChange":
        """Returns a change that also leaves out these ``sources`` of ``explanation``.

        A document may have different ids in different retrievals. ``before``: the explanation before any
        change. If a document is among its sources, the change names the document by its id in
        ``before``. None if each document always has the same id.
        """
        among = {*sources}
        more = [each for each in sources_in(explanation) if each.id in among]
        # A document that got a new text, but still causes the bad outcome, is now left out.
        gone = [pair for pair in self.replaced if any(_is_one(pair[1], each) for each in more)]
        more = [each for each in more if not any(_is_one(new, each) for _, new in gone)]
        excluded = [*self.excluded, *(old for old, _ in gone)]
        known = () if before is None else tuple(sources_in(before))
        for each in more:
            excluded.append(each if before is None else _named_once(each, excluded, known))
        return replace(
            self,
            excluded=tuple(excluded),
            replaced=tuple(pair for pair in self.replaced if pair not in gone),
            added=tuple(each for each in self.added if not any(_has_text_of(each, one) for one in more)),
        )

    def origin_of(self, shown: Source) -> str:
        """Returns in words why a source is shown that was not shown before the change: its text was
        rewritten, it was added, or it took the place of a source that was left out."""
        if any(is_same_document(new, shown) for _, new in self.replaced):
            return "rewritten"
        is_added = any(_has_text_of(each, shown) for each in self.added)
        return "added" if is_added else "promoted by the backfill"

    @property
    def left_out(self) -> tuple[str, ...]:
        """Returns the ids of all documents that are left out, then the names of those whose id is
        unknown."""
        return tuple(dict.fromkeys((*(each.id for each in self.excluded), *self.names)))


def change_of(
    before: Explanation,
    exclude: Excluded | None,
    replaced: Mapping[str, Any] | None,
    added: Sequence[Any],
    corpus: Sequence[Source] = (),
) -> CorpusChange:
    """Returns the change of the corpus that these arguments describe: documents to leave out
    (``exclude``), new texts by id (``replaced``), and new documents (``added``). ``before``: the
    explanation whose sources the ids in ``exclude`` and ``replaced`` name. ``corpus``: documents that are
    no sources of ``before``, but that the ids may also name; empty if they are not known.

    Without ``exclude``, ``replaced`` and ``added``, the change leaves out the sources of the first fix of
    ``before`` that is sure: its rule is proved, or passed its votes or tests. (A fix is a set of sources
    without which the bad outcome does not come back.) Raises InvalidInput if no fix is sure, and for
    arguments of a wrong type.
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
    """Returns the first fix of an explanation that is sure: its rule is proved, or passed its votes or
    tests. Raises InvalidInput if no fix is."""
    fixes = fixes_of(before)
    if fixes.first_sure is None:
        raise InvalidInput(_NO_FIX.format(why=fixes.why or "none passed its test"))
    return fixes.first_sure


def sources_in(explanation: Explanation) -> Iterator[Source]:
    """Yields the sources of an explanation."""
    for each in explanation.sources:
        yield Source(each.id, each.text, each.metadata)


def is_same_document(one: Source, other: Source) -> bool:
    """Returns True iff two sources of different retrievals are the same document: their texts are equal,
    and so are their names (or neither has a name). Their ids may differ, such as "a.pdf" and
    "a.pdf#59215921", because an id gets a hash only if another document with this name is retrieved
    too."""
    if one.text != other.text:
        return False
    ids = one.id, other.id
    names = [{each, without_mark(each)} for each in ids]
    return not names[0].isdisjoint(names[1]) or all(each.startswith(_UNNAMED) for each in ids)


def _is_one(new: Source, shown: Source) -> bool:
    """Returns True iff the source ``shown`` is the document ``new``, which the change gave a new text. A
    search may have returned only a part of this text, so two sources with the same id count as the same
    document."""
    return new.id == shown.id or is_same_document(new, shown)


def _has_text_of(given: object, shown: Source) -> bool:
    parts = given_parts(given)
    return parts is not None and parts.text == shown.text


def _named_once(source: Source, others: Sequence[Source], before: Sequence[Source]) -> Source:
    """Returns a copy of the source with an id that none of the ``others`` has. If the source is also one
    of ``before``, the copy has its id in ``before``.

    Ids are unique only within one retrieval: two documents of the same name, retrieved in different
    rounds, may both have this name as their id. A hash of the text is then added to the id.
    """
    known = next((each for each in before if is_same_document(each, source)), source)
    if all(each.id != known.id or each.text == known.text for each in others):
        return known
    name = f"{without_mark(known.id)}{_MARK}{content_hash(known.text)[:8]}"
    return Source(name, known.text, known.metadata)


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
