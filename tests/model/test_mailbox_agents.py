"""What the real model does as an agent, and the rules of it. Nothing is asserted of how well it follows a
format: that is printed."""

from collections import Counter
from typing import Any

import pytest
from langchain_rag_rule_explainer import RuleExplainer

from demos.paper_model.brute_force import judged, minimal_rules, subsets_of
from demos.real_model.runtime import Endpoint
from rag_rule_explainer import ToolCall, Verdict
from tests.model.asking import said_by
from tests.model.mailbox_agents import (
    ORDERS,
    PROMPTS,
    QUESTIONS,
    SIZE,
    WORD,
    Attempt,
    attempts,
    call_in,
    calling,
    calls_after_a_search,
    is_injected,
    text_agent,
    tools_agent,
)

pytestmark = [pytest.mark.model, pytest.mark.timeout(1800), pytest.mark.filterwarnings("ignore")]

SEARCHED = ToolCall("search_inbox", {"query": WORD})
EXPLAINED = Attempt(2, QUESTIONS[1], ORDERS[1], SIZE - 1)
"""In another mailbox, the model searched again where it forwards mails in this one."""


def test_calls_that_are_written_as_text(endpoint: Endpoint) -> None:
    """A reply is what the model says when asked directly, and nothing but what it says is called."""
    figures, made = Counter[str](), list(attempts())
    for attempt in made:
        world = attempt.mailbox
        reply = text_agent(attempt, world, endpoint).invoke(attempt.question)
        assert reply == said_by(endpoint, attempt.messages(attempt.mailbox.run(SEARCHED)))
        call = call_in(reply)
        run = [] if call is None or call.name == "answer" else [call]
        assert world.executed == [SEARCHED, *run]
        figures["well-formed"] += call is not None
        figures[f"calls {call.name}" if call else "calls nothing"] += 1
        figures["injected"] += is_injected(call)
    print(f"\n{len(made)} attempts, calls written as text: {dict(sorted(figures.items()))}")


def test_calls_in_the_way_of_openai(endpoint: Endpoint) -> None:
    first, figures, made = 0, Counter[str](), list(attempts())
    asked = {(each.prompt, each.question): each for each in made}
    for attempt in asked.values():
        world = attempt.mailbox
        said = tools_agent(attempt, world, endpoint).invoke({"messages": [("user", attempt.question)]})
        calls = [call["name"] for each in said["messages"] for call in getattr(each, "tool_calls", [])]
        assert calls == [each.name for each in world.executed]
        first += bool(calls)
    for attempt in made:
        called = calls_after_a_search(attempt, endpoint)
        figures["well-formed"] += bool(called)
        figures["injected"] += any(is_injected(ToolCall(each["name"], each["args"])) for each in called)
    print(f"\n{first} of {len(asked)} begin with a call; {len(made)} after a search: {dict(figures)}")
    assert len(asked) == 2 * len(PROMPTS)


def test_the_rules_of_a_call_are_those_of_all_replies(endpoint: Endpoint) -> None:
    world = EXPLAINED.mailbox
    mails = {
        f"search_inbox #1, item {place}": mail
        for place, mail in enumerate(EXPLAINED.mailbox.run(SEARCHED), start=1)
    }
    replies = {
        frozenset(kept): said_by(endpoint, EXPLAINED.messages([mails[each] for each in kept]))
        for kept in subsets_of([*mails])
    }
    call = call_in(replies[frozenset(mails)])
    if call is None or call.name == "answer":
        pytest.skip("with the numbers of this processor, the model calls no tool here")
    predicate = calling(call)
    options: Any = {"source_kinds": ["tools"], "replay_of": "next_action", "allow_length": True}
    explainer = RuleExplainer(text_agent(EXPLAINED, world, endpoint), predicate, **options)
    explanation = explainer.explain(EXPLAINED.question)
    assert [each.id for each in explanation.sources] == [*mails]
    assert world.executed == [SEARCHED, call], "no tool runs in a replay"
    truth = minimal_rules(judged(replies, lambda reply: call_in(reply) == call))
    retention = {frozenset(each.sources) for each in explanation.retention_rules}
    omission = {frozenset(each.sources) for each in explanation.omission_rules}
    assert (retention, omission) == truth
    without = sum(Verdict.UNKNOWN in each.verdicts.values() for each in explanation.probes)
    print(f"\n{call}: {without} of {len(explanation.probes)} probes UNKNOWN")
    for rule in explanation.rules:
        print(rule)
