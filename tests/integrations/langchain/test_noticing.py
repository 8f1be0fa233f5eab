"""No rule is proved of an application that goes by a mark of an earlier run, wherever the mark is. Rules
of an application that leaves none are proved."""

from collections.abc import Generator
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

from tests.integrations.known import BAD
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.leaving.parts import cleared, said
from tests.integrations.noticing.tables import (
    BESIDE,
    HARMLESS,
    NEAR,
    Build,
    Shape,
    check_guilty,
    check_harmless,
    guilty,
    name_of,
)
from tests.representing import some, some_of_each

# The marks that iterators leave are read in a way that Python 3.14 no longer has.
pytestmark = pytest.mark.filterwarnings("ignore:Pickle, copy, and deepcopy support:DeprecationWarning")


@pytest.fixture(autouse=True)
def nothing_is_left() -> Generator[None, None, None]:
    with cleared():
        yield


def explainer_of(build: Build) -> Any:
    retriever = Counting(documents=facts("abd"))
    model = Telling(says=lambda messages: said(messages[0].text))
    answer = build(
        lambda question: [found.page_content for found in retriever.invoke(question)],
        lambda prompt: model.invoke(prompt).text,
    )
    return RuleExplainer(RunnableLambda(answer), predicate=BAD, miner="exact")


@pytest.mark.waits
@pytest.mark.spread(fast=2, slow=3)
@pytest.mark.parametrize("shape", some_of_each(guilty((*NEAR, *BESIDE)), every=13), ids=name_of)
def test_no_rule_that_rests_on_a_mark_is_proved(shape: Shape) -> None:
    check_guilty(shape, explainer_of)


@pytest.mark.waits
@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("use", some(HARMLESS, every=5), ids=name_of)
def test_who_keeps_nothing_has_proved_rules(use: Any) -> None:
    check_harmless(use, explainer_of)
