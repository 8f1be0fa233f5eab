"""This module runs ``rag-rules check``. The command explains the answer to each question in a file, and
looks for forbidden rules in the explanations."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic

import typer

from ..errors import InvalidInput, RagRuleError
from ..explanation.deciding import decide_any_rule
from ..explanation.explanation import Explanation
from ..explanation.question_check import CheckedQuestion, FilePlace, QuestionCheck
from ..printable import encodable
from ..probing.judging import error_text
from ..probing.limits import INTERRUPTED
from .check_options import CheckedSubject, CheckSearch, CheckWritten, ForbiddenOptions
from .conditions import parsed
from .explain import explained_or_verified
from .many_questions import capped, until_interrupted
from .options import ASK_ABOVE
from .printing import hand_over
from .questions import AskedQuestion, load_questions
from .requests import AskingOptions, RecordingOptions, SearchRequest
from .terminal import say


def check_questions(
    subject: CheckedSubject,
    forbidden: ForbiddenOptions,
    asking: AskingOptions,
    recording: RecordingOptions,
    search: CheckSearch,
    written: CheckWritten,
) -> None:
    """Check the answers to many questions for a forbidden condition, and say which documents cause it.

    Each question is explained. A finding is a rule such as "whenever mail and wiki are retained, the
    answer contains 'HASH'". A question whose answer does not meet the condition is checked as well.

    Examples:
      rag-rules check --questions q.txt --app my_module:chain --forbid contains:HASH
      rag-rules check --questions q.txt --sources texts/ --forbid refuses
      rag-rules check --questions q.jsonl --app m:chain --forbid P --out out.sarif

    Environment:
      OPENAI_API_KEY   key of --model and --judge-model (or see --key)
      OPENAI_BASE_URL  their endpoint

    Exit codes:
      0    decided: no question has such a rule
      1    there is such a rule
      2    bad input; nothing was asked
      3    undecided for some question, and no such rule was found
      130  interrupted; what was found so far is written
    """
    questions = load_questions(subject.questions)
    checking = _Checking(subject, forbidden, asking, recording, search)
    checking.check_options(questions)
    result = checking.run(questions)
    hand_over(written.text(result), result.summary, written.out)
    raise typer.Exit(result.exit_code)


class _Checking:
    """A ``_Checking`` checks the questions one after the other, with the options of the command."""

    def __init__(
        self,
        subject: CheckedSubject,
        forbidden: ForbiddenOptions,
        asking: AskingOptions,
        recording: RecordingOptions,
        search: CheckSearch,
    ) -> None:
        self._subject, self._forbidden, self._recording = subject, forbidden, recording
        self._asking = replace(asking, yes=True)
        is_free = subject.app is None and asking.model is None
        settings = search.settings(forbidden.kind, free=is_free)
        # "auto" stands for another search here than for ``explain``, because the test of the quick search
        # is too weak to decide whether there is any rule. If the application is an agent, the number of
        # replays is limited as for the quick search.
        most = recording.most_replays if search.testing.miner == "auto" else ASK_ABOVE
        self._settings = capped(settings, agreed=asking.yes or is_free, most=most)
        self._is_capped = self._settings is not settings
        # The forbidden condition in words, as explanations state it. Fingerprints contain it, so it must
        # not depend on whether a question was explained.
        self._condition = forbidden.forbid

    def check_options(self, questions: list[AskedQuestion]) -> None:
        """Raises InvalidInput for wrong options. The command calls this before the first question is
        asked, so that a wrong option never costs money."""
        subject = self._subject
        if (
            subject.app is None
            and subject.sources is None
            and not all(each.sources for each in questions)
        ):
            raise InvalidInput(
                "there is nothing to check; give --app, --sources, or sources on each line"
            )
        if self._recording.baseline is not None:
            raise InvalidInput("--baseline is the answer to one question; leave it out")
        judge = self._request(questions[0], None).condition.judge
        predicate = parsed(self._forbidden.forbid, judge.judged_conditions(judge.judge()))
        self._condition = encodable(str(predicate))
        subject.prepare()

    def run(self, questions: list[AskedQuestion]) -> QuestionCheck:
        """Checks the questions and returns the result. After an interrupt by the user, the result has
        only the questions that were asked by then."""
        if self._is_capped:
            most = self._settings.limits.replays
            say(f"at most {most} replays for each question; --yes lifts this limit")
        done, interrupted = until_interrupted(questions, self._checked, _was_interrupted)
        forbidden = self._forbidden
        return QuestionCheck(
            self._condition, forbidden.max_size, tuple(done), len(questions), interrupted
        )

    def _checked(self, asked: AskedQuestion, folder: Path) -> CheckedQuestion:
        begun, questions = monotonic(), self._subject.questions
        place = FilePlace(_below(questions) or questions.resolve().as_posix(), asked.line)
        checked = CheckedQuestion(asked.id, asked.question, place)
        try:
            checked = self._decided(checked, asked, folder)
        except RagRuleError as error:
            checked = replace(checked, error=str(error))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # An application may raise anything, such as a cancellation of its own task. An error with one
            # question must not lose the results for the other questions, which are paid for.
            checked = replace(checked, error=error_text(error))
        return replace(checked, seconds=monotonic() - begun)

    def _decided(self, checked: CheckedQuestion, asked: AskedQuestion, folder: Path) -> CheckedQuestion:
        """Returns the question with its explanation, and with the decision whether the explanation has a
        forbidden rule."""
        explanation: Explanation = explained_or_verified(
            self._request(asked, _own_sources(asked, folder)), self._settings
        )
        self._save(explanation, asked.line)
        decisions = {
            kind: decide_any_rule(explanation, kind, max_size=self._forbidden.max_size)
            for kind in self._settings.kinds
        }
        documents = dict(_documents(explanation, self._subject))
        return replace(checked, explanation=explanation, decisions=decisions, documents=documents)

    def _save(self, explanation: Explanation, line: int) -> None:
        if self._subject.explanations is not None:
            try:
                explanation.save(self._subject.explanations / f"line-{line:05}.json")
            except InvalidInput as error:  # the disk may be full; the check still reports its results
                say(f"rag-rules: {error}")

    def _request(self, asked: AskedQuestion, own: Path | None) -> SearchRequest:
        return SearchRequest(
            self._subject.asking(asked.question, own),
            self._forbidden.condition,
            self._asking,
            self._recording,
        )


def _was_interrupted(checked: CheckedQuestion) -> bool:
    return checked.explanation is not None and checked.explanation.stop_reason == INTERRUPTED


def _own_sources(asked: AskedQuestion, folder: Path) -> Path | None:
    """Writes the question's own sources into a file in ``folder``, and returns the file. Returns None if
    the question has no sources of its own."""
    if asked.sources is None:
        return None
    file = folder / f"line-{asked.line}.jsonl"
    file.write_text(
        "".join(f"{json.dumps(each.model_dump(mode='json'))}\n" for each in asked.sources),
        encoding="ascii",
    )
    return file


def _documents(explanation: Explanation, subject: CheckedSubject) -> Iterator[tuple[str, FilePlace]]:
    """Yields the id and the file of each source. Leaves out sources whose file is not known, or is not
    inside the current folder."""
    given = subject.documents if subject.app else subject.sources
    folder = given if given is not None and given.is_dir() else Path()
    for source in explanation.sources:
        paths = (_below(folder / name) for name in _names(source.id, source.metadata))
        path = next(filter(None, paths), None)
        if path is not None:
            yield source.id, FilePlace(path)


def _names(identity: str, metadata: Mapping[str, object]) -> Iterator[str]:
    """Yields the texts that may be the path of a source's file: its id and some values of its
    metadata."""
    for each in (identity, *(metadata.get(key) for key in ("file_path", "source", "file_name"))):
        if isinstance(each, str) and 0 < len(each) < 1000 and each.isprintable():
            yield each


def _below(path: Path) -> str | None:
    """Returns the path of a file relative to the current folder; None if the file does not exist or is
    not inside this folder."""
    with suppress(ValueError, OSError):
        return (
            path.resolve(strict=True).relative_to(Path.cwd().resolve()).as_posix()
            if path.is_file()
            else None
        )
    return None
