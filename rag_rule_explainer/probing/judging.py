"""This module judges answers by a search's predicate, once per memo key."""

import inspect
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from ..errors import RagRuleError
from ..predicates import JudgeFailed, Predicate, as_judgement, remembered_name, unwrapped
from ..predicates.inside import juries_in
from ..predicates.judge.jury import ALONE, Company, among_others, company
from ..printable import without_secrets
from ..verdicts import Case, Judgement, Verdict
from .judge_barrier import together
from .limits import LimitReached
from .memo import Memo

if TYPE_CHECKING:  # a search without a store loads no SQLAlchemy
    from ..storing.opened import Opened


class Judgements(Memo[Judgement]):
    """This class keeps the judgements of one base predicate by memo key.

    ``mixed``: the keys whose judgement a judge made in a batch of several answers; ``in_use``: a search
    has used such a judgement. All searches of the predicate share both, as they share the outcome of a
    vote.
    """

    def __init__(self) -> None:
        super().__init__()
        self.mixed: set[Hashable] = set()
        self.in_use = False


class Judging:
    """This class judges cases by one search's predicate.

    It calls the base predicate and inverts the judgement of a negation, so that a predicate and its
    negation never both hold. A predicate that raises gives UNKNOWN, with the error as its reason.
    ``store``: where judgements are kept, if the base predicate has a name to keep them under.
    """

    def __init__(
        self, predicate: Predicate, judgements: Judgements, store: "Opened | None" = None
    ) -> None:
        self.predicate = predicate
        self.base, self.is_negation = unwrapped(predicate)
        # The JudgeBatcher stores the judgements of a jury.
        is_a_jury = getattr(self.base, "jury", None) is not None
        self._name = None if is_a_jury else remembered_name(self.base)
        batches = [jury.batch for jury in juries_in(self.base)]
        self.has_jury = bool(batches)
        self.may_batch = any(batch > ALONE for batch in batches)
        self._store = store
        self._judgements = judgements
        self._known: dict[Hashable | None, Judgement] = {}

    @property
    def rests_on_batches(self) -> bool:
        """True if a search has used a judgement that was made in a batch of several answers."""
        return self._judgements.in_use

    def known(self, case: Case) -> Judgement | None:
        """Returns the judgement of a case if it is known, else None. Most answers repeat, and this call
        is cheaper than a coroutine."""
        try:
            key = self.base.memo_key(case)
            known = self._known.get(key)
        except Exception:
            return None  # ``judge`` reports the error
        if known is not None:
            self._note(key)
        return known

    async def judge(self, case: Case) -> Judgement:
        """Returns the judgement of a case; UNKNOWN if the predicate raises. Raises LimitReached if its
        judge may spend no more, and RagRuleError."""
        judgement = await self.prepare(case)
        if self._judgements.mixed:
            # A predicate whose memo key raises gave UNKNOWN, which comes from no batch.
            with suppress(Exception):
                self._note(self.base.memo_key(case))
        return judgement

    async def prepare(self, case: Case) -> Judgement:
        """Returns the judgement of ``judge``, without counting it as used by a search."""
        try:
            key = self.base.memo_key(case)
            return self._known.get(key) or await self._ask(key, case)
        except (RagRuleError, LimitReached):
            raise
        except JudgeFailed as failed:
            return Judgement(Verdict.UNKNOWN, str(failed))
        except Exception as error:
            # This judgement is not remembered: the next call may succeed.
            return Judgement(Verdict.UNKNOWN, f"the predicate failed: {error_text(error)}")

    async def judge_all(self, cases: Sequence[Case]) -> list[Judgement]:
        """Returns the judgement of each case. Cases for a jury go to it together. Cases with the same
        memo key are judged once, and share a failure of the jury. Raises the errors of ``judge``."""
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
        """Returns the memo key of a case; a unique object if the case has none."""
        try:
            key = self.base.memo_key(case)
            hash(key)
        except Exception:
            key = None  # ``judge`` reports the error
        return object() if key is None else key

    def turned(self, judgement: Judgement) -> Judgement:
        """Returns a judgement, inverted if the predicate is a negation of its base."""
        return ~judgement if self.is_negation else judgement

    async def ask(self, case: Case) -> Judgement:
        """Returns the judgement of a case, made once per memo key. Raises the errors of the predicate."""
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
        """Returns the base's judgement, and True iff a judge made part of it in a batch of several
        answers."""
        own = Company()
        before = company.set(own)
        try:
            judged = self.base(case)
            judgement = as_judgement(await judged if inspect.isawaitable(judged) else judged, self.base)
        finally:
            company.reset(before)
            if own.is_mixed:
                self._judgements.mixed.add(self.base.memo_key(case))
        return judgement, own.is_mixed


def judgings(predicates: Iterable[Predicate], store: "Opened | None" = None) -> tuple[Judging, ...]:
    """Returns a Judging for each predicate; those with the same base share their memory."""
    remembered: dict[Predicate, Judgements] = {}
    return tuple(
        Judging(predicate, remembered.setdefault(unwrapped(predicate)[0], Judgements()), store)
        for predicate in predicates
    )


def distinct(judgings: Iterable[Judging]) -> tuple[Judging, ...]:
    """Returns one Judging for each base predicate: a negation is judged by its base."""
    return tuple({judging.base: judging for judging in reversed(list(judgings))}.values())


def error_text(error: BaseException) -> str:
    """Returns the type and the message of an error; texts that look like an API key are masked."""
    message = without_secrets(str(error))
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
