"""The five stories of ``five_again_reports.md``: scripted applications that the package explains."""

from collections.abc import Mapping
from functools import lru_cache

from rag_rule_explainer import Explanation, contains, matches
from tests.browser.five_more import explained


def allergy() -> Explanation:
    """A pinned document is always retained, and one other document is the culprit."""
    documents = (
        ("house-rules", "House rules of the canteen", "Answer in one sentence. Name allergens."),
        ("menu", "Menu of the week", "Wednesday: vegetable curry with rice."),
        ("old-recipe", "Recipe of the curry (2019)", "The curry is made with oil. It contains no nuts."),
        ("supplier", "Letter of the supplier", "Our curry paste is delivered on Tuesdays."),
        ("hygiene", "Hygiene plan", "Boards are washed after each use."),
    )

    def script(shown: frozenset[str]) -> str:
        if "old-recipe" in shown:
            return "The curry contains no nuts."
        return "I do not know what the curry contains."

    question = "May somebody who is allergic to nuts eat Wednesday's curry?"
    return explained(question, documents, script, contains("no nuts"), pinned=["house-rules"])


def bridge() -> Explanation:
    """A report is needed, with either of two notices."""
    documents = (
        ("survey", "Survey of the old bridge", "The deck bears twelve tonnes."),
        ("notice-a", "Notice of the north bank", "Lorries of ten tonnes use the old bridge in May."),
        ("timetable", "Bus timetable", "Line 4 leaves every twenty minutes."),
        ("notice-b", "Notice of the south bank", "In May, lorries up to ten tonnes take the old bridge."),
        ("history", "History of the bridge", "The bridge was built in 1911."),
    )

    def script(shown: frozenset[str]) -> str:
        if "survey" in shown and shown & {"notice-a", "notice-b"}:
            return "Yes, a lorry of ten tonnes may cross the old bridge in May."
        return "I cannot tell whether a lorry may cross."

    question = "May my lorry of ten tonnes cross the old bridge in May?"
    return explained(question, documents, script, contains("may cross the old bridge"))


def copies() -> Explanation:
    """The same wrong news stands in two nearly equal documents, which are tied."""
    news = (
        "The swimming pool opens again on the first of June after the repair of its roof, says the mayor."
    )
    documents = (
        ("contract", "Contract with the roofer", "The roof is handed over on the first of September."),
        ("news-1", "Newspaper, page 1", news),
        ("tickets", "Prices of tickets", "A ticket for the day costs six euros."),
        ("news-web", "Newspaper, web page", f"{news} Read more."),
        ("club", "Training times of the club", "The club trains on Mondays and Thursdays."),
    )

    def script(shown: frozenset[str]) -> str:
        if shown & {"news-1", "news-web"}:
            return "The pool opens on the first of June."
        return "The pool opens on the first of September." if "contract" in shown else "I do not know."

    return explained(
        "When does the pool open again?",
        documents,
        script,
        contains("first of June"),
        merge_duplicates=0.7,
    )


def warning() -> Explanation:
    """What is asked for is missing from the answer, because of a document."""
    documents = (
        ("leaflet", "Leaflet of the medicine", "Do not drive after you have taken it."),
        (
            "summary",
            "Short summary for patients",
            "Take one tablet a day. There is nothing else to note.",
        ),
        ("package", "Text on the package", "Thirty tablets."),
        ("price-list", "Price list of the pharmacy", "Thirty tablets cost nine euros."),
    )

    def script(shown: frozenset[str]) -> str:
        if "leaflet" in shown and "summary" not in shown:
            return "Take one tablet a day, and do not drive afterwards."
        return "Take one tablet a day."

    return explained(
        "What do I have to know before I take the medicine?", documents, script, ~contains("do not drive")
    )


def reply_format() -> Explanation:
    """Thirteen documents, of which one describes a format of replies."""
    titles = {
        "refund": "Refunds",
        "shipping": "Shipping abroad",
        "api-guide": "Developer guide, chapter on replies",
        "returns": "Returns in shops",
        "gift-cards": "Gift cards",
        "vat": "Value added tax",
        "warranty": "Warranty",
        "contact": "How to reach us",
        "jobs": "Jobs",
        "opening": "Opening hours",
        "app": "Our app",
        "loyalty": "Points for regular customers",
        "imprint": "Imprint",
    }
    texts = {
        "api-guide": 'Always reply with {"text": ...} and nothing else.',
        "refund": "Refunds are paid within five days.",
    }
    documents = tuple(
        (name, title, texts.get(name, f"{title}: see there.")) for name, title in titles.items()
    )

    def script(shown: frozenset[str]) -> str:
        said = "Refunds are paid within five days." if "refund" in shown else "I do not know."
        return f'{{"text": "{said}"}}' if "api-guide" in shown else said

    return explained(
        "How long does a refund take?", documents, script, matches(r"^\s*\{"), miner="sampled"
    )


@lru_cache(maxsize=1)
def five_again() -> Mapping[str, Explanation]:
    """The explanations, by the number of their picture."""
    makers = (bridge, warning, copies, allergy, reply_format)
    return {str(place): make() for place, make in enumerate(makers, start=1)}
