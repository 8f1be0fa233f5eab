"""The page of what explaining one answer costs, by the number of sources and the price of the model.

``python -m tests.documentation.making.costs`` writes it.
"""

from langchain_core.documents import Document
from langchain_rag_rule_explainer import RuleExplainer, lexical_chain

from rag_rule_explainer import Assumptions, Estimate, Limits, Price, Sampled
from rag_rule_explainer.settings import SettingsFields
from tests.documentation.making.places import DOCS

PAGE = DOCS / "reference" / "costs.md"
SIZES = (3, 5, 7, 10, 20, 50, 200)
SOURCE_TOKENS, ANSWER_TOKENS, QUESTION_TOKENS = 250, 150, 20
PRICES = {
    "small": Price(input=0.15, output=0.6),
    "middle": Price(input=1.0, output=5.0),
    "large": Price(input=5.0, output=25.0),
}
"""Per million tokens. They stand for no provider's."""
FIRST, *OTHERS = PRICES
STRICT = Sampled(max_violation=0.01, confidence=0.99)
WAYS: dict[str, tuple[str, SettingsFields]] = {
    "By default": ("Up to seven sources rules are proved, above that tested.", {}),
    "Proved, with no cap": ('`miner="exact"`:', {"miner": "exact"}),
    "Retention rules alone": ('`rules="retention"`:', {"rules": "retention"}),
    "Tested, with a stricter guarantee": (
        "`miner=Sampled(max_violation=0.01, confidence=0.99), limits=2000`:",
        {"miner": STRICT, "limits": Limits(replays=2000)},
    ),
    "Capped at 100 replays": ("`limits=100`:", {"limits": Limits(replays=100)}),
}
"""For each heading, how the page says it, and the settings."""
MOST_OF_EXACT = 20
INTRODUCTION = f"""\
# What it costs

Each table is made by `estimate`, for a chain: an answer has {ANSWER_TOKENS} tokens, a source
has {SOURCE_TOKENS}, and a question with its instructions about {QUESTION_TOKENS}. Replays are the
runs of your application, with the first one and its repetitions. A plain `Explainer` repeats only one
answer, so it takes at least one replay less.

*Best* is the least that a search can take: each source is needed, or, where rules are tested, one decides
alone. *Typical* has two sources that decide together. *Worst* is the most. The money is for the typical
case. Prices are of a million tokens, and stand for no provider's:

| model | input | output |
|---|---|---|
"""
AFTER = """\

No table has a provider's cache, retries, or a judge. Your own application has its own figures: ask
`explainer.estimate(question)`, or [`rag-rules
estimate`](../how-to/budget-and-resume.md#on-the-command-line), before you pay.
"""


def page() -> str:
    """The page, with a table for each way to search."""
    prices = (f"| {name} | {price.input:.2f} | {price.output:.2f} |" for name, price in PRICES.items())
    head = "| sources | best | typical | worst | " + " | ".join(PRICES) + " |"
    parts = [INTRODUCTION + "\n".join(prices) + "\n"]
    for way, (said, _) in WAYS.items():
        parts.append("\n".join([f"## {way}\n\n{said}\n", head, "|---" * 7 + "|", *rows(way)]) + "\n")
    return "\n".join(parts) + AFTER


def rows(way: str) -> list[str]:
    """The rows of the table below that heading."""
    settings = WAYS[way][1]
    return [_row(size, settings) for size in SIZES if _can(size, settings)]


def _can(size: int, settings: SettingsFields) -> bool:
    return settings.get("miner") != "exact" or size <= MOST_OF_EXACT


def _row(size: int, settings: SettingsFields) -> str:
    made = _estimated(size, settings)
    # An estimate is of one model: the other prices are of the same tokens.
    typical = made.typical
    tokens = {"input_tokens": typical.input_tokens, "output_tokens": typical.output_tokens}
    costs = [typical.cost or 0.0, *(PRICES[name].of(tokens) for name in OTHERS)]
    replays = (f"{each.replays:,}" for each in (made.best, typical, made.worst))
    return f"| {size} | {' | '.join(replays)} | {' | '.join(map(_money, costs))} |"


def _money(cost: float) -> str:
    return f"{cost:,.0f}" if cost >= 100 else f"{cost:,.2f}" if cost >= 0.1 else f"{cost:.3f}"


def _estimated(size: int, settings: SettingsFields) -> Estimate:
    priced: SettingsFields = {**settings, "prices": {"model": PRICES[FIRST]}}
    assuming = Assumptions(answer_tokens=ANSWER_TOKENS, count_tokens=lambda text: len(text.split()))
    texts = (f"{number} " + "word " * (SOURCE_TOKENS - 1) for number in range(1, size + 1))
    documents = [Document(id=f"D{number}", page_content=text) for number, text in enumerate(texts, 1)]
    explainer = RuleExplainer(lexical_chain(documents, k=size), **priced)
    return explainer.estimate("word", assuming=assuming)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
