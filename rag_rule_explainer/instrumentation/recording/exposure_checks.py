"""This module checks that a replay's models were sent the retained sources, and no omitted source."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias

from ...errors import ReplayMissedGate, SourceLeak, SourcesReordered, UnseenSourcesNeeded
from ...printable import plain_id
from ...probing.replaying import Scope, UnusableReply
from ...sources import Source
from ...verdicts import Answer
from ..requests.source_recognition import Request, Sight
from .guidance import ThatFound, leaked, no_retrievals, repeated, unseen_needed, unseen_results_needed
from .remarks import (
    FILTERED,
    FOUND_OTHERS,
    NEW_RETRIEVAL,
    NOT_CALLED_FOR,
    NOT_DELIVERED,
    NOT_SEARCHED_FOR,
)
from .serving import SOURCE_KIND, Serving
from .shown_order import OrdersShown, shown_order

OnNoRetrieval: TypeAlias = Literal["error", "accept"]
"""The treatment of a replay that retrieved nothing: "error" raises an error, "accept" uses its answer
like the answer of any replay."""

SEEING_UNKNOWN = (
    "seeing unknown: no retrieved text was recognised in what the model was sent (it is not sent to a "
    "model that reports its requests, is transformed beyond recognition, or is too short to tell), so "
    "the rules are about what was retrieved"
)
NOT_ASKED = (
    "the model saw nothing of what was retained, as none was asked. The application answered by itself, "
    "from a cache or because it found too little, so the answer may say nothing about it "
    '(scope="retrieved" counts it all the same)'
)
_HELD_OUT = (
    "{counts}: the rules are about those it saw; the others are served in no replay "
    '(scope="retrieved" takes them in)'
)
_PROMOTED = "{counts}: leaving one out may promote another that it did not see"
NOT_RETRIEVED = "the application chose not to retrieve"
_MAKE_ANEW = "pass a function that makes it anew for every run"
MISSED = (
    "a replay was answered without a retrieval that could be intercepted, so the answer says nothing "
    "about the sources it was to be given. Wrap the search in gate(...) where it is called, or, if the "
    'application may decide not to retrieve, pass on_no_retrieval="accept"'
)


@dataclass(frozen=True, slots=True)
class ExposureChecks:
    """An ``ExposureChecks`` knows the sources that the baseline's models were sent. It checks that each
    replay's models were sent the retained ones of these sources, and no others."""

    scope: Scope
    """The sources that the rules are about: those that were retrieved ("retrieved"), those that a model
    was sent ("seen"), or those that the user passed in ("given"). If no source was recognised in a
    request, "seen" is replaced by "retrieved"."""
    units: tuple[Source, ...]
    """The sources that are retained or omitted, so that rules can name them."""
    held_out: tuple[Source, ...]
    """Under the scope "seen", the sources that were retrieved but not sent to a model; no replay gets
    them."""
    notes: tuple[str, ...]
    """Remarks for the user about the scope."""
    sight: Sight
    """The ``Sight`` that recognises the sources in requests."""
    on_no_retrieval: OnNoRetrieval = "error"
    unrecognised: frozenset[str] = frozenset()
    """The ids of sources that are known to be sent to a model, although ``sight`` does not recognise
    them."""
    making: str = ""
    """Advice, for messages, on how to pass a function that makes a new application."""
    requests: tuple[Request, ...] = ()
    """The baseline's requests if sources were recognised in them, otherwise empty."""
    all_requests: tuple[Request, ...] = ()
    """The baseline's requests."""

    @classmethod
    def of(
        cls,
        sources: Sequence[Source],
        requests: Iterable[Request],
        *,
        scope: Scope,
        constant: Iterable[str] = (),
        pinned: Iterable[str] = (),
        shown: Iterable[str] = (),
        others: Mapping[str, Sequence[str]] | None = None,
    ) -> "ExposureChecks":
        """Returns the checks for a baseline that retrieved ``sources`` and sent ``requests``.

        Under the scope "seen", a source is held out (no replay gets it) if its text could be recognised
        in requests but was not, and the text of another source was. Sources in ``pinned``, which every
        replay retains, and in ``shown``, which a model certainly receives, are never held out; both are
        ids. ``constant``: texts that every request may hold; words in them identify no source.
        ``others``: see ``Sight``.
        """
        sight, requests = Sight(sources, constant, others), tuple(requests)
        seen = sight.seen_in(requests)
        if not seen:
            actual = scope if scope == "given" else "retrieved"
            note = (SEEING_UNKNOWN,)
            return cls(actual, tuple(sources), (), note, sight, all_requests=requests)
        checks = partial(cls, requests=requests, all_requests=requests)
        known = sight.glued_in(requests).union(shown)
        unrecognised = (sight.recognisable - seen).intersection(known)
        unseen = (sight.recognisable - seen - unrecognised).difference(pinned)
        counts = f"captured {len(sources)}, the model saw {len(sources) - len(unseen)}"
        if scope == "seen" and unseen:
            units = tuple(source for source in sources if source.id not in unseen)
            held_out = tuple(source for source in sources if source.id in unseen)
            note = (_HELD_OUT.format(counts=counts),)
            return checks(scope, units, held_out, note, sight, unrecognised=unrecognised)
        notes = (_PROMOTED.format(counts=counts),) if unseen else ()
        return checks(scope, tuple(sources), (), notes, sight, unrecognised=unrecognised)

    def other_order_shown(self) -> tuple[str, ...]:
        """Returns the ids of the sources in the order in which the baseline's model was shown them. If
        the position of a source is unknown, its id is repeated. Returns an empty tuple if the model was
        shown all ``units`` in their order.

        A source that no request shows word for word may be shown in other words, so its position is
        unknown. Only a source that no replay gets (``held_out``) counts as not shown.
        """
        known = self.sight.recognisable - self.unrecognised
        orders = OrdersShown.of(self.all_requests, self.units, self.sight, known)
        seen = self.sight.seen_in(self.all_requests) if self.scope == "seen" else frozenset[str]()
        return shown_order([each.id for each in self.units], orders, known & seen)

    def checked(
        self,
        answer: Answer,
        kept: Sequence[Source],
        serving: Serving[object],
        requests: Sequence[Request],
    ) -> Answer:
        """Checks one replay, and returns its answer with the ids of the sources that searches delivered
        and that models saw.

        ``kept``: the retained sources; ``serving``: the record of what was delivered; ``requests``: the
        replay's requests. Raises ReplayMissedGate if nothing was retrieved and ``on_no_retrieval`` is
        "error", SourceLeak if a model was sent an omitted source, SourcesReordered if sources came in
        another order, and UnusableReply if a retained source was not delivered or not shown to a model.
        """
        if serving.refused is not None:
            raise serving.refused
        if serving.undecided:
            raise UnusableReply(serving.undecided, answer.usage, answer.models, passing=False)
        ids = [source.id for source in kept]
        seen = self.sight.seen_in(requests)
        leaks = sorted(self._leaked_in(requests, ids, seen))
        if leaks:
            raise self._leak_of(leaks, serving)
        remarks = {answer.note, *serving.remarks}
        remarks.update(self._remarks(answer, ids, serving, requests, seen))
        # If a request is equal with and without sources, such as a request to rewrite the question, it
        # does not ask for an answer from sources.
        asked = requests if ids else {*requests}.difference(self.requests)
        return replace(
            answer,
            note="; ".join(sorted(filter(None, remarks))),
            delivered=tuple(identity for identity in ids if identity in serving.reached),
            seen=tuple(identity for identity in ids if identity in seen) if asked else None,
        )

    def _remarks(
        self,
        answer: Answer,
        ids: Sequence[str],
        serving: Serving[object],
        requests: Sequence[Request],
        seen: frozenset[str],
    ) -> Iterator[str]:
        """Yields remarks on the sources that were delivered and that reached the model, or on a replay
        that retrieved nothing. Raises ReplayMissedGate if ``on_no_retrieval`` does not accept such a
        replay, and UnusableReply if no model was called that could have seen the delivered sources."""
        if serving.served:
            yield from self._check_delivered(answer, ids, serving, seen)
            if serving.order:
                yield from self._check_order(serving, requests, seen)
        elif self.on_no_retrieval == "error":
            raise ReplayMissedGate(MISSED + self._anew())
        else:
            yield NOT_RETRIEVED
        unseen = serving.delivered & self.sight.recognisable - seen - self.unrecognised
        if unseen and not requests and self.scope == "seen":
            raise UnusableReply(NOT_ASKED, answer.usage, answer.models)
        if seen and unseen:
            named = ", ".join(plain_id(identity) for identity in ids if identity in unseen)
            yield f"{named} was retained and did not reach the model"

    def is_all(self, ids: Sequence[str]) -> bool:
        """Returns True iff ``ids`` are the ids of all sources that rules are about."""
        return len(ids) == len(self.units) and {each.id for each in self.units} == set(ids)

    def _check_delivered(
        self, answer: Answer, ids: Sequence[str], serving: Serving[object], seen: frozenset[str]
    ) -> Iterator[str]:
        """Yields a remark if a source was not delivered because the application did not search for it, or
        did not call the tool whose result it is. For example, an agent may end after its first search.
        This is how the application really behaves on these sources, so it is no fault. Raises
        UnusableReply if a source was not delivered for any other reason."""
        # If ``promoting`` is set, a search of the replay gets sources that a search of the baseline
        # dropped. The replay's search may drop them too, so it is no fault if they are not delivered.
        missing = [] if serving.promoting else [each for each in ids if each not in serving.delivered]
        if missing and self.held_out and self.is_all(ids):
            raise self.unseen_needed(serving.that_found)
        if not missing:
            if self.is_all(ids):
                serving.note_whole()
            return
        if not self.is_all(ids) and seen.isdisjoint(missing):
            # A replay gets the recorded result of a tool if it makes the same call as the baseline. So if
            # a source is such a result and was not delivered, the replay did not make the call.
            uncalled = [each for each in missing if each in serving.results]
            missing = [each for each in missing if each not in serving.results]
            if uncalled:
                yield NOT_CALLED_FOR
            if not missing:
                return
        named = ", ".join(map(plain_id, missing))
        if serving.may_search_less and not self.is_all(ids) and seen.isdisjoint(missing):
            yield NOT_SEARCHED_FOR.format(named=named)
            return
        is_new = bool(serving.remarks & {NEW_RETRIEVAL, FILTERED})
        raise UnusableReply(
            (FOUND_OTHERS if is_new else NOT_DELIVERED).format(named=named), answer.usage, answer.models
        )

    def _check_order(
        self, serving: Serving[object], requests: Sequence[Request], seen: frozenset[str]
    ) -> Iterator[str]:
        """Raises SourcesReordered if the sources were delivered, or shown to a model, in a different
        order than ``serving.order``, in which this replay must return them. Yields a remark if the order
        of some sources in the requests is unknown."""
        if tuple(serving.handed) != serving.order:
            raise SourcesReordered(serving.order, tuple(serving.handed), "its searches returned")
        _check_shown(self.sight.orders_in(self.requests), [each.id for each in self.units])
        _check_shown(self.sight.orders_in(requests), serving.order)
        unknown = [identity for identity in serving.order if identity not in self.sight.recognisable]
        if seen and unknown:
            yield f"{', '.join(map(plain_id, unknown))}: the order in which the model saw it is not known"

    def _leaked_in(
        self, requests: Sequence[Request], ids: Sequence[str], seen: frozenset[str]
    ) -> frozenset[str]:
        known = self.sight.leaked_in(requests, ids, seen)
        others = self.unrecognised.difference(ids)
        return known | (self.sight.glued_in(requests) & others if others else others)

    def _leak_of(self, leaks: Sequence[str], serving: Serving[object]) -> SourceLeak:
        """Returns the error for omitted sources that a model of the replay was sent. If documents are
        among them, only documents are named, because the other sources may have come back for the same
        reason. ``leaks``: the ids of the omitted sources."""
        kinds = {each.id: each.metadata.get(SOURCE_KIND) for each in (*self.units, *self.held_out)}
        others = {each: str(kinds[each]) for each in leaks if kinds[each]}
        documents = [each for each in leaks if each not in others]
        if not documents:
            return repeated(others, self._anew())
        return leaked(documents, len(serving.delivered), serving.that_found, self._anew())

    def unseen_needed(
        self, that_found: ThatFound = no_retrievals, answers: str = ""
    ) -> UnseenSourcesNeeded:
        """Returns the error for a replay that differs from the baseline, although only sources that no
        model saw are missing.

        ``that_found``: returns the retrievals that found the sources with these ids. ``answers``: in
        words, how the answer differs from the baseline's; empty if searches or requests to models differ.
        """
        held_out, shown = ([each.id for each in some] for some in (self.held_out, self.units))
        if all(each.metadata.get(SOURCE_KIND) == "tools" for each in self.held_out):
            return unseen_results_needed(held_out, answers)
        return unseen_needed(held_out, shown, that_found, answers)

    def _anew(self) -> str:
        """Returns advice to a user whose application keeps the results of an earlier run. The advice is
        the last sentence of some messages."""
        made = f": {self.making}" if self.making else ""
        return f". If the application keeps what another run found, {_MAKE_ANEW}{made}"


def _check_shown(orders: Iterable[Sequence[str]], wanted: Sequence[str]) -> None:
    """Raises SourcesReordered if one of ``orders`` contradicts the order ``wanted``. Each of these orders
    is a list of ids in the order in which a request shows the sources."""
    for shown in orders:
        came = tuple(identity for identity in shown if identity in wanted)
        meant = tuple(identity for identity in wanted if identity in came)
        if came != meant:
            raise SourcesReordered(meant, came, "its model was shown")
