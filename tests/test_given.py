"""Sources, limits, noise and stores in the forms that people have."""

import inspect
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode

from rag_rule_explainer import Explainer, InvalidInput, Limits, Noise, Settings, Source, Store, contains
from rag_rule_explainer.sources import SourceSet

MADE_UP = "7f9c24e8-3b12-4fef-91e0-5d1b6a0c2f11"


@pytest.mark.parametrize(
    ("given", "name", "text"),
    [
        ("plain", "D1", "plain"),
        ({"id": "x", "text": "plain"}, "x", "plain"),
        ({"page_content": "plain", "metadata": {"source": "leave.md"}}, "leave.md", "plain"),
        ({"content": "plain", "title": "Leave"}, "Leave", "plain"),
        ({"id": MADE_UP, "text": "plain"}, "D1", "plain"),
        (Document(page_content="plain", id="x"), "x", "plain"),
        (Document(page_content="plain", metadata={"source": "leave.md"}), "leave.md", "plain"),
        (TextNode(text="plain", id_="x"), "x", "plain"),
        (
            NodeWithScore(node=TextNode(text="plain", metadata={"file_name": "f.md"}), score=1.0),
            "f.md",
            "plain",
        ),
    ],
)
def test_a_source_may_be_a_dict_or_a_document_of_a_framework(given: Any, name: str, text: str) -> None:
    (source,) = SourceSet.of([given]).sources
    assert (source.id, source.text) == (name, text)


def test_names_that_several_have_are_no_names() -> None:
    given = [{"text": each, "source": "leave.md"} for each in ("one", "two")]
    assert SourceSet.of([*given, Source("x", "three")]).ids == ("D1", "D2", "x")


@pytest.mark.parametrize("given", [3, None, object(), {"body": "plain"}])
def test_anything_else_is_said_with_what_may_be_given(given: Any) -> None:
    with pytest.raises(InvalidInput, match=r'a dict such as \{"id": "D1", "text": "..."\}'):
        SourceSet.of(["one", given])


@pytest.mark.parametrize("given", [{"text": 5}, {"id": 5, "text": "plain"}])
def test_a_text_and_an_id_are_texts(given: Any) -> None:
    with pytest.raises(InvalidInput, match="is 5; give a str"):
        SourceSet.of([given])


def replay(_question: str, _sources: Any) -> str:
    return "20 days"


def test_numbers_are_limits_of_replays_and_samples() -> None:
    settings = Explainer(replay, limits=100, noise=9).settings
    assert (settings.limits, settings.noise) == (Limits(replays=100), Noise(samples=9))


def test_a_store_without_a_namespace_needs_an_application_whose_requests_are_seen(tmp_path: Path) -> None:
    place = str(tmp_path / "answers.db")
    explainer = Explainer(replay, store=place)
    assert explainer.settings.store == Store(place)
    with pytest.raises(InvalidInput, match=r"namespace='support-bot-7'"):
        explainer.explain("?", ["one", "two"])
    assert not Path(place).exists()
    with pytest.raises(InvalidInput, match="has no namespace; give one"):
        Store(place).open()


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("predikate", "predicate"),
        ("limit", "limits"),
        ("max_replays", "limits"),
        ("sotre", "store"),
        ("n", ""),
    ],
)
def test_a_name_that_is_no_setting_is_told_with_all_that_are(wrong: str, near: str) -> None:
    with pytest.raises(InvalidInput) as told:
        Explainer(replay, **{wrong: 1})  # type: ignore[arg-type] -- a mistake, on purpose
    assert f"{wrong!r} is not a setting; " in str(told.value)
    assert (f"did you mean {near!r}?" in str(told.value)) == bool(near)
    for name in ("predicate", "omission_predicate", "limiter", "progress", "noise", "false_condition"):
        assert name in str(told.value)


def test_help_shows_every_setting_with_its_default() -> None:
    shown = inspect.signature(Explainer).parameters
    assert shown["noise"].default == Noise()
    assert shown["miner"].default == "auto"
    assert shown["store"].default is None
    assert {"limits", "prices", "merge_duplicates", "granularity", "speculate"} <= set(shown)
    assert Explainer(replay, predicate=contains("20")).explain("?", ["one"]).complete


@pytest.mark.parametrize("given", [{"a": "one", "b": "two"}, {"one", "two"}], ids=["dict", "set"])
def test_a_dict_by_id_and_a_set_are_no_list_of_sources(given: Any) -> None:
    with pytest.raises(
        InvalidInput, match=r"sources is a (dict|set); pass a list with a source for each"
    ):
        Explainer(lambda question, sources: "", predicate=contains("x")).explain("?", given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            [{"id": "a", "body": "x"}],
            "source 1 is a dict without a text; give one under text,",
        ),
        (Source("a", "x"), "sources is one Source; pass a list of documents"),
        ([3], "source 1 is an int; pass Source"),
    ],
)
def test_what_is_no_list_of_sources(given: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        SourceSet.of(given)


def test_numbers_of_other_libraries_are_numbers() -> None:
    np = pytest.importorskip("numpy")
    assert Limits(replays=np.int64(5), seconds=np.float32(2)) == Limits(replays=5, seconds=2.0)
    settings = Settings(concurrency=np.int8(3), seed=np.int64(4), noise=np.int32(9), limits=np.int64(7))
    assert (settings.concurrency, settings.seed, settings.noise.samples) == (3, 4, 9)
    numbers = (settings.concurrency, settings.seed, settings.limits.replays)
    assert all(type(each) is int for each in numbers)
    for wrong in (np.float64(2.5), np.bool_(True), np.float64("nan")):
        with pytest.raises(InvalidInput, match=r"limits.replays is .*; give at least 1, or None"):
            Limits(replays=wrong)


@pytest.mark.parametrize("name", ["answer_of", "question_of"])
def test_a_function_with_other_parameters_is_refused_where_it_is_given(name: str) -> None:
    explainer = pytest.importorskip("plain_rag_rule_explainer").RuleExplainer
    with pytest.raises(InvalidInput, match=f"{name} is a lambda, which cannot be called with 1"):
        explainer(str.upper, **{name: lambda: "x"})


def test_a_function_that_fails_is_named() -> None:
    explainer = pytest.importorskip("plain_rag_rule_explainer").RuleExplainer
    with pytest.raises(InvalidInput, match="question_of failed on a str: ValueError: invalid literal"):
        explainer(str.upper, question_of=int).explain("why?", documents=["x"])


@pytest.mark.parametrize("given", [Document("x"), {"id": "x"}, TextNode(text="x")])
def test_what_is_pinned_is_named_by_its_id(given: Any) -> None:
    explainer = pytest.importorskip("plain_rag_rule_explainer").RuleExplainer
    with pytest.raises(InvalidInput, match=f"pinned names a {type(given).__name__}; pass a list of ids"):
        explainer(str.upper).explain("why?", documents=["x"], pinned=[given])


def test_a_number_of_numpy_is_a_number_of_seconds_and_of_retries() -> None:
    np = pytest.importorskip("numpy")
    settings = Settings(timeout=np.float64(5), retries=np.int64(1))
    assert settings == Settings(timeout=5.0, retries=1)
