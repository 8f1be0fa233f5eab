"""This module makes one run in one folder. Its settings are written before anything is asked, so that a
run that is resumed goes on with the same model, the same questions and the same numbers."""

import json
from collections.abc import Sequence
from datetime import datetime, timezone
from hashlib import sha256
from typing import Any

from demos.paper_model.files import written
from demos.paper_model.measures import Measured
from demos.paper_model.sizes import Inputs
from demos.paper_model.subject import Identity
from demos.paper_model.tables import report
from demos.real_model.asked import Asked
from rag_rule_explainer.version import __version__

ABOUT, REPORT = "run.json", "report.md"


class OtherRun(Exception):
    """The folder holds a run with other inputs."""


def begun(inputs: Inputs, identity: Identity, asked: Sequence[Asked]) -> dict[str, Any]:
    """Returns what the run is about, with the day on which it began. Raises OtherRun if the folder has
    one with other inputs."""
    texts = "\n".join(f"{each.question} {each.right} {dict(each.documents)}" for each in asked)
    right = "\n".join(f"{each.right} {each.accepted} {each.wrong}" for each in asked)
    about: dict[str, Any] = {
        "model": identity.model,
        "weights_sha256": identity.weights,
        "runtime": identity.runtime,
        "package": __version__,
        "questions_sha256": sha256(texts.encode()).hexdigest(),
        "right_answers_sha256": sha256(right.encode()).hexdigest(),
        **inputs.as_dict(),
    }
    file = inputs.out / ABOUT
    if file.exists():
        known = json.loads(file.read_text(encoding="utf-8"))
        # A run that was begun before a name was added says nothing about it.
        different = sorted(name for name, value in about.items() if known.get(name, value) != value)
        if different:
            raise OtherRun(
                f"{inputs.out} holds a run with another {' and another '.join(different)}; give --out "
                "another folder, or the same inputs"
            )
        return known
    about["began"] = datetime.now(timezone.utc).date().isoformat()
    inputs.out.mkdir(parents=True, exist_ok=True)
    written(file, json.dumps(about, indent=2) + "\n")
    return about


def ended(inputs: Inputs, about: dict[str, Any], found: Measured) -> str:
    """Writes the report and all tables. Returns the report."""
    text = "\n".join([*heading(about), *report(found), ""])
    written(inputs.out / REPORT, text)
    for name, outcome in (
        ("efficiency", found.efficiency),
        ("robustness", found.robustness),
        ("benchmark", found.benchmark),
    ):
        folder = inputs.out / name
        folder.mkdir(exist_ok=True)
        outcome.write(folder)
    return text


def heading(about: dict[str, Any]) -> Sequence[str]:
    size = ", ".join(f"{name} {number}" for name, number in about["size"].items())
    return (
        f"# {about['model']}: the paper's experiments, begun on {about['began']}\n",
        f"Weights (SHA-256): {about['weights_sha256']}. Runtime: {about['runtime']}.",
        f"Temperature {about['temperature']}, at most {about['tokens']} tokens.",
        f"Size: {size}. Adversarial texts: {about['injections'] or 'of the package'}.\n",
    )
