"""This module defines examples: questions with a known answer, and with labels that say which of their
sources are necessary. It also draws examples at random."""

import hashlib
import heapq
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import InvalidInput
from ..sources import Source


@dataclass(frozen=True, slots=True)
class Example:
    """An ``Example`` holds a question, its right answer, and its sources in the published order.

    Sources are called D1, D2, … by position, because titles may repeat; the title is in the metadata.
    ``necessary``: the ids of those sources that the labels call necessary, in order. ``hops``: the
    number of sources that the labels call necessary, including sources that are missing in the data set.
    ``type``, ``level``: the words of the data set for the kind and the difficulty of the question; may
    be empty.
    """

    id: str
    question: str
    answer: str
    sources: tuple[Source, ...]
    necessary: tuple[str, ...]
    hops: int
    type: str = ""
    level: str = ""

    @property
    def distractors(self) -> tuple[str, ...]:
        """Returns the ids of the distractors, in order. Distractors are the sources that are not
        necessary."""
        return tuple([source.id for source in self.sources if source.id not in self.necessary])

    def first(self, count: int, seed: int | None = None) -> tuple[Source, ...]:
        """Returns the first ``count`` sources: the necessary ones in the published order, then the
        distractors (the other sources).

        ``seed``: puts the distractors in an order that depends only on ``seed`` and the example's id;
        None for the published order. The order does not depend on ``count``, so the first 4 sources are
        always among the first 5. Raises InvalidInput unless ``count`` is from 1 to the number of
        sources.
        """
        if not 1 <= count <= len(self.sources):
            raise InvalidInput(
                f"{count} sources were asked for, and {self.id!r} has {len(self.sources)}; ask for 1 to "
                f"{len(self.sources)}, or draw examples with more"
            )
        by_id = {source.id: source for source in self.sources}
        others = list(self.distractors)
        if seed is not None:
            random.Random(f"{seed} {self.id}").shuffle(others)  # noqa: S311 -- the draw must be reproducible, and is no secret
        return tuple([by_id[each] for each in (*self.necessary, *others)[:count]])


@dataclass(frozen=True, slots=True)
class Criteria:
    """A ``Criteria`` says which examples may be drawn.

    ``longest_answer``: the maximum number of characters of the right answer. ``fewest_necessary``,
    ``most_necessary``: the minimum and maximum number of necessary sources; None for no maximum.
    ``fewest_sources``: the minimum number of all sources. An example in which a necessary source is
    missing is never drawn.
    """

    longest_answer: int = 100
    fewest_necessary: int = 2
    most_necessary: int | None = 2
    fewest_sources: int = 10

    def objection(self, example: Example) -> str:
        """Returns the reason why the example must not be drawn; an empty text if it may be drawn."""
        necessary, most = len(example.necessary), self.most_necessary
        if necessary != example.hops:
            return "a necessary source is not among its sources"
        if necessary < self.fewest_necessary or (most is not None and necessary > most):
            return f"the number of necessary sources is not {self._wanted}"
        if len(example.sources) < self.fewest_sources:
            return f"fewer than {self.fewest_sources} sources"
        if len(example.answer) > self.longest_answer:
            return f"an answer of more than {self.longest_answer} characters"
        return ""

    @property
    def _wanted(self) -> str:
        fewest, most = self.fewest_necessary, self.most_necessary
        if most is None:
            return f"at least {fewest}"
        return f"{fewest}" if fewest == most else f"{fewest} to {most}"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A ``Drawn`` holds the drawn examples, in the order of the draw.

    ``seen``: the number of examples in the file. ``eligible``: how many of them meet the criteria.
    ``objections``: for each reason, the number of examples that do not meet the criteria for this reason.
    """

    examples: tuple[Example, ...]
    eligible: int
    seen: int
    objections: dict[str, int]


def drawn(examples: Iterable[Example], count: int, seed: int, criteria: Criteria | None = None) -> Drawn:
    """Returns ``count`` different random examples that meet ``criteria``.

    The draw depends only on the seed and the ids. The first 50 examples are therefore the same whether 50
    or 100 are drawn. At most ``count`` examples are held in memory. Raises InvalidInput for a count below
    1, and if fewer than ``count`` examples meet the criteria.
    """
    if count < 1:
        raise InvalidInput(f"{count} examples were asked for; ask for at least 1")
    wanted = criteria or Criteria()
    objections = dict[str, int]()
    seen = 0
    # The heap holds the examples drawn so far. The example that comes last in the draw is on top, because
    # it is the next to be replaced.
    held: list[tuple[int, str, Example]] = []
    for example in examples:
        seen += 1
        objection = wanted.objection(example)
        if objection:
            objections[objection] = objections.get(objection, 0) + 1
            continue
        entry = -_place(example.id, seed), example.id, example
        if len(held) < count:
            heapq.heappush(held, entry)
        else:
            heapq.heappushpop(held, entry)
    eligible = seen - sum(objections.values())
    if eligible < count:
        reasons = "".join(f"; {number:,}: {why}" for why, number in sorted(objections.items()))
        raise InvalidInput(
            f"{count:,} examples were asked for, and {eligible:,} of {seen:,} can be drawn{reasons}; "
            f"{'ask for fewer' if eligible else 'give another file, or ask for other ones'}"
        )
    ordered = sorted(held, key=lambda entry: (-entry[0], entry[1]))
    return Drawn(tuple([example for _, _, example in ordered]), eligible, seen, objections)


def check_room(examples: Sequence[Example], sources: int) -> None:
    """Raises InvalidInput if a question has more than ``sources`` necessary sources, so that not all of
    them can be shown."""
    most = max((len(each.necessary) for each in examples), default=0)
    if most > sources:
        raise InvalidInput(
            f"{sources} sources cannot hold the {most} that a question needs; ask for more sources"
        )


def _place(identity: str, seed: int) -> int:
    content = f"{seed} {identity}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(content).digest()[:16], "big")
