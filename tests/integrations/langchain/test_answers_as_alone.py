"""The first run of an explanation answers as the application does alone, whatever its shape."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer.errors import RagRuleError
from tests.integrations.known import BAD
from tests.integrations.langchain.zoo import stateful, table
from tests.integrations.stateful import built
from tests.representing import some_of_each

# LangChain silences warnings of its own in a way that is not thread-safe: now and then one gets through.
pytestmark = pytest.mark.filterwarnings("ignore")
ROOMS: tuple[Any, ...] = (*table.ROOMS, *stateful.ROOMS)
ANSWERS = ("answer", "result", "output", "text")


def _alone(made: Any) -> Any:
    try:
        return made.application.invoke(made.given, made.config)
    except (TypeError, NotImplementedError):
        return asyncio.run(made.application.ainvoke(made.given, made.config))


def _text(output: Any) -> str:
    if isinstance(output, dict) and "messages" in output:
        return output["messages"][-1].text
    if isinstance(output, dict):
        name = next((each for each in ANSWERS if each in output), None)
        return repr(output) if name is None else _text(output[name])
    return str(getattr(output, "content", output))


@pytest.mark.spread(slow=2)
@pytest.mark.parametrize(
    "shape", some_of_each((room.SHAPES for room in ROOMS), every=9), ids=lambda shape: shape.name
)
def test_the_first_run_answers_as_the_application_does_alone(shape: Any) -> None:
    for build in filter(None, (shape.build, getattr(shape, "way_out", None))):
        with built(build) as made:
            alone = made.parameters.get("answer_of", _text)(_alone(made))
        # A refusal says nothing of an answer.
        with built(build) as made, suppress(RagRuleError):
            explainer: Any = RuleExplainer(made.application, BAD, **made.parameters)
            explanation = explainer.explain(made.given, made.config)
            assert explanation.baseline.text.strip() == alone.strip()
