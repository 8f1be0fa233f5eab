"""Logs of any size, written down without asking anything."""

import random
from hashlib import sha256

from rag_rule_explainer.audit import Audit, AuditedQuestion, AuditedRule, ShownDocument
from rag_rule_explainer.rules import ClaimStatus, RuleKind

SEEN = "proved on all 128 subsets"


def synthetic_audit(count: int, seed: int = 1) -> Audit:
    """A log over half as many documents, of which one in 25 makes answers bad by itself. One question in
    a hundred fails; of one in ten, the rules are unverified."""
    draw = random.Random(seed)
    folders = draw.choices(["hr", "it", "law"], k=max(20, count // 2))
    names = [f"corpus/{folder}/document-{n}.md" for n, folder in enumerate(folders)]
    bad = set(draw.sample(names, len(names) // 25 + 1))
    return Audit(
        tuple(_question(n, draw, names, bad) for n in range(count)),
        "the answer contains 'bad'",
        total=count,
        texts={_hash(name): f"The text of {name}." for name in names},
    )


def _question(number: int, draw: random.Random, names: list[str], bad: set[str]) -> AuditedQuestion:
    asked = AuditedQuestion(f"q{number}", f"What is known of matter {number}?", "failed", "no reply")
    shown = draw.sample(names, 8)
    if draw.random() < 0.01:
        return asked
    is_sure = draw.random() < 0.9
    claim: ClaimStatus = "proved" if is_sure else "unverified"
    found = tuple(name for name in shown if name in bad)
    return AuditedQuestion(
        asked.id,
        asked.question,
        "bad" if found else "not bad",
        answer="Something bad is known." if found else "Nothing is known.",
        shown=tuple(ShownDocument(name, _hash(name), rank) for rank, name in enumerate(shown, start=1)),
        rules=(
            *(AuditedRule(RuleKind.RETENTION, "bad", (name,), claim, SEEN) for name in found),
            AuditedRule(RuleKind.OMISSION, "not bad", found, claim, SEEN),
        ),
        exhaustive=is_sure,
        why_open="" if is_sure else "the limit of 9 replays is reached",
        probes=30,
        replays=33,
    )


def _hash(name: str) -> str:
    return sha256(name.encode()).hexdigest()
