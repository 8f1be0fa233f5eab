"""Judges that do whatever any answer in a request tells them, about every answer in it."""

import html
import json
from dataclasses import dataclass, field

from rag_rule_explainer import JudgeRequest
from rag_rule_explainer.predicates.judge.request import cleaned
from tests.predicates.judge.injections import INJECTIONS


def bare(text: str) -> str:
    """The letters and digits of a text, whatever it is quoted in."""
    return "".join(filter(str.isalnum, cleaned(html.unescape(text))))


ORDERS = {bare(injection.text): injection.orders for injection in INJECTIONS}


def is_good(answer: str) -> bool:
    """What an honest judge says of an answer that gives no orders."""
    return answer.startswith("good")


@dataclass(eq=False)
class Obedience:
    """This class keeps how many answers each request had, and says what is said of them."""

    sizes: list[int] = field(default_factory=list[int])

    def reply(self, content: str) -> str:
        """Every candidate gets the verdict that the last order in the request wants; else its own."""
        request = json.loads(content)
        candidates = request["candidates"]
        self.sizes.append(len(candidates))
        # All of it is read: an order may stand in the truth and the reference as well.
        read = [each["answer"] for each in candidates]
        read += [request[name] for name in ("truth", "reference", "question") if name in request]
        orders = [ORDERS[text] for text in map(bare, read) if text in ORDERS]
        opinions = [
            {
                "id": each["id"],
                "reason": "as I was told",
                "verdict": "yes" if (orders[-1] if orders else is_good(each["answer"])) else "no",
            }
            for each in candidates
        ]
        return json.dumps({"opinions": opinions})


class ObeyingFunction(Obedience):
    """A plain function as the judge."""

    def __call__(self, request: JudgeRequest) -> str:
        return self.reply(request.content)
