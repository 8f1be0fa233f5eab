"""This module judges answers by the predicate of a search. Answers to which the predicate gives the same
memo key get the same judgement, so they are judged only once."""

import inspect
from collections.abc import Awaitable, Hashable, Iterable, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING

from ..errors import InvalidInput, RagRuleError
from ..predicates import JudgeFailed, Predicate, as_judgement, remembered_name, unwrapped
from ..predicates.inside import juries_in
from ..predicates.judge.jury import Company, among_others, company
from ..predicates.protocol import answer_key
from ..printable import without_secrets
from ..verdicts import Answer, Case, Judgement, Verdict
from .asked_models import runs_users_code, whole_replies
from .containing import contained
from .judge_barrier import together
from .limits import JudgedTooLate, LimitReached
from .memo import Memo
from .pausing import Stopper

if TYPE_CHECKING:  # imported only for its types, since a search without a store needs no SQLAlchemy
    from ..storing.opened import Opened


class Judgements(Memo[Judgement]):
    """This class keeps the judgements of one base predicate (a predicate without its negation), by memo
    key. All searches for rules of this predicate share it.

    ``mixed``: the keys of judgements for which a judge got several answers in one request. ``in_use``:
    True once a search has used one of these judgements. ``has_judged``: True once the predicate has
    judged an answer. An InvalidInput that the predicate raises after that is about one answer only. The
    judgement of this answer is then UNKNOWN, and the search goes on; with a judge, the error ends the
    search.
    """

    def __init__(self) -> None:
        super().__init__()
        self.mixed: set[Hashable] = set()
        self.in_use = False
        self.has_judged = False


class Judging:
    """This class judges cases by the predicate of one search.

    If the predicate is a negation, the predicate that it negates (its base) is called, and the judgement
    is inverted. A predicate and its negation therefore never both hold. If the base raises an error, the
    verdict is UNKNOWN, with the error as its reason. ``store``: keeps judgements for later explanations,
    if the base has a name for the store; None for no store. ``stopper``: ends a judgement that is not
    ready when the limit of seconds is reached; None for no limit.
    """

    def __init__(
        self,
        predicate: Predicate,
        judgements: Judgements,
        store: "Opened | None" = None,
        stopper: Stopper | None = None,
    ) -> None:
        self.predicate = predicate
        self.base, self.is_negation = unwrapped(predicate)
        # If the base is a jury itself, the JudgeBatcher stores its judgements, so this class does not.
        is_a_jury = getattr(self.base, "jury", None) is not None
        self._name = None if is_a_jury else remembered_name(self.base)
        juries = list(juries_in(self.base))
        self.has_jury = bool(juries)
        self.is_unmarked = any(jury.is_unmarked for jury in juries)
        self.may_batch = any(jury.may_mix for jury in juries)
        self._store, self._stopper = store, stopper
        self._judgements = judgements
        self._known: dict[Hashable | None, Judgement] = {}
        self._runs_users_code = runs_users_code(self.base)
        self._reads_texts_alone = getattr(type(self.base), "memo_key", None) is answer_key

    @property
    def rests_on_batches(self) -> bool:
        """Returns True iff a search has used a judgement from a request with several answers. No rule of
        the search then counts as proved."""
        return self._judgements.in_use

    def known(self, case: Case) -> Judgement | None:
        """Returns the judgement of a case if it is already known, else None. Many answers are equal, so
        callers try this method first: it takes less time than the coroutine ``judge``."""
        try:
            key = self.base.memo_key(case)
            known = self._known.get(key)
        except Exception:
            return None  # ``judge`` is called next and reports the error
        if known is not None and self._judgements.mixed:
            self._note(key)
        return known

    def known_of_texts(self, question: str, baseline: Answer, answer: Answer) -> Judgement | None:
        """Returns the judgement of an answer if it is already known, and depends only on the question and
        on the texts of the baseline and the answer; else None. Callers try this method first: it takes
        less time than making the case for ``known``."""
        if not self._reads_texts_alone or self._judgements.mixed:
            return None
        return self._known.get((question, baseline.text, answer.text))

    async def judge(self, case: Case) -> Judgement:
        """Returns the judgement of a case. The verdict is UNKNOWN if the predicate raises an error, or is
        not ready when the limit of seconds is reached. Raises LimitReached if a limit forbids a request
        to the judge, and RagRuleError if the whole call must end."""
        judgement = await self.prepare(case)
        if self._judgements.mixed:
            # ``memo_key`` may raise an error. The verdict is then UNKNOWN, and the judge got no request,
            # so nothing need be recorded.
            with suppress(Exception):
                self._note(self.base.memo_key(case))
        return judgement

    async def prepare(self, case: Case) -> Judgement:
        """Returns the same judgement as ``judge``, but does not record that a search has used it. A
        judgement can thus be made before it is certain that a search needs it."""
        try:
            key = self.base.memo_key(case)
            return self._known.get(key) or await self._ask(key, case)
        except JudgedTooLate as late:
            return Judgement(Verdict.UNKNOWN, f"it was not judged in time: {late}")
        except InvalidInput as wrong:
            if self.has_jury or not self._judgements.has_judged:
                raise
            # The predicate fails on some answers only. If the error were raised, all answers that were
            # paid for would be lost.
            return Judgement(Verdict.UNKNOWN, str(wrong))
        except (RagRuleError, LimitReached):
            raise
        except JudgeFailed as failed:
            return Judgement(Verdict.UNKNOWN, str(failed))
        except Exception as error:
            # The next call may succeed, so this judgement is not remembered.
            return Judgement(Verdict.UNKNOWN, f"the predicate failed: {error_text(error)}")

    async def judge_all(self, cases: Sequence[Case]) -> list[Judgement]:
        """Returns the judgement of each case.

        If there is a judge, all cases are judged at the same time, so that they can share requests. Cases
        with equal memo keys are then judged once, and all get the same judgement even if the judge fails.
        Raises the errors of ``judge``.
        """
        if not self.has_jury or len(cases) < 2:
            return [self.known(case) or await self.judge(case) for case in cases]
        keys = [self._key(case) for case in cases]
        judged: dict[Hashable, Judgement] = {}

        async def judge(key: Hashable, case: Case) -> None:
            judged[key] = self.known(case) or await self.judge(case)

        distinct = dict(zip(keys, cases, strict=True))
        await together((partial(judge, *each) for each in distinct.items()), needed=True)
        return [judged[key] for key in keys]

    def _key(self, case: Case) -> Hashable:
        """Returns the memo key of a case. If the case has none, returns a new object, which equals no
        other key. So the case is judged separately."""
        try:
            key = self.base.memo_key(case)
            hash(key)
        except Exception:
            key = None  # ``judge``, which is called later, reports the predicate's error
        # A new object equals no other key, so no judgement is reused.
        return object() if key is None else key

    def turned(self, judgement: Judgement) -> Judgement:
        """Converts the judgement of the base predicate (the predicate without its negation) to that of
        the predicate, and back. The judgement is inverted if the predicate is a negation, and unchanged
        otherwise."""
        return ~judgement if self.is_negation else judgement

    async def ask(self, case: Case) -> Judgement:
        """Returns the judgement of a case. Raises an error of the predicate (where ``judge`` would give
        the verdict UNKNOWN), and LimitReached if the limit of seconds is reached."""
        key = self.base.memo_key(case)
        judgement = await self._ask(key, case)
        self._note(key)
        return judgement

    def _note(self, key: Hashable | None) -> None:
        if key in self._judgements.mixed:
            self._judgements.in_use = True

    async def _ask(self, key: Hashable | None, case: Case) -> Judgement:
        if key is None:
            judgement = await self._asked(case)
        else:
            judgement, _ = await self._judgements.get(key, self._asked, case)
        judgement = self.turned(judgement)
        if key is not None:
            self._known[key] = judgement
        return judgement

    async def _asked(self, case: Case) -> Judgement:
        key = None if self._name is None or self._store is None else self.base.memo_key(case)
        if key is None or self._name is None or self._store is None:
            return (await self._judged(case))[0]
        stored = await self._store.judgement(self._name, key)
        if stored is not None:
            return stored
        if self.may_batch:
            stored = await self._store.judgement(among_others(self._name), key)
            if stored is not None:
                self._judgements.mixed.add(key)
                return stored
        judgement, mixed = await self._judged(case)
        if judgement.verdict is not Verdict.UNKNOWN:
            kept_as = among_others(self._name) if mixed else self._name
            await self._store.put_judgement(kept_as, key, judgement)
        return judgement

    async def _judged(self, case: Case) -> tuple[Judgement, bool]:
        """Calls the base predicate (the predicate without its negation). Returns its judgement, and True
        iff a request with several answers was used for it."""
        own = Company()
        before = company.set(own)
        try:
            with contained():
                judged = await self._called(case)
                judgement = as_judgement(judged, self.base)
                self._judgements.has_judged = True
        finally:
            company.reset(before)
            if own.is_mixed:
                self._judgements.mixed.add(self.base.memo_key(case))
        return judgement, own.is_mixed

    async def _called(self, case: Case) -> object:
        """Returns the result of the base predicate. Raises JudgeFailed if the user's code in it asked a
        model whose reply is not whole."""
        with whole_replies(_not_whole) if self._runs_users_code else nullcontext():
            judged = self.base(case)
            if not isinstance(judged, Judgement) and inspect.isawaitable(judged):
                return await self._in_time(judged)
            return judged

    async def _in_time(self, judged: Awaitable[Judgement]) -> Judgement:
        if self._stopper is None:
            return await judged
        return await self._stopper.soon(judged, of_judge=self.has_jury)


def judgings(
    predicates: Iterable[Predicate], store: "Opened | None" = None, stopper: Stopper | None = None
) -> tuple[Judging, ...]:
    """Returns a ``Judging`` for each predicate. A predicate and its negation share one ``Judgements``
    object, so each answer is judged once for both. ``store``: keeps judgements for later explanations.
    ``stopper``: ends judgements that are not ready when the limit of seconds is reached."""
    remembered: dict[Predicate, Judgements] = {}
    return tuple(
        Judging(predicate, remembered.setdefault(unwrapped(predicate)[0], Judgements()), store, stopper)
        for predicate in predicates
    )


def distinct(judgings: Iterable[Judging]) -> tuple[Judging, ...]:
    """Returns the first ``Judging`` of each base predicate (a predicate without its negation). All other
    ``Judging`` objects with the same base have the same judgements, or the inverted ones, so they need
    not judge anything."""
    return tuple({judging.base: judging for judging in reversed(list(judgings))}.values())


def _not_whole(reason: str) -> JudgeFailed:
    return JudgeFailed(f"the predicate asked a model whose reply cannot count: {reason}")


def error_text(error: BaseException) -> str:
    """Returns the type and the message of an error as one text. Parts that look like an API key are
    masked."""
    try:
        message = without_secrets(str(error))
    except Exception:  # an error of a user's own class may fail to describe itself
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
