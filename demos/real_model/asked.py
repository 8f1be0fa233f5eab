"""The questions that the model is asked, and what an answer has to say."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("questions.jsonl")


@dataclass(frozen=True)
class Asked:
    """A question with four documents about its subject. All facts are invented, so that no model knows
    them by heart.

    ``accepted``: an answer is right if it contains one of these, and does not contain ``wrong``.
    ``right``: the document that says so. ``fresh``: True if the prompt was
    written without a look at this question. ``wrong``: a mistake that is easily made.
    """

    question: str
    accepted: Sequence[str]
    right: str
    documents: Mapping[str, str]
    fresh: bool
    wrong: str = ""

    def is_right(self, answer: str) -> bool:
        said = answer.lower()
        return bool(self.fact_in(said)) and not (self.wrong and self.wrong in said)

    def fact_in(self, answer: str) -> str:
        """The accepted text that the answer contains, or nothing."""
        return next((each for each in self.accepted if each in answer.lower()), "")


def read_questions(file: Path = FILE) -> Sequence[Asked]:
    """Returns the questions in a file. Raises ValueError for a line that is no question, and without
    any."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    asked = [question_in(line, f"{file}, question {at}") for at, line in enumerate(lines, start=1)]
    if not asked:
        raise ValueError(f"{file} has no questions; write them as in {FILE.name}")
    return asked


def question_in(line: str, where: str) -> Asked:
    try:
        row: Any = json.loads(line)
        asked = Asked(**row)
        texts = [asked.question, *asked.accepted, *asked.documents.values()]
        fits = bool(asked.accepted) and asked.right in asked.documents
        fits = fits and all(map(str.strip, texts))
        # Refuses what is no text, and halves of characters, which no store takes.
        "\n".join([asked.wrong, *texts]).encode()
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{where}: {error}; write it as in {FILE.name}") from error
    if not fits:
        raise ValueError(f"{where}: texts, accepted answers, and the right document have to be there")
    return asked
