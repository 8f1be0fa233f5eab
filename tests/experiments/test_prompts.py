"""The prompts that models and judges are sent, over a real socket."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import BaselineFailed, Explainer, InvalidInput, Settings, Source, consistent_with
from rag_rule_explainer.experiments.list_judge import booleans_in
from rag_rule_explainer.experiments.models import Endpoint
from rag_rule_explainer.experiments.prompts import (
    OWN_JUDGE,
    OWN_PROMPT,
    PAPERS_JUDGE,
    PAPERS_PROMPT,
    JudgePrompt,
    PromptTemplate,
)
from rag_rule_explainer.experiments.reasoning import UNSENT, least_effort
from rag_rule_explainer.explanation.loose_judging import JUDGED_UNMARKED
from rag_rule_explainer.storing.store import Store
from tests.representing import some
from tests.support.completions import Completion
from tests.support.messages import Body, entries
from tests.support.openai_server import OpenAIServer

SOURCES = (Source("D1", "The tower was built in 1889."), Source("D2", "Soup is {question} hot."))
QUESTION = "When was the tower built?"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "any value")


def text_of(message: object) -> str:
    return str(entries(message).get("content"))


def sent_by(script: Callable[[Body], "str | Completion"], ask: Callable[[str], object]) -> list[Body]:
    with OpenAIServer(script) as server:
        ask(server.base_url)
        return server.requests


def asked(prompt: PromptTemplate) -> Body:
    def ask(url: str) -> object:
        return Endpoint("m", url, "A_KEY", prompt=prompt).examined().replay(QUESTION, SOURCES)

    (body,) = sent_by(lambda _: "1889", ask)
    return body


PARTS = f"""\
You infer answers to questions from knowledge sources. You will be given a question and the text of \
several sources. Your goal is to give the answer that can be inferred from these sources.

Question:
{QUESTION}

Sources:
The tower was built in 1889.
Soup is {{question}} hot.

Task:
Determine the answer to the question from the sources. If it cannot be inferred from them, the answer is \
N/A.

Output:
The final answer, and nothing else.
"""
"""The role, what comes, the goal; then the sections. Whatever is changed here has to be a part of the
paper's listing: what it does not demand bears on results."""


@pytest.mark.waits
def test_the_papers_prompt_has_its_parts_in_its_order_and_nothing_more() -> None:
    body = asked(PAPERS_PROMPT)
    (message,) = body["messages"]
    assert (message["role"], text_of(message)) == ("user", PARTS)
    assert (body["temperature"], body["max_completion_tokens"]) == (1.0, 100)


def judged(prompt: JudgePrompt, said: "str | Completion", *answers: str) -> tuple[list[Body], list[Any]]:
    """What the judge was sent about the answers, alone, and what came out."""
    found: list[Any] = []

    def ask(url: str) -> object:
        judge = Endpoint("j", url, "A_KEY").judge(prompt)
        for answer in answers:
            explainer = Explainer(
                lambda _, sources, answer=answer: answer if sources else "N/A",
                predicate=consistent_with("1889", judge=judge),
                settings=Settings(retries=0, concurrency=1),
                check_repeatable=False,
                answer_without_sources="N/A",
            )
            found.append(explainer.explain(QUESTION, SOURCES))
        return None

    return sent_by(lambda _: said, ask), found


JUDGES_PARTS = f"""\
You grade whether candidate answers are equivalent to a true answer. You will be given a question, its \
true answer, and a list of candidate answers. Your goal is to decide for each candidate whether it is \
equivalent.

Question:
{QUESTION}

Ground Truth:
1889

Candidate Answers:
["in 1889, \\"truly\\""]

Task:
Decide for each candidate whether it is equivalent to the ground truth with respect to the question. The \
ground truth may hold additional details; a candidate need only match the final answer in it.

Output:
A list of booleans, one for each candidate, in the order of the candidates.
"""


@pytest.mark.waits
def test_the_papers_prompt_for_judges() -> None:
    bodies, (explanation,) = judged(PAPERS_JUDGE, "[True]", 'in 1889, "truly"')
    body = bodies[0]
    (message,) = body["messages"]
    assert (message["role"], text_of(message)) == ("user", JUDGES_PARTS)
    assert (body["temperature"], body["max_completion_tokens"]) == (1.0, 100)
    assert "response_format" not in body
    assert "tools" not in body
    assert explanation.retention_rules


@pytest.mark.waits
def test_nothing_that_rests_on_a_list_of_booleans_is_proved(tmp_path: Path) -> None:
    _, (explanation,) = judged(PAPERS_JUDGE, "[true]", "It was 1889")
    rules = [*explanation.retention_rules, *explanation.omission_rules]
    assert rules
    assert not any(rule.proved for rule in rules)
    assert JUDGED_UNMARKED in explanation.warnings
    own = Endpoint("j", "http://127.0.0.1:9/v1", "A_KEY", None, None).judge(OWN_JUDGE)
    assert not getattr(own, "is_unmarked", False)


@pytest.mark.waits
def test_nor_what_rests_on_a_stored_one(tmp_path: Path) -> None:
    with OpenAIServer(lambda _: "[true]") as server:
        judge = Endpoint("j", server.base_url, "A_KEY").judge(PAPERS_JUDGE)
        settings = Settings(store=Store(str(tmp_path / "a.sqlite"), "n"), concurrency=1)

        def run() -> Any:
            explainer = Explainer(
                lambda _, sources: "It was 1889",
                predicate=consistent_with("1889", judge=judge),
                settings=settings,
                check_repeatable=False,
            )
            return explainer.explain(QUESTION, SOURCES)

        first, count = run(), len(server.requests)
        again = run()
        assert count == len(server.requests)
        for each in (first, again):
            assert JUDGED_UNMARKED in each.warnings
            assert not any(rule.proved for rule in each.retention_rules)


@pytest.mark.waits
def test_a_reply_that_is_no_list_is_no_verdict() -> None:
    said = r"the judge's reply is no list of 1 booleans; it begins with '\[true, false\]'"
    with pytest.raises(BaselineFailed, match=said):
        judged(PAPERS_JUDGE, "[true, false]", "It was 1889")


@pytest.mark.waits
def test_a_reply_that_is_cut_off_is_no_verdict() -> None:
    """Even if it is as long as it has to be by then: more might have followed."""
    with pytest.raises(BaselineFailed, match=r"the judge's reply is cut off; it begins with 'True'"):
        judged(PAPERS_JUDGE, Completion("True", finish_reason="length"), "It was 1889")


TEMPLATE = b"\xef\xbb\xbfRole {\r\n\t{{x}}  {sources}\r\n--\n\n{question}|{other}|{question}   \n\n"


@pytest.mark.waits
def test_a_pasted_template_arrives_byte_for_byte(tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_bytes(TEMPLATE)
    text = text_of(asked(PromptTemplate.of_file(file))["messages"][0])
    shown = "\n".join(source.text for source in SOURCES)
    filled = TEMPLATE.decode().replace("{question}", QUESTION)
    assert text == filled.replace("{sources}", shown)
    assert text.encode() == TEMPLATE.replace(b"{question}", QUESTION.encode()).replace(
        b"{sources}", shown.encode()
    )


@pytest.mark.waits
def test_a_pasted_template_for_judges_arrives_byte_for_byte(tmp_path: Path) -> None:
    file = tmp_path / "judge.txt"
    file.write_bytes(b"A {truth}\r\n{candidates} {} {question}\n\n ")
    bodies, _ = judged(JudgePrompt.of_file(file), "[true]", "the {truth}")
    assert text_of(bodies[0]["messages"][0]) == f'A 1889\r\n["the {{truth}}"] {{}} {QUESTION}\n\n '


def test_a_template_without_its_places_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    with pytest.raises(InvalidInput, match="cannot be read"):
        PromptTemplate.of_file(file)
    file.write_bytes(b"{question}")
    with pytest.raises(InvalidInput, match=r"has no \{sources\}"):
        PromptTemplate.of_file(file)
    with pytest.raises(InvalidInput, match=r"has no \{truth\}"):
        JudgePrompt.of_file(file)
    file.write_bytes(b"\xff{question}")
    with pytest.raises(InvalidInput, match="not UTF-8"):
        PromptTemplate.of_file(file)


def test_prompts_are_told_apart_in_the_store() -> None:
    prompts = OWN_PROMPT, PAPERS_PROMPT, PromptTemplate("f", "{question} {sources}")
    assert len({Endpoint("m", prompt=each).namespace for each in prompts}) == 3
    judges = [Endpoint("j", "http://h/v1", "A_KEY").judge(each) for each in (OWN_JUDGE, PAPERS_JUDGE)]
    assert len({getattr(each, "judge_name", None) for each in judges}) == 2


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("[True, False, True]", "tft"),  # Python
        ("[true, false, true]", "tft"),  # JSON
        ("[TRUE,FALSE,TRUE]", "tft"),
        ("(True, False, True)", "tft"),
        ("[True, False, True,]", "tft"),
        ('["true", "false", "true"]', "tft"),
        ("[\n  true,\n  false,\n  true\n]", "tft"),
        ("```json\n[true, false, true]\n```", "tft"),
        ("```python\n[True, False, True]\n```", "tft"),
        ("```\nTrue\nFalse\nTrue\n```", "tft"),
        ("True, False, True", "tft"),
        ("True\nFalse\nTrue", "tft"),
        ("1. True\n2. False\n3. True", "tft"),
        ("1) true\n2) false\n3) true\n", "tft"),
        ("- True\n- False\n- True", "tft"),
        ("Output:\n[True, False, True]", "tft"),
        ("<think>Is it [False]?</think>\n[True, False, True]", "tft"),
        ("[True, False]", None),  # too short
        ("[True, False, True, True]", None),  # too long
        ("[True, False, True", None),  # cut off
        ("2. True\n1. False\n3. True", None),  # numbers out of order
        ("1. True\nFalse\n3. True", None),
        ("[True, False, None]", None),
        ("[1, 0, 1]", None),
        ("[yes, no, yes]", None),
        ("[[True], [False], [True]]", None),
        ('{"answers": [true, false, true]}', None),
        ("The answers are [True, False, True].", None),  # prose
        ("I think that the first and the third are true.", None),
        ("[True, False, True]\n[True, True, True]", None),
        ("[True, not False, True]", None),
        ("True False True", None),
        ("", None),
        ("[]", None),
        ("[,]", None),
        ("[True, False, True]" * 20_000, None),
    ],
)
def test_lists_of_booleans(reply: str, wanted: str | None) -> None:
    read = None if wanted is None else tuple(letter == "t" for letter in wanted)
    assert booleans_in(reply, 3) == read


def test_a_list_of_one() -> None:
    assert booleans_in("True", 1) == (True,)
    assert booleans_in("[false]", 1) == (False,)
    assert booleans_in("[]", 0) is None


@pytest.mark.parametrize("filling", ["\t", "\n\t", " ", "<think>", "</think>", "[", "1. \n"])
def test_a_hostile_reply_is_soon_refused(filling: str) -> None:
    began = time.process_time()
    for opening in ("```\n", "<think>", "output", "["):
        assert booleans_in(f"{opening}{filling * (90_000 // len(filling))}x", 3) is None
    assert time.process_time() - began < 10  # a search of the whole for each tab takes minutes


EFFORTS = [
    ("gpt-5", "minimal"),
    ("openai/gpt-5-mini-2025-08-07", "minimal"),
    ("GPT-5.1", "none"),
    ("gpt-5.2-mini", "none"),
    ("gpt-5-chat-latest", None),
    ("o3-mini", "low"),
    ("o4-mini-2025-04-16", "low"),
    ("o1-mini", None),
    ("gpt-oss-20b", "low"),
    ("gpt-oss:20b", "low"),
    ("gemini-2.5-flash", "none"),
    ("gemini-2.5-pro", "low"),
    ("gpt-4o-mini", None),
    ("my-gpt-5-finetune", None),
    ("llama-3.1-8b", None),
]


@pytest.mark.parametrize(("name", "effort"), EFFORTS)
def test_the_least_effort_of_models_that_take_one(name: str, effort: str | None) -> None:
    assert least_effort(name) == Endpoint(name).effort == effort


@pytest.mark.waits
@pytest.mark.parametrize("name_and_effort", some(EFFORTS, every=3))
def test_the_least_effort_is_sent_to_models_that_take_it(name_and_effort: tuple[str, str | None]) -> None:
    name, effort = name_and_effort

    def ask(url: str) -> object:
        return Endpoint(name, url, "A_KEY").examined().replay(QUESTION, SOURCES)

    (body,) = sent_by(lambda _: "1889", ask)
    assert body.get("reasoning_effort") == effort


def test_an_effort_that_is_given_goes_before_the_table() -> None:
    assert Endpoint("gpt-5", reasoning_effort="high").effort == "high"
    assert Endpoint("gpt-5", reasoning_effort=UNSENT).effort is None
    assert Endpoint.of("gpt-5,effort=unsent").effort is None
