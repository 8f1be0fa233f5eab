"""This module finds the documents behind an answer in its trace."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import NotInTrace
from ..instrumentation.searches.identity import RetrievedText, sources_of
from ..sources import Source
from .asked import TracedQuestion
from .corpora import Corpus
from .documents import tool_text
from .messages import turn_begins_at
from .places import DocumentPlace, usual_id
from .spans import TracedDocument, TracedMessage, TracedSpan

_Batch = tuple[TracedDocument, ...]
_KNOWN = 20


@dataclass(frozen=True, slots=True)
class FoundDocuments:
    """A ``FoundDocuments`` holds the documents of an answer as sources, in the order in which the
    application got them.

    It also has a note that says where the documents were found; the note is empty if there is nothing to
    say. ``places``: for each document, by its id, its places in the trace.
    """

    sources: tuple[Source, ...]
    note: str = ""
    places: Mapping[str, tuple[DocumentPlace, ...]] = field(
        default_factory=dict[str, tuple[DocumentPlace, ...]]
    )


def documents_of(question: TracedQuestion, corpus: Corpus | None) -> FoundDocuments:
    """Returns the documents behind an answer: those that the retrievers, rerankers and tools of the
    trace returned. The result of a reranker replaces the documents that the reranker was given.

    ``corpus``: the corpus with the texts that are missing in the trace; may be None. If the trace has no
    documents, the result is the documents of ``corpus`` whose whole texts occur in a request to a model
    or in a tool's result.

    Raises NotInTrace if no documents are found, with the places that were searched, and if texts of
    documents are missing.
    """
    found = _reranked(question, _searched(question))
    batches = [batch for _, batch in found]
    is_nameless = any(each.text is None and each.id is None for batch in batches for each in batch)
    if any(batches) and not (is_nameless and corpus is not None):
        several = _named(_completed(question, batches, corpus))
        return FoundDocuments(_once(several), places=_places([span for span, _ in found], several))
    missing = _nothing(question) if not any(batches) else _nameless(question, batches)
    seen = _texts_of(question)
    if corpus is None:
        raise NotInTrace(f"{missing}. {_advice(seen)}")
    within = [texts for text in seen if (texts := corpus.within(text))]
    if not within:
        raise NotInTrace(
            f"{missing}, and no text of {corpus.name} stands in a request to a model or in the result of "
            "a tool as a whole"
        )
    note = (
        f"the documents are the texts of {corpus.name} that stand in the request to the model, or in the "
        "result of a tool"
    )
    return FoundDocuments(_once(_named([max(within, key=len)])), note)


def _nameless(question: TracedQuestion, batches: Sequence[_Batch]) -> str:
    everything = [each for batch in batches for each in batch]
    count = sum(each.text is None and each.id is None for each in everything)
    return (
        f"the trace {question.id} holds neither the text nor the id of {count} of {len(everything)} "
        "documents: looked at the steps of retrievers"
    )


def _searched(question: TracedQuestion) -> list[tuple[TracedSpan, _Batch]]:
    """Returns the steps of retrievers and tools that returned documents, each with these documents, in
    the order in which they began. A step that is part of another retriever's step is left out."""
    by_id = {each.id: each for each in question.spans}
    found = [
        (span, span.documents)
        for span in question.spans
        if span.kind in {"retrieval", "tool"} and span.documents
    ]
    # A retriever that returned no documents counts here too: it dropped all documents that its inner
    # searches found, so these documents are left out.
    retrieving = {
        each.id for each in question.spans if each.kind == "retrieval" and each.documents is not None
    }
    inside = {above.id for span, _ in found if span.id in retrieving for above in _above(span, by_id)}
    return [
        (span, batch)
        for span, batch in found
        # A tool that calls a retriever returns the retriever's documents, so they are read only once.
        if not (span.kind == "tool" and span.id in inside)
        and not any(above.id in retrieving for above in _above(span, by_id))
    ]


def _above(span: TracedSpan, by_id: dict[str, TracedSpan]) -> Iterator[TracedSpan]:
    while span.parent in by_id:
        span = by_id[span.parent]
        yield span


def _reranked(
    question: TracedQuestion, batches: list[tuple[TracedSpan, _Batch]]
) -> list[tuple[TracedSpan, _Batch]]:
    """Returns the batches (each holds the documents that one search returned). The result of a reranker
    replaces the batches that it reranked."""
    by_id = {each.id: each for each in question.spans}
    known = {
        each.id
        for each in question.spans
        if (each.kind == "retrieval" and each.documents is not None) or _is_read_reranker(each)
    }
    for span in question.spans:
        # If a reranker runs inside of a search or of another reranker, only the result of the outer step
        # counts.
        if not _is_read_reranker(span) or any(above.id in known for above in _above(span, by_id)):
            continue
        made, given = span.documents or (), span.given or ()
        # The documents that the reranker was given count, too. So if it kept no document of a batch, this
        # batch is also replaced.
        keys = set(map(_key, (*made, *given)))
        kept = [
            (each, batch)
            for each, batch in batches
            if each.start > span.start or (keys and not keys & set(map(_key, batch)))
        ]
        batches = [*kept, *([(span, made)] if made else [])]
    return sorted(batches, key=lambda pair: pair[0].start)


def _is_read_reranker(span: TracedSpan) -> bool:
    """Returns True iff the span is a reranker, and the trace says which documents the reranker returned
    or was given. If the trace only says which documents it was given, the reranker counts as one that
    returned no documents."""
    return span.kind == "rerank" and (span.documents is not None or bool(span.given))


def _key(document: TracedDocument) -> str:
    return document.text if document.text is not None else f"id {document.id}"


def _completed(
    question: TracedQuestion, batches: Sequence[_Batch], corpus: Corpus | None
) -> list[_Batch]:
    """Returns the batches (each holds the documents that one search returned). Texts that the trace does
    not hold are taken from the corpus. Raises NotInTrace if a text is missing there too."""
    everything = [each for batch in batches for each in batch]
    lacking = [each for each in everything if each.text is None]
    if not lacking:
        return list(batches)
    ids = list(dict.fromkeys(each.id for each in lacking if each.id is not None))
    if len([each for each in lacking if each.id is not None]) < len(lacking):
        raise NotInTrace(f"{_nameless(question, batches)}. {_advice(_texts_of(question))}")
    shown = ", ".join(ids[:_KNOWN]) + ", …" * (len(ids) > _KNOWN)
    if corpus is None:
        raise NotInTrace(
            f"the trace {question.id} names documents without their texts: {shown}; give them with "
            "--corpus FILE|DIR|module:function (corpus= in Python)"
        )
    texts = corpus.texts(ids)
    unknown = [each for each in ids if each not in texts]
    if unknown:
        raise NotInTrace(
            f"{corpus.name} has no text for {', '.join(unknown[:_KNOWN])}, which the trace {question.id} "
            "names"
        )
    return [
        tuple(each if each.text is not None else _filled(each, texts[str(each.id)]) for each in batch)
        for batch in batches
    ]


def _filled(document: TracedDocument, found: TracedDocument) -> TracedDocument:
    return TracedDocument(found.text, document.id, {**found.metadata, **document.metadata})


def _named(batches: Sequence[_Batch]) -> list[list[Source]]:
    """Returns the documents of each search as sources, with the ids that they would have if the
    application were run and explained now."""
    texts = [
        [RetrievedText(each.text or "", each.id, each.metadata) for each in batch] for batch in batches
    ]
    return sources_of(texts)


def _once(several: Sequence[Sequence[Source]]) -> tuple[Source, ...]:
    return tuple({source.id: source for batch in several for source in batch}.values())


def _places(
    spans: Sequence[TracedSpan], several: Sequence[Sequence[Source]]
) -> dict[str, tuple[DocumentPlace, ...]]:
    places = dict[str, tuple[DocumentPlace, ...]]()
    for span, batch in zip(spans, several, strict=True):
        for position, source in enumerate(batch):
            place = DocumentPlace(usual_id(span.id), position, span.kind)
            places[source.id] = (*places.get(source.id, ()), place)
    return places


def _texts_of(question: TracedQuestion) -> list[str]:
    """Returns the texts that a model or a user was shown: requests to models, the last ones first, then
    results of tools."""
    asked = [each.request for each in reversed(question.models) if each.request is not None]
    # Earlier messages and the question are removed, because the texts in them were not retrieved for this
    # question.
    sent = ["\n".join(_said_now(each.messages)) for each in asked]
    sent = [_without_last(each, question.question()[0]) for each in sent]
    of_tools = [tool_text(each.output) or "" for each in question.spans if each.kind == "tool"]
    return [each for each in (*sent, *of_tools, "\n".join(of_tools)) if each.strip()]


def _said_now(messages: Sequence[TracedMessage]) -> Iterator[str]:
    begun = turn_begins_at(messages)
    for number, (role, text) in enumerate(messages):
        if role != "assistant" and (number >= begun or role == "system"):
            yield text


def _without_last(text: str, part: str) -> str:
    before, found, after = text.rpartition(part)
    return f"{before}\n{after}" if found else text


def _nothing(question: TracedQuestion) -> str:
    counts = Counter(each.kind for each in question.spans)
    return (
        f"the trace {question.id} holds no documents: looked at the results of retrievers "
        f"({counts['retrieval']} steps), of rerankers ({counts['rerank']}), and at what tools return "
        f"beside their text ({counts['tool']})"
    )


def _advice(seen: Sequence[str]) -> str:
    if not seen:
        return "Does the tracer record inputs and outputs, and is the search a retriever that it knows?"
    return (
        "A request to a model or the result of a tool may hold their texts, but not where each begins: "
        "give the texts with --corpus FILE|DIR (corpus= in Python)"
    )
