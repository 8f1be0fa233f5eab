"""What runs leave to others, outside of their objects or on them: true rules, or none proved."""

import asyncio
import sys
from collections.abc import Generator
from typing import Annotated, Any

import pytest
from llama_index.core import Settings
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from llama_index.core.workflow.resource import Resource
from llama_index_rag_rule_explainer import RuleExplainer
from pydantic import Field
from typing_extensions import override

from tests.integrations.known import BAD, retention
from tests.integrations.leaving import hidden
from tests.integrations.leaving.parts import Leaving, cleared, mode_of, said
from tests.integrations.leaving.shapes import SHAPES, Shape, checked
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import Telling
from tests.representing import some


@pytest.fixture(autouse=True)
def nothing_is_left() -> Generator[None, None, None]:
    with cleared():
        yield


def explainer_of(build: Leaving, **parameters: Any) -> Any:
    retriever, model = retriever_of(), Telling(says=said)
    answer = build(
        lambda question: [found.text for found in retriever.retrieve(question)],
        lambda prompt: model.complete(prompt).text,
    )
    return RuleExplainer(answer, predicate=BAD, miner="exact", **parameters)


# The fast tests of the other integration ask others.
@pytest.mark.spread(fast=3, slow=3)
@pytest.mark.parametrize("shape", some(SHAPES, every=8), ids=lambda shape: shape.name)
def test_no_rule_that_rests_on_what_another_run_left_is_proved(shape: Shape) -> None:
    checked(shape, explainer_of(shape.build).explain)


class Tired(Telling):
    """Answers otherwise from its sixth request on."""

    asked_so_far: int = 0

    @override
    def _reply(self, prompt: str) -> str:
        self.asked_so_far += 1
        return "bad news" if self.asked_so_far > 5 else super()._reply(prompt)


class Remembering(Telling):
    """Goes by all that it was ever sent."""

    sent: list[str] = Field(default_factory=list[str])

    @override
    def _reply(self, prompt: str) -> str:
        self.sent.append(prompt)
        return "bad news" if "Basalt" in " ".join(self.sent) else "good news"


class Forgetful(Telling):
    """Its cache forgets what it was shown."""

    known: dict[int, str] = Field(default_factory=dict[int, str])

    @override
    def _reply(self, prompt: str) -> str:
        return self.known.setdefault(len(prompt) // 100, super()._reply(prompt))


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (Tired(), "writes self.asked_so_far"),
        (Remembering(), "writes self.sent.append"),
        (Forgetful(), "with Forgetful.known as before the baseline"),
    ],
)
def test_what_a_model_of_the_users_own_goes_by_leaves_claims_unverified(
    model: Telling, told: str
) -> None:
    engine = engine_of(retriever_of(), model)
    explanation = RuleExplainer(engine, predicate=BAD, miner="exact").explain("why?")
    assert {rule.claim for rule in explanation.rules} <= {"unverified"}
    assert told in explanation.warnings[0]


def test_a_replay_that_ends_the_process_ends_itself_alone() -> None:
    retriever, model = retriever_of(), Telling()

    async def answer(question: str) -> str:
        found = await retriever.aretrieve(question)
        if len(found) == 1:
            sys.exit(3)
        return (await model.acomplete("\n".join(each.text for each in found) or "nothing")).text

    async def gathered(question: str) -> str:
        return (await asyncio.gather(answer(question)))[0]

    explanation = asyncio.run(RuleExplainer(gathered, predicate=BAD, miner="exact").aexplain("why?"))
    assert [len(probe.kept) for probe in explanation.probes if probe.error] == [1, 1, 1]
    assert frozenset("bd") in retention(explanation)


def test_a_context_variable_that_cannot_be_set_back_leaves_claims_unverified() -> None:
    """LangChain calls a function in a context of its own."""
    build = hidden.in_a_context_variable_of_no_default
    checked(Shape(build, "mode.set, where the next run finds it"), explainer_of(build).explain)


def swapping_its_model(found: Any, retriever: Any) -> Any:
    calm, warning = Telling(says=lambda _: "good news"), Telling(says=lambda _: "bad news")
    Settings.llm = calm

    def answer(question: str) -> str:
        documents = found(retriever, question)
        if len(documents) > 1:
            Settings.llm = warning
        return Settings.llm.complete("\n".join(documents)).text

    return answer


def asking_for_more(found: Any, retriever: Any) -> Any:
    model = Telling(says=lambda prompt: "bad news" if "of 9" in prompt else "good news")
    retriever.similarity_top_k = 3

    def answer(question: str) -> str:
        documents = found(retriever, question)
        if len(documents) > 1:
            retriever.similarity_top_k = 9
        return model.complete(f"of {retriever.similarity_top_k}\n" + "\n".join(documents)).text

    return answer


def limiting_its_output(found: Any, retriever: Any) -> Any:
    model = Telling(says=said)

    def answer(question: str) -> str:
        documents = found(retriever, question)
        if len(documents) > 1:
            Settings.num_output = 77
        mode = "Warn" if Settings.num_output == 77 else "Calm"
        return model.complete(f"{mode} the reader.\n" + "\n".join(documents)).text

    return answer


@pytest.mark.parametrize(
    ("build", "told"),
    [
        (swapping_its_model, "writes Settings.llm"),
        (asking_for_more, "writes retriever.similarity_top_k"),
        (limiting_its_output, "with _Settings._prompt_helper as before the baseline"),
    ],
)
def test_what_a_run_sets_on_an_object_of_the_framework_leaves_claims_unverified(
    build: Any, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Settings, "_llm", None)
    monkeypatch.setattr(Settings, "_prompt_helper", None)
    answer = build(
        lambda retriever, question: [n.text for n in retriever.retrieve(question)], retriever_of()
    )
    explanation = RuleExplainer(answer, predicate=BAD, miner="exact").explain("why?")
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert told in explanation.warnings[0]


def texts(found: Any) -> list[str]:
    return [each.text for each in found]


class Notebook:
    def __init__(self) -> None:
        self.pages = set[str]()


class Noting(Workflow):
    """Counts what it has noted in a resource, of which a workflow has one for all its runs."""

    def __init__(self) -> None:
        super().__init__()
        self.retriever, self.model = retriever_of(), Telling(says=said)

    @step
    async def answer(
        self, event: StartEvent, notebook: Annotated[Notebook, Resource(Notebook)]
    ) -> StopEvent:
        found = [each.text for each in await self.retriever.aretrieve(event.query)]
        notebook.pages.update(found)
        prompt = f"{mode_of(list(notebook.pages))} the reader.\n" + "\n".join(found)
        return StopEvent(str(await self.model.acomplete(prompt)))


def test_a_resource_of_a_workflow_that_remembers_leaves_claims_unverified() -> None:
    explanation = asyncio.run(RuleExplainer(Noting(), predicate=BAD, miner="exact").aexplain("why?"))
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert "writes notebook.pages.update" in explanation.warnings[0]


class Styled(CustomQueryEngine):
    """Keeps the style of its first answer, in a method that the framework wraps."""

    retriever: Any
    model: Any
    style: str | None = None

    @override
    def custom_query(self, query_str: str) -> str:
        found = [each.text for each in self.retriever.retrieve(query_str)]
        if self.style is None:
            self.style = mode_of(found)
        return self.model.complete(f"{self.style} the reader.\n" + "\n".join(found)).text


def test_a_method_that_the_framework_wraps_is_read() -> None:
    engine = Styled(retriever=retriever_of(), model=Telling(says=said))
    explanation = RuleExplainer(engine, predicate=BAD, miner="exact").explain("why?")
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert "'style' of Styled was set in the baseline" in explanation.warnings[0]
