"""Near-duplicates that a search only retains or omits together: what is said of each of them alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import Explainer, Source, contains
from rag_rule_explainer.audit import Audit, audit
from rag_rule_explainer.sources import SourceLike

LONG = " ".join(f"word{place}" for place in range(60))
LIAR, HONEST = Source("liar", f"{LONG} lie"), Source("honest", f"{LONG} truth")
OTHER = Source("other", "something else")


def audited(documents: Sequence[SourceLike], needed: int = 1, **fields: Any) -> Audit:
    """The answer is bad with as many lies."""

    def says(_: str, sources: Sequence[Source]) -> str:
        return "bad" if sum("lie" in each.text for each in sources) >= needed else "fine"

    asked = {"question": "why?", "documents": [*documents, OTHER]}
    return audit(Explainer(says, merge_duplicates=True), [asked], contains("bad"), **fields)


def test_who_is_only_like_a_liar_is_not_implicated() -> None:
    found = audited([LIAR, HONEST])
    assert found.removal.documents == ("honest", "liar")
    assert found.removal.claim == "proved"
    for name in ("honest", "liar"):
        row = found.document(name)
        assert (row.implicated, row.unsure, row.decisive, row.never_needed) == ([], ["1"], [], None)


def test_a_text_that_is_shown_twice_stays_one_document() -> None:
    copy = {"text": LIAR.text, "metadata": {"source": "liar"}}
    found = audited([copy, copy])
    row = found.document("liar")
    assert row.decisive == row.implicated == ["1"]


@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("saved", [True, False])
def test_who_is_only_like_a_liar_is_not_blamed(saved: bool, deterministic: bool, tmp_path: Path) -> None:
    out: dict[str, Any] = {"out": tmp_path, "report": False} if saved else {}
    found = audited([LIAR, HONEST], fdr=0.05, deterministic=deterministic, **out)
    assert found.blame is not None
    assert found.blame.documents == ("liar",)
    assert found.blame[0].basis == "tested"


def test_of_several_lies_that_are_alike_each_is_blamed(tmp_path: Path) -> None:
    lies = [LIAR, Source("parrot", f"{LONG} lie too")]
    found = audited(lies, fdr=0.05, out=tmp_path, report=False)
    assert found.blame is not None
    assert set(found.blame.documents) == {"liar", "parrot"}
    together = audited(lies, needed=2, fdr=0.05, out=tmp_path / "together", report=False)
    assert together.blame is not None
    assert not together.blame.found
