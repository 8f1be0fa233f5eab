"""This module defines the measures of a model: of its replies, and of the rules that labels imply.

Labels say which sources are necessary for the right answer. They imply ("expect") a retention rule for
every set that has all necessary sources, and an omission rule for every set that has at least one of
them, minimal or not. A retention rule holds if all answers to which it applies (those from subsets with
all its sources) agree with the truth. An omission rule holds if no answer to which it applies (those from
subsets with none of its sources) agrees with the truth.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from operator import attrgetter
from typing import NamedTuple

from ..lattice import Lattice, Mask
from ..rules import RuleKind
from ..verdicts import Verdict
from .replies import LabelledReply, ReplyKind, TruthIn
from .scoring import expected

RULES, WITH, WITHOUT, NOTHING, SHOWN, FORM = GROUPS = (
    "expected rules",
    "replies with all necessary sources",
    "replies without one of them",
    "replies to no sources",
    "answers against the sources shown",
    "deviations from the instructions",
)
LIMITS = """\
Labels are the annotators' judgement: an answer without a necessary source may be inferred from another
one that says the same, or from what is called necessary and is not. Where the words of the truth stand is
not what the model has read. What is right by chance, as every other yes or no is, or is one of two things
that the question names, looks like knowledge. A model that is never right makes every omission rule hold.
A longer form of the right name counts as more than the answer, and wordiness is noticed only where the
truth is in it. One sample stands for each subset."""
"""This text explains in reports what the measures cannot show."""
_FROM_PART = "are right, with the truth's words in a necessary source that was shown"
_FROM_DISTRACTOR = "are right, with these words in no such source but in a distractor: a shortcut"
_FROM_NOWHERE = "are right, with these words in no source shown: knowledge, or luck"
_REWORDED = "say so in other words, or in more"
_DEVIATES = "are any of these, or abstains-with, or answers-without or to-nothing"
CountedByMeasure = Mapping[str, tuple[int, int]]
"""The counts of one question: for each measure a pair (count, of), which stands for the share count /
of."""


_Test = Callable[[LabelledReply], bool]


class Measure(NamedTuple):
    """A ``Measure`` is the share of replies with a certain property.

    ``of``: a function that selects the replies of which the share is taken; the text ``among`` describes
    these replies. ``counts``: a function that selects the replies with the property; the text ``means``
    describes the property. ``group``: the heading under which reports list the measure.
    """

    group: str
    name: str
    means: str
    of: _Test
    counts: _Test
    among: str = "replies"


def _is(*kinds: ReplyKind, truth_in: TruthIn | None = None) -> _Test:
    return lambda reply: reply.kind in kinds and truth_in in {None, reply.truth_in}


_NOT_THERE = "stand word for word in no source shown"
_PAPERS = f"{_NOT_THERE}, as the paper counts hallucinations"
_any, _answers = _is(*ReplyKind), _is(ReplyKind.RIGHT, ReplyKind.UNSETTLED, ReplyKind.WRONG)
_OF: Mapping[str, _Test] = {
    WITH: lambda reply: reply.has_all,
    WITHOUT: lambda reply: bool(reply.kept) and not reply.has_all,
    NOTHING: lambda reply: not reply.kept,
}


def _answered(reply: LabelledReply) -> bool:
    """Returns True iff the reply was given from at least one source, is an answer, and is not "yes" or
    "no". "yes" and "no" are left out, because no source contains them as an answer."""
    return bool(reply.kept) and _answers(reply) and not reply.is_yes_or_no


def _invented(reply: LabelledReply) -> bool:
    return reply.not_in_sources and reply.kind is ReplyKind.WRONG


_COUNTED: Sequence[tuple[str, str, str, _Test]] = (
    (WITH, "right-with", "are right", _is(ReplyKind.RIGHT)),
    (WITH, "abstains-with", "are N/A when there was an answer to give", _is(ReplyKind.ABSTAINS)),
    (WITH, "wrong-with", "are wrong", _is(ReplyKind.WRONG)),
    (WITH, "unsettled-with", "are neither", _is(ReplyKind.UNSETTLED)),
    (WITHOUT, "answers-without", "are an answer when there was none to give", _answers),
    (WITHOUT, "right-without", "are right: guessed, known, or read elsewhere", _is(ReplyKind.RIGHT)),
    (WITHOUT, "right-from-part", _FROM_PART, _is(ReplyKind.RIGHT, truth_in=TruthIn.NECESSARY)),
    (
        WITHOUT,
        "right-from-distractor",
        _FROM_DISTRACTOR,
        _is(ReplyKind.RIGHT, truth_in=TruthIn.DISTRACTOR),
    ),
    (WITHOUT, "right-from-nowhere", _FROM_NOWHERE, _is(ReplyKind.RIGHT, truth_in=TruthIn.NOWHERE)),
    (WITHOUT, "wrong-without", "are wrong", _is(ReplyKind.WRONG)),
    (WITHOUT, "unsettled-without", "are an answer, and neither", _is(ReplyKind.UNSETTLED)),
    (NOTHING, "answers-to-nothing", "are an answer", _answers),
    (NOTHING, "right-to-nothing", "are right: knowledge, or luck", _is(ReplyKind.RIGHT)),
)
OF_REPLIES: tuple[Measure, ...] = (
    *(Measure(group, name, means, _OF[group], counts) for group, name, means, counts in _COUNTED),
    Measure(SHOWN, "not-in-sources", _PAPERS, _answered, attrgetter("not_in_sources"), "answers"),
    Measure(
        SHOWN,
        "wrong-not-in-sources",
        f"are wrong, and {_NOT_THERE}",
        _answered,
        _invented,
        "answers",
    ),
    Measure(FORM, "says-more", "are more than it", _answers, attrgetter("says_more"), "answers"),
    Measure(FORM, "cut-off", "end at the token limit", _any, attrgetter("cut_off")),
    Measure(FORM, "reworded", _REWORDED, _is(ReplyKind.ABSTAINS), attrgetter("reworded"), "N/A"),
    Measure(FORM, "deviates", _DEVIATES, _any, attrgetter("deviates")),
)
_OF_RULES = {
    "retention-rules-hold": ("rules that retain all necessary sources", "hold"),
    "omission-rules-hold": ("rules that omit one of them", "hold"),
    "all-retention-hold": ("questions", "have all such retention rules hold"),
    "all-omission-hold": ("questions", "have all such omission rules hold"),
    "all-rules-hold": ("questions", "have all of both hold"),
}
MEANINGS = {**_OF_RULES, **{each.name: (each.among, each.means) for each in OF_REPLIES}}
"""For each measure, two texts: the first describes the replies or rules of which the share is taken, the
second those that are counted."""
NAMES = {**dict.fromkeys(_OF_RULES, RULES), **{each.name: each.group for each in OF_REPLIES}}
"""For each measure, the name of its group."""


@dataclass(frozen=True, slots=True)
class HeldVerdicts:
    """A ``HeldVerdicts`` counts the rules of one kind (retention or omission) for one question.

    ``expected``: all rules that the labels imply. (Labels say which sources are necessary for the right
    answer.) ``hold``: those of them that hold. ``undecided``: those that cannot be decided, because some
    subset to which they apply has no verdict. ``unasked``: those that apply to no replayed subset.
    """

    expected: int
    hold: int
    undecided: int
    unasked: int = 0

    @property
    def decided(self) -> int:
        """Returns the number of rules that are known to hold or to break."""
        return self.expected - self.undecided - self.unasked


def held(
    kind: RuleKind, lattice: Lattice, necessary: Mask, verdicts: Mapping[Mask, Verdict]
) -> HeldVerdicts:
    """Returns how many of the rules that follow from ``necessary`` hold on the replayed subsets.

    ``necessary``: the sources that the labels call necessary for the right answer. ``verdicts``: for each
    replayed subset, whether the answer agrees with the truth. Subsets that were not replayed are ignored:
    a rule that would break only on one of them counts as holding.
    """
    rules = expected(kind, lattice, necessary)
    wanted = Verdict.HOLDS if kind is RuleKind.RETENTION else Verdict.BREAKS
    outcomes = list[str]()
    for rule in rules:
        target = rule if kind is RuleKind.RETENTION else 0
        seen = {verdict for mask, verdict in verdicts.items() if mask & rule == target}
        # One subset that breaks a rule is enough to decide it, even if other subsets have no verdict.
        open_ = "undecided" if seen else "unasked"
        outcomes.append("broken" if ~wanted in seen else "hold" if seen == {wanted} else open_)
    counts = (outcomes.count(each) for each in ("hold", "undecided", "unasked"))
    return HeldVerdicts(len(rules), *counts)


def counted_by_measure(
    replies: Sequence[LabelledReply], retention: HeldVerdicts, omission: HeldVerdicts
) -> CountedByMeasure:
    """Returns the counts of one question for each measure: a pair (count, of). ``retention``,
    ``omission``: how many of the rules that the question's labels imply were seen to hold."""
    both = HeldVerdicts(*map(sum, zip(astuple(retention), astuple(omission), strict=True)))
    counts = {
        "retention-rules-hold": (retention.hold, retention.decided),
        "omission-rules-hold": (omission.hold, omission.decided),
        "all-retention-hold": _all_hold(retention),
        "all-omission-hold": _all_hold(omission),
        "all-rules-hold": _all_hold(both),
    }
    for measure in OF_REPLIES:
        among = [each for each in replies if measure.of(each)]
        counts[measure.name] = sum(map(measure.counts, among)), len(among)
    return counts


def _all_hold(rules: HeldVerdicts) -> tuple[int, int]:
    """Returns (1, 1) if all replayed rules hold, (0, 1) if at least one breaks, and (0, 0), which is not
    counted, if this is undecided.

    Rules that apply to no replayed subset are ignored. Otherwise they would make the result of most
    questions undecided, except for questions with a broken rule.
    """
    if rules.hold < rules.decided:
        return 0, 1
    return (0, 0) if rules.undecided or not rules.hold else (1, 1)
