"""Whether replays are the baseline but for their sources: what is checked of every one of them.

A replay on all sources is compared with the baseline, request by request; and no request of any replay
may hold what another run made. Where an application keeps state of its own, one of the two fails.
"""

from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..errors import StateShared
from ..printable import shortened
from ..sources import Source
from ..verdicts import Answer
from .doubts import (
    BASELINE,
    NO_REPLAY,
    NO_REQUESTS,
    NOTHING_COMPARED,
    SAMPLED,
    SHORT_TEXTS,
    named,
    told_of_a_failure,
)
from .refusals import Refusals
from .requests.answering import Answers, holds_one
from .requests.authorship import Authorship
from .requests.carrying import Carried, MadeTexts, is_too_short
from .requests.conversations import ServerConversations
from .requests.courses import Course, Difference, difference
from .requests.exchanges import Exchange
from .requests.leftovers import Leftover
from .requests.repeated import Repeated
from .requests.source_recognition import Request, reading_of
from .requests.volatile import Steady, years_in
from .rewinding.rewinding import Rewinding
from .run_context import Participation, unusable
from .shared_state.counting import Counted
from .shared_state.files import Left
from .shared_state.lasting import EVERYTHING


@dataclass(slots=True, eq=False)
class Fidelity:
    """Checks the replays of one baseline. Thread-safe.

    ``steady``: takes out of a request what may differ. ``making``: how a function that makes the
    application anew is passed in this framework. ``lasting``: says what of one run lasts until the next
    and may decide there. ``has_changed``: says whether the application holds something else than before
    the replays. ``rewinding``: puts back what it held before the baseline. ``compared``: whether a replay
    on all sources was compared with the baseline, and was the same. ``reordered``: it was, but for the
    order of documents. ``sampled``: a reply differed, so that what followed it could not all be compared.
    ``failed``: how a replay on all sources failed, if one did. ``remembered``: a replay on all sources
    sent its model what the baseline had made; ``missed``: it did not send what the baseline had sent.
    ``doubt``: what was seen in a replay that may have been carried over.
    """

    steady: Steady
    making: str = ""
    lasting: Callable[[], Left | None] = lambda: None
    has_changed: Callable[[], bool] = lambda: False
    rewinding: Rewinding | None = None
    compared: bool = False
    reordered: bool = False
    first: Course | None = None
    _made: MadeTexts = field(default_factory=MadeTexts)
    _baseline_said: tuple[str, ...] = ()
    sampled: bool = False
    failed: str = ""
    remembered: bool = False
    missed: bool = False
    _queries: tuple[str, ...] = ()
    _sources: tuple[str, ...] = ()
    doubt: str = ""
    _found: tuple[Left, ...] = ()
    _has_answered_otherwise: bool = False
    _replies: dict[str, str] = field(default_factory=dict[str, str])
    _first_requests: tuple[Request, ...] = ()
    _answers_with_replies: bool = False
    _authorship: Authorship = field(init=False)
    _repeated: Repeated = field(init=False)
    _answers: Answers = field(init=False)
    _refusals: Refusals = field(init=False)
    _conversations: ServerConversations = field(default_factory=ServerConversations)

    def __post_init__(self) -> None:
        self._repeated = Repeated(self.steady)
        self._authorship = Authorship(self.steady)
        self._answers = Answers(self.steady)
        self._refusals = Refusals(self.making)

    def begin(
        self,
        run: Participation,
        answer: Answer,
        sources: Iterable[Source] = (),
        given: Iterable[str] = (),
        constants: Iterable[str] = (),
    ) -> None:
        """Takes the baseline, with which replays are compared. To be called before the first of them.

        ``sources``: what it retrieved; ``given``: the texts of its input, which any request may hold;
        ``constants``: those of the application, which it may put into any answer and any request.
        """
        exchanges, given = list(run.watch.exchanges), list(given)
        constants, sources = list(constants), list(sources)
        self._sources = tuple(source.text for source in sources)
        self.first = self._course(run)
        self._queries = self._queries_of(run)
        self._first_requests = tuple(each.request for each in exchanges)
        self._take_conversations(BASELINE, exchanges)
        self._made.allow([*(each.request.text for each in exchanges), *given, *run.gate.queries])
        self._made.allow_parts(constants)
        self._baseline_said = tuple(_made_in(run, exchanges, answer))
        self._made.note(BASELINE, self._baseline_said, [each.request.text for each in exchanges])
        self._answers.begin(EVERYTHING, answer, exchanges, constants)
        replies = [each.reply for each in exchanges if each.reply]
        self._answers_with_replies = holds_one(answer.text, replies)
        self._authorship.begin(answer, exchanges, sources, given, constants)
        for reply in replies:
            self.note_reply(BASELINE, reply)

    def note_reply(self, maker: str, reply: str, sent: Sequence[str] = ()) -> None:
        """Notes a reply as soon as it is there: a run at the same time may come by it."""
        self._made.note(maker, [reply], sent)
        line = reading_of(reply).line
        if len(line.split()) > 1:
            self._replies.setdefault(line, maker)

    def compare(self, run: Participation) -> None:
        """Compares a replay on all sources with the baseline. Raises StateShared where they differ.

        Where all replies were the same, no query may hold what the baseline made, however short: what an
        application remembers may reach its search alone.
        """
        if self.first is None:
            return
        course = self._course(run)
        found = difference(self.first, course)
        if found is not None:
            self.remembered, self.missed = self._holds_what_was_said(found), found.came is None
            raise self._refusals.differs(found, self._writer(found))
        self._check_times(run)
        if self.first.same_replies(course):
            asked = (query for query in self._queries_of(run) if query not in self._queries)
            other = next((query for query in asked if self._remembers(query)), None)
            if other is not None:
                raise self._refusals.asks(other, self._queries)
            self.reordered = self.reordered or not self.first.same_order(course)
        if self.first.steps and not self.first.leads_to(course):
            self.sampled = True
        self.compared = self.compared or bool(self.first.steps)

    def compare_answer(
        self, run: Participation, answer: Answer, kept: Sequence[Source], sources: Hashable
    ) -> None:
        """Compares the answer of a replay with the first one on the same ``sources``, where the models
        replied the same.

        One that differs leaves a doubt where answers repeat: what came between has changed it.
        """
        is_all = sources == EVERYTHING
        served = [*(source.text for source in kept), *run.made]
        changed = self._answers.take(
            sources, answer, list(run.watch.exchanges), served, whatever=self._is_rewound
        )
        if changed is None:
            self._answers.repeats = self._answers.repeats or is_all
        elif self._answers.repeats and not self.doubt:
            self._has_answered_otherwise = True
            self.doubt = self._refusals.answers_otherwise(changed, None if is_all else kept)

    def can_rewind(self) -> bool:
        """Returns True iff the application holds something else than before the baseline, which may bear
        on a run and can be put back. What cannot be put back leaves a doubt."""
        if self.rewinding is None:
            return False
        left = self.rewinding.left()
        if left is not None:
            self.doubt = self._told_of_what_lasts() or self._refusals.goes_by(left)
            return False
        return self.rewinding.is_useful()

    @property
    def _is_rewound(self) -> bool:
        return self.rewinding is not None and self.rewinding.is_wanted

    @contextmanager
    def rewound(self) -> Generator[None, None, None]:
        """Inside, replays find what the application held before the baseline. One that differs from an
        earlier one on the same sources leaves a doubt."""
        rewinding = self.rewinding
        if rewinding is None:
            yield
            return
        # Where the code told of a place already, that says more.
        known, seen = self._told_of_what_lasts(), ""
        try:
            with rewinding.wanted():
                yield
        except StateShared as error:
            seen = error.seen
        seen = seen or self.doubt.removeprefix(NOTHING_COMPARED)
        if seen:
            self._has_answered_otherwise = True
            self.doubt = known or self._refusals.depends(rewinding.told, seen)

    def remember(self) -> None:
        """Notes for later explanations of the same application that runs go by what earlier ones left, if
        that is known: the next baseline would find it."""
        if self.rewinding is None:
            return
        if self._has_answered_otherwise:
            self.rewinding.remember()
        elif self._found:
            self.rewinding.remember([each.place for each in self._found])

    @property
    def departs(self) -> bool:
        """Returns True iff a replay went another way than the baseline, as another run may cause."""
        return self._answers.departs

    def _check_times(self, run: Participation) -> None:
        """Raises StateShared where a date or an id that differs was remembered.

        That is one that the baseline's models said, or one of another year than the baseline had there.
        """
        known = [each.text for each in self._first_requests]
        frames = {self.steady(text): years_in(self.steady.volatile_in(text)) for text in known}
        for exchange in run.watch.exchanges:
            text = exchange.request.text
            times = self.steady.volatile_in(text)
            for time in times:
                said = any(time in each for each in self._baseline_said)
                if said and not any(time in each for each in known):
                    raise self._refusals.holds(Carried(BASELINE, time), ())
            years = frames.get(self.steady(text))
            if years is not None and years != years_in(times):
                raise self._refusals.is_of_another_year(years_in(times), years)

    def _course(self, run: Participation) -> Course:
        return Course.of(run.watch.exchanges, self.steady, self._sources, run.made)

    def check(self, run: Participation, answer: Answer, kept: Sequence[Source]) -> None:
        """Raises StateShared where a request of the replay holds what another run made.

        Raises UnusableReply where it holds two words that another run made, and the run says them too:
        they may be there by chance.
        """
        exchanges = list(run.watch.exchanges)
        made = list(_made_in(run, exchanges, answer))
        served = [*(source.text for source in kept), *run.made]
        found = [self._made.found_in(exchange, served, made) for exchange in exchanges]
        carried = [each for each in found if each is not None]
        for each in carried:
            if each.sure:
                raise self._refusals.holds(each, kept)
        foreign = self._foreign_reply(exchanges, answer, served)
        if foreign is not None:
            raise self._refusals.answers_for(foreign, kept)
        self.note(run, kept, answer)
        self._take_conversations(named(kept), exchanges)
        ids = [source.id for source in kept]
        self._authorship.take(named(kept), answer, exchanges, ids, run.made)
        if carried:
            raise unusable(_may_hold(carried[0]), run.watch, passing=False)

    def _take_conversations(self, run: str, exchanges: Sequence[Exchange]) -> None:
        left = self._conversations.take(run, exchanges)
        if left is not None and not self.steady.is_ignored(left.place):
            self.doubt = self.doubt or self._refusals.goes_by(left)

    def note(self, run: Participation, kept: Sequence[Source], answer: Answer | None = None) -> None:
        """Notes what a replay made, so that it is known in other runs' requests."""
        exchanges = list(run.watch.exchanges)
        made = _made_in(run, exchanges, answer)
        self._made.note(named(kept), made, [each.request.text for each in exchanges])

    def take(self, leftover: Leftover, kept: Sequence[Source]) -> None:
        """Takes what a replay's request holds of sources that were left out.

        Raises StateShared where the application is known to have kept it; else claims rest on a doubt.
        """
        told = self._refusals.keeps(leftover, kept)
        if isinstance(told, StateShared):
            raise told
        self.doubt = self.doubt or told

    def count(self, counted: Counted | None) -> None:
        """Takes a number or flag that every run changes and the application goes by, if there is one:
        then claims rest on a doubt."""
        if counted is not None and not self.doubt:
            self.doubt = self._refusals.counts(counted)

    def find(self, places: Iterable[Left]) -> None:
        """Takes where the baseline left what later runs find: claims rest on a doubt, unless it turns out
        to be the same whatever is retrieved."""
        self._found = tuple(places)

    def repeat(self, run: Participation, kept: Sequence[Source]) -> None:
        """Compares a replay with an earlier one on the same sources. Raises StateShared where models were
        sent something else."""
        found = self._repeated.take(kept, list(run.watch.exchanges), run.made)
        if found is not None:
            raise self._refusals.repeats_otherwise(found, kept)

    def would_compare(self, ids: tuple[str, ...]) -> bool:
        """Returns True iff a replay on the sources of these ids would be compared with an earlier one."""
        return self._repeated.knows(ids)

    def _foreign_reply(
        self, exchanges: Sequence[Exchange], answer: Answer, served: Sequence[str]
    ) -> Carried | None:
        """Returns a reply of another run that the answer holds, where it holds none of its own.

        Only where the baseline's answer held a reply of its own; a constant of the application is none.
        """
        own = [each.reply for each in exchanges if each.reply]
        if not self._answers_with_replies or not own or holds_one(answer.text, own):
            return None
        line = reading_of(answer.text).line
        facts = [reading_of(text).line for text in served]
        for reply, maker in list(self._replies.items()):
            if reply in line and not any(reply in fact for fact in facts):
                return Carried(maker, reply.strip())
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Returns what a reader is to know about how far the checks go."""
        short = any(is_too_short(said) for said in self._baseline_said)
        return (SHORT_TEXTS,) if short and self.first is not None and self.first.steps else ()

    @property
    def fingerprint(self) -> str:
        """Returns the baseline's requests and replies, as digests; empty where no model reported any."""
        if self.first is None or not self.first.steps:
            return ""
        return self.first.fingerprint(self.steady.ignored)

    @property
    def beginning(self) -> str:
        """Returns a digest of the baseline's first requests; empty where no model reported any."""
        return "" if self.first is None else self.first.beginning

    def recognise(self, fingerprint: str) -> str:
        """Compares the baseline with an earlier one, whose replays were checked.

        Returns how they differ; nothing where they do not: then this one's replays count as checked.
        """
        if self.first is None or not self.first.steps:
            return ""
        try:
            known = Course.from_fingerprint(fingerprint, self.steady.ignored)
        except ValueError:
            return ""
        if known is None:
            return ""
        found = difference(known, self.first)
        if found is None:
            self.compared = self._authorship.vouched = True
            return ""
        return f"request {found.number} to a model is another one"

    @property
    def unchecked(self) -> str:
        """Returns why replays could not be compared with the baseline; empty where they were."""
        told = self.doubt or self._told_of_what_lasts()
        if told or self.is_comparable:
            return told or self._authorship.doubt
        if self.compared:
            return NOTHING_COMPARED + SAMPLED
        if self.failed and (self.first is None or self.first.steps):
            return told_of_a_failure(self.failed)
        why = NO_REQUESTS if self.first is not None and not self.first.steps else NO_REPLAY
        return NOTHING_COMPARED + why

    def _told_of_what_lasts(self) -> str:
        found = next((each for each in self._found if not self._is_constant(each.place)), None)
        if found is not None:
            return self._refusals.finds(found.told)
        left = self.lasting()
        return "" if left is None else self._refusals.goes_by(left)

    def _is_constant(self, name: str) -> bool:
        return self.rewinding is not None and self.rewinding.is_constant(name)

    @property
    def is_comparable(self) -> bool:
        """Returns True iff replays can be compared, be there a doubt or not."""
        return self.compared and not self.sampled

    def _queries_of(self, run: Participation) -> tuple[str, ...]:
        return tuple(map(self.steady, run.gate.queries))

    def _remembers(self, query: str) -> bool:
        lines = [reading_of(said).line for said in self._baseline_said if reading_of(said).line.strip()]
        known = [reading_of(each).line for each in self._queries]
        line = reading_of(query).line
        return any(said in line and not any(said in each for each in known) for said in lines)

    def _writer(self, found: Difference) -> str:
        added = " ".join(found.added)
        written = (said.strip() for said in self._baseline_said)
        first = next((said for said in written if said and said in added), None)
        return "" if first is None else f"; it holds what {BASELINE} made: {shortened(first, 100)!r}"

    def _holds_what_was_said(self, found: Difference) -> bool:
        """Returns whether what a request has more than the baseline's was made by the baseline, in two
        words or more: one may be there by chance."""
        added = reading_of(" ".join(found.added)).line
        sources = [reading_of(text).line for text in self._sources]
        lines = (reading_of(said).line for said in self._baseline_said)
        return any(
            len(line.split()) > 1 and line in added and not any(line in each for each in sources)
            for line in lines
        )


def _made_in(run: Participation, exchanges: Iterable[Exchange], answer: Answer | None) -> Iterable[str]:
    yield from (each.reply for each in exchanges if each.reply)
    yield from run.made
    if answer is not None:
        yield answer.text


def _may_hold(carried: Carried) -> str:
    return (
        f"its model was sent {carried.text!r}, which {carried.maker} had made, and said the same: it "
        "may be there by chance, or the application remembers it from run to run"
    )
