"""This module makes synthetic questions and sources, with a model and a judge that never err. Experiments
with these measure only the miners."""

import random
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ..errors import InvalidInput
from ..predicates import JudgeRequest
from ..sources import Source
from ..testing.reader import NO_ANSWER
from .examples import Example
from .models import Examined

_PART = re.compile(r"Part (\d+) of (\d+) of the code of (\w+) is (\w+)\.")
_WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "inlet", "jade")


def examples(count: int, seed: int, necessary: int = 2, sources: int = 10) -> Iterator[Example]:
    """Yields ``count`` questions, each of which asks for a code. Each necessary source contains one part
    of the code, the others none. ``seed``: decides the codes and the places of the parts. ``necessary``,
    ``sources``: the number of necessary sources and of all sources. Raises InvalidInput if more sources
    are necessary than there are."""
    if not 1 <= necessary <= sources:
        raise InvalidInput(f"{necessary} of {sources} sources cannot be necessary; give 1 to {sources}")
    for number in range(1, count + 1):
        yield _example(number, random.Random(f"{seed} {number}"), necessary, sources)  # noqa: S311 -- the draw must be reproducible, and is no secret


def _example(number: int, draw: random.Random, necessary: int, count: int) -> Example:
    name = f"item{number}"
    parts = [f"{draw.choice(_WORDS)}{draw.randrange(100)}" for _ in range(necessary)]
    places = sorted(draw.sample(range(count), necessary))
    texts = [f"Note {place} about {name} says nothing of its code." for place in range(1, count + 1)]
    for part, (place, word) in enumerate(zip(places, parts, strict=True), start=1):
        texts[place] = f"Part {part} of {necessary} of the code of {name} is {word}."
    sources = [Source(f"D{place}", text) for place, text in enumerate(texts, start=1)]
    return Example(
        id=f"synthetic-{number:04}",
        question=f"What is the code of {name}?",
        answer=" ".join(parts),
        sources=tuple(sources),
        necessary=tuple([sources[place].id for place in places]),
        hops=necessary,
    )


def perfect_model() -> Examined:
    """Returns a model that answers with the secret code if it is shown all parts of the code, else with
    N/A. It answers without delay."""
    return Examined("perfect-model", "experiments: the perfect model", _perfect)


# A sync function would run in a thread; this one never blocks and needs none, so it is async.
async def _perfect(_: str, sources: Sequence[Source]) -> str:
    parts = dict(part for source in sources if (part := _part_in(source.text)) is not None)
    of = next(iter(parts), (0, 0))[1]
    if not parts or len(parts) < of:
        return NO_ANSWER
    return _said(" ".join(parts[part, of] for part in range(1, of + 1)))


@lru_cache(maxsize=1024)
def _part_in(text: str) -> tuple[tuple[int, int], str] | None:
    """Returns the part of a code in this text: its number, the number of all parts, and the part itself.
    Returns None if the text has no part."""
    found = _PART.fullmatch(text)
    return None if found is None else ((int(found[1]), int(found[2])), found[4])


def _said(code: str) -> str:
    # The words differ from the truth on purpose: near-exact match then fails, and the judge is called.
    return f"The code is {code}."


class PerfectJudge:
    """This judge confirms an answer only if the perfect model would give it, which states the whole code
    as in "The code is 7F3A"."""

    judge_name = "the perfect judge"

    def __call__(self, request: JudgeRequest, /) -> dict[str, bool]:
        """Returns, by the id of each candidate (an answer to be judged), True iff the candidate is the
        answer in which the perfect model states the truth."""
        truth = _said(request.matter.truth or "")
        return {each.id: each.answer == truth for each in request.candidates}
