"""This module defines the groups of options that do not become ``Settings``: those about the question,
the application, the model and the judge."""

import csv
import re
from dataclasses import dataclass, replace

from ..errors import InvalidInput
from ..traces import Incident
from .incidents import load_incident
from .judges import JudgeOptions
from .options import (
    App,
    BaseUrl,
    Documents,
    FrameworkOption,
    Input,
    InputKey,
    JudgeBaseUrl,
    JudgeBatch,
    JudgeModel,
    JudgeSamples,
    KeyVariable,
    ModelOption,
    OmissionPredicate,
    Pinned,
    PredicateOption,
    Question,
    Reference,
    Sources,
    Temperature,
    TopK,
    Yes,
)
from .recording_options import RecordingOptions
from .traced import NO_TRACE, TraceOptions

_RESULT, _PART = re.compile(r" #\d+$"), re.compile(r"(item \d+|heading)( \(\d+\))?")
"""``_RESULT`` matches the end of the id of a tool's result, such as "inbox #1". ``_PART`` matches the
text after the comma in the id of a part of this result, such as "inbox #1, item 2"."""


@dataclass(frozen=True, slots=True)
class SubjectOptions:
    """These options give the question, and either the sources or the application that answers it."""

    question: Question = None
    sources: Sources = None
    top_k: TopK = None
    app: App = None
    framework: FrameworkOption = None
    input_key: InputKey = None
    input: Input = None
    documents: Documents = None
    pinned: Pinned = None

    @property
    def says_input(self) -> bool:
        """Returns True iff the user gave the question or the input of the application."""
        return any(each is not None for each in (self.question, self.input, self.input_key))

    @property
    def pinned_ids(self) -> tuple[str, ...]:
        """Returns the ids of the sources that are always retained."""
        return parsed_ids(self.pinned)


@dataclass(frozen=True, slots=True)
class Condition:
    """These options define the condition of the rules, and the judge that decides it."""

    predicate: PredicateOption = "same-answer"
    omission_predicate: OmissionPredicate = None
    judge_model: JudgeModel = None
    judge_base_url: JudgeBaseUrl = None
    judge_samples: JudgeSamples = 1
    judge_batch: JudgeBatch = 1
    reference: Reference = None

    @property
    def written(self) -> tuple[str, str | None]:
        """Returns the predicates of retention rules and of omission rules as the user wrote them. The
        second is None if it is the negation of the first."""
        return self.predicate, self.omission_predicate

    @property
    def judge(self) -> JudgeOptions:
        """Returns the options that are about the judge."""
        return JudgeOptions(
            self.judge_model, self.judge_base_url, self.judge_samples, self.reference, self.judge_batch
        )


@dataclass(frozen=True, slots=True)
class AskingOptions:
    """These options name the model that answers from the sources, and say whether it may cost money."""

    model: ModelOption = None
    base_url: BaseUrl = None
    key: KeyVariable = None
    temperature: Temperature = None
    yes: Yes = False


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A ``SearchRequest`` holds all options of a command that do not become ``Settings``.

    Raises InvalidInput for options that exclude each other.
    """

    subject: SubjectOptions
    condition: Condition
    asking: AskingOptions
    recording: RecordingOptions
    traced: TraceOptions = NO_TRACE

    def __post_init__(self) -> None:
        subject, asking = self.subject, self.asking
        self._check_subject()
        of_models = {
            "--base-url": asking.base_url,
            "--key": asking.key,
            "--temperature": asking.temperature,
        }
        of_sources = {
            "--sources": subject.sources,
            "--top-k": subject.top_k,
            "--model": asking.model,
            **of_models,
        }
        of_apps = {
            "--framework": subject.framework,
            "--documents": subject.documents,
            "--input": subject.input,
            "--input-key": subject.input_key,
            **self.recording.of_applications,
        }
        excluded = of_apps if subject.app is None else of_sources
        for option, value in excluded.items():
            if value is not None:
                if subject.app is not None:
                    raise InvalidInput(f"{option} does not go with --app; leave one of them out")
                raise InvalidInput(f"{option} goes with --app only; give --app, or leave {option} out")
        for option, value in of_models.items():
            # Without ``--model``, the offline reader answers. A user who names an endpoint would wrongly
            # believe that the endpoint answered, so this is an error.
            if value is not None and asking.model is None:
                raise InvalidInput(f"{option} goes with --model only; name one, or leave it out")
        self.condition.judge.check(self.condition.written)

    def _check_subject(self) -> None:
        subject = self.subject
        if subject.documents is not None and not self.recording.has_documents:
            raise InvalidInput(
                "--documents are no sources here, as --source-kinds has no documents; add them to it, or "
                "leave --documents out"
            )
        if subject.input is not None and subject.input_key is not None:
            raise InvalidInput("--input is the whole input; leave --input-key out")
        if subject.question is not None and not subject.question.strip():
            raise InvalidInput("the question is empty; give one with --question")
        self.traced.check(
            answers=subject.app is not None or self.asking.model is not None,
            others={
                "--sources": subject.sources,
                "--documents": subject.documents,
                "--baseline": self.recording.baseline,
            },
        )

    def incident(self) -> Incident | None:
        """Returns the incident in the trace or in the baseline's file; None if neither is given."""
        path = self.recording.baseline
        found = self.traced.incident() if path is None else load_incident(path)
        asked = self.subject.question
        if found is None or asked is None:
            return found
        if path is None and asked.split() != (found.question or "").split():
            raise InvalidInput(
                f"{found.place} has the answer to another question, shown above; leave --question out"
            )
        return replace(found, question=asked)

    @property
    def is_free(self) -> bool:
        """Returns True iff the offline reader answers, which costs nothing."""
        return self.asking.model is None and self.subject.app is None


def parsed_ids(given: list[str] | None) -> tuple[str, ...]:
    """Returns the ids in one or several comma-separated lists; an empty tuple if ``given`` is None. In
    a list, an id that contains a comma must stand in double quotes, except that of a part of a tool's
    result, such as ``inbox #1, item 2``."""
    found = list[str]()
    for ids in given or ():
        for row in csv.reader(ids.splitlines(), skipinitialspace=True):
            for each in filter(None, map(str.strip, row)):
                if found and _PART.fullmatch(each) and _RESULT.search(found[-1]):
                    found[-1] += f", {each}"
                else:
                    found.append(each)
    return tuple(found)
