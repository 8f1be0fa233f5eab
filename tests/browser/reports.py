"""Explanations of every shape that a report has to show."""

from collections.abc import Mapping
from functools import lru_cache

from rag_rule_explainer import Answer, Explainer, Explanation, Noise, Source, contains
from rag_rule_explainer.testing import ScriptedReplay
from tests.report.hostile import hostile_explanations
from tests.report.test_text import explained, yes_if

SENTENCE = "The trial compared two groups of patients over six months. "


@lru_cache(maxsize=1)
def full_ten() -> Explanation:
    """Ten documents of 10 KB, every subset asked, with what an application's replays record."""
    names = [f"document-{place}.md" for place in range(10)]
    text = (SENTENCE * 200)[:10_000]
    sources = [Source(name, text, {"title": f"Document number {name}"}) for name in names]

    def script(shown: frozenset[str]) -> Answer:
        holds = {names[1], names[4]} <= shown or names[7] in shown
        said = "The answer is yes, " if holds else "The answer is no, "
        kept = tuple(name for name in names if name in shown)
        usage = {"input_tokens": 812, "output_tokens": 40, "total_tokens": 852}
        return Answer(said + "as the documents say in some words. " * 3, usage=usage, delivered=kept)

    explainer = Explainer(ScriptedReplay(script), predicate=contains("yes"), miner="exact", retries=0)
    explanation = explainer.explain("Does it?", sources)
    assert len(explanation.probes) == 1024
    return explanation


def grouped() -> Explanation:
    """Rules that are relative to some of twelve documents."""
    sources = [
        Source(f"{group}-{page}", f"{group}, page {page}", {"document": group})
        for group in ("a", "b", "c", "d")
        for page in (1, 2, 3)
    ]
    replay = ScriptedReplay(yes_if("a-1", "c-2"))
    explainer = Explainer(replay, predicate=contains("yes"), miner="grouped", granularity=("document",))
    return explainer.explain("question?", sources)


def shapes() -> Mapping[str, Explanation]:
    """One explanation of each shape, by name."""
    fails = explained(
        lambda shown: "yes" if len(shown) != 2 else TimeoutError("too slow"), retries=0, sources=4
    )
    return {
        "pair": explained(yes_if("D1", "D2"), sources=4),
        "one of eight": explained(yes_if("D5"), sources=8),
        "always": explained(yes_if()),
        "none": explained(lambda _: "no"),
        "seventy rules": explained(lambda shown: "yes" if len(shown) >= 4 else "no", sources=8),
        "failing": fails,
        "voted": explained(yes_if("D1"), noise=Noise(samples=3)),
        "sampled": explained(yes_if("D3"), sources=12, miner="auto"),
        "grouped": grouped(),
        "two conditions": explained(yes_if("D1"), omission_predicate=contains("no")),
        "ten": full_ten(),
        "hostile": hostile_explanations(["<b>&\u202e\x1b[31m" * 40])[0],
    }
