"""This module checks the fidelity of replays: they may differ from the baseline only in their sources.

A replay on all sources is compared with the baseline, request by request. No request of a replay may
hold a text that another run made. If state passes from run to run, one of these checks fails.
"""

from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..errors import StateShared
from ..sources import Source
from ..verdicts import Answer
from .baseline_memory import BaselineMemory
from .doubts import BASELINE, NOTHING_COMPARED, SHORT_TEXTS, Advice, named, why_not_compared
from .refusals import Refusals
from .requests.answering import Answers
from .requests.authorship import Authorship
from .requests.carrying import is_too_short
from .requests.conversations import ServerConversations
from .requests.courses import Course, difference
from .requests.exchanges import Exchange
from .requests.leftovers import Leftover
from .requests.repeated import Repeated
from .requests.volatile import Steady
from .rewinding.rewinding import Rewinding
from .run_failures import unusable
from .run_record import Participation
from .run_texts import RunTexts, made_in
from .shared_state.counting import Counted
from .shared_state.files import Left
from .shared_state.lasting import EVERYTHING


@dataclass(slots=True, eq=False)
class Fidelity:
    """A ``Fidelity`` checks the replays of one baseline. Thread-safe.

    ``steady``: replaces the parts of texts that may differ. ``lasting``: returns state that one run left
    and that may influence later runs, or None. ``has_changed``: returns True if the application's state
    has changed since the first replay began. ``rewinding``: restores the state before the baseline.
    ``first``: the baseline's requests and replies. ``doubt``: the reason to doubt all rules, or empty.

    Findings from replays on all sources: ``compared``: a replay equalled the baseline. ``reordered``: a
    replay differed only in the order of documents. ``sampled``: a model replied differently, so that
    later requests could not be compared. ``failed``: why a replay failed, or empty. ``remembered``: a
    model got a text that the baseline made. ``missed``: a request was not sent.
    """

    steady: Steady
    advice: Advice
    lasting: Callable[[], Left | None]
    has_changed: Callable[[], bool]
    rewinding: Rewinding
    compared: bool = False
    reordered: bool = False
    first: Course | None = None
    sampled: bool = False
    failed: str = ""
    remembered: bool = False
    missed: bool = False
    texts: RunTexts = field(default_factory=RunTexts)
    doubt: str = ""
    _place: str = ""
    _found: tuple[Left, ...] = ()
    _has_answered_otherwise: bool = False
    _memory: BaselineMemory = field(init=False)
    _authorship: Authorship = field(init=False)
    _repeated: Repeated = field(init=False)
    _answers: Answers = field(init=False)
    _refusals: Refusals = field(init=False)
    _conversations: ServerConversations = field(default_factory=ServerConversations)

    def __post_init__(self) -> None:
        self._repeated = Repeated(self.steady)
        self._authorship = Authorship(self.steady)
        self._answers = Answers(self.steady)
        self._refusals = Refusals(self.advice.making)
        self._memory = BaselineMemory(self.steady, self._refusals)

    def begin(
        self,
        run: Participation,
        answer: Answer,
        sources: Iterable[Source],
        given: Iterable[str],
        constants: Iterable[str],
    ) -> None:
        """Stores the baseline's requests, replies and answer, with which later replays are compared.

        ``sources``: the retrieved sources. ``given``: the texts of the input, which any request may hold.
        ``constants``: the application's own texts, which any answer and any request may hold.
        """
        exchanges, given = list(run.watch.exchanges), list(given)
        constants, sources = list(constants), list(sources)
        self._memory.begin(run, made_in(run, answer), sources)
        self.first = self.course(run)
        self._take_conversations(BASELINE, exchanges)
        self.texts.begin(run, answer, given, constants)
        self._answers.begin(EVERYTHING, answer, exchanges, constants)
        self._authorship.begin(answer, exchanges, sources, given, constants)

    def compare(self, run: Participation) -> None:
        """Compares a replay on all sources with the baseline. Raises StateShared if they differ.

        If the models' replies are equal, the queries of searches are compared too: if a query that the
        baseline did not make contains a text of the baseline's models or tools, the application has
        stored this text.
        """
        if self.first is None:
            return
        course = self.course(run)
        if (found := difference(self.first, course)) is not None:
            self.remembered, self.missed = self._memory.is_in(found), found.came is None
            raise self._memory.refusal_of(found, None if self.compared else run)
        self._memory.check_times(run)
        if self.first.same_replies(course):
            self._memory.check_queries(run)
            self.reordered = self.reordered or not self.first.same_order(course)
        if self.first.steps and not self.first.leads_to(course):
            self.sampled = True
        self.compared = self.compared or bool(self.first.steps)

    def compare_answer(
        self, run: Participation, answer: Answer, kept: Sequence[Source], sources: Hashable
    ) -> None:
        """Compares a replay's answer with that of an earlier run on the same sources. Sets ``doubt`` if
        they differ although the models' replies are equal, as an earlier run then left state. Until a
        replay on all sources gives the baseline's answer, raises UntrueReplay if tools wrote something
        that no replay runs."""
        is_all, served = sources == EVERYTHING, [*(source.text for source in kept), *run.made]
        changed = self._answers.take(
            sources, answer, list(run.watch.exchanges), served, whatever=self.rewinding.is_wanted
        )
        if changed is None:
            self._answers.repeats = self._answers.repeats or is_all
        elif is_all and not self._answers.repeats:
            self._memory.check_answer(changed, run)
        elif self._answers.repeats and not self.doubt:
            self._has_answered_otherwise = True
            self.doubt = self._refusals.answers_otherwise(changed, None if is_all else kept)

    def can_rewind(self) -> bool:
        """Returns True iff state that may influence runs has changed since the baseline, and can be
        restored. If it has changed and cannot be restored, sets ``doubt``."""
        left = self.rewinding.left()
        if left is not None:
            self.note(self._lasting_state_in_words() or self._refusals.goes_by(left), left.place)
            return False
        return self.rewinding.is_useful()

    @property
    def dependent_places(self) -> str:
        """Returns the names of state whose values may depend on the run that set them; may be empty."""
        return self.rewinding.dependent_places

    @contextmanager
    def rewound(self) -> Generator[None, None, None]:
        """Restores the state before the baseline for each replay of the block. If a replay then differs
        from an earlier one on the same sources, sets ``doubt``."""
        # A doubt that names the attribute helps the user most, so such doubts are checked first.
        known, seen = self._lasting_state_in_words(), ""
        try:
            with self.rewinding.wanted():
                yield
        except StateShared as error:
            seen = error.seen
        seen = seen or self.doubt.removeprefix(NOTHING_COMPARED)
        if seen:
            self._has_answered_otherwise = True
            self.doubt = known or self._refusals.depends(self.rewinding.clause, seen)
            self._place = self.rewinding.clause

    def remember(self) -> None:
        """Stores, for later explanations, which state influenced runs, and what runs have changed."""
        found = [each.place for each in self._inconstant()]
        place = self._place or next(iter(found), "") or getattr(self.lasting(), "place", "")
        self.rewinding.remember(place, None if self._has_answered_otherwise else found)

    def note(self, doubt: str, place: str = "") -> None:
        """Stores the first reason why nothing is proved. ``place``: the state that it is about."""
        if not self.doubt:
            self.doubt, self._place = doubt, place

    @property
    def departs(self) -> bool:
        """Returns True iff a replay seems to have run another branch of the code than earlier runs."""
        return self._answers.departs

    def course(self, run: Participation) -> Course:
        """Returns the run's requests and replies, for comparison with another run's."""
        shown = (*self._memory.sources, *self._memory.labels)
        return Course.of(run.watch.exchanges, self.steady, shown, run.made)

    def check(self, run: Participation, answer: Answer, kept: Sequence[Source]) -> None:
        """Raises StateShared if a request of the replay contains a text that another run made.

        Raises UnusableReply if this text has only two words and the replay made the same words, because
        such texts may be equal by chance.
        """
        exchanges, served = list(run.watch.exchanges), [*(each.text for each in kept), *run.made]
        for each in (carried := self.texts.carried_into(run, answer, served)):
            if each.sure:
                raise self._refusals.holds(each, kept)
        if (foreign := self.texts.foreign_reply(exchanges, answer, served)) is not None:
            raise self._refusals.answers_for(foreign, kept)
        self.texts.note(named(kept), run, answer)
        self._take_conversations(named(kept), exchanges)
        self._authorship.take(named(kept), answer, exchanges, [each.id for each in kept], run.made)
        if carried:
            raise unusable(self._refusals.may_hold(carried[0]), run.watch, passing=False)

    def _take_conversations(self, run: str, exchanges: Sequence[Exchange]) -> None:
        left = self._conversations.take(run, exchanges)
        if left is not None and not self.steady.is_ignored(left.place):
            self.note(self._refusals.goes_by(left), left.place)

    def take(self, leftover: Leftover, kept: Sequence[Source]) -> None:
        """Handles a text of an omitted source that was found in a replay's request. Raises StateShared if
        it is known where the application stores the text. Otherwise sets ``doubt``."""
        refusal = self._refusals.keeps(leftover, kept)
        if isinstance(refusal, StateShared):
            raise refusal
        self.doubt = self.doubt or refusal

    def count(self, counted: Counted | None) -> None:
        """Sets ``doubt`` if ``counted`` is not None. ``counted``: a number or flag that all runs change
        and that the application's code reads."""
        if counted is not None:
            self.note(self._refusals.counts(counted), counted.place)

    def find(self, places: Iterable[Left]) -> None:
        """Stores variables that the baseline changed. ``notes`` warns the user of each of these
        variables, unless every run sets it to the same value."""
        self._found = tuple(places)

    def repeat(self, run: Participation, kept: Sequence[Source]) -> None:
        """Raises StateShared if an earlier replay on the same sources sent different requests."""
        if (found := self._repeated.take(kept, list(run.watch.exchanges), run.made)) is not None:
            raise self._refusals.repeats_otherwise(found, kept)

    def would_compare(self, ids: tuple[str, ...]) -> bool:
        """Returns True iff ``repeat`` can compare a replay on these sources with an earlier one."""
        return self._repeated.knows(ids)

    @property
    def notes(self) -> tuple[str, ...]:
        """Returns notes for the user on differences between runs that these checks cannot detect."""
        short = any(is_too_short(text) for text in self._memory.made)
        return (SHORT_TEXTS,) if short and self.first is not None and self.first.steps else ()

    @property
    def fingerprint(self) -> str:
        """Returns digests of the baseline's requests and replies, which ``recognise`` of a later
        explanation gets; empty if no model reported any."""
        if self.first is None or not self.first.steps:
            return ""
        return self.first.fingerprint(self.steady.ignored)

    @property
    def beginning(self) -> str:
        """Returns a digest of the requests before the baseline's first reply; empty if there are none."""
        return "" if self.first is None else self.first.beginning

    def recognise(self, fingerprint: str) -> str:
        """Compares the baseline with that of an earlier explanation. If both are equal, the replays count
        as checked, because the replays of the earlier explanation were checked.

        ``fingerprint``: the ``fingerprint`` of the earlier baseline. Returns how the baselines differ;
        empty if they are equal or cannot be compared.
        """
        known = Course.from_fingerprint(fingerprint, self.steady.ignored)
        if known is None or self.first is None or not self.first.steps:
            return ""
        if (found := difference(known, self.first)) is None:
            self.compared = self._authorship.vouched = True
            return ""
        return f"request {found.number} to a model is another one"

    @property
    def unchecked(self) -> str:
        """Returns why the rules are in doubt, or why replays were not compared; empty otherwise."""
        doubt = self.doubt or self._lasting_state_in_words()
        if doubt or self.is_comparable:
            return doubt or self._authorship.doubt
        none = self.first is not None and not self.first.steps
        return why_not_compared(self.advice, sampled=self.compared, no_requests=none, failed=self.failed)

    def _inconstant(self) -> list[Left]:
        return [each for each in self._found if not self.rewinding.is_constant(each.place)]

    def _lasting_state_in_words(self) -> str:
        found, left = self._inconstant(), self.lasting()
        known = self._refusals.goes_by(left) if left else ""
        return self._refusals.finds(found[0].clause) if found else known

    @property
    def is_comparable(self) -> bool:
        """Returns True iff a replay equalled the baseline and no model gave it another reply."""
        return self.compared and not self.sampled
