"""``rag-rules experiment`` with the paper's prompts, and with those of a user, over the wire."""

from pathlib import Path

import pytest

from tests.cli.runs import RagRules
from tests.experiments.records import jsonl, line
from tests.support.messages import Body, entries
from tests.support.openai_server import OpenAIServer

pytestmark = pytest.mark.waits


def text_of(body: Body) -> str:
    return str(entries(body["messages"][0]).get("content"))


def listing(body: Body) -> str:
    """As many verdicts as candidates, which stand in one line of JSON."""
    candidates = text_of(body).split("Candidate Answers:\n")[1].split("\n\nTask:")[0]
    return str([True] * (candidates.count('", "') + 1))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "q.jsonl", line())


def test_prompt_paper_is_for_models_and_judge(with_key: RagRules, tmp_path: Path, data: Path) -> None:
    shown = set[str]()

    def answering(body: Body) -> str:
        shown.add(text_of(body))
        return f"It is number {len(shown) % 3}"

    with OpenAIServer(answering) as model, OpenAIServer(listing) as judge:
        command = ["experiment", "robustness", "--data", data, "--examples", 1, "--samples", 1]
        command += ["--sources", 3, "--model", "m", "--base-url", model.base_url, "--prompt", "paper"]
        command += ["--judge-model", "gpt-5", "--judge-base-url", judge.base_url, "--no-figures"]
        run = with_key(*command, "--out", tmp_path / "out")
        assert run.code == 0, run.err
        assert "\nprompt: paper, paper for the judge\n" in run.out
        assert len(model.requests) == 7
        for body in model.requests:
            assert text_of(body).startswith("You infer answers to questions from knowledge sources.")
            assert (body["temperature"], body["max_completion_tokens"]) == (1.0, 100)
            assert "reasoning_effort" not in body
        (asked,) = judge.requests
        assert text_of(asked).startswith("You grade whether candidate answers")
        assert (asked["temperature"], asked["max_completion_tokens"]) == (1.0, 100)
        assert asked["reasoning_effort"] == "minimal"


def test_templates_of_a_user(with_key: RagRules, tmp_path: Path, data: Path) -> None:
    ours, theirs = tmp_path / "a.txt", tmp_path / "j.txt"
    ours.write_bytes(b"Q {question}\r\nS {sources}\r\n")
    theirs.write_bytes(b"{question} {truth}\nCandidate Answers:\n{candidates}\n\nTask: x ")
    with OpenAIServer(lambda _: "Quito") as model, OpenAIServer(listing) as judge:
        command = ["experiment", "robustness", "--data", data, "--examples", 1, "--samples", 1]
        command += ["--sources", 2, "--model", "m", "--base-url", model.base_url, "--prompt-file", ours]
        command += ["--judge-model", "j", "--judge-base-url", judge.base_url, "--no-figures"]
        run = with_key(*command, "--judge-prompt-file", theirs, "--out", tmp_path / "out")
        assert run.code == 0, run.err
        assert "\nprompt: file a.txt, file j.txt for the judge\n" in run.out
        both = "Q Where was the founder born?\r\nS Title 2\nText 2.\nTitle 4\nText 4.\r\n"
        assert both in [text_of(body) for body in model.requests]
        (asked,) = judge.requests
        assert text_of(asked) == (
            'Where was the founder born? Lima\nCandidate Answers:\n["N/A", "Quito"]\n\nTask: x '
        )


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--prompt", "paper"), "--prompt goes with --model only"),
        (("--prompt-file", "p.txt"), "--prompt-file goes with --model only"),
        (("--judge-prompt", "paper"), "--judge-prompt goes with --judge-model only"),
        (("--model", "m", "--prompt", "paper", "--prompt-file", "p"), "not both"),
        (("--model", "m", "--prompt-file", "nowhere"), "cannot be read"),
        (("--judge-model", "m", "--judge-prompt-file", "nowhere"), "cannot be read"),
        (("--model", "m", "--prompt", "mine"), "--prompt"),
    ],
)
def test_bad_input(
    with_key: RagRules, tmp_path: Path, data: Path, wrong: tuple[str, ...], said: str
) -> None:
    run = with_key("experiment", "robustness", "--data", data, "--out", tmp_path / "o", *wrong)
    assert run.code == 2
    assert said in run.err
