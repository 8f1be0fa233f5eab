"""``--annotate``: the rules go to the tracing tool that has the answer, and only with --send."""

import json
import sys
from pathlib import Path

import pytest

from rag_rule_explainer import Explanation, load
from tests.cli.runs import RagRules, Run, assert_refused, explanation_of
from tests.cli.test_applications import APPLICATION
from tests.cli.test_traces import QUESTION, TEXTS
from tests.traces.annotations.annotated import no_connection
from tests.traces.annotations.taking import taking
from tests.traces.cells import CELLS
from tests.traces.test_hostile import FOUND, RUN, renamed, runs

TRACE, ROOT, STEP = (f"00000000-0000-7000-8000-00000000000{n}" for n in (1, 1, 2))


@pytest.fixture
def traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trace of LangSmith, beside the application that gave the answer."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "annotated_tower", raising=False)
    (tmp_path / "annotated_tower.py").write_text(APPLICATION)
    documents = [{"page_content": text, "id": name} for name, text in TEXTS.items()]
    run = renamed(RUN, id=ROOT, trace_id=TRACE, inputs={"input": QUESTION}, outputs={"output": "1889"})
    found = renamed(FOUND, id=STEP, trace_id=TRACE, parent_run_id=ROOT, outputs={"documents": documents})
    file = tmp_path / "trace.json"
    file.write_bytes(runs(run, found))
    return file


def written(folder: Path) -> Path:
    (file,) = folder.glob(f"langsmith-{TRACE}-*.json")
    return file


def explain(rag_rules: RagRules, traced: Path, *more: object) -> Run:
    app = ("--app", "annotated_tower:chain", "--yes", "--json")
    return rag_rules("explain", "--trace", traced, *app, *more)


def saved(explanation: Explanation, traced: Path) -> Path:
    explanation.save(traced.parent / "saved.json")
    return traced.parent / "saved.json"


def test_a_file_is_written_and_nothing_is_sent(traced: Path, rag_rules: RagRules) -> None:
    with no_connection() as tried:
        told = explain(rag_rules, traced, "--annotate", "langsmith")
    assert tried == []
    assert len(explanation_of(told).retention_rules) == 1
    file = written(traced.parent)
    assert f"3 annotations for langsmith: {file.name}; --send sends them" in told.err
    feedback = json.loads(file.read_text())["feedback"]
    assert [(each["run_id"], each["value"]) for each in feedback] == [
        (ROOT, "1 retention rule and 1 omission rule (proved)"),
        (STEP, "plaque: decisive (proved)"),
        (STEP, "leaflet: not named (proved)"),
    ]


def test_a_saved_explanation_annotates_its_trace_for_nothing(
    traced: Path, rag_rules: RagRules, tmp_path: Path
) -> None:
    first = explain(rag_rules, traced, "--annotate", "langsmith", "--annotate-to", tmp_path)
    file = saved(explanation_of(first), traced)
    (tmp_path / "other").mkdir()
    told = rag_rules(
        *("show", file, "--trace", traced, "--annotate", "langsmith", "--annotate-to", tmp_path / "other")
    )
    assert told.code == 0
    file = written(tmp_path)
    assert (tmp_path / "other" / file.name).read_bytes() == file.read_bytes()
    # What is said of another condition does not replace it.
    explain(
        rag_rules,
        traced,
        *("--annotate", "langsmith", "--annotate-to", tmp_path, "--predicate", "contains:1889"),
    )
    assert len(list(tmp_path.glob(f"langsmith-{TRACE}-*.json"))) == 2


def test_annotations_are_sent_where_the_environment_says(
    traced: Path, rag_rules: RagRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    values: list[str] = []

    def take(path: str, body: bytes) -> tuple[int, object]:
        values.append(json.loads(body)["value"])
        return 200, {}

    with taking(take) as place:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", place)
        monkeypatch.setenv("LANGSMITH_API_KEY", "none")
        told = explain(rag_rules, traced, "--annotate", "langsmith", "--send")
    assert told.code == 0
    assert "3 annotations for langsmith: " in told.err
    assert told.err.rstrip().endswith("; sent")
    assert values[1] == "plaque: decisive (proved)"


def test_a_tool_that_takes_nothing_leaves_the_explanation_and_the_file(
    traced: Path, rag_rules: RagRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    with taking(lambda path, body: (403, {"detail": "forbidden"})) as place:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", place)
        monkeypatch.setenv("LANGSMITH_API_KEY", "none")
        told = explain(rag_rules, traced, "--annotate", "langsmith", "--send")
    assert told.code == 2
    assert "langsmith did not take the annotations (0 were sent before)" in told.err
    assert len(Explanation.model_validate_json(told.out).retention_rules) == 1
    assert written(traced.parent).exists()


REFUSED = {
    "no such tool": (("--annotate", "nagios"), "'nagios' takes no annotations; give one of phoenix"),
    "another tool": (("--annotate", "phoenix"), "phoenix has no trace or step with the id"),
    "no such folder": (
        ("--annotate", "langsmith", "--annotate-to", "nowhere"),
        "there is no folder nowhere for annotations",
    ),
    "send alone": (("--send",), "--send goes with --annotate only"),
    "folder alone": (("--annotate-to", "."), "--annotate-to goes with --annotate only"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_done_is_refused_before_a_replay(
    name: str, traced: Path, rag_rules: RagRules
) -> None:
    more, said = REFUSED[name]
    (traced.parent / "annotated_tower.py").write_text("raise SystemError('it must not be run')")
    read = f"the trace {TRACE} in {traced}: '{QUESTION}', with 2 documents: plaque and leaflet"
    is_read = name in {"another tool", "no such folder"}
    assert_refused(explain(rag_rules, traced, *more), said, before=read if is_read else None)


def test_annotations_need_a_trace(traced: Path, rag_rules: RagRules) -> None:
    told = rag_rules(*("explain", "--question", "?", "--sources", "x", "--annotate", "otlp"))
    assert_refused(told, "--annotate goes with --trace only")
    file = saved(explanation_of(explain(rag_rules, traced)), traced)
    assert_refused(rag_rules("show", file, "--annotate", "otlp"), "--annotate goes with --trace only")
    assert_refused(rag_rules("show", file, "--trace", traced), "--trace says where --annotate puts")
    assert_refused(rag_rules("show", file, "--trace-id", "x"), "--trace-id goes with --trace only")
    other = next(each.file for each in CELLS if each.tracer == "langsmith")
    told = rag_rules("show", file, "--trace", other, "--annotate", "langsmith")
    assert told.out == ""
    assert told.err.splitlines()[-1].startswith("rag-rules: ")
    assert "has another answer than the explanation" in told.err
    assert load(file).retention_rules
