"""This package runs ``rag-rules doctor``, which examines an installation, and the model, the store and
the application with which it is to work."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

import typer
from rich.text import Text

from ..options import (
    App,
    BaseUrl,
    FrameworkOption,
    Input,
    InputKey,
    Json,
    JudgeBaseUrl,
    JudgeModel,
    KeyVariable,
    ModelOption,
    PriceOption,
    Question,
    StoreUrl,
    Yes,
)
from ..searching import parsed_prices
from ..terminal import print_json, print_lines
from .application import ExaminedApplication, examined_application
from .diagnosis import Diagnosis
from .endpoint import examined_model
from .installation import examined_installation
from .storage import examined_store

_STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red"}


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """These options say what is examined besides the installation. Raises InvalidInput for options that
    do not fit together."""

    app: App = None
    question: Question = None
    framework: FrameworkOption = None
    input_key: InputKey = None
    input: Input = None
    model: ModelOption = None
    base_url: BaseUrl = None
    key: KeyVariable = None
    judge_model: JudgeModel = None
    judge_base_url: JudgeBaseUrl = None
    store: StoreUrl = None
    price: PriceOption = None
    yes: Yes = False
    json: Json = False

    def __post_init__(self) -> None:
        parsed_prices(self.price)
        if self.app is not None:
            self.examined(self.app).check()

    def examined(self, app: str) -> ExaminedApplication:
        """Returns the options that are about the application ``app``."""
        return ExaminedApplication(
            app, self.question, self.framework, self.input_key, self.input, self.price
        )


def examine(options: DoctorOptions) -> None:
    """Examine the installation, a model, a store and an application, and say what to do.

    Without options, it examines Python, this package, its extras and its integrations. With --model or
    --judge-model, it asks the endpoint for a list of its models, and if the model is not in the list,
    it asks the model for one token. With --store, it tries to write, and leaves nothing behind. With
    --app, it imports the application. With --app and --question, it also runs the application once, if
    you agree or give --yes. This run costs as much as one replay. It never prints a key.

    Examples:
      rag-rules doctor
      rag-rules doctor --model gpt-4o-mini --store answers.db
      rag-rules doctor --app my_module:chain --question "..." --yes

    Environment:
      OPENAI_API_KEY   key of --model and --judge-model (or see --key)
      OPENAI_BASE_URL  their endpoint

    Exit codes:
      0    no problem; there may be warnings
      1    a problem; each is printed with a way out
      2    bad input
      130  interrupted
    """
    found = list[Diagnosis]()
    for diagnosis in _diagnoses(options):
        found.append(diagnosis)
        if not options.json:
            print_lines(_lines(diagnosis))
    problems = sum(each.state == "problem" for each in found)
    if options.json:
        print_json(json.dumps([asdict(each) for each in found], indent=2))
    else:
        warnings = sum(each.state == "warning" for each in found)
        print_lines([f"{_count(problems, 'problem')}, {_count(warnings, 'warning')}"])
    raise typer.Exit(1 if problems else 0)


def _diagnoses(options: DoctorOptions) -> Iterator[Diagnosis]:
    yield from examined_installation()
    if options.model is not None:
        yield examined_model("model", options.model, options.base_url, options.key)
    if options.judge_model is not None:
        yield examined_model("judge-model", options.judge_model, options.judge_base_url, None)
    if options.store is not None:
        yield examined_store(options.store)
    if options.app is not None:
        yield from examined_application(options.examined(options.app), agreed=options.yes)


def _lines(diagnosis: Diagnosis) -> Iterable[Text]:
    state = (diagnosis.state.ljust(9), _STYLES[diagnosis.state])
    yield Text.assemble(state, diagnosis.part.ljust(14), diagnosis.said)
    if diagnosis.way_out:
        yield Text(f"{'':9}{'':14}-> {diagnosis.way_out}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
