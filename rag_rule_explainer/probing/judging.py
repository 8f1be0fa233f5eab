"""Answer -> judgement, remembered by the predicate's memo key, single-flight."""

import inspect
from collections.abc import Hashable, Iterable, Sequence
from functools import partial

from ..errors import RagRuleError
from ..predicates import JudgeFailed, Predicate, as_judgement, remembered_name, unwrapped
from ..predicates.inside import juries_in
from ..storing.opened import Opened
from ..verdicts import Case, Judgement, Verdict
from .backlog import together
from .limits import LimitReached
from .memo import Memo


class Judging:
    """How one search's predicate is judged.

    The base predicate is judged and a negation turned around, so that a predicate and its negation never
    both hold. A predicate that raises says UNKNOWN, with the error as its reason. ``store``: where
    judgements are kept that have a name to be kept under.
    """

    def __init__(self, predicate: Predicate, judgements: Memo[Judgement]) -> None:
        self.predicate = predicate
        self.base, self.is_negation = unwrapped(predicate)
        # What a jury says is stored where it is paid for, on the bench.
        sits = getattr(self.base, "jury", None) is not None
        self._name = None if sits else remembered_name(self.base)
        self.has_jury = any(juries_in(self.base))
        self.store: Opened | None = None
        self._judgements = judgements
        self._known: dict[Hashable | None, Judgement] = {}

    def known(self, case: Case) -> Judgement | None:
        """The judgement, where it has been made: most answers repeat, and are not worth a coroutine."""
        try:
            return self._known.get(self.base.memo_key(case))
        except Exception:
            return None  # ``judge`` says what is wrong

    async def judge(self, case: Case) -> Judgement:
        """The judgement, UNKNOWN where the predicate raises. Raises LimitReached where its judge may
        spend no more, and errors of this package only."""
        try:
            key = self.base.memo_key(case)
            return self._known.get(key) or await self._ask(key, case)
        except (RagRuleError, LimitReached):
            raise
        except JudgeFailed as failed:
            return Judgement(Verdict.UNKNOWN, str(failed))
        except Exception as error:
            # Not remembered: the next one who wants it may have more luck.
            return Judgement(Verdict.UNKNOWN, f"the predicate failed: {described(error)}")

    async def judge_all(self, cases: Sequence[Case]) -> list[Judgement]:
        """The judgement of each. What a jury has to decide of them, it is asked at once.

        Cases with one memo key are judged once, so a jury that fails there fails on all of them. Raises
        what ``judge`` raises.
        """
        if not self.has_jury or len(cases) < 2:
            return [self.known(case) or await self.judge(case) for case in cases]
        keys = [self._key(case) for case in cases]
        judged: dict[Hashable, Judgement] = {}

        async def one(key: Hashable, case: Case) -> None:
            judged[key] = self.known(case) or await self.judge(case)

        distinct = dict(zip(keys, cases, strict=True))
        await together((partial(one, *each) for each in distinct.items()), needed=True)
        return [judged[key] for key in keys]

    def _key(self, case: Case) -> Hashable:
        """Its memo key; one of its own where it has none."""
        try:
            key = self.base.memo_key(case)
            hash(key)
        except Exception:
            key = None  # ``judge`` says what is wrong
        return object() if key is None else key

    def turned(self, judgement: Judgement) -> Judgement:
        """From the base's judgement to the predicate's, and back."""
        return ~judgement if self.is_negation else judgement

    async def ask(self, case: Case) -> Judgement:
        """The judgement, asked for once per memo key. Raises what the predicate raises."""
        return await self._ask(self.base.memo_key(case), case)

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
        key = None if self._name is None or self.store is None else self.base.memo_key(case)
        if key is None or self._name is None or self.store is None:
            return await self._judged(case)
        stored = await self.store.judgement(self._name, key)
        if stored is not None:
            return stored
        judgement = await self._judged(case)
        if judgement.verdict is not Verdict.UNKNOWN:
            await self.store.put_judgement(self._name, key, judgement)
        return judgement

    async def _judged(self, case: Case) -> Judgement:
        judged = self.base(case)
        return as_judgement(await judged if inspect.isawaitable(judged) else judged, self.base)


def judgings(predicates: Iterable[Predicate]) -> tuple[Judging, ...]:
    """One for each predicate; those with the same base share what they remember."""
    remembered: dict[Predicate, Memo[Judgement]] = {}
    return tuple(
        Judging(predicate, remembered.setdefault(unwrapped(predicate)[0], Memo()))
        for predicate in predicates
    )


def described(error: BaseException) -> str:
    """An error in one line: its type and its message."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
