"""What the command line asks for."""

from dataclasses import dataclass
from pathlib import Path

from ..errors import InvalidInput
from ..probing.conduct import OnNoRetrieval
from ..probing.gating import OnNewQuery
from ..probing.replaying import WantedScope
from .frameworks import Framework


@dataclass(frozen=True, slots=True)
class Request:
    """The options of ``rag-rules explain`` that are no settings.

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
    baseline: Path | None
    pinned: tuple[str, ...]
    scope: WantedScope
    on_new_query: OnNewQuery | None
    on_no_retrieval: OnNoRetrieval
    predicate: str
    omission_predicate: str | None
    model: str | None
    base_url: str | None
    temperature: float | None
    yes: bool
    json: bool

    def __post_init__(self) -> None:
        of_sources = {"--sources": self.sources, "--top-k": self.top_k, "--model": self.model}
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
        if self.input is not None and self.input_key is not None:
            raise InvalidInput("--input is the whole input; leave --input-key out")
        if self.question is not None and not self.question.strip():
            raise InvalidInput("the question is empty; give one with --question")


def parsed_ids(given: list[str] | None) -> tuple[str, ...]:
    """Ids as written: separated by commas, in one option or several."""
    return tuple(each.strip() for ids in given or () for each in ids.split(",") if each.strip())
