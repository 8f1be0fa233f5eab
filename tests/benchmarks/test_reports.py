"""How long a report takes to be written, beside the JSON of the same explanation."""

import json
import time
from collections.abc import Callable

import pytest

from rag_rule_explainer.report.html import as_html
from tests.benchmarks.ratios import show
from tests.browser.reports import full_ten

pytestmark = pytest.mark.benchmark
ROUNDS = 15


def seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def test_html_beside_json() -> None:
    explanation = full_ten()
    as_read = explanation.model_dump(mode="json")
    as_html(explanation)
    ours, theirs, dumped = list[float](), list[float](), list[float]()
    for _ in range(ROUNDS):
        ours.append(seconds(lambda: as_html(explanation)))
        theirs.append(seconds(lambda: json.dumps(as_read)))
        dumped.append(seconds(lambda: json.dumps(explanation.model_dump(mode="json"))))
    show("HTML of ten documents, 1,024 probes", "json.dumps", ours, theirs, 5)
    show("the same beside the model's dump", "json.dumps", ours, dumped)
