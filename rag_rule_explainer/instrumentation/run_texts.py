"""This module stores the texts that each run made, and finds them in the requests and answers of other
runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..verdicts import Answer
from .doubts import BASELINE
from .requests.answering import holds_one
from .requests.carrying import Carried, MadeTexts
from .requests.exchanges import Exchange
from .requests.source_recognition import reading_of
from .run_record import Participation


def made_in(run: Participation, answer: Answer | None) -> tuple[str, ...]:
    """Returns the texts that a run made: the replies of its models, other texts such as tool results, and
    its answer."""
    replies = (each.reply for each in run.watch.exchanges if each.reply)
    return (*replies, *run.made, *(() if answer is None else (answer.text,)))


@dataclass(slots=True, eq=False)
class RunTexts:
    """A ``RunTexts`` stores the texts that the runs of one explanation made. Thread-safe."""

    _made: MadeTexts = field(default_factory=MadeTexts)
    _replies: dict[str, str] = field(default_factory=dict[str, str])
    _answers_with_replies: bool = False

    def begin(
        self, run: Participation, answer: Answer, given: Iterable[str], constants: Iterable[str]
    ) -> None:
        """Stores the texts of the baseline.

        ``given``: the texts of the input, which any prompt may contain. ``constants``: the application's
        own texts; any prompt may contain them, also several of them joined together.
        """
        requests = [each.request.text for each in run.watch.exchanges]
        self._made.allow([*requests, *given, *run.gate.queries])
        self._made.allow_parts(constants)
        self.note(BASELINE, run, answer)
        replies = [each.reply for each in run.watch.exchanges if each.reply]
        self._answers_with_replies = holds_one(answer.text, replies)
        for reply in replies:
            self.note_reply(BASELINE, reply)

    def note_reply(self, maker: str, reply: str, sent: Sequence[str] = ()) -> None:
        """Stores a model's reply at once, because a concurrent run may use it before this run has ended.

        ``maker``: the name of the run that got the reply; ``sent``: the prompts that this run has sent.
        """
        self._made.note(maker, [reply], sent)
        line = reading_of(reply).line
        if len(line.split()) > 1:
            self._replies.setdefault(line, maker)

    def note(self, maker: str, run: Participation, answer: Answer | None = None) -> None:
        """Stores all texts that a run made, so that they are recognised in prompts of other runs.
        ``maker``: the name of the run."""
        sent = [each.request.text for each in run.watch.exchanges]
        self._made.note(maker, made_in(run, answer), sent)

    def carried_into(self, run: Participation, answer: Answer, served: Sequence[str]) -> list[Carried]:
        """Returns the texts of other runs that this run's prompts contain. Leaves out texts that this run
        made too, such as its ``answer``, and texts in ``served``, which any prompt may contain."""
        made = made_in(run, answer)
        found = (self._made.found_in(each, served, made) for each in run.watch.exchanges)
        return [each for each in found if each is not None]

    def foreign_reply(
        self, exchanges: Sequence[Exchange], answer: Answer, served: Sequence[str]
    ) -> Carried | None:
        """Returns a reply that a model gave to another run and that this run's ``answer`` contains,
        although the answer contains no reply of this run's own models. Returns None if there is none.

        Also returns None if the baseline's answer contained none of the baseline's replies: the
        application then writes its answers itself, and an equal text proves nothing. ``exchanges``: this
        run's requests and replies. ``served``: texts that the answer may contain in any case.
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
