"""This module runs ``rag-rules cite``. The command asks the questions in a file, and says which citations
of the answers are real."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from ..citations import CitedAnswer, CiteOptions
from ..errors import InvalidInput, RagRuleError
from ..probing.judging import error_text
from ..probing.limits import INTERRUPTED
from ..report.saving import check_place
from ..settings import Settings
from .check_options import CheckedSubject
from .citation_survey import CitationSurvey, SurveyedAnswer
from .cited_lines import AskedCitations, load_cited_lines
from .explain import explained_or_verified
from .forms import MATRIX, chosen_form
from .judges import JudgeOptions
from .many_questions import capped, until_interrupted
from .options import ASK_ABOVE, Json, JudgeBaseUrl, JudgeModel
from .output_options import OutOption
from .printing import hand_over
from .requests import AskingOptions, Condition, RecordingOptions, SearchRequest
from .searching import Spending, Testing, VotingOptions
from .terminal import say

Pattern = Annotated[
    str | None,
    typer.Option(metavar="REGEX", help="Citations in another form; group 1 is a number or a name."),
]
NumbersFrom = Annotated[int, typer.Option(min=0, max=1, help="The number of the first source.")]
EveryStatement = Annotated[
    bool, typer.Option("--every-statement", help="Check statements without citations as well.")
]
Language = Annotated[str, typer.Option(metavar="CODE", help="The language of the answers' sentences.")]
CiteFormat = Annotated[
    str | None,
    typer.Option("--format", metavar="FORM", help="Print it as one of: text, json, markdown."),
]


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """These options say how citations are read, and when an answer makes a statement."""

    pattern: Pattern = None
    numbers_from: NumbersFrom = 1
    every_statement: EveryStatement = False
    language: Language = "en"
    judge_model: JudgeModel = None
    judge_base_url: JudgeBaseUrl = None

    def options(self) -> CiteOptions:
        """Returns the options of the check. Raises InvalidInput for a wrong pattern, or a judge that
        cannot be used."""
        if self.judge_base_url is not None and self.judge_model is None:
            raise InvalidInput("--judge-base-url goes with --judge-model only; name the judge as well")
        judge = JudgeOptions(self.judge_model, self.judge_base_url).judge()
        return CiteOptions(
            judge=judge,
            language=self.language,
            reading=self.pattern,
            numbers_from=self.numbers_from,
            every_statement=self.every_statement,
        )


_NOTHING_CITED = (
    "no answer cites one of its sources ({kinds}), so nothing is checked: an answer cites them by their "
    "ids or numbers, such as [search #1, item 2] or [1]. Have the model cite so, or ask which sources an "
    "answer needs by rag-rules explain with the same --source-kinds"
)


@dataclass(frozen=True, slots=True)
class CiteWritten:
    """These options say how the result is written. Raises InvalidInput if the command cannot write this
    form, or if the file cannot be written."""

    json: Json = False
    format: CiteFormat = None
    out: OutOption = None

    def __post_init__(self) -> None:
        chosen_form("cite", self.format, self.out, json=self.json)
        if self.out is not None:
            check_place(self.out)

    def text(self, result: CitationSurvey) -> str:
        """Returns the result in the form that the user chose."""
        return MATRIX["cite"][chosen_form("cite", self.format, self.out, json=self.json)](result)


@dataclass(frozen=True, slots=True)
class CiteSearch:
    """These options say how rules are searched for. The verdicts on citations depend on these rules."""

    testing: Testing
    spending: Spending
    voting: VotingOptions

    def settings(self, *, free: bool) -> Settings:
        """Returns these options as settings. ``free``: True if replays cost nothing."""
        return Settings.of(
            Settings(noise=self.voting.noise()),
            {**self.testing.settings(), **self.spending.settings(free=free)},
        )


def cite_questions(
    subject: CheckedSubject,
    reading: ReadingOptions,
    asking: AskingOptions,
    recording: RecordingOptions,
    search: CiteSearch,
    written: CiteWritten,
) -> None:
    """Check which citations of the answers to many questions are real, and count their classes.

    Each statement of an answer is one condition; all are explained from the same replays. A line may log
    an answer and its documents, with the model and the prompt that gave it.

    Examples:
      rag-rules cite --questions q.txt --app my_module:chain
      rag-rules cite --questions log.jsonl --app m:chain --judge-model gpt-4o
      rag-rules cite --questions q.txt --sources texts/ --model gpt-4o --json

    Environment:
      OPENAI_API_KEY   key of --model and --judge-model (or see --key)
      OPENAI_BASE_URL  their endpoint

    Exit codes:
      0    every citation is faithful, or nothing is cited
      1    a citation is not
      2    bad input; nothing was asked
      3    undecided for some citation, and none is unfaithful
      130  interrupted; what was found so far is written
    """
    surveying = _Surveying(subject, reading.options(), asking, recording, search)
    lines = load_cited_lines(subject.questions)
    surveying.check_options(lines)
    result = surveying.run(lines)
    hand_over(written.text(result), result.summary, written.out)
    raise typer.Exit(result.exit_code)


class _Surveying:
    """A ``_Surveying`` checks the answers one after the other, with the options of the command."""

    def __init__(
        self,
        subject: CheckedSubject,
        options: CiteOptions,
        asking: AskingOptions,
        recording: RecordingOptions,
        search: CiteSearch,
    ) -> None:
        self._subject, self._options, self._recording = subject, options, recording
        self._asking = replace(asking, yes=True)
        is_free = subject.app is None and asking.model is None
        settings = recording.of_agent(search.settings(free=is_free))
        self._settings = capped(settings, agreed=asking.yes or is_free)
        self._is_capped = self._settings is not settings
        self._is_first = True

    def check_options(self, lines: list[AskedCitations]) -> None:
        """Raises InvalidInput for wrong options, before anything is asked. ``lines``: the lines of the
        file. Without ``--app`` and ``--sources``, each must have documents."""
        subject = self._subject
        has_sources = subject.sources is not None or all(each.line.documents for each in lines)
        if subject.app is None and not has_sources:
            raise InvalidInput(
                "there is nothing to answer from; give --app, --sources, or documents on each line"
            )
        if self._recording.baseline is not None:
            raise InvalidInput("--baseline is the answer to one question; put answers into the file")
        subject.prepare()

    def run(self, lines: list[AskedCitations]) -> CitationSurvey:
        """Checks the answers to the questions in ``lines``, and returns the result. After an interrupt
        by the user, the result has the answers that were checked by then."""
        if self._is_capped:
            say(f"at most {ASK_ABOVE} replays for each question; --yes lifts this limit")
        done, interrupted = until_interrupted(lines, self._surveyed, _was_interrupted)
        kinds = self._recording.source_kinds
        if kinds is not None and not any(each.verdicts or each.error for each in done):
            say(_NOTHING_CITED.format(kinds=kinds))
        return CitationSurvey(tuple(done), len(lines), interrupted)

    def _surveyed(self, asked: AskedCitations, folder: Path) -> SurveyedAnswer:
        """Returns the check of one answer, or the reason why there is none.

        Raises InvalidInput only for the first answer, if an option or the line of this answer is wrong.
        Nothing is paid for then, so the command can end.
        """
        line, first, self._is_first = asked.line, self._is_first, False
        model = line.model or self._asking.model or ""
        surveyed = SurveyedAnswer(asked.id, line.question, model, line.prompt or "")
        try:
            cited = explained_or_verified(self._request(asked, folder), self._settings, self._options)
        except RagRuleError as error:
            message = asked.worded(error, folder)
            if first and isinstance(error, InvalidInput):
                raise InvalidInput(message) from error
            return replace(surveyed, error=message)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # An application may raise any error. The command goes on, because the results for the other
            # answers are paid for and must not be lost.
            return replace(surveyed, error=error_text(error))
        self._save(cited, asked.number)
        return replace(surveyed, cited=cited)

    def _save(self, cited: CitedAnswer, number: int) -> None:
        folder = self._subject.explanations
        for place, check in enumerate(cited.checks if folder is not None else (), start=1):
            try:
                check.explanation.save(Path(folder or "") / f"line-{number:05}-{place}.json")
            except InvalidInput as error:  # the disk may be full; the results are still reported
                say(f"rag-rules: {error}")

    def _request(self, asked: AskedCitations, folder: Path) -> SearchRequest:
        own, logged = asked.write(folder)
        recording = replace(self._recording, baseline=logged)
        subject = self._subject.asking(asked.line.question, own)
        return SearchRequest(subject, Condition(), self._asking, recording)


def _was_interrupted(surveyed: SurveyedAnswer) -> bool:
    checks = () if surveyed.cited is None else surveyed.cited.checks
    return any(each.explanation.stop_reason == INTERRUPTED for each in checks)
