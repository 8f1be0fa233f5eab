"""Whether a request holds what another run made."""

from rag_rule_explainer.instrumentation.requests.carrying import MadeTexts, is_too_short
from rag_rule_explainer.instrumentation.requests.exchanges import Exchange, Exchanges

LONG = "Employees may take twenty five days of paid leave in every calendar year."


def request(text: str, *replied: str) -> Exchange:
    exchanges = Exchanges()
    for key, reply in enumerate(replied):
        exchanges.ask(key, "before", "before")
        exchanges.reply(key, reply, reply)
    exchanges.ask("now", text, text)
    return list(exchanges)[-1]


def made(*texts: str, sent: tuple[str, ...] = ()) -> MadeTexts:
    known = MadeTexts()
    known.note("the replay on a", texts, sent)
    return known


def found(known: MadeTexts, text: str, served: tuple[str, ...] = (), own: tuple[str, ...] = ()) -> str:
    carried = known.found_in(request(text), served, own)
    return "" if carried is None else carried.text


def test_a_reply_of_another_run_is_found_whole_or_in_part() -> None:
    assert found(made(LONG), f"History: {LONG} Now: why?")
    assert found(made(LONG), "You said: may take twenty five days of paid leave, did you?")
    assert not found(made(LONG), "You said: may take twenty five days")


def test_escapes_and_case_hide_nothing() -> None:
    assert found(made(LONG), LONG.upper())
    assert found(made("one two <three> four five"), "one two &lt;three&gt; four five")


def test_a_short_text_is_found_whole_and_two_words_are_not_looked_for() -> None:
    assert found(made("the answer is no"), "before: the answer is no!")
    assert not found(made("the answer is no"), "the answer is now known")
    assert not found(made("bad news"), "bad news")
    assert is_too_short("bad news")
    assert not is_too_short("very bad news")
    assert not is_too_short("")


def test_what_is_known_from_elsewhere_is_no_sign_of_a_memory() -> None:
    assert not found(made(LONG), LONG, served=(f"Policy. {LONG}",))
    assert made(LONG).found_in(request(LONG, LONG), (), ()) is None
    # What a model says after it was sent a text does not explain that it was sent it.
    assert found(made(LONG), LONG, own=(LONG,))
    known = made(LONG)
    known.allow([f"Answer like this: {LONG}"])
    assert not found(known, LONG)


def test_where_one_text_that_was_served_follows_another_nothing_was_carried() -> None:
    """As where all that stood between them is omitted."""
    known = made("prices: 30 euros, Good Night: from 240 to 400 dollars")
    start, end = "Le Baratin: 30", "euros, Good Night: from 240 to 400"
    assert found(known, f"{start} {end}", served=(start,))
    assert not found(known, f"{start} {end}", served=(start, end))
    between = ("Le Baratin: 30", "Euros.", "Good Night: from 240 to 400")
    assert not found(known, " ".join(between), served=between)
    assert found(known, " ".join(between), served=between[::2])
    assert found(known, f"{start} {end} dollars", served=(start, end))
    short = made("the answer is no")
    assert not found(
        short, "Tell me the answer. Is no one here?", served=("the answer", "is no one here")
    )
    assert found(short, "Tell me the answer: is no.", served=("the answer so far", "this is no"))


def test_what_the_making_run_had_been_sent_it_did_not_make() -> None:
    assert not found(made(LONG, sent=(f"Repeat: {LONG}",)), LONG)
    assert not found(made("the answer is no", sent=("say: the answer is no",)), "the answer is no")


def test_what_was_made_later_was_not_carried_here() -> None:
    known = MadeTexts()
    earlier = request(LONG)
    known.note("the replay on a", [LONG], ())
    assert known.found_in(earlier, (), ()) is None
    assert known.found_in(request(LONG), (), ()) is not None


def test_who_made_it_is_told() -> None:
    carried = made(LONG).found_in(request(LONG), (), ())
    assert carried is not None
    assert carried.maker == "the replay on a"
