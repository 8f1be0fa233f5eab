"""This module defines the options that several experiments have.

They are about the questions, the models, the judge, the results and how calls are made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from ...errors import InvalidInput
from ...experiments.examples import Criteria, Example, drawn
from ...experiments.models import MODEL_SYNTAX, USUAL_KEY, Endpoint, Examined, offline_reader, shuffled
from ...experiments.paper import FACTS, stated
from ...experiments.prompts import (
    OWN_JUDGE,
    OWN_PROMPT,
    PAPERS_JUDGE,
    PAPERS_PROMPT,
    JudgePrompt,
    PromptTemplate,
)
from ...experiments.published import examples_in
from ...experiments.reasoning import UNSENT
from ...predicates import Judge
from ...settings import DEFAULT_TIMEOUT, Settings
from ...storing.store import Store
from ..named_stores import store_at
from ..terminal import unstyled

USUAL_CONCURRENCY = 8
PromptName: TypeAlias = Literal["own", "paper"]
PAPERS_TEMPERATURE, PAPERS_TOKENS = FACTS["temperature"].value, stated("most tokens")
_PARTS = MODEL_SYNTAX.replace("[", " [")

Data = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="HotpotQA's own JSON, or a .jsonl of {id, question, answer, sources: [{title, text, "
        "necessary}]}.",
    ),
]
Seed = Annotated[int, typer.Option(help="Decides which ones are drawn, and other random choices.")]
Shuffle = Annotated[
    bool, typer.Option("--shuffle-distractors", help="Put the distractors in a random order.")
]
Necessary = Annotated[int, typer.Option(min=1, help="Draw questions with so many necessary sources.")]
Out = Annotated[
    Path, typer.Option(metavar="DIR", help="Where tables and figures go; made where it is missing.")
]
Figures = Annotated[
    bool, typer.Option("--figures/--no-figures", help="Draw figures, or leave it at the tables.")
]
AskedModel = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Ask this OpenAI-compatible model; else the offline reader answers.",
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help=f"Ask this model. Parts are added without spaces: {unstyled(_PARTS)}. May be given several "
        "times.",
    ),
]


@dataclass(frozen=True, slots=True)
class Drawing:
    """These options choose the questions for the experiment, and the order of their distractors (sources
    that are not needed for the answer)."""

    data: Data = None
    examples: Annotated[int, typer.Option("--examples", min=1, help="Draw so many at random.")] = 50
    seed: Seed = 0
    shuffle_distractors: Shuffle = False

    @property
    def file(self) -> Path:
        """Returns the file with the questions. Raises InvalidInput without --data."""
        if self.data is None:
            raise InvalidInput("this is measured on labelled questions; give their file as --data")
        return self.data

    @property
    def distractors(self) -> int | None:
        """Returns the seed for a random order of the distractors; None to keep the order in the file."""
        return self.seed if self.shuffle_distractors else None

    def drawn(self, fewest: int, most: int, sources: int) -> tuple[Example, ...]:
        """Returns questions from the file, drawn at random among those with ``fewest`` to ``most``
        necessary sources and at least ``sources`` sources in all. Raises InvalidInput if the file cannot
        be used.
        """
        criteria = Criteria(fewest_necessary=fewest, most_necessary=most, fewest_sources=sources)
        return drawn(examples_in(self.file), self.examples, self.seed, criteria).examples


@dataclass(frozen=True, slots=True)
class Endpoints:
    """These options set the endpoint, the parameters and the prompt of the models. A value inside
    ``--model``, such as ``--model NAME,temperature=0``, takes precedence."""

    base_url: Annotated[str | None, typer.Option(help="The endpoint of a --model that names none.")] = (
        None
    )
    key: Annotated[str, typer.Option("--key", metavar="VARIABLE", help="Where its key is.")] = USUAL_KEY
    temperature: Annotated[float, typer.Option(min=0.0, help="The model's temperature.")] = (
        PAPERS_TEMPERATURE
    )
    max_output_tokens: Annotated[
        int, typer.Option("--max-output-tokens", min=1, help="Most tokens of an answer.")
    ] = PAPERS_TOKENS
    reasoning_effort: Annotated[
        str | None,
        typer.Option(
            "--reasoning-effort",
            metavar="WORD",
            help="The model's word for the least, such as minimal or low. If not given, it is sent to "
            "models whose least is known, and to no others, because models that do not reason refuse it; "
            "unsent sends none.",
        ),
    ] = None
    prompt: Annotated[
        PromptName | None,
        typer.Option(
            "--prompt",
            help="own: this package's prompt. paper: one with the parts of the paper's, in its order, "
            "and nothing more, for models and judge. own if not given.",
        ),
    ] = None
    prompt_file: Annotated[
        Path | None,
        typer.Option(
            "--prompt-file",
            metavar="FILE",
            help="Send this text, as it is, with the question for {question}, and the sources, one after "
            "the other, for {sources}.",
        ),
    ] = None
    shuffle_sources: Annotated[
        int | None,
        typer.Option(
            "--shuffle-sources",
            metavar="SEED",
            help="Show all sources in a random order that this number decides. If not given, necessary "
            "ones come first in the prompt.",
        ),
    ] = None

    def examined(self, models: Sequence[str], free: Examined | None = None) -> tuple[Examined, ...]:
        """Returns the models to measure: those named in ``models``, or else ``free``, or else the offline
        reader. With ``--shuffle-sources``, each is shown the sources in random order. Raises InvalidInput
        for wrong options, MissingExtra if a package is not installed."""
        found = self._in_order(models, free)
        seed = self.shuffle_sources
        return found if seed is None else tuple([shuffled(model, seed) for model in found])

    def _in_order(self, models: Sequence[str], free: Examined | None) -> tuple[Examined, ...]:
        """Returns the models to measure.

        ``models``: the values of ``--model``. If there are none, returns ``free``, or the offline reader
        if ``free`` is None. Raises InvalidInput for wrong options, and MissingExtra if a package is not
        installed.
        """
        if not models:
            given = {
                "--base-url": self.base_url,
                "--reasoning-effort": self.reasoning_effort,
                "--prompt": self.prompt,
                "--prompt-file": self.prompt_file,
            }
            for option, value in given.items():
                if value is not None:
                    # Without ``--model``, the offline reader answers. A user who names an endpoint would
                    # wrongly believe that the endpoint answered, so this is an error.
                    raise InvalidInput(f"{option} goes with --model only; name one, or leave it out")
            return (free or offline_reader(),)
        settings = self.temperature, self.max_output_tokens, self.reasoning_effort
        usual = Endpoint("unnamed", self.base_url, self.key, *settings, prompt=self.template())
        return tuple([Endpoint.of(written, usual).examined() for written in models])

    def template(self) -> PromptTemplate:
        """Returns the prompt for answers. Raises InvalidInput if its file cannot be used."""
        if self.prompt_file is None:
            return PAPERS_PROMPT if self.prompt == "paper" else OWN_PROMPT
        if self.prompt is not None:
            raise InvalidInput("give --prompt or --prompt-file, and not both")
        return PromptTemplate.of_file(self.prompt_file)


@dataclass(frozen=True, slots=True)
class JudgingOptions:
    """These options name the judge, which decides the answers that near-exact match cannot decide."""

    judge_model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Let this model decide what near-exact match does not settle.",
        ),
    ] = None
    judge_base_url: Annotated[str | None, typer.Option(help="The judge's endpoint.")] = None
    judge_key: Annotated[
        str, typer.Option("--judge-key", metavar="VARIABLE", help="Variable of the judge's key.")
    ] = USUAL_KEY
    judge_prompt: Annotated[
        PromptName | None,
        typer.Option(
            "--judge-prompt",
            help="own: this package's prompt. paper: one with the parts of the paper's, in its order, "
            "and nothing more; the judge replies with a list of booleans, at temperature 1.0 and in at "
            "most 100 tokens. As --prompt if not given.",
        ),
    ] = None
    judge_prompt_file: Annotated[
        Path | None,
        typer.Option(
            "--judge-prompt-file",
            metavar="FILE",
            help="Send the judge this text, as it is, with the question, the truth, and the candidates "
            "as a JSON list, for {question}, {truth} and {candidates}. It replies as with --judge-prompt "
            "paper.",
        ),
    ] = None

    def judge(self, endpoints: Endpoints | None = None) -> Judge | None:
        """Returns the judge; None without --judge-model.

        With this package's prompt, the judge has the model's default temperature and no limit on the
        length of replies; with any other prompt, it has those of the paper. ``endpoints``: the options of
        the models. If they choose the paper's prompt, so does the judge, unless it has a prompt option.
        Raises InvalidInput for wrong options, and MissingExtra if a package is not installed.
        """
        prompt = self._template(endpoints)
        if self.judge_model is None:
            given = {
                "--judge-base-url": self.judge_base_url,
                "--judge-prompt": self.judge_prompt,
                "--judge-prompt-file": self.judge_prompt_file,
            }
            for option, value in given.items():
                if value is not None:
                    raise InvalidInput(f"{option} goes with --judge-model only; name the judge as well")
            return None
        limits = (None, None) if prompt.text is None else (PAPERS_TEMPERATURE, PAPERS_TOKENS)
        effort = UNSENT if prompt.text is None else None
        usual = Endpoint("unnamed", self.judge_base_url, self.judge_key, *limits, effort)
        return Endpoint.of(self.judge_model, usual).judge(prompt)

    def _template(self, endpoints: Endpoints | None) -> JudgePrompt:
        if self.judge_prompt_file is not None:
            if self.judge_prompt is not None:
                raise InvalidInput("give --judge-prompt or --judge-prompt-file, and not both")
            return JudgePrompt.of_file(self.judge_prompt_file)
        name = self.judge_prompt or (endpoints.prompt if endpoints else None)
        return PAPERS_JUDGE if name == "paper" else OWN_JUDGE


@dataclass(frozen=True, slots=True)
class Running:
    """These options say where results and paid answers are saved, and how calls are made."""

    out: Out
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="URL",
            help="Keep paid answers here, and resume from there: a SQLite file or a database. By default "
            "answers.sqlite in --out.",
        ),
    ] = None
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, help="Most calls in flight; by default 8, and 1 for the offline reader."),
    ] = None
    retries: Annotated[int, typer.Option("--retries", min=0, help="Further tries of a failed call.")] = 3
    timeout: Annotated[float | None, typer.Option(help="Seconds one call may take.")] = DEFAULT_TIMEOUT

    def settings(self, models: Sequence[Examined], namespace: str) -> Settings:
        """Returns the settings. Answers are stored in ``--store``, or else in a file in ``--out``.
        ``models``: they decide how many calls are made at once, if the user does not. ``namespace``: the
        namespace of the answers in the store. Raises InvalidInput for wrong values."""
        paces = [model.pace for model in models if model.pace is not None]
        pace = min(paces) if len(paces) == len(models) else None
        own = Store(str(self.out / "answers.sqlite"), namespace)
        return Settings(
            retries=self.retries,
            timeout=self.timeout,
            concurrency=self.concurrency or pace or USUAL_CONCURRENCY,
            store=own if self.store is None else store_at(self.store, namespace),
        )
