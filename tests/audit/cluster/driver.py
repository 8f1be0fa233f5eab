"""Audits on a cluster, as a process that tests start and kill: see ``ray_cluster.driver``."""

import json
import os
import sys
import time
from dataclasses import asdict
from typing import Any

from rag_rule_explainer import Limits, RagRuleError, Store
from rag_rule_explainer.audit import AuditedQuestion, audit
from rag_rule_explainer.audit.cluster.ledger import Rates
from rag_rule_explainer.audit.cluster.on_ray import OnRay
from rag_rule_explainer.predicates import contains
from tests.audit.cluster.memory import Memory

_BESIDES: dict[str, Any] = {"explanations": None, "report": False}


def main(asked: dict[str, Any]) -> None:
    options = dict(asked["options"])
    if "audit_limits" in options:
        options["audit_limits"] = Limits(**{"failures": None, **options["audit_limits"]})
    rates = Rates(**options.pop("rates", {}))
    environment = {"env_vars": asked["environment"]}
    on_ray = OnRay(
        address=os.environ["AUDIT_ADDRESS"],
        actors=asked["actors"],
        rates=rates,
        ray_options={"runtime_env": environment, **asked["ray_options"]},
        actor_options=asked["actor_options"],
        patience=asked["patience"],
    )
    times: list[float] = []
    memory = Memory(every=max(1, asked["questions"] // 50), built=os.environ["AUDIT_BUILT"])

    def done(question: AuditedQuestion) -> None:
        times.append(time.monotonic())
        memory.look(len(times))
        print(f"done {question.id}", flush=True)

    try:
        found = audit(
            asked["application"],
            [f"question {number}?" for number in range(asked["questions"])],
            contains("wrong"),
            engine=on_ray if asked["engine"] == "ray" else "process",
            workers=2,
            concurrency=2,
            miner="exact",
            store=Store(asked["store"], "audited"),
            out=asked["folder"],
            on_question=done,
            **{**_BESIDES, **options},
        )
    except RagRuleError as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}))
        return
    told = {
        "questions": [_told(each) for each in sorted(found.questions, key=lambda each: int(each.id))],
        "times": times,
        "memory": memory.seen,
        "used": memory.used,
        "blame": None if found.blame is None else str(found.blame),
    }
    print(json.dumps(told))


def _told(question: AuditedQuestion) -> dict[str, Any]:
    """Without what depends on who was faster."""
    known = asdict(question)
    for name in ("seconds", "replays", "stored", "explanation", "tokens", "settings"):
        known.pop(name)
    return known


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
