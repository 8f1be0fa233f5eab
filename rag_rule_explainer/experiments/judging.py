"""This module measures how well the verdicts of a judge agree with the labels of a person (paper,
*LLM-as-a-judge*).

Experiments with a judge write its judgements to a file, except for answers that near-exact match already
settled. Some of these judgements are drawn, and their answers are shown to a person without the judge's
verdict. The person's labels are then compared with the judge's verdicts.
"""

import hashlib
import heapq
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, PositiveInt, ValidationError

from ..checking import JudgeCheck, LabelledCase, check_judge
from ..errors import InvalidInput
from ..predicates import Judge
from ..predicates.judge.jury import jury_of
from ..predicates.wording import equivalent
from ..printable import shortened
from ..verdicts import Answer, Case, Judgement, Verdict
from .examples import Example
from .models import Examined
from .published import first_complaint, readable
from .tables import write_jsonl

JUDGEMENTS, DRAWN, TO_LABEL = "judgements.jsonl", "drawn.jsonl", "to_label.jsonl"
"""The names of three files: all judgements, which experiments write; the drawn judgements with the
judge's verdicts; and the drawn answers without verdicts, which a person labels."""


_Shape = TypeVar("_Shape", bound=BaseModel)


class JudgedAnswer(BaseModel):
    """A ``JudgedAnswer`` is one line of ``judgements.jsonl``: a judgement of a judge on a model's answer.
    ``truth``: the right answer. ``times``: how often the model gave this answer to this question. All
    these replies have this one judgement."""

    model_config = ConfigDict(frozen=True)

    judge: str
    model: str
    temperature: float | None = None
    question_id: str
    question: str
    truth: str
    answer: str
    verdict: Verdict
    reason: str = ""
    times: PositiveInt = 1

    @property
    def id(self) -> str:
        """Returns an id for the judgement. It is the same for the same verdict on the same answer to the
        same question, whichever model gave the answer."""
        parts = self.judge, self.question, self.truth, self.answer, self.verdict.value
        content = "".join(f"{len(part)}:{part}" for part in parts)
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12]


class DrawnAnswer(JudgedAnswer):
    """A ``DrawnAnswer`` is one line of ``drawn.jsonl``: a judgement that was drawn to be checked.
    ``models``: all models that gave the answer. ``drawn_as``: the id of the answer in the file that a
    person labels. ``times``: how often this judgement was drawn, and not, as in ``JudgedAnswer``, how
    often the model gave the answer."""

    drawn_as: str
    models: list[str]


def judged_answers(
    judge: Judge, model: Examined, example: Example, judged: Iterable[tuple[Answer, Judgement]]
) -> Iterator[JudgedAnswer]:
    """Yields the judgements of answers that do not match the truth nearly exactly, so that the judge had
    to decide. Equal answers occur once, with the number of times that the model gave this answer."""
    several = list(judged)
    counts = Counter(answer.text for answer, _ in several)
    name = jury_of(judge, None, 1, 1).name or "a function"
    for text, judgement in {answer.text: judgement for answer, judgement in several}.items():
        if not equivalent(text, example.answer):
            yield JudgedAnswer(
                judge=name,
                model=model.name,
                temperature=model.temperature,
                question_id=example.id,
                question=example.question,
                truth=example.answer,
                answer=text,
                verdict=judgement.verdict,
                reason=judgement.reason,
                times=counts[text],
            )


class Draw(NamedTuple):
    """A ``Draw`` holds the answers of the drawn judgements, in the order of the draw; an answer that was
    drawn several times has one entry. ``of``: the number of judgements from which they were drawn."""

    answers: tuple[DrawnAnswer, ...]
    of: int

    @property
    def judgements(self) -> int:
        """Returns the number of drawn judgements."""
        return sum(each.times for each in self.answers)


def draw(judged: Iterable[JudgedAnswer], count: int, seed: int) -> Draw:
    """Returns ``count`` random judgements; all, if there are fewer.

    As in the paper, each reply of each model has the same chance, so an answer that was given often is
    drawn more often. Records that are equal in every field count once, so a file that is given twice
    changes nothing.

    The draw depends only on the seed and on which judgements there are, not on their order. The first
    answers are the same for every count. Raises InvalidInput without judgements, and for judgements of
    several judges.
    """
    models = dict[str, list[str]]()
    first = dict[str, JudgedAnswer]()
    times = Counter[str]()
    for each in dict.fromkeys(judged):
        first.setdefault(each.id, each)
        models.setdefault(each.id, []).append(_label(each))
        times[each.id] += each.times
    _check_one_judge({each.judge for each in first.values()})
    tickets = ((each, number) for each in first for number in range(times[each]))
    drawn = heapq.nsmallest(count, tickets, key=lambda ticket: _place(seed, *ticket))
    chosen = [
        DrawnAnswer.model_validate(
            {
                **dict(first[each]),
                "drawn_as": each,
                "models": list(dict.fromkeys(models[each])),
                "times": number,
            }
        )
        for each, number in Counter(each for each, _ in drawn).items()
    ]
    return Draw(tuple(chosen), times.total())


def _check_one_judge(judges: Collection[str]) -> None:
    if not judges:
        raise InvalidInput(
            "there is nothing to draw from: near-exact match settled every answer; judge more questions"
        )
    if len(judges) > 1:
        names = "; ".join(shortened(judge, 100) for judge in sorted(judges))
        raise InvalidInput(
            f"these are judgements of {len(judges)} judges ({names}); give those of one, or draw for "
            "each apart"
        )


def _place(seed: int, identity: str, number: int) -> bytes:
    """Returns the sort key that decides the order of judgements in a draw. ``identity``: the id of the
    judged answer. ``number``: distinguishes the judgements of one answer."""
    more = f" {number}" if number else ""
    return hashlib.sha256(f"{seed} {identity}{more}".encode()).digest()


def _label(judged: JudgedAnswer) -> str:
    if judged.temperature is None:
        return judged.model
    return f"{judged.model} at temperature {judged.temperature:g}"


def write_draw(drawn: Draw, out: Path) -> None:
    """Writes two files with the drawn answers to the folder ``out``: one without verdicts, for a person,
    and one with verdicts. Raises InvalidInput if the first file already has labels, which would be
    lost."""
    target = out / TO_LABEL
    if any(label is not None for label in _labels_in(target)):
        raise InvalidInput(
            f"{target} has labels already, which would be lost; read them with --labels {target}, or "
            "give --out another folder"
        )
    write_jsonl(
        target,
        (
            {
                "id": each.drawn_as,
                "question": each.question,
                "truth": each.truth,
                "answer": each.answer,
                "label": None,
            }
            for each in drawn.answers
        ),
    )
    write_jsonl(out / DRAWN, (each.model_dump(mode="json") for each in drawn.answers))


def _labels_in(path: Path) -> Iterator[object]:
    """Yields the labels in a file; None for an answer without a label.

    If the file or a line cannot be read, yields a text in place of a label. A file with any label but
    None is not overwritten, so a file that cannot be read is kept.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError):
        yield "unreadable"
        return
    for line in filter(str.strip, lines):
        try:
            yield json.loads(line).get("label")
        except (ValueError, RecursionError, AttributeError):
            yield "unreadable"


def judged_answers_in(paths: Iterable[Path]) -> list[JudgedAnswer]:
    """Returns the judgements in these files. A path may also be the folder of an experiment that contains
    the file ``judgements.jsonl``. Raises InvalidInput if a file cannot be read."""
    expected = f"give the {JUDGEMENTS} of an experiment with a judge, or its folder"
    files = [path / JUDGEMENTS if path.is_dir() else path for path in paths]
    return [each for file in files for each in _read(file, JudgedAnswer, expected)]


def drawn_in(folder: Path) -> list[DrawnAnswer]:
    """Returns the drawn answers that ``write_draw`` wrote to this folder. Raises InvalidInput if the file
    cannot be read."""
    expected = f"give the folder as --out that the labels were drawn to, in which {DRAWN} is"
    return _read(folder / DRAWN, DrawnAnswer, expected)


def check(drawn: Sequence[DrawnAnswer], labelled: Sequence[LabelledCase]) -> JudgeCheck:
    """Returns the comparison of the judge's verdicts in ``drawn`` with a person's labels in
    ``labelled``.

    An answer that was drawn several times counts that many times. The judge is not called. Raises
    InvalidInput for labels of answers that were not drawn, or that were changed.
    """
    known = {each.drawn_as: each for each in drawn}
    for case in labelled:
        if case.id not in known:
            raise InvalidInput(
                f"{shortened(case.id, 100)!r} is labelled, and was not drawn; give the labels that "
                f"belong to {DRAWN}"
            )
        own = known[case.id]
        shown = (case.question, Answer.of(case.answer).text, case.truth)
        if shown != (own.question, own.answer, own.truth):
            raise InvalidInput(
                f"{case.id!r} was changed: its question, truth or answer is not what was drawn and "
                "judged; change nothing but the labels"
            )
    repeated = {
        f"{case.id} {number}" if number else case.id: replace(
            case, id=f"{case.id} {number}" if number else case.id
        )
        for case in labelled
        for number in range(known[case.id].times)
    }
    recorded = {name: _Recorded.of(known[name.split(" ")[0]]) for name in repeated}
    return check_judge(list(repeated.values()), predicate_of=lambda case: recorded[case.id])


@dataclass(frozen=True, slots=True)
class _Recorded:
    """This predicate returns the judgement that a judge already gave in the experiment."""

    judge: str
    judgement: Judgement

    @classmethod
    def of(cls, drawn: DrawnAnswer) -> "_Recorded":
        return cls(drawn.judge, Judgement(drawn.verdict, drawn.reason))

    def __call__(self, _: Case) -> Judgement:
        return self.judgement

    def memo_key(self, _: Case) -> None:
        """Returns None: the judgement is known, so caching it would save nothing."""

    def __str__(self) -> str:
        return f"the answer is consistent with its truth, said {self.judge}"


def _read(file: Path, shape: type[_Shape], expected: str) -> list[_Shape]:
    read = list[_Shape]()
    with readable(file, expected) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    read.append(shape.model_validate(json.loads(line)))
                except (ValueError, RecursionError) as error:
                    is_json = isinstance(error, ValidationError)
                    complaint = first_complaint(error) if is_json else "it is no JSON"
                    raise InvalidInput(f"{file}, line {number}: {complaint}; {expected}") from error
    return read
