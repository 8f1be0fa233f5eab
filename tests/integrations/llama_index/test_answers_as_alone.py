"""The first run of an explanation answers as the application does alone, whatever its shape."""

import asyncio
import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.workflow import Workflow
from llama_index_rag_rule_explainer import RuleExplainer

from rag_rule_explainer.errors import RagRuleError
from tests.integrations.known import BAD
from tests.integrations.llama_index.zoo import stateful, table
from tests.integrations.llama_index.zoo.agents import Searching
from tests.integrations.stateful import built
from tests.representing import some_of_each

# LlamaIndex leaves connections of its in-memory databases to the garbage collector, whenever that is.
pytestmark = pytest.mark.filterwarnings("ignore")
ROOMS: tuple[Any, ...] = (*table.ROOMS, *stateful.ROOMS)


def _alone(application: Any, given: Any) -> str:
    named: Any = given if isinstance(given, dict) else {}
    if isinstance(application, BaseQueryEngine):
        return str(application.query(given))
    if isinstance(application, BaseChatEngine):
        arguments: Any = named or {"message": given}
        return str(application.chat(**arguments))
    if isinstance(application, Workflow):
        return asyncio.run(_run(application, named, given))
    if not _needed(application):
        return _alone(application(), given)
    made = application(given)
    return str(asyncio.run(_awaited(made)) if inspect.isawaitable(made) else made)


async def _run(workflow: Any, named: dict[str, Any], given: Any) -> str:
    word = "user_msg" if "Agent" in type(workflow).__name__ else "input"
    return str(await workflow.run(**(named or {word: given})))


async def _awaited(made: Any) -> Any:
    return await made


def _needed(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(each.default is each.empty for each in parameters)


@pytest.mark.spread(slow=2)
@pytest.mark.parametrize(
    "shape", some_of_each((room.SHAPES for room in ROOMS), every=9), ids=lambda shape: shape.name
)
def test_the_first_run_answers_as_the_application_does_alone(shape: Any) -> None:
    for build in filter(None, (shape.build, getattr(shape, "way_out", None))):
        with built(build) as made:
            if isinstance(made.application, Searching):
                continue  # which is started by an event of its own
            alone = _alone(made.application, made.given)
        # A refusal says nothing of an answer.
        with built(build) as made, suppress(RagRuleError):
            predicate = getattr(shape, "predicate", BAD)
            explainer = RuleExplainer(made.application, predicate, **made.parameters)
            assert explainer.explain(made.given).baseline.text.strip() == alone.strip()
