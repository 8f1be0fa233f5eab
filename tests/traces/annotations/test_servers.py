"""Annotations in the tools themselves: Phoenix and MLflow on this machine, with their pages, and what
Langfuse's own client sends. ``make annotations`` has all of them."""

import json
import os
import sqlite3
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer.errors import NotSent
from rag_rule_explainer.traces import Annotations
from tests.traces.annotations.annotated import by_first_two
from tests.traces.annotations.servers import mlflow_with_trace, phoenix_with_trace
from tests.traces.annotations.story import KNEE, explained_story_of, labels
from tests.traces.annotations.taking import taking
from tests.traces.annotations.test_hostile_notes import NAMES
from tests.traces.annotations.test_payloads import incident_of
from tests.traces.cells import CELLS

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(find_spec("mlflow") is None, reason="make annotations has the tools"),
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.timeout(1200),
]
ANSWER = "1 retention rule and 2 omission rules (proved)"


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    with phoenix_with_trace(tmp_path_factory.mktemp("phoenix")) as found:
        yield found


@pytest.fixture(scope="module")
def mlflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    with mlflow_with_trace(tmp_path_factory.mktemp("mlflow")) as found:
        yield found


def pictured(page: Any, tool: str, folder: Path) -> None:
    """Takes a picture; where SCREENSHOTS names a folder, it is kept there."""
    from tests.traces.annotations.pages import taken

    file = Path(os.environ.get("SCREENSHOTS", folder)) / f"annotated-{tool}.png"
    taken(page, file)
    assert file.stat().st_size > 10_000


def test_phoenix_takes_annotations_and_shows_them(
    phoenix: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.traces.annotations.pages import phoenix_page

    place, trace = phoenix
    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", place)
    incident, explanation = explained_story_of(trace)
    made = Annotations(explanation, incident, "phoenix")
    assert made.send() == made.send() == len(KNEE.documents) + 1
    with sqlite3.connect(trace.parent / "phoenix.db") as kept:
        found = kept.execute("SELECT document_position, label FROM document_annotations").fetchall()
        (answer,) = kept.execute("SELECT label FROM span_annotations").fetchall()
    order = [each.id for each in incident.documents or ()]
    assert {order[position]: label for position, label in found} == labels()
    assert len(found) == len(order)
    assert answer == (ANSWER,)
    with phoenix_page(place, incident) as page:
        for label in set(labels().values()):
            assert page.get_by_text(label).first.is_visible()
        assert page.get_by_text("proved on all").first.is_visible()
        pictured(page, "phoenix", trace.parent)
    # What is said of another condition stands beside it.
    another = {kind: f"{said} and more" for kind, said in explanation.predicates.items()}
    other = explanation.model_copy(update={"predicates": another})
    assert Annotations(other, incident, "phoenix").send() == len(order) + 1
    with sqlite3.connect(trace.parent / "phoenix.db") as kept:
        names = kept.execute("SELECT name FROM document_annotations").fetchall()
    assert {names.count(each) for each in names} == {len(order)}
    assert len(set(names)) == 2


@pytest.mark.waits
def test_mlflow_takes_annotations_and_shows_them(mlflow: tuple[str, Path]) -> None:
    import mlflow as tool

    from tests.traces.annotations.pages import mlflow_page, unfold

    place, trace = mlflow
    incident, explanation = explained_story_of(trace)
    made = Annotations(explanation, incident, "mlflow")
    assert made.send() == made.send() == len(KNEE.documents) + 1
    assert incident.traced is not None
    kept: list[Any] = tool.get_trace(incident.traced.trace).info.assessments
    found = {each.feedback.value: each for each in kept}
    assert set(found) == {ANSWER, *(f"{name}: {label}" for name, label in labels().items())}
    assert len(kept) == len(found)
    (step,) = {place.step for (place,) in incident.traced.documents.values()}
    assert {each.span_id for value, each in found.items() if value != ANSWER} == {step}
    assert all(each.source.source_type == "CODE" for each in kept)
    with mlflow_page(place, incident) as page:
        for name, label in labels().items():
            assert page.get_by_text(f"{name}: {label}"[:20]).first.is_visible()
        unfold(page, "leaflet-9: ")
        page.get_by_text("proved on all 8 subsets").first.wait_for()
        pictured(page, "mlflow", trace.parent)


@pytest.mark.waits
def test_hostile_texts_do_no_harm_in_the_tools(
    phoenix: tuple[str, Path], mlflow: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The servers keep them, and their pages ask for nothing and run nothing because of them."""
    from tests.traces.annotations.pages import mlflow_page, phoenix_page, unfold

    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", phoenix[0])
    for tool, (_, trace) in {"phoenix": phoenix, "mlflow": mlflow}.items():
        incident, explanation = explained_story_of(trace)
        renamed = explanation.model_copy(
            update={"predicates": {kind: " ".join(NAMES)[:5000] for kind in explanation.predicates}}
        )
        made = Annotations(renamed, incident, tool)
        assert made.send() == len(KNEE.documents) + 1
    for opened, (place, trace) in ((phoenix_page, phoenix), (mlflow_page, mlflow)):
        with opened(place, explained_story_of(trace)[0]) as page:
            unfold(page)
            page.get_by_text("steals.png").first.wait_for()
            harmful = "img[src*='steals'], img[onerror], a[href^='javascript'], script:text('alert(1)')"
            assert not page.locator(harmful).count()


def test_langfuses_own_client_sends_scores_in_the_published_form() -> None:
    from langfuse import Langfuse
    from langfuse.api.scores.types import CreateScoreRequest

    taken: dict[tuple[Any, Any], Any] = {}

    def take(path: str, body: bytes) -> tuple[int, Any]:
        assert path == "/api/public/scores"
        for each in json.loads(body):
            score = CreateScoreRequest.model_validate(each)
            taken[score.id, score.timestamp] = score
        return 202, {"message": "Accepted"}

    incident = incident_of(next(each for each in CELLS if each.tracer == "langfuse"))
    made = Annotations(by_first_two(incident), incident, "langfuse")
    with taking(take) as place:
        keys = {"public_key": "pk-lf-1", "secret_key": "sk-lf-1", "base_url": place}
        client = Langfuse(**keys, tracing_enabled=False)
        assert made.send(client) == made.send(client) == 4
    assert len(taken) == 4
    answer, *documents = taken.values()
    assert (answer.value, answer.observation_id) == (ANSWER, None)
    assert answer.trace_id == documents[0].trace_id
    assert {each.value.partition(": ")[2] for each in documents} == {
        "needs basalt.md (proved)",
        "needs amber (proved)",
        "not named (proved)",
    }
    with taking(lambda path, body: (401, {"message": "no such key"})) as place:
        refused = Langfuse(**{**keys, "public_key": "pk-lf-2", "base_url": place}, tracing_enabled=False)
        with pytest.raises(NotSent, match="langfuse did not take the annotations"):
            made.send(refused)
