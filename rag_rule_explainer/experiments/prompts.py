"""This module holds the prompts of the experiments: the package's own prompts, the "paper" prompts, and
templates that a user gives.

The "paper" prompts have the same parts as the two listings in the paper, in the same order and with the
same demands, but in words of this package. To send the paper's exact words, a user can paste its listings
into files and give these files as templates. A template is sent byte for byte. Only its placeholders are
replaced, all at once, so that text of a source is never taken for a placeholder.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..errors import InvalidInput
from ..testing.prompts import qa_prompt

_ANSWERING: Final = """\
You infer answers to questions from knowledge sources. You will be given a question and the text of \
several sources. Your goal is to give the answer that can be inferred from these sources.

Question:
{question}

Sources:
{sources}

Task:
Determine the answer to the question from the sources. If it cannot be inferred from them, the answer is \
N/A.

Output:
The final answer, and nothing else.
"""
_JUDGING: Final = """\
You grade whether candidate answers are equivalent to a true answer. You will be given a question, its \
true answer, and a list of candidate answers. Your goal is to decide for each candidate whether it is \
equivalent.

Question:
{question}

Ground Truth:
{truth}

Candidate Answers:
{candidates}

Task:
Decide for each candidate whether it is equivalent to the ground truth with respect to the question. The \
ground truth may hold additional details; a candidate need only match the final answer in it.

Output:
A list of booleans, one for each candidate, in the order of the candidates.
"""


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A ``PromptTemplate`` is a prompt for answers. ``text``: has the placeholders ``{question}`` and
    ``{sources}``; None for the package's own prompt."""

    name: str
    text: str | None = None

    @classmethod
    def of_file(cls, path: Path) -> "PromptTemplate":
        """Returns the template in a file. Raises InvalidInput if the file cannot be read, or if one of
        the placeholders is missing in it."""
        return cls(f"file {path.name}", _template_in(path, ("{question}", "{sources}")))

    def __call__(self, question: str, passages: Sequence[str]) -> str:
        """Returns the prompt for a question and the texts of its sources (``passages``), which are set
        apart by newlines."""
        if self.text is None:
            return qa_prompt(question, passages)
        return _filled(self.text, {"{question}": question, "{sources}": "\n".join(passages)})

    @property
    def digest(self) -> str:
        """Returns a short hash, which changes whenever the prompt changes."""
        return _digest(self("a question", ("a source", "another source")))


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """A ``JudgePrompt`` is a prompt for judges. ``text``: has the placeholders ``{question}``,
    ``{truth}`` and ``{candidates}``; None for the package's own prompt, which has no such placeholders.
    """

    name: str
    text: str | None = None

    @classmethod
    def of_file(cls, path: Path) -> "JudgePrompt":
        """Returns the template in a file. Raises InvalidInput if the file cannot be read, or if one of
        the placeholders is missing in it."""
        return cls(f"file {path.name}", _template_in(path, ("{question}", "{truth}", "{candidates}")))

    def filled(self, question: str, truth: str, candidates: Sequence[str]) -> str:
        """Returns the prompt, in which the candidates are one JSON list. Raises InvalidInput for the
        package's own prompt."""
        if self.text is None:
            raise InvalidInput("the package's own prompt for judges is no template")
        listed = json.dumps(list(candidates), ensure_ascii=False)
        found = {"{question}": question, "{truth}": truth, "{candidates}": listed}
        return _filled(self.text, found)

    @property
    def digest(self) -> str:
        """Returns a short hash, which changes whenever the template changes."""
        return _digest(self.text or "")


OWN_PROMPT, PAPERS_PROMPT = PromptTemplate("own"), PromptTemplate("paper", _ANSWERING)
OWN_JUDGE, PAPERS_JUDGE = JudgePrompt("own"), JudgePrompt("paper", _JUDGING)


def _filled(text: str, found: Mapping[str, str]) -> str:
    return re.sub("|".join(map(re.escape, found)), lambda place: found[place[0]], text)


def _template_in(path: Path, placeholders: Sequence[str]) -> str:
    try:
        # The bytes are decoded here, because reading the file as text would change its line ends.
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error.strerror}; give a file with a prompt"
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text; save it as UTF-8") from error
    missing = [each for each in placeholders if each not in text]
    if missing:
        raise InvalidInput(f"{path} has no {missing[0]}; write it where it is to be put in")
    return text


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
