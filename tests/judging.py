"""An application with many replays and few answers, for judges to judge."""

from collections.abc import Sequence

from rag_rule_explainer import Source

SOURCES = [Source(f"D{n}", f"text {n}") for n in range(1, 9)]
DISTINCT = 40


def forty_answers(_question: str, sources: Sequence[Source]) -> str:
    """256 subsets, 40 answers; good news with D1 and D3, which have answers of their own."""
    ids = {source.id for source in sources}
    good = {"D1", "D3"} <= ids
    mask = sum(1 << n for n, source in enumerate(SOURCES) if source.id in ids)
    return f"{'good' if good else 'bad'} news, number {(mask ^ (mask >> 5)) % (DISTINCT // 2)}"
