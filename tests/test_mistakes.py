"""What a newcomer does wrong in Python, and what is said; or done, where it is clear what was meant.

Conditions that mean the answer's text, or that are not met, are in test_conditions_said; sources, limits
and stores as people have them in test_given.
"""

import asyncio
import dataclasses
import inspect
import itertools
import pickle
import pydoc
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer as OfChains
from langchain_rag_rule_explainer import explained, gate, lexical_chain
from llama_index.core.schema import TextNode
from llama_index_rag_rule_explainer import RuleExplainer as OfEngines
from llama_index_rag_rule_explainer import explained as explained_engine
from llama_index_rag_rule_explainer import gate as gate_of_engines
from llama_index_rag_rule_explainer import lexical_engine
from pydantic import TypeAdapter

import rag_rule_explainer
from rag_rule_explainer import (
    Case,
    Explainer,
    Explanation,
    Limits,
    Noise,
    Source,
    Summary,
    consistent_with,
    contains,
    judged,
    same_answer,
)
from rag_rule_explainer.allowed import CALLED_ELSEWHERE
from rag_rule_explainer.errors import (
    AnswerNotRepeatable,
    BaselineFailed,
    InvalidInput,
    MissingExtra,
    NoSourcesCaptured,
    RagRuleError,
    TooManySources,
)
from rag_rule_explainer.instrumentation.clients import pgvector
from rag_rule_explainer.predicates import json_path
from rag_rule_explainer.session.call_options import CallFields, CallOptions
from rag_rule_explainer.session.estimate.options import EstimateFields, EstimateOptions

QUESTION = "How many days of leave are there?"
OLD, NEW = "There are 20 days of leave.", "Dogs are welcome."
SOURCES = [Source("old", OLD), Source("new", NEW), Source("menu", "Soup is served at noon.")]
SIXTY = [f"Text {number}." for number in range(60)]


def replay(_question: str, sources: Sequence[Source]) -> str:
    return "20 days" if "old" in {source.id for source in sources} else "no"


def by_heart(_question: str) -> str:
    return "20 days"


def chain() -> Any:
    return lexical_chain(
        [Document(id="old", page_content=OLD), Document(id="new", page_content=NEW)], k=2
    )


def engine() -> Any:
    return lexical_engine([TextNode(id_="old", text=OLD), TextNode(id_="new", text=NEW)], k=2)


WAYS_IN: list[tuple[Callable[..., Any], Any]] = [
    (Explainer, replay),
    (OfChains, RunnableLambda(by_heart)),
    (OfEngines, by_heart),
]


@pytest.mark.parametrize(("elsewhere", "setting"), CALLED_ELSEWHERE.items())
def test_the_name_that_another_library_gives_to_a_setting(elsewhere: str, setting: str) -> None:
    with pytest.raises(InvalidInput, match=f"'{elsewhere}' is not a setting; did you mean '{setting}'"):
        cast("Any", Explainer)(replay, **{elsewhere: 1})


@pytest.mark.parametrize(("explainer", "application"), WAYS_IN)
def test_a_misspelt_setting(explainer: Callable[..., Any], application: Any) -> None:
    with pytest.raises(
        InvalidInput, match=r"'predikate' is not a setting; did you mean 'predicate'\?"
    ) as no:
        explainer(application, predikate=contains("20"))
    known = str(no.value).partition("known are ")[2].split(", ")
    assert known == sorted(known)
    assert {"predicate", "omission_predicate", "progress", "limiter", "noise", "store"} <= set(known)


@pytest.mark.parametrize(("explainer", "application"), WAYS_IN)
def test_help_names_every_setting(explainer: Callable[..., Any], application: Any) -> None:
    known = {"predicate", "noise", "limits", "prices", "merge_duplicates", "granularity", "speculate"}
    shown = inspect.signature(explainer).parameters
    assert known <= set(shown)
    with pytest.raises(InvalidInput) as no:
        explainer(application, predikate=contains("20"))
    accepted = str(no.value).partition("known are ")[2].split(", ")
    assert [each.name for each in shown.values() if each.kind is each.KEYWORD_ONLY] != []
    assert {each.name for each in shown.values() if each.kind is each.KEYWORD_ONLY} <= {*accepted}


@pytest.mark.parametrize(
    "name", ["explain", "aexplain", "stream", "astream", "verify", "averify", "estimate"]
)
def test_help_and_editors_name_whatever_a_call_takes(name: str) -> None:
    options, fields = (
        (EstimateOptions, EstimateFields) if name == "estimate" else (CallOptions, CallFields)
    )
    shown = inspect.signature(getattr(Explainer, name)).parameters
    told = pydoc.plain(pydoc.render_doc(getattr(Explainer, name)))
    # What an editor reads, and what is taken.
    assert list(fields.__annotations__) == [each.name for each in dataclasses.fields(options)]
    for each in dataclasses.fields(options):
        assert shown[each.name].default == each.default
        assert shown[each.name].annotation == fields.__annotations__[each.name]
        assert f"{each.name}: " in told


def test_a_misspelt_keyword_of_a_call_is_named() -> None:
    with pytest.raises(
        InvalidInput, match="'pined' is not a keyword of this call; did you mean 'pinned'"
    ):
        # A mistake, on purpose.
        Explainer(replay).explain("?", SOURCES, pined=["old"])  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize("name", ["explain", "estimate"])
def test_a_setting_that_is_given_to_a_call_is_told_where_it_goes(name: str) -> None:
    with pytest.raises(InvalidInput) as told:
        getattr(Explainer(replay), name)("?", SOURCES, predicate=contains("20"))
    assert str(told.value) == (
        "'predicate' is a setting of the explainer, and no keyword of this call: "
        "Explainer(replay, predicate=...)"
    )


def pieces(_question: str, _sources: Sequence[Source]) -> Iterator[str]:
    yield "20 days"


NO_ANSWERS: dict[str, tuple[Callable[..., Any], str]] = {
    "nothing": (lambda *_: None, "None; give a str or an Answer: there is "),
    "message": (lambda *_: AIMessage("20 days"), "an Answer: its .content"),
    "dict": (lambda *_: {"result": "20"}, "an Answer: what is in it under 'result'"),
    "pieces": (pieces, "generator; give a str or an Answer: its pieces, joined"),
    "number": (lambda *_: 20, "an answer is int; give a str or an Answer"),
}


@pytest.mark.parametrize(("application", "said"), NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_what_a_function_returns_and_is_no_answer(application: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said.replace("(", "\\(")):
        Explainer(application).explain(QUESTION, SOURCES)


def always(_: Any) -> Any:
    return True


def candidates_of(request: Any) -> Any:
    return {each.id: True for each in request.candidates}


def test_a_judge_given_for_a_condition_leads_to_judged() -> None:
    with pytest.raises(BaselineFailed, match=r"is a judge: predicate=judged\('says ...', judge\)"):
        Explainer(replay, candidates_of).explain(QUESTION, SOURCES)


class Unsearched:
    """A class of a user's own that searches."""


def test_a_judge_that_says_only_true() -> None:
    with pytest.raises(RagRuleError, match=r"the judge returned True; return \{id: True\} for "):
        Explainer(replay, judged("is right", always)).explain(QUESTION, SOURCES)


def test_names_that_are_looked_for_on_an_explanation() -> None:
    explanation = Explainer(replay).explain(QUESTION, SOURCES)
    with pytest.raises(AttributeError, match=r"no 'as_text'; use explanation\.report\(\)"):
        # A mistake, on purpose.
        _ = explanation.as_text  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


MISSPELT = {
    "cites": "sorce",
    "mentions_source": "sorce",
    "condition": "txt",
    "refuses": "phrase",
    "equals": "txt",
    "contains": "ignorecase",
    "matches": "patern",
    "one_of": "txts",
    "is_valid": "knd",
    "Store": "name_space",
    "Price": "inpt",
    "Retries": "mst",
    "Limiter": "sze",
    "ProgressBar": "frm",
    "Partition": "other",
    "Sampled": "max_violations",
    "Assumptions": "answer_token",
    "LabelledCase": "thruth",
}


@pytest.mark.parametrize("name", MISSPELT)
def test_a_misspelt_keyword_of_what_a_user_makes(name: str) -> None:
    with pytest.raises(
        InvalidInput, match=f"'{MISSPELT[name]}' is not a keyword of {name}; did you mean '"
    ):
        getattr(rag_rule_explainer, name)(**{MISSPELT[name]: 1})


@pytest.mark.parametrize("gate", [gate, gate_of_engines])
def test_a_misspelt_keyword_of_a_gate(gate: Callable[..., Any]) -> None:
    with pytest.raises(InvalidInput, match="'text_off' is not a keyword of gate; did you mean 'text_of'"):
        gate(by_heart, text_off=str)


def rules_of(explanation: Explanation) -> list[str]:
    return [rule.rule for rule in explanation.retention_rules]


def test_the_condition_as_second_argument() -> None:
    said = ["whenever old is retained, the answer contains '20'"]
    assert rules_of(Explainer(replay, contains("20")).explain(QUESTION, SOURCES)) == said
    assert rules_of(OfChains(chain(), contains("20")).explain(QUESTION)) == said
    assert rules_of(OfEngines(engine(), contains("20")).explain(QUESTION)) == said
    answer: Any = explained(chain(), contains("20")).invoke(QUESTION)
    assert answer.rag_rules["retention_rules"][0]["sources"] == ["old"]


@pytest.mark.parametrize("wrap", [explained, explained_engine])
def test_a_condition_for_an_explainer_that_has_its_own(wrap: Callable[..., Any]) -> None:
    explainer = OfChains(chain()) if wrap is explained else OfEngines(engine())
    with pytest.raises(InvalidInput, match="the RuleExplainer has its own predicate, noise; set that "):
        wrap(explainer, contains("20"), noise=9)


NOT_TAKEN: dict[str, tuple[Callable[[], Any], str]] = {
    "text for condition": (
        lambda: Explainer(replay, "20"),  # type: ignore[arg-type] -- a mistake, on purpose
        "the predicate is '20'; pass a predicate such as contains('...') or a function of a Case",
    ),
    "one text for sources": (
        lambda: Explainer(replay).explain(QUESTION, OLD),
        "sources is one string; pass a list with a Source for each document",
    ),
    "no sources": (
        lambda: Explainer(replay).explain(QUESTION, []),
        "there are no sources to explain the answer by; pass at least one",
    ),
    "nothing to replay": (
        lambda: Explainer().explain(QUESTION, SOURCES),
        "nothing to replay; pass replay=, a function of (question, sources)",
    ),
    "misspelt value": (
        lambda: Explainer(replay, miner="exat"),  # type: ignore[arg-type] -- a mistake, on purpose
        "miner is 'exat'; did you mean 'exact'? give one of 'auto', 'quick', 'exact', ",
    ),
    "words for a number": (
        lambda: Explainer(replay, limits="many"),  # type: ignore[arg-type] -- a mistake, on purpose
        "limits is 'many'; give a number of replays, or Limits(replays=...)",
    ),
    "word for samples": (
        lambda: Explainer(replay, noise="nine"),  # type: ignore[arg-type] -- a mistake, on purpose
        "noise is 'nine'; give a number of samples, or Noise(samples=...)",
    ),
    "share for samples": (
        lambda: Explainer(replay, noise=0.95),  # type: ignore[arg-type] -- a mistake, on purpose
        "noise is 0.95; give a number of samples, or Noise(samples=...); a share of subsets is Noise(min",
    ),
    "misspelt limit": (
        lambda: Limits(replay=3),  # type: ignore[call-arg] -- a mistake, on purpose
        "'replay' is not a keyword of Limits; did you mean 'replays'? known are cost, failures, ",
    ),
    "misspelt field of noise": (
        lambda: Noise(sample=9),  # type: ignore[call-arg] -- a mistake, on purpose
        "'sample' is not a keyword of Noise; did you mean 'samples'?",
    ),
    "misspelt column": (
        lambda: pgvector(txt="content"),  # type: ignore[call-arg] -- a mistake, on purpose
        "'txt' is not a keyword of pgvector; did you mean 'text'? known are id, text",
    ),
    "list of columns": (
        lambda: pgvector(text=["content"]),  # type: ignore[arg-type] -- a mistake, on purpose
        "text of pgvector is ['content']; give the name of a column, or its place",
    ),
    "misspelt keyword of a condition": (
        lambda: same_answer(overlp=0.8),  # type: ignore[call-arg] -- a mistake, on purpose
        "'overlp' is not a keyword of same_answer; did you mean 'overlap'?",
    ),
    "misspelt keyword of a path": (
        lambda: json_path("$.dose", equal=3),  # type: ignore[call-arg] -- a mistake, on purpose
        "'equal' is not a keyword of json_path; did you mean 'equals'?",
    ),
    "judge by place": (
        lambda: same_answer(always),  # type: ignore[call-arg] -- a mistake, on purpose
        "same_answer takes 0 arguments without a name, and was given 1; write same_answer(overlap=..., j",
    ),
    "judge by place, after the truth": (
        lambda: consistent_with("20 days", always),  # type: ignore[call-arg] -- a mistake, on purpose
        "consistent_with takes 1 arguments without a name, and was given 2; write consistent_with(truth,",
    ),
    "no judge": (
        lambda: judged("names a drug"),  # type: ignore[call-arg] -- a mistake, on purpose
        "judged cannot be called so, missing a required argument: 'judge'; write judged(criterion, ju",
    ),
    "judge for a setting": (
        lambda: Explainer(replay, judge=always),  # type: ignore[call-arg] -- a mistake, on purpose
        "'judge' is not a setting; did you mean predicate=judged('says ...', judge)? known are ",
    ),
    "misspelt keyword of a question to an engine": (
        # A mistake, on purpose.
        lambda: OfEngines(by_heart).explain(QUESTION, pined=["old"]),  # type: ignore[call-arg]
        "'pined' is not a keyword of explain; did you mean 'pinned'? known are ",
    ),
    "setting in a question to an engine": (
        # A mistake, on purpose.
        lambda: OfEngines(by_heart).explain(QUESTION, predicate=contains("20")),  # type: ignore[call-arg]
        "'predicate' is a setting of the explainer, and no keyword of this call: RuleExplainer(app",
    ),
    "misspelt keyword, awaited": (
        # A mistake, on purpose.
        lambda: asyncio.run(OfEngines(by_heart).aexplain(QUESTION, docments=[])),  # type: ignore[call-arg]
        "'docments' is not a keyword of aexplain; did you mean 'documents'? known are ",
    ),
    "class to gate for chains": (
        lambda: gate(Unsearched),
        "gate was given the class Unsearched; pass an ",
    ),
    "class to gate for engines": (
        lambda: gate_of_engines(Unsearched),
        "gate was given the class Unsearched; pass an instance of it",
    ),
    **{
        f"a bound of {bound}": (
            lambda bound=bound: OfChains(chain()).explain(QUESTION, {"max_concurrency": bound}),
            f"max_concurrency of the config is {bound}; give a whole number, at least 1",
        )
        for bound in (0, -1)
    },
    "number for a store": (
        lambda: Explainer(replay, store=5),  # type: ignore[arg-type] -- a mistake, on purpose
        "store is 5; give the path of a SQLite file, or Store(url, namespace)",
    ),
    "misspelt id": (
        lambda: Explainer(replay).verify({"odl"}, "retention", QUESTION, SOURCES),
        "the rule names 'odl', which is no source; did you mean 'old'? the sources are 'old', 'new', ",
    ),
    "misspelt kind": (
        # A mistake, on purpose.
        lambda: Explainer(replay).verify({"old"}, "retain", QUESTION, SOURCES),  # type: ignore[arg-type]
        "kind is 'retain'; give 'retention' or 'omission'",
    ),
    "one string of ids": (
        lambda: Explainer(replay).verify("old", "retention", QUESTION, SOURCES),
        "a rule names its sources by a set of ids, such as {'D2'}; got 'old'",
    ),
    **{
        f"condition for a config of {name}": (
            lambda name=name: list(getattr(OfChains(chain()), name)(QUESTION, contains("20"))),
            "the second argument is LangChain's config, a dict, and this is Contains(",
        )
        for name in ("explain", "invoke", "stream", "estimate")
    },
    "no engine": (
        lambda: OfEngines("engine"),  # type: ignore[arg-type] -- a mistake, on purpose
        "this is a str, which answers no questions; pass a query ",
    ),
}


@pytest.mark.parametrize(("wrong", "said"), NOT_TAKEN.values(), ids=NOT_TAKEN)
def test_what_cannot_be_meant_is_said_with_what_can(wrong: Callable[[], Any], said: str) -> None:
    with pytest.raises(InvalidInput) as told:
        wrong()
    assert str(told.value).startswith(said)


@pytest.mark.parametrize("explainer", [OfChains(RunnableLambda(by_heart)), OfEngines(by_heart)])
def test_an_application_that_is_seen_to_retrieve_nothing(explainer: Any) -> None:
    with pytest.raises(NoSourcesCaptured) as told:
        explainer.explain(QUESTION)
    assert str(told.value).startswith("the application answered without a retrieval that could be seen: ")
    assert "Wrap any other search, or one in a thread that began before the run, in gate(...)" in str(
        told.value
    )
    assert "with rag_rule_explainer.Explainer" in str(told.value)


def test_more_sources_than_an_exact_search_takes() -> None:
    with pytest.raises(TooManySources) as told:
        Explainer(replay, miner="exact").explain(QUESTION, SIXTY)
    assert str(told.value).startswith("60 sources have 2^60 subsets; an exact search takes at most 20 ")
    assert "Say miner='sampled', which tests rules on random subsets, or miner='grouped'" in str(
        told.value
    )


def test_a_search_without_end_ends_at_a_cap_that_is_named() -> None:
    explanation = Explainer(lambda _question, sources: str(len(sources) % 2)).explain(QUESTION, SIXTY)
    last = str(explanation).splitlines()[-1]
    assert last == "(not complete: the limit of 500 replays is reached; more rules may exist)"


def test_a_model_that_never_repeats_itself() -> None:
    answers = itertools.count(19)
    with pytest.raises(AnswerNotRepeatable) as told:
        Explainer(lambda _question, _sources: f"{next(answers)} days", contains("19")).explain(
            QUESTION, SOURCES
        )
    assert str(told.value) == (
        "the same sources were replayed twice and the condition \"the answer contains '19'\" came out "
        "differently, so no rule about it could be trusted. First answer: '19 days'. Second answer: "
        "'20 days'. Put several answers to the vote with noise=Noise(samples=9) (--samples 9), lower the "
        "model's temperature, or pass check_repeatable=False (--no-repeat-check) to mine this run's "
        "verdicts as they come. More: rag-rules help AnswerNotRepeatable"
    )
    assert isinstance(told.value, RagRuleError)


FIRST_EXAMPLES: list[Callable[[], Any]] = [
    lambda: chain().invoke(QUESTION),
    lambda: engine().query(QUESTION),
    lambda: OfChains(chain()).explain(QUESTION),
    lambda: OfEngines(engine()).explain(QUESTION),
]


@pytest.mark.parametrize("asked", FIRST_EXAMPLES)
def test_an_example_without_its_extra_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, asked: Callable[[], Any]
) -> None:
    monkeypatch.setitem(sys.modules, "bm25s", None)  # Python's own way to say: there is none
    with pytest.raises(MissingExtra) as told:
        asked()
    assert str(told.value) == "retrieving by BM25 needs: pip install 'rag-rule-explainer[bm25]'"


def test_a_condition_of_ones_own_is_called_by_its_name() -> None:
    def names_days(case: Case) -> bool:
        return "days" in case.answer.text

    assert rules_of(Explainer(replay, names_days).explain(QUESTION, SOURCES)) == [
        "whenever old is retained, names_days(case) is true"
    ]


class TestShown:
    """What a notebook, an API and another process are given."""

    def test_what_is_printed_are_the_rules_and_a_report_begins_with_the_answer(
        self, explanation: Explanation
    ) -> None:
        assert str(explanation).splitlines() == list(map(str, explanation.rules))
        assert explanation.report().startswith(f"Question: {QUESTION}\nAnswer: 20 days\n")

    @pytest.fixture
    def explanation(self) -> Explanation:
        return Explainer(replay, contains("20")).explain(QUESTION, SOURCES)

    def test_what_a_cell_ends_in_is_a_sentence(self, explanation: Explanation) -> None:
        rule = explanation.retention_rules[0]
        assert repr(rule) == (
            "whenever old is retained, the answer contains '20' [proved on all 4 subsets]"
        )
        verified = Explainer(replay, contains("20")).verify({"new"}, "retention", QUESTION, SOURCES)
        assert repr(verified) == (
            "<Verification: broken: retaining new does not bring it about with new retained, where the "
            "answer was 'no'>"
        )

    def test_a_cell_that_ends_in_a_hostile_rule_shows_little_and_on_one_line(self) -> None:
        hostile = Source("x" * 5000 + "\n\x1b[31m", "20 days")
        explainer = Explainer(lambda _question, sources: str(hostile in sources))
        (rule,) = explainer.explain(QUESTION, [hostile, SOURCES[1]]).retention_rules
        assert repr(rule).isprintable()
        assert len(repr(rule)) < 500

    def test_a_summary_says_the_same_without_texts_and_probes(self, explanation: Explanation) -> None:
        summary = explanation.summary()
        assert (summary.question, summary.answer) == (QUESTION, "20 days")
        assert summary.sources == ("old", "new", "menu")
        assert [f"{rule.rule} [{rule.evidence}]" for rule in summary.rules] == list(
            map(str, explanation.rules)
        )
        assert [rule.claim for rule in summary.rules] == ["proved", "proved"]
        assert (summary.complete, summary.why_incomplete, summary.warnings) == (True, "", ())
        assert (summary.probes, summary.replays) == (
            explanation.counts.probes,
            explanation.counts.replays,
        )
        json = summary.model_dump_json()
        assert Summary.model_validate_json(json) == summary
        assert OLD not in json
        assert len(json) < len(explanation.model_dump_json()) / 4

    def test_a_summary_of_what_was_stopped_says_so(self) -> None:
        explainer = Explainer(replay, contains("30"), limits=3)
        summary = explainer.explain(QUESTION, SOURCES).summary()
        assert not summary.complete
        assert summary.why_incomplete == "the limit of 3 replays is reached"
        assert summary.warnings[0].startswith("with all sources the condition is not met")

    def test_its_schema_is_a_small_one(self) -> None:
        schema = TypeAdapter(Summary).json_schema()
        assert set(schema["$defs"]) == {"RuleSummary", "RuleKind", "Spent"}

    def test_it_goes_to_another_process(self, explanation: Explanation) -> None:
        assert pickle.loads(pickle.dumps(explanation)) == explanation  # noqa: S301 -- our own
