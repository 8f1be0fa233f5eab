"""A shop whose answers ``rag-rules check`` checks."""

import sys
from pathlib import Path

import pytest

from tests.cli.runs import RagRules

SHOP = """
from langchain_core.documents import Document
from langchain_rag_rule_explainer import lexical_chain

DOCUMENTS = [
    Document(id="corpus/guide.md", page_content="Adults with strong bones need no supplement."),
    Document(id="corpus/blog.md", page_content="For strong bones, adults should take the "
        "supplement calcium."),
    Document(id="hours", page_content="The shop is open from nine to five on weekdays."),
]
chain = lexical_chain(DOCUMENTS, k=2)
"""
BONES = "Which supplement should adults take for strong bones?"
HOURS = "When is the shop open on weekdays?"
UNKNOWN = "xyzzy"
FORBID = ("--forbid", "contains:calcium")


def opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the shop, which is the current one."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    monkeypatch.delitem(sys.modules, "checked_shop", raising=False)
    (folder / "checked_shop.py").write_text(SHOP)
    (folder / "corpus").mkdir()
    (folder / "corpus" / "blog.md").write_text("For strong bones, ...")
    return folder


def checking(rag_rules: RagRules, shop: Path) -> RagRules:
    """Checks these lines of questions."""

    def run(questions: str, *more: object) -> object:
        (shop / "questions.txt").write_text(questions)
        asked = ("check", "--app", "checked_shop:chain", "--questions", "questions.txt")
        return rag_rules(*asked, *FORBID, *more)

    return run  # type: ignore[return-value] -- more than one type of arguments
