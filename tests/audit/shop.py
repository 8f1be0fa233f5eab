"""A small application with a log of questions, and what an audit says of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rag_rule_explainer import Explainer, Source, contains
from rag_rule_explainer.audit import Audit, AuditedQuestion, LoggedQuestion, audit

NAMES = ("blog", "guide", "list")
CONDITION = contains("bad")


class Shop:
    """An application whose answers are bad where the blog is shown without the guide. ``asked``: the
    number of its runs, by question."""

    def __init__(self, fails: str = "") -> None:
        self.asked = Counter[str]()
        self.fails = fails

    def __call__(self, question: str, sources: Sequence[Source]) -> str:
        self.asked[question] += 1
        if question == self.fails:
            raise RuntimeError(f"no answer to {question}")
        names = {each.id for each in sources}
        return "bad" if "blog" in names and "guide" not in names else "fine"

    @property
    def explainer(self) -> Explainer:
        return Explainer(self, check_repeatable=False, retries=0, concurrency=1)


def asked(*shown: Sequence[str]) -> list[LoggedQuestion]:
    return [
        LoggedQuestion(f"q{n}", f"question {n}", None, tuple(Source(x, f"text of {x}") for x in names))
        for n, names in enumerate(shown)
    ]


FOUR = asked(("blog", "list"), NAMES, ("guide", "list"), ("list", "blog"))


def run(shop: Shop, questions: Sequence[LoggedQuestion] = FOUR, **fields: Any) -> Audit:
    return audit(shop.explainer, questions, CONDITION, **fields)


def said(found: Audit) -> list[AuditedQuestion]:
    """All that is known of the questions but what varies from run to run, such as what was paid for."""
    return [
        replace(each, seconds=0.0, explanation="", settings="", replays=0, stored=0)
        for each in found.questions
    ]
