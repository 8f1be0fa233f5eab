"""This module defines questions with a known answer and labelled sources. It also draws questions at
random."""

import hashlib
import heapq
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import InvalidInput
from ..sources import Source


@dataclass(frozen=True, slots=True)
class Example:
    """An ``Example`` holds a question, its answer, and its sources in the published order.

    Sources are named D1, D2, … by position, because titles may repeat; the title is in the metadata.
    ``necessary``: the ids of the sources that the annotators call necessary, in order. ``hops``: the
    number of necessary sources by the labels. It is larger than ``len(necessary)`` if some of them are
    not among the sources. ``type``, ``level``: the data set's own words; may be empty.
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
        """Returns the ids of the sources that are not necessary, in order."""
        return tuple([source.id for source in self.sources if source.id not in self.necessary])

    def first(self, count: int, seed: int | None = None) -> tuple[Source, ...]:
        """Returns the first ``count`` sources: the necessary ones in the published order, then the
        distractors.

        ``seed``: the distractors are in an order that ``seed`` and the example's id determine; None for
        the published order. For every ``count`` the order is the same, so the first 4 are always among
        the first 5. Raises InvalidInput for a count out of range.
        """
        if not 1 <= count <= len(self.sources):
            raise InvalidInput(
                f"{count} sources were asked for, and {self.id!r} has {len(self.sources)}; ask for 1 to "
                f"{len(self.sources)}, or draw examples with more"
            )
        by_id = {source.id: source for source in self.sources}
        others = list(self.distractors)
        if seed is not None:
            random.Random(f"{seed} {self.id}").shuffle(others)  # noqa: S311 -- reproducible
        return tuple([by_id[each] for each in (*self.necessary, *others)[:count]])


@dataclass(frozen=True, slots=True)
class Criteria:
    """A ``Criteria`` says which examples may be drawn.

    ``longest_answer``: the maximum number of characters of the answer. ``fewest_necessary``,
    ``most_necessary``: the minimum and maximum number of necessary sources; None for no maximum.
    ``fewest_sources``: the minimum number of sources, including the necessary ones. An example with a
    missing necessary source is never drawn.
    """

    longest_answer: int = 100
    fewest_necessary: int = 2
    most_necessary: int | None = 2
    fewest_sources: int = 10

    def objection(self, example: Example) -> str:
        """Returns the reason why the example may not be drawn; an empty text if it may be drawn."""
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
    """A ``Drawn`` holds the drawn examples, in order.

    ``seen``: the number of examples in the file. ``eligible``: how many of these meet the criteria.
    ``objections``: by reason, the number of examples that do not meet them.
    """

    examples: tuple[Example, ...]
    eligible: int
    seen: int
    objections: dict[str, int]


def drawn(examples: Iterable[Example], count: int, seed: int, criteria: Criteria | None = None) -> Drawn:
    """Returns ``count`` random examples that meet ``criteria``, drawn without replacement.

    The draw depends only on the seed and the ids. The first 50 examples are therefore the same whether 50
    or 100 are drawn. At most ``count`` examples are held in memory. Raises InvalidInput for a count below
    1, and if there are fewer examples than ``count``.
    """
    if count < 1:
        raise InvalidInput(f"{count} examples were asked for; ask for at least 1")
    wanted = criteria or Criteria()
    objections = dict[str, int]()
    seen = 0
    # The heap holds the drawn examples. The one with the largest key is on top and is replaced first.
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
    """Raises InvalidInput if a question has more necessary sources than ``sources``."""
    most = max((len(each.necessary) for each in examples), default=0)
    if most > sources:
        raise InvalidInput(
            f"{sources} sources cannot hold the {most} that a question needs; ask for more sources"
        )


def _place(identity: str, seed: int) -> int:
    content = f"{seed} {identity}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(content).digest()[:16], "big")
