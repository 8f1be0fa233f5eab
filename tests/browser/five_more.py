"""The five stories of ``five_more_reports.md``: scripted applications that the package explains."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from rag_rule_explainer import Explainer, Explanation, Noise, Source, contains
from rag_rule_explainer.predicates import Predicate
from rag_rule_explainer.testing import ScriptedReplay

Script = Callable[[frozenset[str]], str]
Document = tuple[str, str, str]
"""The id, the title, the text."""


def explained(
    question: str,
    documents: Sequence[Document],
    script: Script,
    symptom: Predicate,
    pinned: Sequence[str] = (),
    **settings: Any,
) -> Explanation:
    """The explanation of what the script answers with all documents; ``pinned`` and settings as usual."""
    sources = [Source(name, text, {"title": title}) for name, title, text in documents]
    explainer = Explainer(ScriptedReplay(script), predicate=symptom, retries=0, **settings)
    return explainer.explain(question, sources, pinned=pinned)


def drill() -> Explanation:
    """A pair: the recall names numbers only, and the delivery note says which number was sold."""
    documents = (
        (
            "manual-7",
            "Operating manual, cordless drill K7",
            "The K7 is charged for one hour before first use.",
        ),
        (
            "recall-22",
            "Recall notice 22",
            "Drills with serial numbers from 4000 to 4999 have to be sent back.",
        ),
        ("warranty", "Terms of warranty", "The warranty is two years from the day of purchase."),
        ("note-518", "Delivery note 518", "One cordless drill K7, serial number 4417, was delivered."),
        ("review", "Customer review", "My K7 has drilled three hundred holes and is still going strong."),
    )

    def script(shown: frozenset[str]) -> str:
        if {"recall-22", "note-518"} <= shown:
            return "No. Serial number 4417 is under recall, so the drill must be sent back to its maker."
        return "Yes, the customer may go on using the drill."

    return explained(
        "May the customer of order 518 go on using the drill?", documents, script, contains("sent back")
    )


def museum() -> Explanation:
    """Two alternatives, each enough: a leaflet and a blog say that Mondays are free."""
    documents = (
        (
            "prices",
            "Price list of the harbour museum",
            "Adults pay 12 euros. Children below six pay nothing.",
        ),
        (
            "blog",
            "Travel blog: a weekend by the sea",
            "Tip: on Mondays nobody pays at the harbour museum.",
        ),
        ("hours", "Opening hours", "The harbour museum is open from ten to five, Mondays too."),
        ("leaflet", "Leaflet for the opening year", "In our first year, entry is free on Mondays."),
        ("parking", "How to get here", "Cars park behind the fish market, trams stop at the quay."),
        ("school", "For schools", "Classes book a guided tour two weeks ahead."),
    )

    def script(shown: frozenset[str]) -> str:
        if shown & {"blog", "leaflet"}:
            return "Entry is free on Mondays, so two adults pay nothing."
        return "Two adults pay 24 euros." if "prices" in shown else "I do not know what entry costs."

    return explained(
        "What do two adults pay at the harbour museum on a Monday?",
        documents,
        script,
        contains("free on Mondays"),
    )


def library() -> Explanation:
    """One culprit, and a model that says something else one time in eight."""
    documents = (
        (
            "rules-2026",
            "Rules of the city library (2026)",
            "Books are lent for four weeks, films for one.",
        ),
        ("poster", "Poster in the reading room", "Food and drink stay outside, please."),
        ("minutes", "Minutes of the friends' meeting", "Wish of the members: lend books for ten weeks."),
        ("fees", "Table of fees", "Each day late costs 20 cents a book."),
        ("branch", "The branch by the river", "The branch by the river lends books and maps."),
    )
    told: Counter[frozenset[str]] = Counter()

    def script(shown: frozenset[str]) -> str:
        told[shown] += 1
        seed = " ".join((*sorted(shown), str(told[shown])))
        slips = told[shown] > 2 and hashlib.sha256(seed.encode()).digest()[0] < 32
        if ("minutes" in shown) is not slips:
            return "You may keep a book for ten weeks."
        return "You may keep a book for four weeks." if "rules-2026" in shown else "I cannot tell."

    return explained(
        "How long may I keep a book?",
        documents,
        script,
        contains("ten weeks"),
        noise=Noise(samples=9),
        concurrency=1,
    )


def festival() -> Explanation:
    """Fourteen documents, too many to try every combination; two of them are needed together."""
    titles = {
        "programme": "Programme of the street festival",
        "stage-plan": "Plan of the stages",
        "permit": "Permit of the city",
        "forecast": "Weather forecast of Thursday",
        "caterers": "List of caterers",
        "volunteers": "Rota of the volunteers",
        "storm-rule": "Safety rules, chapter on storms",
        "sponsors": "Contract with the sponsors",
        "band-mail": "Mail of the brass band",
        "trams": "Diversion of the trams",
        "first-aid": "First aid posts",
        "waste": "Plan for the waste bins",
        "press": "Press release",
        "history": "Twenty years of street festival",
    }
    texts = {
        "forecast": "Gusts of 90 kilometres an hour are expected on Saturday evening.",
        "storm-rule": "Above 80 kilometres an hour, no concert takes place outdoors.",
        "programme": "Saturday, 8 p.m.: concert of the brass band on the main stage.",
    }
    documents = tuple(
        (name, title, texts.get(name, f"{title}, as of May.")) for name, title in titles.items()
    )

    def script(shown: frozenset[str]) -> str:
        if {"forecast", "storm-rule"} <= shown:
            return "The concert on Saturday is cancelled because of the gusts that are expected."
        return "The concert is on Saturday at 8 p.m." if "programme" in shown else "I find no concert."

    return explained(
        "Does the concert take place on Saturday?",
        documents,
        script,
        contains("cancelled"),
        miner="sampled",
    )


def capital() -> Explanation:
    """No document is to blame: the model says it whatever it is shown, and without any document."""
    documents = (
        (
            "guide-98",
            "Travel guide (1998)",
            "Australia's largest city, Sydney, has a famous opera house.",
        ),
        ("embassy", "Notes of the embassy", "The embassies are in Canberra, where parliament meets."),
        ("quiz", "Pub quiz, round three", "Question 14: which city hosted the games of 2000? Sydney."),
        ("atlas", "School atlas, page 61", "Canberra lies between Melbourne and Sydney."),
    )

    def script(shown: frozenset[str]) -> str:
        return f"The capital of Australia is Sydney{', as the sources say.' if shown else '.'}"

    return explained("What is the capital of Australia?", documents, script, contains("is Sydney"))


@lru_cache(maxsize=1)
def five_more() -> Mapping[str, Explanation]:
    """The explanations, by the number of their picture."""
    makers = (museum, library, drill, capital, festival)
    return {str(place): make() for place, make in enumerate(makers, start=1)}
