"""Whose an answer is, by its words and by what was replied in the same run."""

from rag_rule_explainer import Answer, Source
from rag_rule_explainer.instrumentation.requests.authorship import Authorship
from rag_rule_explainer.instrumentation.requests.exchanges import Exchange, Exchanges
from rag_rule_explainer.instrumentation.requests.volatile import Steady

SOURCES = [
    Source("amber", "Amber is fossil tree resin.", {"title": "Of stones"}),
    Source("basalt", "Basalt columns form in lava.", {"file": "docs/lava.pdf"}),
]
CODE = ("approved", "denied", "Your claim is")
STRANGE = "Everything shall turn out well"


def replied(*replies: str) -> list[Exchange]:
    exchanges = Exchanges()
    for place, reply in enumerate(replies):
        exchanges.ask(place, "Verdict?", "Verdict?")
        exchanges.reply(place, reply, reply)
    return list(exchanges)


def begun(answer: str, *replies: str, ignore: tuple[str, ...] = ()) -> Authorship:
    authorship = Authorship(Steady(ignore))
    authorship.begin(Answer(answer), replied(*replies), SOURCES, ["why?"], CODE)
    return authorship


def take(authorship: Authorship, sources: list[str], answer: str, *replies: str) -> None:
    authorship.take(f"the replay on {sources}", Answer(answer), replied(*replies), sources)


def test_equal_replies_with_equal_labels_are_no_doubt() -> None:
    authorship = begun("Your claim is denied", "yes")
    take(authorship, ["amber"], "Your claim is approved", "no")
    take(authorship, ["basalt"], "Your claim is denied", "yes")
    assert not authorship.doubt


def test_equal_replies_with_other_labels_are_a_doubt() -> None:
    authorship = begun("Your claim is denied", "yes")
    take(authorship, ["amber"], "Your claim is approved", "yes")
    assert "something else decides about 'approved', 'denied'" in authorship.doubt
    assert authorship.doubt.endswith("ignore=['denied', 'approved']")


def test_what_code_takes_from_sources_may_differ_be_it_cut_off() -> None:
    authorship = begun("denied, by Of stones, lava.pdf", "yes")
    take(authorship, ["amber"], "denied, by Of stones, p1 (amber: Amber is fos…)", "yes")
    take(authorship, ["basalt"], "denied, by lava.pdf (basalt: Basalt colu…)", "yes")
    assert not authorship.doubt


def test_dates_figures_and_what_is_ignored_may_differ() -> None:
    authorship = begun("denied on 2024-05-01 by clerk Ann, 3 of 5", "yes", ignore=("clerk \\w+",))
    take(authorship, ["amber"], "denied on 2025-06-02 by clerk Bob, 1 of 5", "yes")
    assert not authorship.doubt


def test_strange_words_are_the_codes_only_where_other_sources_lead_to_the_same() -> None:
    authorship = begun(STRANGE, "yes")
    take(authorship, ["amber", "basalt"], STRANGE, "yes")
    assert "('everything', 'out', 'shall', 'turn', 'well')" in authorship.doubt
    take(authorship, ["basalt"], STRANGE, "yes")
    assert not authorship.doubt


def test_one_strange_word_is_a_doubt_only_where_another_comes_of_the_same_replies() -> None:
    authorship = begun("good", "documents")
    take(authorship, ["amber"], "good", "documents")
    assert not authorship.doubt
    take(authorship, ["basalt"], "bad", "documents")
    assert authorship.doubt


def test_where_models_write_the_answers_code_may_choose_among_its_texts() -> None:
    authorship = begun("The weather will turn nasty.", "The weather will turn nasty.")
    take(authorship, ["amber"], "approved", "Hm.")
    take(authorship, ["basalt"], "denied", "Hm.")
    take(authorship, [], "Your claim is denied")
    assert not authorship.doubt
    take(authorship, ["amber", "basalt"], STRANGE)
    assert authorship.doubt


def test_a_reply_within_a_long_text_of_the_codes_is_the_models() -> None:
    authorship = begun("Your claim is approved: take two of them", "take two of them")
    take(authorship, ["amber"], "Your claim is denied: take two of them", "take two of them")
    assert not authorship.doubt


def test_what_an_earlier_search_has_found_is_not_asked_again() -> None:
    authorship = begun(STRANGE, "yes")
    assert authorship.doubt
    authorship.vouched = True
    assert not authorship.doubt
