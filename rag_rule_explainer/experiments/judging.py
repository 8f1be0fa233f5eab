"""This module measures how well a judge judges (paper, *LLM-as-a-judge*), by a person's labels.

Experiments with a judge write those judgements that near-exact match could not decide. Some of them are
drawn and shown to a person without the judge's verdict. The person's labels are then compared with the
judge's verdicts.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from ..checking import JudgeCheck, LabelledCase, Share, check_judge
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
"""The names of three files: all judgements, which experiments write; the drawn judgements with
verdicts; and the drawn judgements without verdicts, which a person labels."""


_Shape = TypeVar("_Shape", bound=BaseModel)


class JudgedAnswer(BaseModel):
    """A ``JudgedAnswer`` is one line of ``judgements.jsonl``: one judgement of a model's answer."""

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

    @property
    def id(self) -> str:
        """Returns an id for the judgement. Equal judgements of equal answers have equal ids, even if
        different models gave the answers."""
        parts = self.judge, self.question, self.truth, self.answer, self.verdict.value
        content = "".join(f"{len(part)}:{part}" for part in parts)
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12]


class DrawnAnswer(JudgedAnswer):
    """A ``DrawnAnswer`` is one line of ``drawn.jsonl``. ``models``: the models that gave the answer.
    ``drawn_as``: its id in the file that a person labels."""

    drawn_as: str
    models: list[str]


def judged_answers(
    judge: Judge, model: Examined, example: Example, judged: Iterable[tuple[Answer, Judgement]]
) -> Iterator[JudgedAnswer]:
    """Yields the judgements that near-exact match could not decide. Each text of an answer occurs
    once."""
    name = jury_of(judge, None, 1, 1).name or "a function"
    for text, judgement in {answer.text: judgement for answer, judgement in judged}.items():
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
            )


class Draw(NamedTuple):
    """A ``Draw`` holds the drawn answers, in order. ``of``: the number of different answers from which
    they were drawn."""

    answers: tuple[DrawnAnswer, ...]
    of: int


def draw(judged: Iterable[JudgedAnswer], count: int, seed: int) -> Draw:
    """Returns ``count`` random answers; all, if there are fewer. Equal answers of several models count
    once.

    The draw depends only on the seed and the judgements. It does not depend on the order of the
    judgements or on the count. Raises InvalidInput without judgements, and for judgements of several
    judges.
    """
    models = dict[str, list[str]]()
    first = dict[str, JudgedAnswer]()
    for each in judged:
        first.setdefault(each.id, each)
        models.setdefault(each.id, []).append(_label(each))
    judges = sorted({each.judge for each in first.values()})
    if not judges:
        raise InvalidInput(
            "there is nothing to draw from: near-exact match settled every answer; judge more questions"
        )
    if len(judges) > 1:
        names = "; ".join(shortened(judge, 100) for judge in judges)
        raise InvalidInput(
            f"these are judgements of {len(judges)} judges ({names}); give those of one, or draw for "
            "each apart"
        )
    order = sorted(first, key=lambda identity: hashlib.sha256(f"{seed} {identity}".encode()).digest())
    chosen = [
        DrawnAnswer(**dict(first[each]), drawn_as=each, models=list(dict.fromkeys(models[each])))
        for each in order[:count]
    ]
    return Draw(tuple(chosen), len(first))


def _label(judged: JudgedAnswer) -> str:
    if judged.temperature is None:
        return judged.model
    return f"{judged.model} at temperature {judged.temperature:g}"


def write_draw(drawn: Draw, out: Path) -> None:
    """Writes the drawn answers to two files in ``out``: one without verdicts, for a person, and one
    with verdicts. Raises InvalidInput if existing labels would be overwritten."""
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
    """Yields the labels in a file. For a file or line that cannot be read, yields a text, so that the
    file counts as labelled and is not overwritten."""
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
    """Returns the judgements in these files, or in these folders of experiments. Raises InvalidInput
    if a file cannot be read."""
    expected = f"give the {JUDGEMENTS} of an experiment with a judge, or its folder"
    files = [path / JUDGEMENTS if path.is_dir() else path for path in paths]
    return [each for file in files for each in _read(file, JudgedAnswer, expected)]


def drawn_in(folder: Path) -> list[DrawnAnswer]:
    """Returns the drawn answers that ``write_draw`` wrote. Raises InvalidInput if the file cannot be
    read."""
    expected = f"give the folder as --out that the labels were drawn to, in which {DRAWN} is"
    return _read(folder / DRAWN, DrawnAnswer, expected)


def check(drawn: Sequence[DrawnAnswer], labelled: Sequence[LabelledCase]) -> JudgeCheck:
    """Returns the comparison of the judge's verdicts with the labels. The judge is not called. Raises
    InvalidInput for labels of answers that were not drawn."""
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
    return check_judge(labelled, predicate_of=lambda case: _Recorded.of(known[case.id]))


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
        """Returns None, because the judgement is already known and need not be cached."""

    def __str__(self) -> str:
        return f"the answer is consistent with its truth, said {self.judge}"


@dataclass(frozen=True, slots=True)
class Figure:
    """A ``Figure`` is one row of ``judge.csv``: the share ``count`` / ``of`` with its 95 % interval.
    ``value``, ``low`` and ``high`` are None if the share is undefined."""

    figure: str
    value: float | None
    low: float | None
    high: float | None
    count: int
    of: int


def figures(checked: JudgeCheck) -> Iterator[Figure]:
    """Yields precision, recall and false positive rate."""
    shares: Mapping[str, Share] = {
        "precision": checked.precision,
        "recall": checked.recall,
        "false_positive_rate": checked.false_positive_rate,
    }
    for name, share in shares.items():
        yield Figure(name, share.value, share.low, share.high, share.count, share.of)


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
