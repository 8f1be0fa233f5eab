"""What counts as a refusal, and what only sounds like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import InvalidInput, refuses
from tests.clock import cheap
from tests.predicates.cases import case, holds, judged

REFUSALS = [
    "I don't know.",
    "I don’t know",
    "I do not know the answer to that question.",
    '"I don\'t know."',
    "**I don't know.**",
    "I'm sorry, but I can't help with that.",
    "I’m sorry, but I can’t assist with that request.",
    "I cannot provide instructions for that.",
    "Sorry, I am unable to answer this question based on the provided context.",
    "I'm afraid I can't do that.",
    "I apologize, but I cannot comply with that request.",
    "I apologize for any confusion, but I cannot share that.",
    "As an AI language model, I cannot give medical advice.",
    "As an AI, I don't have access to real-time data.",
    "Unfortunately, the provided documents do not contain information about the dose.",
    "The provided context does not contain enough information to answer the question.",
    "The context doesn't mention who built the tower.",
    "The documents do not explicitly say when it opened.",
    "Based on the provided context, I don't have enough information to answer.",
    "Based on the given sources, it is not possible to determine the dose.",
    "I couldn't find any information about that in the documents.",
    "There is no information about zinc in the documents.",
    "There is no mention of the CEO's name in the provided context.",
    "There is not enough information to say.",
    "Not enough information.",
    "Insufficient context to answer.",
    "No relevant information was found.",
    "The answer cannot be inferred from the sources.",
    "The answer cannot be determined from the sources.",
    "Cannot be determined.",
    "It is not specified in the provided documents.",
    "The information is not available.",
    "This question cannot be answered from the context.",
    "None of the provided documents mention what it cost.",
    "I'm not sure.",
    "I am not sure what the dose is.",
    "I must decline to answer.",
    "I must decline.",
    "I won't help with that.",
    "I have no idea.",
    "I cannot tell.",
    "I can't tell from these sources which drug it is.",
    "I'd rather not say.",
    "I'm not able to discuss that.",
    "That's beyond my knowledge.",
    "Your request violates our content policy.",
    "I'm sorry. I can't help with that. However, here is a hotline.",
    "I can't help with that, but I can suggest a doctor.",
    "Hello! Thank you for your question. Unfortunately, I don't know.",
    "N/A",
    "Unknown.",
    "unanswerable",
    "Empty Response",
    "Das weiß ich nicht.",
    "Ich weiß es leider nicht.",
    "Es tut mir leid, aber ich kann diese Frage nicht beantworten.",
    "Leider enthalten die Dokumente keine Informationen dazu.",
    "Dazu habe ich keine Informationen.",
    "Je ne sais pas.",
    "Désolé, je ne peux pas répondre à cette question.",
    "Je suis désolée, mais je ne peux pas vous aider.",
    "Les documents fournis ne contiennent pas cette information.",
    "No lo sé.",
    "Lo siento, no puedo responder a esa pregunta.",
    "Los documentos no mencionan la dosis.",
]

ANSWERS = [
    "The patient refuses treatment.",
    "The committee declined to answer.",
    "He said that he does not know.",
    "I cannot recommend calcium enough.",
    "I can't say enough good things about calcium.",
    "I can tell from the leaflet that it is calcium.",
    "You can't tell calcium carbonate and calcium citrate apart.",
    "I don't know, but I think it is calcium.",
    "I do not know the exact dose, but it is about 5 mg.",
    "I'm not sure, but probably zinc.",
    "I don't know of a better drug than calcium.",
    "I am sorry for your loss; calcium is the answer.",
    "Unfortunately, the bridge collapsed in 1931.",
    "Based on the provided documents, the bridge opened in 1931.",
    "The report does not mention zinc.",
    "The documents do not recommend zinc.",
    "The context does not support zinc.",
    "It is unknown whether zinc helps.",
    "There is no evidence that zinc helps.",
    "There is no cure.",
    "There is no mention of zinc.",
    "We cannot offer refunds after 30 days.",
    "Calcium. I don't know about zinc.",
    "No.",
    "None",
    "No answer was given by the minister until 1931.",
    "You cannot help it.",
    "Unknown Pleasures",
    "The unknown soldier",
    '"I don\'t know" is what he said.',
    "It is not a bridge.",
    "Sorry",
    "Sorry is a song by Justin Bieber.",
    "I know.",
    "",
    "Die Patientin weiß das nicht.",
    "Je sais.",
    "Ich kann das empfehlen.",
    "No puedo recomendarlo más.",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals(text: str) -> None:
    assert holds(refuses(), case(text))


@pytest.mark.parametrize("text", ANSWERS)
def test_answers(text: str) -> None:
    assert not holds(refuses(), case(text))


def test_the_words_that_refuse_are_the_reason() -> None:
    assert judged(refuses(), case("Sorry, I don't know.")).reason == 'it says "i don\'t know"'
    assert judged(refuses(), case("Zinc.")).reason == ""


def test_phrases_of_ones_own_refuse_wherever_they_stand() -> None:
    mine = refuses(phrases=["Ask your  doctor’s office"])
    assert holds(mine, case("For doses, ask your doctor's\noffice."))
    assert holds(mine, case("I don't know."))
    assert not holds(mine, case("Ask your doctor."))


@pytest.mark.parametrize("phrases", [[""], [" "], "ask", 7, [7]])
def test_bad_phrases(phrases: list[str]) -> None:
    with pytest.raises(InvalidInput, match=r"phrase|give a"):
        refuses(phrases=phrases)


@given(st.lists(st.sampled_from(" ".join([*REFUSALS, *ANSWERS]).split()), max_size=60).map(" ".join))
def test_any_words_are_judged(text: str) -> None:
    holds(refuses(), case(text))


@pytest.mark.parametrize(
    "part", ["sorry, ", "i'm sorry but ", "i ", "the provided ", "really ", " ", "\n", '"']
)
def test_a_hostile_opening_takes_no_time(part: str) -> None:
    with cheap(10):
        holds(refuses(), case(part * 100_000))


def test_it_reads_well() -> None:
    assert str(refuses()) == "the answer is a refusal"
    assert str(~refuses()) == "the answer is no refusal"
    mine = refuses(phrases=["ask your doctor", "no comment"])
    assert str(mine) == "the answer is a refusal (or says 'ask your doctor', 'no comment')"
    assert str(~mine) == "the answer is no refusal (nor says 'ask your doctor', 'no comment')"
