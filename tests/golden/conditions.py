"""Explanations by every kind of condition, judges among them."""

import json
from collections.abc import Mapping
from typing import Any

from rag_rule_explainer import (
    Answer,
    Case,
    Judgement,
    JudgeReply,
    JudgeRequest,
    Limits,
    Price,
    Retries,
    Source,
    ToolCall,
    Verdict,
    calls_tool,
    cites,
    condition,
    consistent_with,
    contains,
    equals,
    is_valid,
    json_path,
    judged,
    matches,
    mentions_source,
    one_of,
    refuses,
    same_answer,
)
from rag_rule_explainer.testing import OfflineJudge
from tests.golden.goldens import PAIR, Explanations, Script, explaining

TITLED = [Source(f"D{n}", f"Text {n}.", {"title": f"Memo of day {n}"}) for n in range(1, 4)]
NAMED = "a list of words"


def saying(with_pair: str, with_first: str, without: str = "I do not know.") -> Script:
    """One text where D1 and D2 are shown, another where D1 is, and a third."""
    return lambda ids: with_pair if {"D1", "D2"} <= ids else with_first if "D1" in ids else without


WORDED = saying("It is on 9 May.", "The ninth of May.")
DOSED = saying('{"dose": {"unit": "mg", "amount": 5}}', '{"dose": {"unit": "g"}}', "none")


def sending(ids: frozenset[str] | set[str]) -> Answer:
    """Sends a mail where D2 is shown, without a word."""
    if "D2" in ids:
        return Answer("", calls=(ToolCall("send_email", {"to": "evil@example.com"}),))
    return Answer("There is nothing to do.", calls=())


def on_what_it_kept(case: Case) -> Judgement:
    if len(case.kept) == 2:
        return Judgement(Verdict.UNKNOWN, "two are neither few nor many")
    return Judgement(Verdict.of(len(case.kept) == 3), f"{len(case.kept)} kept")


def failing_judge(request: JudgeRequest) -> JudgeReply:
    """Fails on what is not the baseline's."""
    if any("9" not in each.answer for each in request.candidates):
        raise ValueError("the judge is at lunch")
    return judge("9 may")(request)


def judge(*words: str) -> OfflineJudge:
    return OfflineJudge(words)


def unsure_of_some(request: JudgeRequest) -> Mapping[str, object]:
    said: dict[str, object] = {}
    for each in request.candidates:
        unsure = each.answer == "The ninth of May."
        verdict = "unsure" if unsure else "yes" if "May" in each.answer else "no"
        said[each.id] = {"verdict": verdict, "reason": "it is worded so"}
    return said


def talkative(request: JudgeRequest) -> JudgeReply | str:
    """Gives no opinion as it was asked to where there is more than a number to talk about."""
    if all("9" in each.answer for each in request.candidates):
        return judge("9 may")(request)
    return "In my opinion they are all fine: " + json.dumps([each.answer for each in request.candidates])


async def awaited_judge(request: JudgeRequest) -> JudgeReply:
    return judge("yes")(request)


def by_words(*words: str, **options: Any) -> Any:
    return judged("announces a day", judge(*words), judge_name=NAMED, **options)


EXPLANATIONS: Explanations = {
    "equals": explaining(WORDED, 3, equals("It is on 9 May.")),
    "matches": explaining(WORDED, 3, matches(r"\b\d May\b")),
    "one-of": explaining(saying("yes", "maybe", "no"), 3, one_of(["yes", "maybe"])),
    "same-by-overlap": explaining(WORDED, 3, same_answer(overlap=0.4)),
    "consistent": explaining(WORDED, 3, consistent_with("it is on 9 May")),
    "refuses": explaining(saying("I do not know.", "On 9 May.", "No idea."), 3, refuses()),
    "does-not-refuse": explaining(WORDED, 3, ~refuses()),
    "refuses-in-own-words": explaining(
        saying("Ask your doctor.", "Twice a day."), 3, refuses(phrases=["ask your doctor"])
    ),
    "cites": explaining(saying("On 9 May [1][2].", "In May [1].", "Soon [3]."), TITLED, cites("D2")),
    "cites-only-what-was-shown": explaining(saying("9 May [D1].", "May [D2].", "Soon."), TITLED, cites()),
    "mentions-source": explaining(
        saying("The Memo of day 2 says so.", "D1 says so."), TITLED, mentions_source("D2")
    ),
    "json-path": explaining(DOSED, 3, json_path("$.dose.unit", equals="mg")),
    "json-path-absent": explaining(DOSED, 3, json_path("$.dose.amount", exists=False)),
    "tool-calls": explaining(sending, 3, calls_tool("send_email", to=contains("evil"))),
    "valid-type": explaining(saying("5", "five", "none"), 3, is_valid(int)),
    "function": explaining(WORDED, 3, condition(lambda case: "9" in case, "the answer has a nine")),
    "function-that-does-not-know": explaining(
        WORDED, 3, condition(on_what_it_kept, "the answer is of all")
    ),
    "function-that-fails": explaining(
        lambda ids: json.dumps({"n": len(ids)}) if ids != frozenset({"D1", "D2"}) else "none",
        3,
        condition(lambda case: json.loads(case.answer.text)["n"] > 1, "the answer has a number above 1"),
    ),
    "all-of": explaining(WORDED, 3, contains("May") & contains("9")),
    "any-of-not": explaining(WORDED, 3, contains("9 May") | ~contains("May")),
    "kleene": explaining(WORDED, 3, condition(on_what_it_kept, "all of them") | contains("ninth")),
    "judged": explaining(WORDED, 3, by_words("may")),
    "judged-without-a-name": explaining(WORDED, 3, judged("announces a day", unsure_of_some)),
    "judged-unsure": explaining(
        WORDED, 3, judged("announces a day", unsure_of_some, judge_name=NAMED), retries=0
    ),
    "judged-against-a-reference": explaining(
        WORDED, 3, judged("is in this list", judge("9 may"), "9 May, 10 May", judge_name=NAMED)
    ),
    "judged-three-times": explaining(WORDED, 3, by_words("9 may", judge_samples=3)),
    "judge-fails": explaining(
        WORDED, 3, judged("announces a day", failing_judge, judge_name=NAMED), retries=0
    ),
    "judge-talks": explaining(
        WORDED,
        3,
        judged("announces a day", talkative, judge_name=NAMED),
        retries=Retries(1, 0.0, 0.0),
    ),
    "judged-within-limits": explaining(
        lambda ids: f"{PAIR(ids)}: {'+'.join(sorted(ids))}",
        4,
        by_words("yes"),
        limits=Limits(tokens=1500),
        prices={"*": Price(1.0, 2.0)},
    ),
    "judged-by-votes": explaining(WORDED, 3, by_words("9 may"), noise=3),
    "consistent-by-judge": explaining(
        WORDED, 3, consistent_with("the 9th of May", judge=judge("9 may"), judge_name=NAMED)
    ),
    "same-by-judge": explaining(WORDED, 3, same_answer(judge=judge("ninth of may"), judge_name=NAMED)),
    "judge-asked-only-where-it-matters": explaining(WORDED, 3, ~refuses() & by_words("9 may")),
    "citing-with-values": explaining(
        lambda ids: Answer("see its value", {"cited": sorted(ids)[:1]}),
        TITLED,
        json_path("$.cited[0]", equals="D1"),
    ),
}
