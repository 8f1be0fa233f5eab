"""This module checks the requests of a replay of the next action in which no part of the prompt is a
source: only retrieved documents and results of tools are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .asked_models import NOTHING_BESIDE, BesideTexts
from .prompt_sections import PromptMessage
from .recorded_requests import RecordedRequests
from .request_faults import Fault


@dataclass(frozen=True, slots=True)
class CheckedRequests:
    """A ``CheckedRequests`` compares the requests of one replay that get recorded replies with those of
    the baseline, and changes none. ``refuse``: is called with the reason if the replay cannot have a
    verdict; ``note``: with the reason if rules cannot be proved. ``omits``: True iff the replay omits any
    source."""

    recorded: RecordedRequests
    refuse: Callable[[str], None]
    note: Callable[[str], None]
    omits: bool

    def edited(
        self, messages: Sequence[PromptMessage], beside: BesideTexts = NOTHING_BESIDE
    ) -> Sequence[str | None]:
        """Returns the messages' texts, unchanged."""
        texts = [each.text for each in messages]
        if self.omits:
            self._tell(self.recorded.fault(messages, texts, _uncut, beside))
        else:
            self.recorded.note_whole(messages, beside)
        return texts

    def check_parameters(self, place: int, parameters: str) -> None:
        """Compares the parameters of a request that gets a recorded reply with those of the request that
        had this reply. ``place``: the number of the request, counted from 0."""
        if self.omits:
            self._tell(self.recorded.fault_of_parameters(place, parameters))
        else:
            self.recorded.note_whole_parameters(place, parameters)

    def _tell(self, fault: Fault | None) -> None:
        if fault is not None:
            (self.refuse if fault.is_sure else self.note)(fault.why)


def _uncut(messages: Sequence[PromptMessage]) -> Sequence[str | None]:
    return [each.text for each in messages]
