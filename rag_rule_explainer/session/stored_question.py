"""This module reads and writes the data that the store has for one question. The store has answers to the
question, and data that show whether the application has changed."""

from collections.abc import AsyncGenerator, Hashable, Sized
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import ApplicationChanged, InvalidInput, StoreFailed, UntrueReplay
from ..probing import threads
from ..probing.judging import error_text
from ..probing.replaying import Baseline, ReplayFidelity
from ..sources import Arrangement, SourceSet
from ..storing.store import Store
from ..verdicts import Judgement, Verdict

if TYPE_CHECKING:  # imported only for its types, since a search without a store needs no SQLAlchemy
    from ..storing.answers import QuestionAnswers
    from ..storing.opened import Opened

_REQUESTS = "what models were sent in the baseline"
"""The name under which the store keeps the fingerprint (a digest) of the baseline's requests. The
fingerprint is stored as a judgement, with this name in the place of a predicate."""
_DOUBTS = "what tells against the replays"
"""The name under which the store keeps a doubt: a text that says why replays may differ from the
baseline in more than their sources. The doubt is stored as a judgement, with this name in the place of a
predicate."""
_REFUSED = (
    "the store has answers of an earlier explanation that was refused ({error}). If the application has "
    "been changed since, give it a namespace of its own (Store(url, namespace)), or prune this one "
    "(rag-rules store prune)"
)


@dataclass(frozen=True, slots=True)
class StoredQuestion:
    """A StoredQuestion gives access to the data that the store has for one question with these sources.

    ``opened``: the open store. It is None if there is no store; then all methods do nothing. ``name``:
    the name under which the answers are stored. ``fidelity``: the object that compares replays with the
    caller's baseline; None if they are not compared.
    """

    opened: "Opened | None"
    name: str
    sources: SourceSet
    fidelity: ReplayFidelity | None

    @classmethod
    async def of(
        cls, store: Store | None, question: str, sources: SourceSet, given: Baseline | None
    ) -> "StoredQuestion":
        """Opens the store, and returns a StoredQuestion, which gives access to the store's data on this
        question. If ``store`` is None, the methods of the result do nothing. ``given``: the caller's
        baseline; None if there is none. Raises StoreFailed if the store cannot be opened."""
        state = given.state if given is not None else ""
        # A database server may be slow, so a thread opens the store and the event loop is not blocked.
        opened = None if store is None else await threads.shared().run(store.open)
        name = f"{question}\n[{state}]" if state else question
        return cls(opened, name, sources, None if given is None else given.fidelity)

    @property
    def answers(self) -> "QuestionAnswers | None":
        """Returns the stored answers to the question; None without a store."""
        return None if self.opened is None else self.opened.answers(self.name)

    @property
    def _key(self) -> tuple[str, tuple[str, ...]]:
        """Returns the key under which the store keeps the data about the application for this question on
        these sources."""
        return self.name, Arrangement.of(self.sources, self.sources.full).key

    async def recognise_the_application(self) -> None:
        """Raises ApplicationChanged if the application's requests to its models now differ from those
        that it sent when the stored answers were made. If the store has a doubt (a reason why the rules
        may be wrong, found by an earlier explanation), this explanation warns the user of it too."""
        store, fidelity = self.opened, self.fidelity
        if store is None or fidelity is None:
            return
        known = await store.judgement(_REQUESTS, self._key)
        doubted = await store.judgement(_DOUBTS, self._key)
        if doubted is not None:
            fidelity.doubt = doubted.reason
        differs = fidelity.recognise(known.reason) if known is not None else ""
        if differs:
            raise ApplicationChanged(
                "the answers that the store has to this question were given when the application sent "
                f"its models something else: {differs}. Give the changed application a namespace of its "
                "own (Store(url, namespace)), or prune this one (rag-rules store prune)"
            )

    async def note_the_application(self) -> None:
        """Stores the fingerprint (a digest) of the baseline's requests. Later explanations that use the
        stored answers can then see whether the application has changed."""
        if self.opened is not None and self.fidelity is not None and not self.fidelity.unchecked:
            noted = Judgement(Verdict.HOLDS, self.fidelity.fingerprint)
            await self.opened.put_judgement(_REQUESTS, self._key, noted)

    async def is_only_begun(self) -> bool:
        """Returns True iff the only stored answers to this question are from the full set, and there is
        no fingerprint. An earlier explanation was then cut off before it could store more. If there are
        answers from other subsets but no fingerprint, the answers may come from another version of the
        application."""
        store, (_, full) = self.opened, self._key
        if store is None or await store.judgement(_REQUESTS, self._key) is not None:
            return False
        by_id = {source.id: source for source in self.sources}

        def key_of(ids: tuple[str, ...]) -> Hashable | None:
            kept = [by_id[each] for each in ids if each in by_id]
            return Arrangement(tuple(kept)).key if len(kept) == len(ids) else None

        stored = await threads.shared().run(store.stored_answers, self.name, key_of)
        return all(key_of(ids) == full for ids, _ in stored)

    async def note_the_doubt(self, baseline: Baseline) -> None:
        """Stores the doubt (the reason why the rules may be wrong), if there is one. The doubt then also
        applies to later explanations that use the stored answers."""
        fidelity = self.fidelity
        if fidelity is not None:
            checked = fidelity.unchecked if fidelity.is_comparable else fidelity.doubt
            await self._note(checked or baseline.doubt_about_answers())

    @asynccontextmanager
    async def noting_refusals(self, probed: Sized) -> AsyncGenerator[None, None]:
        """Stores a doubt (a reason to distrust the replays) if the block raises UntrueReplay, with which
        the explanation is refused. Later explanations that use the stored answers of this explanation
        then warn of this doubt.

        ``probed``: the subsets whose answers are stored. If there is at most one such subset, it is the
        full set, whose answer is not in doubt, so nothing is stored.
        """
        try:
            yield
        except UntrueReplay as refusal:
            if len(probed) > 1:
                await self._note(_REFUSED.format(error=error_text(refusal)))
            raise

    async def _note(self, doubt: str) -> None:
        if self.opened is not None and doubt:
            await self.opened.put_judgement(_DOUBTS, self._key, Judgement(Verdict.HOLDS, doubt))

    def lost(self) -> str:
        """Returns the reason why later explanations will not find the stored answers, for example that
        the database was deleted; empty if they will find them."""
        if self.opened is not None:
            try:
                self.opened.check_there()
            except StoreFailed as failed:
                return str(failed)
        return ""


def named_store(store: Store | None, given: Baseline | None, notes: list[str]) -> Store | None:
    """Returns the store with a namespace; None if there is no store. If the user gave no namespace, a
    namespace is made from the application's name and requests, and a text that names it is added to
    ``notes``.

    Raises InvalidInput if a namespace must be made but the application's requests are not known. Without
    the requests, the store could mix up the answers of different applications.
    """
    if store is None or store.namespace is not None:
        return store
    beginning = "" if given is None or given.fidelity is None else given.fidelity.beginning
    if given is None or not beginning:
        raise InvalidInput(
            "nothing is known of what this application sends its models, so say which version of it "
            f"the store's answers are from: Store({store.url!r}, namespace='support-bot-7')"
        )
    namespace = f"{given.application or 'application'}-{beginning[:12]}"
    notes.append(f"answers are stored under the namespace {namespace!r}")
    return replace(store, namespace=namespace)
