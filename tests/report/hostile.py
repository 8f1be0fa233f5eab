"""Texts that try to be more than texts, and explanations that have them everywhere."""

from dataclasses import replace
from itertools import cycle, islice, product
from typing import Any

from rag_rule_explainer import Answer, Explainer, Explanation, Source, condition
from rag_rule_explainer.testing import ScriptedReplay

DOES = "document.documentElement.dataset.owned=1"
"""What runs if a text runs: it leaves a mark on the page."""

PAYLOADS = (
    f"<script>{DOES}</script>",
    f"</script><script>{DOES}</script>",
    f"</SCRIPT ><script>{DOES}//",
    f"<!--<script>{DOES}</script>",
    f"--><script>{DOES}</script>",
    f"]]><script>{DOES}</script>",
    f"<img src=x onerror='{DOES}'>",
    f'"><img src=x onerror="{DOES}">',
    f"'><svg/onload={DOES}>",
    f"<svg><script>{DOES}</script></svg>",
    f"<svg><animate onbegin={DOES} attributeName=x dur=1s></svg>",
    f'" onmouseover="{DOES}" autofocus onfocus="{DOES}" x="',
    f"' onclick='{DOES}' y='",
    f"<a href='javascript:{DOES}'>proved</a>",
    f"javascript:{DOES}",
    f"<iframe srcdoc='<script>parent.{DOES}</script>'></iframe>",
    "<iframe src=https://example.org/></iframe><img src=https://example.org/x.png>",
    "<link rel=stylesheet href=//example.org/x.css><style>*{display:none}</style>",
    "<meta http-equiv=refresh content='0;url=https://example.org'><base href=//example.org>",
    f"<details open ontoggle={DOES}><summary>x",
    f"<textarea><title><noscript><plaintext><xmp>{DOES}",
    "</title></style></textarea></table></main></body></html>",
    f"<form action=//example.org><button autofocus onfocus={DOES}>",
    f"{{{{constructor.constructor('{DOES}')()}}}} {{% raw %}} ${{{DOES}}}",
    "<%= 1 %> #{1} {0} {x} %s %(x)s {{0}} {__class__}",
    "\u202e\u2066evil\u2069\u202c \u200e\u200f\u061c\ufeff\u2028\u2029\u00ad",
    "\x1b[2J\x1b]0;owned\x07\x1b]8;;https://example.org\x1b\\click\x9b31m\x9d0;x\x9c",
    "a\x00b\x00</script\x00>\x00<script\x00>",
    "\x000\x00 \x001\x00 \x00999\x00",
    "\r\n\n\t\x0b\x0c\x85 whenever D1 is retained, all is well [proved on all 4 subsets]",
    "R1 whenever D1 is retained, it is so proved on all 1,024 subsets",
    "&lt;script&gt; &amp;amp; &#60;script&#62; &nbsp; &bogus; &#x0;",
    '=cmd|"/c calc"!A1 +1 -1 @SUM(A1)',
    "\\u003cscript\\u003e \\x3cscript\\x3e \\' \\\" \\",
    "\U000e0001\U000e0041 tags \ufffe \uffff \U0010ffff 𝕊 👩‍👩‍👧 ا\u200cب",
)


def hostile_texts(count: int = 200) -> list[str]:
    """Payloads by themselves, then each inside of another."""
    pairs = (f"{a}{b}" for a, b in product(PAYLOADS, reversed(PAYLOADS)))
    return list(islice([*PAYLOADS, *pairs], count))


def hostile_explanations(texts: list[str], sources: int = 4) -> list[Explanation]:
    """Explanations whose every text from outside is one of these; each is used at least once."""
    made: list[Explanation] = []
    for begin in range(0, len(texts), sources):
        part = list(islice(cycle(texts[begin : begin + sources]), sources))
        made.append(_explained(part, len(made)))
    return made


def _explained(texts: list[str], number: int) -> Explanation:
    first = texts[0]

    def script(shown: frozenset[str]) -> Any:
        if len(shown) == 1:
            return RuntimeError(first)
        said = "".join(texts[: len(shown)])
        return Answer(f"yes {said}" if len(shown) > 2 else said, usage={first: 1}, note=first)

    sources = [
        Source(f"{text}{place}", text, {"title": f"{place}{text}", text: text})
        for place, text in enumerate(texts)
    ]
    predicate = condition(lambda case: "yes" in case.answer.text, f"it says {first!r}")
    explainer = Explainer(ScriptedReplay(script), predicate=predicate, retries=0, miner="exact")
    made = explainer.explain(first, sources)
    return made.model_copy(
        update={
            "warnings": (first,),
            "notes": (first,),
            "stop_reason": first,
            "complete": False,
            "retention_rules": tuple(
                replace(rule, claim="tested", sampling=first) if number % 2 else rule
                for rule in made.retention_rules
            ),
        }
    )
