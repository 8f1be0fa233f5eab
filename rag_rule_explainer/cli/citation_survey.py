"""This module counts the classes of citations over many answers, and writes them as a table."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..checking.figures import Share, share
from ..citations import CitationCheck, CitationClass, CitationVerdict, CitedAnswer
from ..printable import encodable, printable, shortened
from ..report.markdown import plain_markdown

_DECIDED = tuple(each for each in CitationClass if each is not CitationClass.UNDECIDED)


@dataclass(frozen=True, slots=True)
class SurveyedAnswer:
    """A ``SurveyedAnswer`` is one question with the check of its answer's citations.

    ``cited``: the check; None if there is none, and ``error`` then gives the reason. ``model`` and
    ``prompt``: the names of the model and of the prompt in the log.
    """

    id: str
    question: str
    model: str = ""
    prompt: str = ""
    cited: CitedAnswer | None = None
    error: str = ""

    @property
    def states_nothing(self) -> bool:
        """Returns True iff the answer has citations, but no statement that they could support."""
        return self.cited is not None and bool(self.cited.unstated)

    @property
    def verdicts(self) -> tuple[CitationVerdict, ...]:
        """Returns the verdicts on all citations of the answer."""
        checks = () if self.cited is None else self.cited.checks
        return tuple(verdict for check in checks for verdict in check.verdicts)


class SurveyRow(NamedTuple):
    """A ``SurveyRow`` is a row of the table: the answers of one model with one prompt.

    ``answers``: the number of answers. ``citing``: how many of them have citations. ``shares``: the
    share of each class among the decided citations. ``undecided``: the number of citations of which it
    is not known whether they are faithful. They are left out of all shares.
    """

    model: str
    prompt: str
    answers: int
    citing: int
    shares: tuple[tuple[CitationClass, Share], ...]
    faithful: Share
    undecided: int


@dataclass(frozen=True, slots=True)
class CitationSurvey:
    """A ``CitationSurvey`` holds the checked answers. ``total``: the number of questions in the file.
    ``interrupted``: True iff the user stopped the survey."""

    answers: tuple[SurveyedAnswer, ...]
    total: int
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """Returns the exit code: 130 after an interrupt, 1 if a citation is not faithful, and else 3 if
        anything is undecided: a citation, or an answer that could not be checked or has citations but no
        statement. Returns 0 if every citation is faithful."""
        if self.interrupted:
            return 130
        found = [verdict.faithful for each in self.answers for verdict in each.verdicts]
        if False in found:
            return 1
        is_open = any(each.error or each.states_nothing for each in self.answers)
        return 3 if None in found or is_open else 0

    def rows(self) -> Iterator[SurveyRow]:
        """Yields a row for each model and prompt, in the order in which they first occur."""
        groups = dict[tuple[str, str], list[SurveyedAnswer]]()
        for each in self.answers:
            groups.setdefault((each.model, each.prompt), []).append(each)
        for (model, prompt), answers in groups.items():
            yield _row(model, prompt, answers)

    @property
    def summary(self) -> str:
        """Returns the number of answers and citations in one line."""
        verdicts = [verdict for each in self.answers for verdict in each.verdicts]
        unfaithful = sum(each.faithful is False for each in verdicts)
        undecided = sum(each.faithful is None for each in verdicts)
        failed = sum(bool(each.error) for each in self.answers)
        parts = [
            f"{len(self.answers)} of {self.total} questions",
            f"{len(verdicts)} citations",
            f"{unfaithful} unfaithful",
            f"{undecided} undecided",
        ]
        parts += [f"{failed} without a result"] if failed else []
        empty = sum(each.states_nothing for each in self.answers)
        said = "1 that cites and states nothing" if empty == 1 else f"{empty} that cite and state nothing"
        parts += [said] if empty else []
        parts += ["interrupted"] if self.interrupted else []
        return ", ".join(parts)


def _row(model: str, prompt: str, answers: Sequence[SurveyedAnswer]) -> SurveyRow:
    found = [verdict for each in answers for verdict in each.verdicts]
    decided = [each for each in found if each.faithful is not None]
    classes, nothing = [each.citation_class for each in decided], "no citation was decided"
    shares = tuple((each, share(classes.count(each), len(decided), nothing)) for each in _DECIDED)
    faithful = share(sum(each.faithful is True for each in decided), len(decided), nothing)
    citing = sum(bool(each.verdicts) or each.states_nothing for each in answers)
    undecided = len(found) - len(decided)
    return SurveyRow(model, prompt, len(answers), citing, shares, faithful, undecided)


def as_survey_text(survey: CitationSurvey) -> str:
    """Returns the survey as text: each answer with its citations, and then the table of shares."""
    return "".join(f"{line.rstrip()}\n" for line in _lines(survey))


def _lines(survey: CitationSurvey) -> Iterator[str]:
    for each in survey.answers:
        yield f"{_line(each.id)}  {_line(each.question)}"
        if each.error:
            yield f"  no result: {_line(each.error)}"
        elif each.cited is not None:
            yield from (f"  {line}" for line in str(each.cited).splitlines())
    for row in survey.rows():
        yield ""
        yield from _row_lines(row)
    yield ""
    yield survey.summary


def _row_lines(row: SurveyRow) -> Iterator[str]:
    named = ", ".join(_line(each) for each in (row.model, row.prompt) if each) or "all answers"
    yield f"{named}: {row.answers} answers, {row.citing} of them cite"
    for found, counted in row.shares:
        if counted.count:
            yield f"  {found.mark} {found.value:26} {counted}"
    yield f"  faithful                     {row.faithful}"
    if row.undecided:
        yield f"  ? undecided, in no share     {row.undecided}"


def as_survey_markdown(survey: CitationSurvey) -> str:
    """Returns the survey as a Markdown table. Each row shows, for one model and prompt,
    which share of the citations is of which class."""
    heads = ["model", "prompt", "answers", "citing", *(each.value for each in _DECIDED)]
    rows = [[*heads, "faithful", "undecided"], ["---"] * (len(heads) + 2)]
    for row in survey.rows():
        counted = [str(each) if each.count else "0" for _, each in row.shares]
        cells = [row.model, row.prompt, str(row.answers), str(row.citing), *counted]
        rows.append([*map(_cell, cells), str(row.faithful), str(row.undecided)])
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return f"# Citations\n\n{table}\n{survey.summary}\n"


def as_survey_json(survey: CitationSurvey) -> str:
    """Returns the survey as JSON, in ASCII: each answer with its verdicts, and the shares."""
    written = {
        "schema_version": 1,
        "exit_code": survey.exit_code,
        "total": survey.total,
        "interrupted": survey.interrupted,
        "answers": [_answer(each) for each in survey.answers],
        "shares": [
            {
                "model": encodable(row.model),
                "prompt": encodable(row.prompt),
                "answers": row.answers,
                "citing": row.citing,
                "undecided": row.undecided,
                "faithful": _share(row.faithful),
                "classes": {found.value: _share(counted) for found, counted in row.shares},
            }
            for row in survey.rows()
        ],
    }
    return f"{json.dumps(written, indent=2)}\n"


def _answer(answer: SurveyedAnswer) -> dict[str, Any]:
    cited = answer.cited
    return {
        "id": encodable(answer.id),
        "question": encodable(answer.question),
        "error": encodable(answer.error),
        "answer": None if cited is None else encodable(cited.text),
        "replays": 0 if cited is None else cited.replays,
        "statements": [] if cited is None else [_statement(each) for each in cited.checks],
    }


def _statement(check: CitationCheck) -> dict[str, Any]:
    return {
        "statement": encodable(check.statement),
        "sufficient": check.sufficient,
        "uncited": list(check.uncited),
        "smallest_honest": None if check.smallest_honest is None else list(check.smallest_honest),
        "without_sources": check.without_sources,
        "claim": check.claim,
        "remarks": _encoded(check.remarks),
        "citations": [
            {
                "written": encodable(each.written),
                "source": each.source,
                "class": each.citation_class.value,
                "faithful": each.faithful,
                "needed_by": each.needed_by,
                "alone": each.alone,
                "partners": [list(partner) for partner in each.partners],
                "uncited_partners": [list(partner) for partner in each.uncited_partners],
                "claim": each.claim,
                "why": encodable(each.why),
                "rules": _encoded(str(rule) for rule in each.rules[:20]),
            }
            for each in check.verdicts
        ],
    }


def _share(counted: Share) -> dict[str, Any]:
    return {
        "count": counted.count,
        "of": counted.of,
        "value": counted.value,
        "low": counted.low,
        "high": counted.high,
    }


def _encoded(texts: Iterable[str]) -> list[str]:
    return [encodable(each) for each in texts]


def _line(text: str) -> str:
    return shortened(printable(text), 200)


def _cell(text: str) -> str:
    return plain_markdown(_line(text)) or "-"
