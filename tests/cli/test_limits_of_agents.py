"""The limit of replays that a command sets: agents have a lower one of their own."""

from typing import Any

import pytest

from rag_rule_explainer import Limits, Noise, Settings
from rag_rule_explainer.cli.many_questions import capped
from rag_rule_explainer.cli.options import ASK_ABOVE
from rag_rule_explainer.cli.recording_options import RecordingOptions


@pytest.mark.parametrize(
    ("given", "cap"),
    [
        ({}, ASK_ABOVE),
        ({"miner": "sampled"}, ASK_ABOVE),
        ({"miner": "quick"}, None),
        ({"miner": "quick", "noise": Noise(samples=3)}, ASK_ABOVE),
        ({"miner": "quick", "limits": Limits(7)}, 7),
    ],
)
def test_the_quick_search_keeps_its_own_limit(given: dict[str, Any], cap: int | None) -> None:
    assert capped(Settings(**given), agreed=False).limits.replays == cap


@pytest.mark.parametrize(
    ("given", "is_of_agent"),
    [
        ({}, False),
        ({"source_kinds": "documents"}, False),
        ({"source_kinds": "documents, documents"}, False),
        ({"source_kinds": "documents, tools"}, True),
        ({"replay_of": "next_action"}, True),
    ],
)
def test_which_options_are_of_an_agent(given: dict[str, Any], is_of_agent: bool) -> None:
    options = RecordingOptions(**given)
    assert options.of_agent(Settings()).miner == ("quick" if is_of_agent else "auto")
    assert options.of_agent(Settings(miner="exact")).miner == "exact"
    assert options.most_replays == (120 if is_of_agent else ASK_ABOVE)
