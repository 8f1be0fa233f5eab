"""This module contains the two stories of the demo, modelled on examples in the paper.

The paper is *Rule-Based Explanations for Retrieval-Augmented LLM Systems*. The texts are fiction, written
for this project: the studies, clinics, programmes and findings do not exist. No text in this module is
medical advice.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Document:
    """A ``Document`` is one text of a story's corpus. It has a short id, because rules show the id."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Story:
    """A ``Story`` holds a question, the documents retrieved for it, and a sign of the wrong answer.

    ``symptom``: a text that only a wrong answer contains. The answer from all ``documents`` contains it.
    ``corpus``: the ``documents``, and other documents that a lexical retriever does not find.
    """

    name: str
    introduction: str
    question: str
    documents: tuple[Document, ...]
    corpus: tuple[Document, ...]
    symptom: str


_COVID_DOCUMENTS: Final = (
    Document(
        id="guideline-2024",
        title="Guideline on long COVID, second edition (2024)",
        text=(
            "No medicine is recommended against the brain fog of long COVID, because none has been"
            " shown to work. Patients with long COVID should be taught to pace their day, with rest"
            " before they tire. Progress is reviewed every three months."
        ),
    ),
    Document(
        id="trial-2023",
        title="The Marlow Bay trial (2023)",
        text=(
            "In the Marlow Bay trial, 412 patients with long COVID were taught to pace their day or"
            " put on a waiting list. After six months, brain fog had eased in two of three who"
            " paced. No medicine was tested."
        ),
    ),
    Document(
        id="preprint-17",
        title="Preprint 17, a steroid for long COVID",
        text=(
            "Patients with long COVID should take the medicine prednisolone against brain fog, 40"
            " mg a day for a month. We saw eleven of them in one private practice, and all said"
            " they thought more clearly. There was no comparison group, and nobody has reviewed"
            " this paper."
        ),
    ),
)

_COVID_OTHERS: Final = (
    Document(
        id="travel-2022",
        title="Travel vaccination in Ostermark",
        text="Travellers to the Ostermark highlands need two doses against tick fever in spring.",
    ),
    Document(
        id="sleep-lab",
        title="How the sleep laboratory works",
        text="Guests arrive at eight in the evening. Sensors record breathing until morning.",
    ),
    Document(
        id="canteen-menu",
        title="Canteen menu, week 14",
        text="Monday brings lentil soup. The kitchen marks every dish that contains nuts.",
    ),
    Document(
        id="parking",
        title="Parking at the hospital",
        text="The north car park closes at midnight. Tickets are sold at the main entrance.",
    ),
)

LONG_COVID: Final = Story(
    name="Long COVID",
    introduction=(
        "Three documents are retrieved for a question about treatment, and the answer names a"
        " steroid that no guideline recommends. Which of them is to blame?"
    ),
    question="Which medicine should patients with long COVID take against brain fog?",
    documents=_COVID_DOCUMENTS,
    corpus=_COVID_DOCUMENTS + _COVID_OTHERS,
    symptom="prednisolone",
)

_KNEE_DOCUMENTS: Final = (
    Document(
        id="clinic-guideline",
        title="Northgate Clinic, guideline on knee rehabilitation (2024)",
        text=(
            "At the Northgate Clinic, patients may run again sixteen weeks after knee ligament"
            " surgery at the earliest. Both legs must be equally strong by then. The"
            " physiotherapist decides."
        ),
    ),
    Document(
        id="leaflet-9",
        title="Northgate Clinic, leaflet 9",
        text=(
            "After knee ligament surgery, patients of the Northgate Clinic follow the Brandt"
            " Programme. Please bring sports shoes to the first training."
        ),
    ),
    Document(
        id="programme-1998",
        title="Brandt Programme",
        text=(
            "The Brandt Programme was written for professional players. Patients may run again as"
            " soon as six weeks after knee ligament surgery. The programme was withdrawn in 2011."
        ),
    ),
    Document(
        id="trial-2021",
        title="The Elmhurst running trial (2021)",
        text=(
            "The Elmhurst trial followed 240 patients for two years after knee ligament surgery."
            " Those who ran early tore the ligament again twice as often."
        ),
    ),
    Document(
        id="timetable",
        title="Northgate Clinic, training hall timetable",
        text=(
            "Patients of the Northgate Clinic train in the hall on weekdays. After knee surgery,"
            " the pool is open to them once the wound has closed."
        ),
    ),
)

_KNEE_OTHERS: Final = (
    Document(
        id="dental-care",
        title="Dental care for children",
        text="Milk teeth need brushing twice a day. The first visit is due at the age of two.",
    ),
    Document(
        id="blood-drive",
        title="Blood donation in March",
        text="Donors are welcome in the town hall. Bring identification and drink enough water.",
    ),
    Document(
        id="hearing-aids",
        title="Choosing a hearing aid",
        text="Modern devices adapt to the room. A fitting takes about an hour.",
    ),
    Document(
        id="garden",
        title="The hospital garden",
        text="Lavender and rosemary grow along the southern wall. Benches stand in the shade.",
    ),
)

REHABILITATION: Final = Story(
    name="Rehabilitation",
    introduction=(
        "Five documents are retrieved, and the answer sends patients running ten weeks too early."
        " No document does that by itself. Which of them do it together?"
    ),
    question="How soon may patients of the Northgate Clinic run again after knee ligament surgery?",
    documents=_KNEE_DOCUMENTS,
    corpus=_KNEE_DOCUMENTS + _KNEE_OTHERS,
    symptom="six weeks",
)

STORIES: Final[tuple[Story, ...]] = (LONG_COVID, REHABILITATION)
"""The stories of the demo, in the order in which the demo prints them."""
