"""This module makes a judge from the options of the command line."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import InvalidInput
from ..predicates import Judge
from ..predicates.judge.jury import ALONE
from .conditions import JudgedConditions, may_be_judged, needs_judge
from .models import chat_model_judge
from .sources import read_text


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """This class holds the options about a judge. ``check`` validates them.

    ``reference``: the file with the text that the criterion refers to. ``batch``: the number of answers
    in one request.
    """

    model: str | None = None
    base_url: str | None = None
    samples: int = 1
    reference: Path | None = None
    batch: int = ALONE

    def check(self, written: Iterable[str | None]) -> None:
        """Raises InvalidInput for options that would have no effect. ``written``: the predicates as
        the user wrote them."""
        predicates = tuple(written)
        options = {
            "--judge-base-url": self.base_url is not None,
            "--judge-samples": self.samples != 1,
            "--judge-batch": self.batch != ALONE,
            "--reference": self.reference is not None,
        }
        for option, is_given in options.items():
            if is_given and self.model is None:
                raise InvalidInput(f"{option} goes with --judge-model only; name the judge as well")
        if self.model is not None and not any(map(may_be_judged, predicates)):
            raise InvalidInput(
                "--judge-model has nothing to decide; give it a predicate such as judged:TEXT, "
                "consistent-with:TEXT or same-answer"
            )
        if self.reference is not None and not any(map(needs_judge, predicates)):
            raise InvalidInput("--reference goes with judged:TEXT only; leave it out")

    def judge(self) -> Judge | None:
        """Returns the judge; None without --judge-model.

        Raises InvalidInput if there is no API key, and MissingExtra if a package is not installed.
        """
        return None if self.model is None else chat_model_judge(self.model, self.base_url)

    def judged_conditions(self, judge: Judge | None) -> JudgedConditions | None:
        """Returns the judge that decides conditions, with its options; None without a judge.

        Raises InvalidInput if the file with the reference text cannot be read.
        """
        if judge is None:
            return None
        expected = "give --reference a text file that the criterion refers to"
        reference = None if self.reference is None else read_text(self.reference, expected)
        return JudgedConditions(judge, reference, self.samples, self.batch)
