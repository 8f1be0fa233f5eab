"""Citers of known behaviour over the passages of real questions, and how well their classes are found."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from rag_rule_explainer import CitationClass, Explainer, Source, cite
from tests.citations.oracles import (
    DECISIVE,
    DECORATIVE,
    MEMORY,
    PARTNER,
    SEVERAL,
    Cites,
    Needs,
    citing,
    has,
    one_of,
)
from tests.drawing import few

DATA = Path(__file__).parents[3] / "shared" / "data"
NAMES = ("hotpotqa_dev", "musique_train")


@dataclass(frozen=True, slots=True)
class RealCase:
    """A question with its passages, and a citer over them. ``truth``: the class of each citation."""

    question: str
    answer: str
    sources: Sequence[Source]
    needs: Needs
    cites: Cites
    truth: dict[str, CitationClass]

    def __call__(self, question: str, sources: Sequence[Source]) -> str:
        ids = [each.id for each in sources]
        if not self.needs(frozenset(ids)):
            return "It is not known."
        marks = "".join(f"[{ids.index(each) + 1}]" for each in self.cites(frozenset(ids)) if each in ids)
        return f"The answer is {self.answer} {marks}."


@dataclass(slots=True)
class Tally:
    """``found`` and ``true``: pairs of classes, by what was found and what is true."""

    pairs: Counter[tuple[CitationClass, CitationClass]] = field(
        default_factory=Counter[tuple[CitationClass, CitationClass]]
    )
    replays: list[int] = field(default_factory=list[int])

    def of(self, each: CitationClass) -> tuple[float, float]:
        """Precision and recall of a class."""
        right = self.pairs[each, each]
        found = sum(count for (one, _), count in self.pairs.items() if one is each)
        true = sum(count for (_, one), count in self.pairs.items() if one is each)
        return right / found if found else 1.0, right / true if true else 1.0

    @property
    def classes(self) -> list[CitationClass]:
        return sorted({true for _, true in self.pairs})


def records() -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for name in NAMES
        for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def cases(size: int) -> Iterator[RealCase]:
    """One for each question, with as many passages: its own ones, and others as distractors."""
    told = records()
    pool = [source for record in told for source in record["sources"] if not _supports(source)]
    random = Random(21)
    for place, record in enumerate(told):
        own = sorted(record["sources"], key=lambda each: not _supports(each))[:size]
        seen = {each["text"] for each in own}
        others = [each for each in random.sample(pool, 3 * size) if each["text"] not in seen]
        chosen = [*own, *others[: size - len(own)]]
        random.shuffle(chosen)
        yield _case(record, chosen, place)


def _supports(source: dict[str, Any]) -> bool:
    return bool(source["necessary"])


def _case(record: dict[str, Any], chosen: Sequence[dict[str, Any]], place: int) -> RealCase:
    sources = [
        Source(f"P{number}", each["text"], {"title": each["title"]})
        for number, each in enumerate(chosen, start=1)
    ]
    needed = [each.id for each, told in zip(sources, chosen, strict=True) if _supports(told)]
    a, b, *_ = [*needed, *(each.id for each in sources if each.id not in needed)]
    wrong = next(each.id for each in sources if each.id not in {a, b})
    behaviours: list[tuple[Needs, Cites, dict[str, CitationClass]]] = [
        (has(a), citing(a), {a: DECISIVE}),
        (has(), citing(a), {a: MEMORY}),
        (has(a), one_of(wrong), {wrong: DECORATIVE}),
        (has(a, b), citing(a), {a: PARTNER}),
        (has(a, b), citing(a, b), {a: DECISIVE, b: DECISIVE}),
        (lambda kept: bool({a, b} & kept), one_of(a, b), {a: SEVERAL}),
        (lambda kept: bool({a, b} & kept), citing(a, b), {a: SEVERAL, b: SEVERAL}),
        (
            has(a),
            lambda kept: sorted(kept),
            {each.id: DECISIVE if each.id == a else DECORATIVE for each in sources},
        ),
    ]
    needs, cites, truth = behaviours[place % len(behaviours)]
    answer = " ".join(str(record["answer"]).split())
    return RealCase(record["question"], answer, sources, needs, cites, truth)


def tally(size: int, **settings: Any) -> Tally:
    """How the classes of all citers are found, with as many passages each."""
    counted = Tally()
    for case in few(list(cases(size))):
        cited = cite(
            Explainer(case, **settings),
            case.question,
            case.sources,
            split=lambda text: [text],
        )
        (check,) = cited.checks
        counted.replays.append(cited.replays)
        found = {str(each.source): each.citation_class for each in check.verdicts}
        assert found.keys() == case.truth.keys()
        for source, true in case.truth.items():
            counted.pairs[found[source], true] += 1
    return counted


def told(counted: Tally, heading: str) -> str:
    lines = [heading]
    for each in counted.classes:
        precision, recall = counted.of(each)
        true = sum(count for (_, one), count in counted.pairs.items() if one is each)
        lines.append(f"  {each.value:26} precision {precision:.3f} recall {recall:.3f} of {true}")
    replays = sorted(counted.replays)
    lines.append(f"  replays: median {replays[len(replays) // 2]}, most {replays[-1]}")
    return "\n".join(lines)
