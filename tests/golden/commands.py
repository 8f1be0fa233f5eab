"""What ``rag-rules`` prints: as JSON, and for people."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rag_rule_explainer import Explanation
from tests.golden import normal
from tests.golden.goldens import Explanations, Write
from tests.golden.running import jsonl, rag_rules
from tests.golden.short import short

ASKED = "When was the iron tower built?"
BUILT = (
    {"id": "plaque", "text": "The iron tower was built in 1889."},
    {"id": "leaflet", "title": "Leaflet", "text": "The iron tower was built in 1900."},
    {"id": "menu", "text": "Soup is served at noon."},
)
LABELS = (
    {"question": ASKED, "answer": "in 1889", "label": True, "truth": "1889", "id": "verbatim"},
    {"question": ASKED, "answer": "1889, or so", "label": True, "truth": "1889"},
    {"question": ASKED, "answer": "1900", "label": False, "truth": "1889"},
)


def given(*more: object) -> tuple[object, ...]:
    sources = jsonl("sources.jsonl", BUILT)
    return ("--question", ASKED, "--sources", sources, "--predicate", "contains:1889", *more)


def explained(*more: object, before: Callable[[], object] = lambda: None) -> Write:
    def write() -> Mapping[str, str]:
        before()
        return told_as_json(*rag_rules("explain", *given("--json", *more)))

    return write


def verified(*more: object) -> Write:
    return lambda: told_as_json(*rag_rules("verify", *given("--json", *more)))


def told_as_json(code: int, out: str) -> Mapping[str, str]:
    found = Explanation.model_validate_json(out)
    return {
        "explanation.json": normal.laid_out(normal.explanation(json.loads(out))),
        "explanation.txt": f"exit code {code}\n{short(found)}",
    }


def estimated(*more: object) -> Write:
    return lambda: _plain("estimate", *rag_rules("estimate", *given("--json", *more)))


def compared(*more: object) -> Write:
    def write() -> Mapping[str, str]:
        _, a = rag_rules("explain", *given("--json"))
        _, b = rag_rules("explain", *given("--json", "--rules", "retention", "--max-replays", 5))
        Path("a.json").write_text(a, encoding="utf-8")
        Path("b.json").write_text(b, encoding="utf-8")
        return _plain("comparison", *rag_rules("diff", "a.json", "b.json", "--json", *more))

    return write


def printed(command: str, *more: object) -> Write:
    """What is printed for people."""

    def write() -> Mapping[str, str]:
        code, out = rag_rules(command, *given(*more))
        return {"printed.out": normal.printed(out), "code.txt": f"exit code {code}\n"}

    return write


def printed_comparison() -> Mapping[str, str]:
    files = compared()()
    _, out = rag_rules("diff", "a.json", "b.json")
    return {"printed.out": out, "code.txt": files["code.txt"]}


def printed_check() -> Mapping[str, str]:
    code, out = rag_rules("judge-check", jsonl("labels.jsonl", LABELS))
    return {"printed.out": out, "code.txt": f"exit code {code}\n"}


def judge_checked() -> Mapping[str, str]:
    return _plain("check", *rag_rules("judge-check", jsonl("labels.jsonl", LABELS), "--json"))


def exported() -> Mapping[str, str]:
    """Its answers have times, which are 1, and no other order than that of their texts."""
    rag_rules("explain", *given("--store", "answers.db", "--namespace", "n"))
    _, out = rag_rules("store", "export", "answers.db")
    records: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    untold = {"stored": 1.0, "latency": 1.0}
    fixed = [{**each, **{name: untold[name] for name in untold if name in each}} for each in records]
    return {"export.jsonl": "".join(sorted(f"{json.dumps(each)}\n" for each in fixed))}


def _plain(name: str, code: int, out: str) -> Mapping[str, str]:
    return {f"{name}.json": normal.laid_out(json.loads(out)), "code.txt": f"exit code {code}\n"}


def _stored() -> None:
    rag_rules("explain", *given("--store", "answers.db", "--namespace", "n"))


EXPLANATIONS: Explanations = {}
WRITTEN: dict[str, Write] = {
    "command-explain": explained(),
    "command-explain-sampled": explained("--miner", "sampled", "--max-violation", 0.3),
    "command-explain-voted": explained("--samples", 3, "--rules", "omission"),
    "command-explain-limited": explained("--max-replays", 4),
    "command-explain-not-met": explained("--predicate", "contains:1700", "--yes"),
    "command-explain-pinned": explained("--pinned", "menu"),
    "command-explain-stored": explained("--store", "answers.db", "--namespace", "n", before=_stored),
    "command-verify-holds": verified("--rule", "plaque", "--kind", "retention"),
    "command-verify-breaks": verified("--rule", "leaflet,menu", "--kind", "omission"),
    "command-verify-stopped": verified(
        "--rule", "plaque", "--kind", "retention", "--max-replays", 3, "--miner", "exact"
    ),
    "command-estimate": estimated(),
    "command-estimate-priced": estimated("--price", "m=1,2", "--model", "m", "--max-cost", 1),
    "command-diff": compared(),
    "command-diff-lost": compared("--fail-on", "lost"),
    "command-judge-check": judge_checked,
    "command-store-export": exported,
    "printed-explain": printed("explain"),
    "printed-explain-sampled": printed("explain", "--miner", "sampled", "--max-violation", 0.3),
    "printed-explain-grouped": printed("explain", "--miner", "grouped"),
    "printed-explain-partition": printed("explain", "--partition", 2),
    "printed-explain-voted": printed("explain", "--samples", 3, "--rules", "omission"),
    "printed-explain-limited": printed("explain", "--max-replays", 4),
    "printed-explain-not-met": printed("explain", "--predicate", "contains:1700", "--yes"),
    "printed-explain-pinned": printed("explain", "--pinned", "menu"),
    "printed-explain-shared-condition": printed("explain", "--predicate", "not:contains:1900", "--yes"),
    "printed-verify-holds": printed("verify", "--rule", "plaque", "--kind", "retention"),
    "printed-verify-breaks": printed("verify", "--rule", "leaflet,menu", "--kind", "omission"),
    "printed-estimate": printed("estimate"),
    "printed-diff": printed_comparison,
    "printed-judge-check": printed_check,
}
