"""Applications that keep something from run to run are refused by name, and the refusal has a way out."""

import asyncio
import json
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Literal
from uuid import uuid4

import httpx
import pytest
from openai import AsyncOpenAI
from plain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, StateShared
from tests.integrations.known import BAD, retention, shown_in
from tests.integrations.plain.models import NO_CERTIFICATES, Models
from tests.integrations.plain.zoo.shapes import Built, Index, chat, live, shown, user
from tests.integrations.plain.zoo.stateful import SHAPES, Stateful
from tests.integrations.stateful import renamed

Mode = Literal["sync", "async"]
MODES = ["sync", pytest.param("async", marks=pytest.mark.slow)]


def explained(built: Built, mode: Mode) -> Explanation:
    explainer: Any = RuleExplainer(built.application, predicate=BAD, miner="exact", **built.parameters)
    if mode == "sync":
        return explainer.explain(built.given)
    return asyncio.run(explainer.aexplain(built.given))


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_what_remembers_is_refused_and_has_a_way_out(shape: Stateful, mode: Mode, models: Models) -> None:
    with pytest.raises(shape.refusal, match=f"(?s){shape.says}"):
        explained(shape.build(models), mode)
    explanation = explained(shape.way_out(models), mode)
    names = {source.id: shown_in(source.text) for source in explanation.sources}
    assert renamed(retention(explanation), names) == shape.retention
    assert all(rule.proved for rule in explanation.rules), explanation.warnings[0]


def test_a_file_of_all_sessions_is_doubted_and_a_folder_for_each_run_is_not(
    models: Models, tmp_path: Path
) -> None:
    index = Index()

    def answered(question: str, file: Path) -> str:
        sessions = json.loads(file.read_text()) if file.exists() else {}
        turns = sessions.setdefault(uuid4().hex, [])
        turns.append(chat(models, "\n".join([*turns, shown(index.search(question), question)])))
        file.write_text(json.dumps(sessions))
        return str(turns[-1])

    def together(question: str) -> str:
        return answered(question, tmp_path / "sessions.json")

    def apart(question: str) -> str:
        return answered(question, Path(mkdtemp(dir=tmp_path)) / "sessions.json")

    doubted = explained(Built(together, live(index)), "sync")
    assert not any(rule.proved for rule in doubted.rules)
    assert "in each run, in a folder of its own: tempfile.mkdtemp()" in doubted.warnings[0]
    (tmp_path / "sessions.json").unlink()  # what an explanation left there is known to later ones
    explanation = explained(Built(apart, live(index)), "sync")
    assert all(rule.proved for rule in explanation.rules), explanation.warnings[0]


def test_what_a_client_computes_once_is_no_memory_after_a_refusal(models: Models) -> None:
    """An async client computes the platform at its first request, and was blamed for the refusal."""
    http, index = httpx.AsyncClient(verify=NO_CERTIFICATES), Index()
    client = AsyncOpenAI(base_url=models.client.base_url, api_key="none", http_client=http)

    def making() -> Any:
        history = list[Any]()

        async def answer(question: str) -> str:
            history.extend(user(shown(index.search(question), question)))
            reply = await client.chat.completions.create(model="m", messages=history)
            history.append({"role": "assistant", "content": reply.choices[0].message.content})
            return str(reply.choices[0].message.content)

        return answer

    async def both() -> Explanation:
        with pytest.raises(StateShared):
            await RuleExplainer(making(), predicate=BAD).aexplain("why?")
        explanation = await RuleExplainer(making, predicate=BAD).aexplain("why?")
        await client.close()
        return explanation

    explanation = asyncio.run(both())
    assert explanation.rules
    assert all(rule.proved for rule in explanation.rules), explanation.warnings[0]


class Begun:
    """Looks ``needs`` up when it is first asked, or ``always``, and notes that under a computed name."""

    def __init__(self, models: Models, needs: str, *, always: bool = False) -> None:
        self.models = models
        self.index = Index("abd")
        self.needs = needs
        self.always = always

    def __call__(self, question: str) -> str:
        found = {each["id"]: each for each in self.index.search(question)}
        if self.always or not getattr(self, "is_" + "begun", False):
            _ = found[self.needs] if self.needs else None
            setattr(self, "is_" + "begun", True)
        return chat(self.models, shown(found.values(), question))


@pytest.mark.parametrize(("needs", "is_proved"), [("a", False), ("", True)])
def test_a_replay_that_fails_from_the_earlier_state_proves_nothing(
    needs: str, is_proved: bool, models: Models
) -> None:
    """Without "a", the first run fails, and only later ones do not; that was *proved*."""
    explainer = RuleExplainer(Begun(models, needs), predicate=BAD, retries=0)
    explanation = explainer.explain("why?")
    assert explanation.rules
    assert {rule.proved for rule in explanation.rules} == {is_proved}
    assert is_proved is not any("failed (KeyError: 'a')" in each for each in explanation.warnings)


def test_a_replay_that_always_fails_is_no_doubt(models: Models) -> None:
    explainer = RuleExplainer(Begun(models, "a", always=True), predicate=BAD, retries=0)
    explanation = explainer.explain("why?")
    assert not any("failed (" in each for each in explanation.warnings)
    assert [probe.kept for probe in explanation.probes if probe.error]
