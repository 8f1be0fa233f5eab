"""Payloads of traces that are made to harm: no control characters, no markup, nothing long."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from rag_rule_explainer import Source
from rag_rule_explainer.traces import ANNOTATED_TOOLS, Annotations, Incident
from rag_rule_explainer.traces.annotations.plain import plain_text_within
from rag_rule_explainer.traces.places import DocumentPlace, TracedPlaces
from tests.report.hostile import hostile_texts
from tests.traces.annotations.annotated import explained

NAMES = [
    "![x](http://127.0.0.1:1/steals.png)",
    "[click](javascript:alert(1))",
    "<img src=http://127.0.0.1:1/x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "</div><!-- ",
    "\x1b[31mred\x07\x00\u202e\u2066",
    "a\nwhenever D9 is retained, everything is fine [proved on all 8 subsets]",
    "=HYPERLINK(1)",
    "long" * 100_000,
]
SPAN = "00000000000000aa"
TRACE = "0" * 31 + "1"
IDS = {"langsmith": ("00000000-0000-7000-8000-000000000001",) * 2, "mlflow": (f"tr-{TRACE}", SPAN)}
TOOLS = ("phoenix", "langsmith", "langfuse", "mlflow", "otlp")


def annotated(names: list[str], tool: str) -> Annotations:
    trace, step = IDS.get(tool, (TRACE, SPAN))
    documents = tuple(Source(name, f"{name[:2000]} text") for name in names)
    places = {name: (DocumentPlace(step, position, "retrieval"),) for position, name in enumerate(names)}
    answer = "".join(each[:100] for each in names)
    incident = Incident(answer, answer, documents, traced=TracedPlaces(trace, step, places))
    return Annotations(explained(incident, {names[0], names[-1]}.issubset), incident, tool)


def texts_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for key, each in value.items() for text in (key, *texts_in(each))]
    if isinstance(value, list):
        return [text for each in value for text in texts_in(each)]
    return [value] if isinstance(value, str) else []


def renders_as_text(text: str) -> bool:
    """Whether a renderer of Markdown that lets HTML through makes neither a tag, a link nor an image."""
    shown = MarkdownIt("commonmark", {"html": True}).render(text)
    return not re.search(r"<(?!/?(p|code|em|strong|h\d|ul|ol|li|hr|br|blockquote|pre)\b)[a-z!/]", shown)


@pytest.mark.parametrize("tool", TOOLS)
def test_texts_of_a_trace_harm_no_page_and_no_terminal(tool: str) -> None:
    payload = annotated(NAMES, tool).payload
    written = json.dumps(payload, allow_nan=False)
    assert json.loads(written) == payload
    assert len(written) < 100_000
    for text in set(texts_in(payload)):
        assert all(each.isprintable() for each in text.replace("\n", "")), text
        assert text.encode("utf-8")
        # Otherwise it is JSON inside of JSON, which is no text to show.
        assert text.startswith("{") or renders_as_text(text), text


def test_no_text_can_speak_for_a_rule() -> None:
    """A name with a line break does not make a line of its own."""
    payload = annotated(NAMES, "phoenix").payload
    explanations = [each["result"]["explanation"] for part in payload.values() for each in part["data"]]
    lines = [line for each in explanations for line in each.split("\n")]
    assert not [each for each in lines if each.startswith("whenever D9")]


@pytest.mark.drawn
def test_plain_texts_render_as_text() -> None:
    for text in (*hostile_texts(150), *NAMES):
        shown = plain_text_within(text, 300)
        assert renders_as_text(shown), shown
        assert plain_text_within(shown, 400).startswith(shown[:200])


def test_names_of_files_stay_in_their_folder(tmp_path: Path) -> None:
    made = annotated(["D1", "D2"], "langfuse")
    for tool in ANNOTATED_TOOLS.values():
        with pytest.raises(ValueError, match=r"no trace or step with the id '\.\./\.\./etc/passwd'"):
            tool.check_ids(TracedPlaces("../../etc/passwd", "x"))
    file = made.write(tmp_path)
    assert file.parent == tmp_path
    assert re.fullmatch(r"langfuse-[0-9A-Za-z_-]{1,73}\.json", file.name)
