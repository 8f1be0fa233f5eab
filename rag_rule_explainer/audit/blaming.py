"""This module finds the documents to blame over a log: it plans the fresh replays, makes them, and keeps
them in the folder of the audit, so that none is paid twice."""

import json
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, RagRuleError
from ..explainer import Explainer
from ..explanation.explanation import Explanation
from ..predicates import Predicate
from ..probing.judging import error_text
from ..probing.limits import Limits
from ..probing.replaying import Replay
from ..report import load
from ..sources import Source, SourceSet
from ..verdicts import Answer, Verdict
from .asking import explainer_for
from .blame import BlameList, blame_list
from .blame_plan import BlamePlan, Suspect, Trial, plan_blame
from .engine import AuditJob
from .fresh import FreshReplays, FreshVerdicts
from .metering import Meter
from .options import AuditOptions
from .pivots import suspects_of_log
from .questions import AuditedQuestion, LoggedQuestion
from .result import Audit

_FILE = "blame.jsonl"
_LETTERS = {Verdict.HOLDS: "b", Verdict.BREAKS: "n", Verdict.UNKNOWN: "u", None: "-"}
_VERDICTS = {letter: verdict for verdict, letter in _LETTERS.items()}


@dataclass(slots=True, eq=False)
class Blaming:
    """A ``Blaming`` makes the replays of a plan, one question after the other.

    ``explainer``: replays the application. ``condition``: holds iff an answer is bad. ``file``: keeps the
    verdicts, one line of JSON for each question; None to keep nothing. A run that is started again makes
    only the replays that the file lacks. ``reasons``: by question, the reason why some of its replays
    have no verdict.
    """

    explainer: Any
    condition: Predicate
    plan: BlamePlan
    file: Path | None = None
    reasons: dict[str, str] = field(init=False, default_factory=dict[str, str])
    _found: FreshVerdicts = field(init=False, default_factory=FreshVerdicts)

    @classmethod
    def of(
        cls, options: AuditOptions, job: AuditJob, result: Audit, meter: Meter, spent: int
    ) -> "Blaming":
        """Returns a ``Blaming`` that makes the replays which the audit still needs.

        ``meter``: the meter of the audit. It counts these replays as well, so that the audit's limits
        hold for all replays together. ``spent``: the number of replays that the audit has made so far.
        """
        file = None if result.folder is None else result.folder / _FILE
        suspects = suspects_of_log(result.names, partial(_explanation, result.folder))
        explainer = explainer_for(job, meter)

        def planned(most: int | None) -> BlamePlan:
            return plan_blame(
                suspects, options.fdr or 0.0, deterministic=options.deterministic, most_replays=most
            )

        most = options.blame_replays
        if job.limits.replays is not None:
            # A call that is repeated after a stop must have the same plan, however much was spent before
            # the stop. With another plan, the replays that were already paid for would be of no use.
            mark = _mark(suspects, options, job.limits)
            left = _kept_budget(file, mark)
            if left is None:
                left = max(0, job.limits.replays - spent)
                if not isinstance(explainer, Explainer):
                    # The application also runs once for each question, to retrieve its documents again.
                    # These runs leave fewer replays for the tests.
                    left = max(0, left - len(planned(left).questions))
                _append(file, {"plan": mark, "replays": left})
            most = left if most is None else min(left, most)
        plan = planned(most)
        return cls(explainer, job.condition, plan, file)

    async def found(
        self, asked: Mapping[str, LoggedQuestion], audited: Mapping[str, AuditedQuestion]
    ) -> BlameList:
        """Makes the replays, and returns the documents to blame. ``asked``: the questions of the plan as
        they were asked, by their ids. ``audited``: the results of these questions, by their ids."""
        known, verdicts = _kept(self.file), dict[Trial, Verdict]()
        async for question, trials, found in self._made(known, asked, audited):
            verdicts.update(zip(trials, found, strict=True))
            if Verdict.UNKNOWN in found:
                self.reasons.setdefault(question, "some of its replays had no verdict")
        return blame_list(self.plan, verdicts)

    async def _made(
        self,
        known: Mapping[str, Sequence[Verdict | None]],
        asked: Mapping[str, LoggedQuestion],
        audited: Mapping[str, AuditedQuestion],
    ) -> AsyncGenerator[tuple[str, Sequence[Trial], Sequence[Verdict]], None]:
        of_questions = defaultdict[str, list[Trial]](list)
        for trial in self.plan.trials():
            of_questions[trial.pair.question].append(trial)
        for question, trials in of_questions.items():
            digest = _digest(trials, audited[question])
            kept = zip(trials, known.get(digest, ()), strict=False)
            found = {each: verdict for each, verdict in kept if verdict is not None}
            left = [each for each in trials if each not in found]
            if left:
                self._found = FreshVerdicts()
                try:
                    self._found = await self._tried(left, asked.get(question), audited[question])
                finally:
                    # The verdicts so far are kept even after an error. If an interrupt or a limit
                    # prevented replays, the next run of the audit makes only these.
                    found |= self._found.verdicts
                    if self._found.verdicts:
                        self._keep(question, digest, map(found.get, trials))
                if self._found.reason:
                    self.reasons[question] = self._found.reason
            yield question, trials, [found.get(each, Verdict.UNKNOWN) for each in trials]

    async def _tried(
        self, trials: Sequence[Trial], asked: LoggedQuestion | None, before: AuditedQuestion
    ) -> FreshVerdicts:
        if asked is None:
            return FreshVerdicts(reason="the question is not in the log any more")

        async def ask(explainer: Explainer, sources: Sequence[Source], replay: Replay) -> FreshVerdicts:
            fresh = FreshReplays(explainer, self.condition, before, self._baseline_of(before))
            self._found = fresh.found
            return await fresh.verdicts(trials, sources, replay)

        try:
            if isinstance(self.explainer, Explainer):
                documents = SourceSet.of(asked.documents or ()).sources
                return await ask(self.explainer, documents, _replay_of(self.explainer))
            documents = None if asked.documents is None else list(asked.documents)
            return await self.explainer.aasked_by(asked.given, ask, documents=documents)
        except RagRuleError as error:
            return FreshVerdicts(reason=str(error))
        except Exception as error:
            return FreshVerdicts(reason=error_text(error))

    def _baseline_of(self, before: AuditedQuestion) -> Answer:
        """Returns the answer to a question. It is the whole answer if its explanation was saved,
        otherwise only the beginning of the answer."""
        saved = None if self.file is None else _explanation(self.file.parent, before)
        return Answer(before.answer) if saved is None else saved.baseline

    def _keep(self, question: str, digest: str, found: Iterable[Verdict | None]) -> None:
        letters = "".join(_LETTERS[each] for each in found)
        _append(self.file, {"question": question, "trials": digest, "verdicts": letters})


def _append(file: Path | None, line: Mapping[str, object]) -> None:
    if file is not None:
        with file.open("a", encoding="utf-8") as written:
            written.write(f"\n{json.dumps(line)}\n")


def _lines(file: Path | None) -> Iterator[Any]:
    """Yields the JSON data of each line of the file; nothing if there is no file. A line that is
    incomplete because a run was killed is left out."""
    if file is None or not file.is_file():
        return
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        with suppress(ValueError):
            yield json.loads(line)


def _kept(file: Path | None) -> dict[str, Sequence[Verdict | None]]:
    """Returns the verdicts in the file, by a hash that identifies the trials of one question. They are
    in the order of the trials, with None for a trial that was not made."""
    found = dict[str, Sequence[Verdict | None]]()
    for read in _lines(file):
        with suppress(KeyError, TypeError):
            found[read["trials"]] = [_VERDICTS[each] for each in read["verdicts"]]
    return found


def _kept_budget(file: Path | None, mark: str) -> int | None:
    """Returns the number of replays that an earlier run allowed for the same plan; None if there was no
    such run. ``mark``: a hash that identifies the plan."""
    for read in _lines(file):
        with suppress(KeyError, TypeError, ValueError):
            if read["plan"] == mark:
                return max(0, int(read["replays"]))
    return None


def _mark(suspects: Sequence[Suspect], options: AuditOptions, limits: Limits) -> str:
    """Returns a hash that is equal for two runs iff both test the same suspects within the same limits,
    and so have the same plan."""
    given = options.fdr, options.deterministic, options.blame_replays, limits.replays
    return sha256(repr((given, tuple(suspects))).encode("utf-8", "replace")).hexdigest()


def _explanation(folder: Path | None, question: AuditedQuestion) -> Explanation | None:
    """Returns the saved explanation of a question; None if there is none, or it cannot be read."""
    if folder is None or not question.explanation:
        return None
    try:
        return load(folder / question.explanation)
    except (RagRuleError, OSError):
        return None


def _replay_of(explainer: Explainer) -> Replay:
    if explainer.replay is None:
        raise InvalidInput("nothing to replay; give the explainer a replay")
    return explainer.replay


def _digest(trials: Iterable[Trial], before: AuditedQuestion) -> str:
    """Returns a hash that is equal for two runs iff both replay the same subsets of the same texts in the
    same order, for the same question, and compare the answers with the same baseline."""
    shown = [[each.id, each.sha256] for each in before.shown]
    tried = [[each.pair.question, each.pair.document, each.number, each.kept] for each in trials]
    listed = [before.question, before.given, before.answer, shown, tried]
    return sha256(json.dumps(listed).encode()).hexdigest()
