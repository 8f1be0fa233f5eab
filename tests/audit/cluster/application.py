"""The application that the tests audit: it finds four texts of a small corpus and answers by them, with
a model that sends nothing. What it is paid for is written to a file, if ``AUDIT_PAID`` names one."""

import json
import os
import signal
import time
from random import Random
from typing import Any

from plain_rag_rule_explainer import gate, offline_client

from rag_rule_explainer.session.final_comparison import FinalComparison

CORPUS = [f"D{number:02}" for number in range(40)]
PLANTED = {"D03", "D08", "D17", "D22", "D29", "D34"}
SHOWN = int(os.environ.get("AUDIT_SHOWN", "4"))
SECONDS = float(os.environ.get("AUDIT_SECONDS", "0"))
BUILT = os.environ.get("AUDIT_BUILT")
DEADLY = os.environ.get("AUDIT_DEADLY")
ONCE = os.environ.get("AUDIT_ONCE")
PAID = os.environ.get("AUDIT_PAID")


async def nothing(self: object, fidelity: object) -> None:
    """In place of what an explanation compares at its end."""


if ONCE:
    # An explanation repeats some runs at its end on purpose, to see that the application has not changed.
    # Without these, every other run that is made again is one that was paid twice.
    setattr(FinalComparison, "_compare", nothing)  # noqa: B010 -- it is nobody else's

if BUILT:
    # A process for each, which imports little.
    with open(BUILT, "a", encoding="ascii") as file:  # noqa: PTH123
        file.write(f"{os.getpid()}\n")


def found_for(question: str) -> list[str]:
    """The ids of what is found for a question, the best first."""
    return Random(question).sample(CORPUS, SHOWN)


@gate
def search(question: str) -> list[dict[str, str]]:
    return [{"id": each, "text": f"the text of {each}"} for each in found_for(question)]


def answered(ids: set[str], question: str) -> str:
    """A planted text misleads it, unless the text that is found first is shown and speaks against it, as
    one in three does."""
    best = found_for(question)[0]
    return "right" if (best in ids and int(best[1:]) % 3 == 0) or not ids & PLANTED else "wrong"


def paid_for(question: str, ids: list[str], began: float) -> None:
    if PAID:
        # Written in one piece, at the end: who is killed before has paid nothing.
        log = os.open(PAID, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(log, f"{json.dumps([question, ids, began])}\n".encode())
        os.close(log)


def says(body: Any) -> str:
    """What the model replies: it reads the question and the ids of the texts in the prompt."""
    asked = json.loads(body["messages"][0]["content"])
    ids = [text.rpartition(" ")[2] for text in asked["texts"]]
    if asked["question"] == DEADLY:
        os.kill(os.getpid(), signal.SIGKILL)
    began = time.time()
    if SECONDS:
        time.sleep(SECONDS)
    paid_for(asked["question"], ids, began)
    return answered(set(ids), asked["question"])


CLIENT = offline_client(says)


def app(question: str) -> str:
    prompt = json.dumps({"question": question, "texts": [each["text"] for each in search(question)]})
    reply = CLIENT.chat.completions.create(model="none", messages=[{"role": "user", "content": prompt}])
    return reply.choices[0].message.content or ""
