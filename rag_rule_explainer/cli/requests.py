"""What the command line asks for."""

from dataclasses import dataclass
from pathlib import Path

from ..errors import InvalidInput
from ..probing.conduct import OnNoRetrieval
from ..probing.gating import OnNewQuery
from ..probing.prices import Price
from ..probing.replaying import WantedScope
from ..rules import RuleKind
from ..storing.store import Store
from .frameworks import Framework
from .judges import JudgeOptions


@dataclass(frozen=True, slots=True)
class Request:
    """The options of ``rag-rules explain`` that are no settings. ``rule``: what ``verify`` asks about.

    Raises InvalidInput for options that exclude each other.
    """

    question: str | None
    sources: Path | None
    top_k: int | None
    app: str | None
    framework: Framework | None
    input_key: str | None
    input: str | None
    documents: Path | None
    pinned: tuple[str, ...]
    json: bool
    baseline: Path | None = None
    scope: WantedScope = "seen"
    on_new_query: OnNewQuery | None = None
    on_no_retrieval: OnNoRetrieval = "error"
    predicate: str = "same-answer"
    omission_predicate: str | None = None
    judge_model: str | None = None
    judge_base_url: str | None = None
    judge_samples: int = 1
    reference: Path | None = None
    model: str | None = None
    base_url: str | None = None
    temperature: float | None = None
    yes: bool = False
    rule: tuple[tuple[str, ...], RuleKind] | None = None

    def __post_init__(self) -> None:
        of_models = {"--base-url": self.base_url, "--temperature": self.temperature}
        of_sources = {
            "--sources": self.sources,
            "--top-k": self.top_k,
            "--model": self.model,
            **of_models,
        }
        of_apps = {
            "--framework": self.framework,
            "--documents": self.documents,
            "--input": self.input,
            "--input-key": self.input_key,
            "--on-new-query": self.on_new_query,
        }
        excluded = of_apps if self.app is None else of_sources
        for option, value in excluded.items():
            if value is not None:
                told = "goes with --app only" if self.app is None else "does not go with --app"
                raise InvalidInput(f"{option} {told}; leave one of them out")
        for option, value in of_models.items():
            # Otherwise the offline reader would answer, and whoever named an endpoint take it for that.
            if value is not None and self.model is None:
                raise InvalidInput(f"{option} goes with --model only; name one, or leave it out")
        if self.input is not None and self.input_key is not None:
            raise InvalidInput("--input is the whole input; leave --input-key out")
        self.judge.check((self.predicate, self.omission_predicate))
        if self.question is not None and not self.question.strip():
            raise InvalidInput("the question is empty; give one with --question")

    @property
    def judge(self) -> JudgeOptions:
        """Who decides what is to be judged."""
        return JudgeOptions(self.judge_model, self.judge_base_url, self.judge_samples, self.reference)


def parsed_ids(given: list[str] | None) -> tuple[str, ...]:
    """Ids as written: separated by commas, in one option or several."""
    return tuple(each.strip() for ids in given or () for each in ids.split(",") if each.strip())


def parsed_duplicates(similarity: float | None, *, merged: bool) -> bool | float:
    """Whether near-duplicates are tied, and from which similarity on. Raises InvalidInput."""
    if similarity is not None and not merged:
        raise InvalidInput("--similarity is about near-duplicates; say --merge-duplicates with it")
    return merged if similarity is None else similarity


def parsed_prices(given: list[str] | None) -> dict[str, Price] | None:
    """Prices as written: ``MODEL=IN,OUT`` or ``MODEL=IN,OUT,CACHED``. Raises InvalidInput."""
    if not given:
        return None
    return dict(map(_parsed_price, given))


def _parsed_price(written: str) -> tuple[str, Price]:
    model, equals, amounts = written.rpartition("=")
    try:
        prices = [float(amount) for amount in amounts.split(",")]
    except ValueError:
        prices = []
    if not (model and equals) or len(prices) not in {2, 3}:
        raise InvalidInput(f"--price {written!r} is no price; write MODEL=IN,OUT such as gpt-4o=2.5,10")
    return model, Price(*prices)


def parsed_store(url: str | None, namespace: str | None) -> Store | None:
    """The store named. Raises InvalidInput for one option without the other."""
    if url is None and namespace is None:
        return None
    if url is None or namespace is None:
        missing = "--store" if url is None else "--namespace"
        raise InvalidInput(
            f"{missing} is missing: a store needs a place, and a namespace that says which version of "
            "the application its answers are from"
        )
    return Store(url, namespace)
