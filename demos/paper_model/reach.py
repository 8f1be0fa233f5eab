"""This module tells a model that said nothing useful from one that could not be reached. What was not
answered is no figure of the model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from rag_rule_explainer import Answer, RagRuleError, Source
from rag_rule_explainer.probing.replaying import UnusableReply

Ask: TypeAlias = Callable[[str, Sequence[Source]], Answer]
Asking: TypeAlias = tuple[str, tuple[str, ...]]


class Unanswered(RagRuleError):
    """Calls failed, so results would be about fewer answers than they say."""


@dataclass(frozen=True)
class Reach:
    """A ``Reach`` knows the calls that failed at last, with what was said of them. A call that was tried
    again with success is not among them."""

    failed: dict[Asking, str] = field(default_factory=dict[Asking, str])

    def watching(self, ask: Ask) -> Ask:
        """Returns the same calls, which are watched."""

        def watched(question: str, sources: Sequence[Source]) -> Answer:
            asking = question, tuple([source.text for source in sources])
            try:
                answer = ask(question, sources)
            except Exception as error:
                # A reply that cannot be used has no cause; a call that failed has one.
                if isinstance(error, UnusableReply) and error.__cause__ is None:
                    self.failed.pop(asking, None)
                else:
                    self.failed[asking] = str(error)
                raise
            self.failed.pop(asking, None)
            return answer

        return watched

    def check(self) -> None:
        """Raises Unanswered if a call failed to the end."""
        if self.failed:
            why = next(iter(self.failed.values()))
            raise Unanswered(
                f"{len(self.failed)} calls of the model failed ({why}); no report is written, and the "
                "same command asks for what is missing"
            )
