"""This module reads and writes the store's data on one question: its answers, and its application's
fingerprint."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import ApplicationChanged, InvalidInput, StoreFailed
from ..probing import threads
from ..probing.replaying import Baseline, ReplayFidelity
from ..sources import Arrangement, SourceSet
from ..storing.store import Store
from ..verdicts import Judgement, Verdict

if TYPE_CHECKING:  # a search without a store loads no SQLAlchemy
    from ..storing.answers import QuestionAnswers
    from ..storing.opened import Opened

_REQUESTS = "what models were sent in the baseline"
"""The name under which the store keeps the fingerprint of the baseline's requests, as a judgement."""
_DOUBTS = "what tells against the replays"
"""The name under which the store keeps a doubt about the replays, as a judgement."""


@dataclass(frozen=True, slots=True)
class StoredQuestion:
    """A StoredQuestion is the store's part for one question on these sources.

    ``opened``: None without a store; then all methods do nothing. ``name``: the name under which the
    answers are stored. ``fidelity``: that of the caller's baseline, or None.
    """

    opened: "Opened | None"
    name: str
    sources: SourceSet
    fidelity: ReplayFidelity | None

    @classmethod
    async def of(
        cls, store: Store | None, question: str, sources: SourceSet, given: Baseline | None
    ) -> "StoredQuestion":
        """Opens the store, if there is one, and returns its part for this question."""
        state = given.state if given is not None else ""
        # A thread opens it, since a database server may be slow.
        opened = None if store is None else await threads.shared().run(store.open)
        name = f"{question}\n[{state}]" if state else question
        return cls(opened, name, sources, None if given is None else given.fidelity)

    @property
    def answers(self) -> "QuestionAnswers | None":
        """The stored answers to the question; None without a store."""
        return None if self.opened is None else self.opened.answers(self.name)

    @property
    def _key(self) -> tuple[str, tuple[str, ...]]:
        """The memo key of the application's data on these sources."""
        return self.name, Arrangement.of(self.sources, self.sources.full).key

    async def recognise_the_application(self) -> None:
        """Raises ApplicationChanged if the store's answers come from an application with other
        requests."""
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
        """Stores the fingerprint of the application's requests, for later users of its answers."""
        if self.opened is not None and self.fidelity is not None and not self.fidelity.unchecked:
            noted = Judgement(Verdict.HOLDS, self.fidelity.fingerprint)
            await self.opened.put_judgement(_REQUESTS, self._key, noted)

    async def note_the_doubt(self) -> None:
        """Stores a doubt about the replays, if there is one, for later users of their answers."""
        fidelity = self.fidelity
        if self.opened is None or fidelity is None:
            return
        doubt = fidelity.unchecked if fidelity.is_comparable else fidelity.doubt
        if doubt:
            await self.opened.put_judgement(_DOUBTS, self._key, Judgement(Verdict.HOLDS, doubt))

    def lost(self) -> str:
        """Returns why the stored answers will not be found again; empty if they will."""
        if self.opened is not None:
            try:
                self.opened.check_there()
            except StoreFailed as failed:
                return str(failed)
        return ""


def named_store(store: Store | None, given: Baseline | None, notes: list[str]) -> Store | None:
    """Returns the store; without a namespace, it gets one of the application's own, which is noted.

    Raises InvalidInput if the application's requests are not known: another application might be taken
    for it.
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
