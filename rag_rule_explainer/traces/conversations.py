"""This module finds the earlier questions of a conversation, which are in traces of their own."""

from pathlib import Path

from ..errors import NotInTrace
from .asked import TracedQuestion, questions_in
from .reading import traces_in
from .spans import TracedMessage

_Turns = list[tuple[str, str, str]]
"""The turns of a conversation: the time of each question, its text, and the text of its answer."""


class Conversations:
    """A ``Conversations`` reads the conversations in a file or a folder. It reads them once, at the first
    call of ``before`` that needs them, and then keeps the questions and answers in memory, but not the
    documents. ``only``: the id of the one conversation that is read; None for all."""

    def __init__(self, path: Path, only: str | None = None) -> None:
        self._path, self._only = path, only
        self._turns: dict[str, _Turns] | None = None

    def before(self, question: TracedQuestion) -> tuple[TracedMessage, ...]:
        """Returns the earlier questions of the same conversation with their answers, in the order of
        time. Returns none if the trace does not say to which conversation the question belongs."""
        if question.session is None or question.top is None:
            return ()
        if self._turns is None:
            self._turns = self._read()
        now = question.top.start
        said = [turn for turn in self._turns.get(question.session, ()) if turn[0] < now]
        return tuple(
            turn for _, asked, answer in said for turn in (("user", asked), ("assistant", answer))
        )

    def _read(self) -> dict[str, _Turns]:
        found = dict[str, _Turns]()
        for trace in traces_in(self._path):
            for each in questions_in(trace):
                if each.session is None or each.top is None:
                    continue
                if self._only is not None and each.session != self._only:
                    continue
                try:
                    turn = (each.top.start, each.question()[0], each.answer()[0])
                except NotInTrace:
                    continue
                found.setdefault(each.session, []).append(turn)
        return {session: sorted(turns) for session, turns in found.items()}
