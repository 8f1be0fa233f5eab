"""The tables that experiments write: each experiment once, as small as it can be."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.golden import normal
from tests.golden.goldens import Explanations, Write
from tests.golden.running import jsonl, rag_rules

FOUNDED = (("Ada Roe", "Lima"), ("Bo Lind", "Oslo"), ("Cy Paz", "Turin"))
UNTOLD = {"efficiency.csv": ("seconds",)}
"""Columns of durations, by the table."""


def questions() -> Path:
    """Of five sources, of which the offline reader needs two."""
    return jsonl("questions.jsonl", (_question(n, *each) for n, each in enumerate(FOUNDED)))


def _question(number: int, founder: str, town: str) -> dict[str, Any]:
    company = f"Company {number}"
    texts = [
        (company, f"{company} was founded by {founder}."),
        (founder, f"{founder} was born in {town}."),
    ]
    texts += [(f"Note {place}", f"Note {place} is about soup.") for place in range(3)]
    sources = [
        {"title": title, "text": text, "necessary": place < 2}
        for place, (title, text) in enumerate(texts)
    ]
    asked = f"Where was the founder of {company} born?"
    return {
        "id": f"q{number}",
        "question": asked,
        "answer": town,
        "type": "bridge",
        "level": "easy",
        "sources": sources,
    }


def measured(name: str, *given: object, asks: bool = True) -> Write:
    def write() -> Mapping[str, str]:
        data = ("--data", questions(), "--examples", 3) if asks else ()
        rag_rules("experiment", name, *data, *given, "--out", "out")
        return dict(_tables())

    return write


def _tables() -> Iterator[tuple[str, str]]:
    for file in sorted(Path("out").glob("*.csv")):
        yield file.name, normal.table(file.read_text(encoding="utf-8"), UNTOLD.get(file.name, ()))
    for file in sorted(Path("out").glob("*.jsonl")):
        yield file.name, file.read_text(encoding="utf-8")


def judged() -> Mapping[str, str]:
    """Drawn, labelled and measured: every second answer is right, and the judge says so of most."""
    said = [
        {
            "judge": "j",
            "model": "m",
            "temperature": 1.0,
            "question_id": "q",
            "question": "Who?",
            "truth": "Lima",
            "answer": f"answer {n}",
            "verdict": "holds" if n % 2 or n == 4 else "breaks",
            "reason": "by its words",
        }
        for n in range(12)
    ]
    file = jsonl("judgements.jsonl", said)
    rag_rules("experiment", "judge", "--judgements", file, "--count", 10, "--out", "out")
    drawn = Path("out/to_label.jsonl")
    lines = [json.loads(line) for line in drawn.read_text(encoding="ascii").splitlines()]
    jsonl(str(drawn), ({**line, "label": int(line["answer"].split()[1]) % 2 == 1} for line in lines))
    rag_rules("experiment", "judge", "--labels", drawn, "--out", "out")
    return dict(_tables())


EXPLANATIONS: Explanations = {}
WRITTEN: dict[str, Write] = {
    "experiment-efficiency-synthetic": measured(
        "efficiency", "--examples", 1, "--sizes", "1,3", "--no-figures", asks=False
    ),
    "experiment-efficiency": measured(
        "efficiency", "--setting", "hotpotqa", "--sizes", "2,4", "--no-figures"
    ),
    "experiment-robustness": measured("robustness", "--samples", 2, "--sources", 3, "--no-figures"),
    "experiment-benchmark-models": measured("benchmark-models", "--sources", 3, "--no-figures"),
    "experiment-quality": measured("quality"),
    "experiment-redteam": measured(
        "redteam", "--examples", 1, "--sources", 8, "--no-figures", asks=False
    ),
    "experiment-judge": judged,
}
