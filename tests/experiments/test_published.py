"""Examples out of files, which anybody may have written."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.experiments.published import examples_in
from tests.experiments.records import jsonl, line, published


def as_list(path: Path, *records: object, **how: Any) -> Path:
    path.write_text(json.dumps(records, **how), encoding="utf-8")
    return path


def test_both_forms_say_the_same(tmp_path: Path) -> None:
    (labelled,) = examples_in(jsonl(tmp_path / "a.jsonl", line()))
    (as_published,) = examples_in(as_list(tmp_path / "b.json", published()))
    assert labelled == as_published
    assert (labelled.id, labelled.answer, labelled.type, labelled.level) == (
        "q1",
        "Lima",
        "bridge",
        "easy",
    )
    assert labelled.necessary == ("D2", "D4")
    assert labelled.hops == 2
    assert labelled.sources[3].passage == "Title 4\nText 4."


@pytest.mark.parametrize("how", [{}, {"indent": 2}, {"separators": (",", ":")}])
def test_a_list_is_read_however_it_is_laid_out(tmp_path: Path, how: dict[str, Any]) -> None:
    records = [
        published(f"q{number}", question=f"Who wrote ], [{{ number {number}?") for number in range(30)
    ]
    found = list(examples_in(as_list(tmp_path / "many.json", *records, **how)))
    assert [each.id for each in found] == [record["_id"] for record in records]
    assert found[7].question == "Who wrote ], [{ number 7?"


def test_a_large_file_is_not_in_memory_as_a_whole(tmp_path: Path) -> None:
    text = "word " * 20_000
    records = [published(f"q{number}", context=[["Title 4", [text]]]) for number in range(200)]
    path = as_list(tmp_path / "large.json", *records)
    tracemalloc.start()
    assert sum(len(each.sources) for each in examples_in(path)) == 200
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 19_000_000
    assert peak < 8_000_000


def test_sentences_are_joined_as_they_were_parted(tmp_path: Path) -> None:
    context: list[list[Any]] = [["A", ["One. ", "Two.", " Three.", "Four.", "", "Five."]], ["B", []]]
    record = published(context=context, supporting_facts=[["A", 0], ["C", 0]])
    (found,) = examples_in(as_list(tmp_path / "a.json", record))
    assert [source.text for source in found.sources] == ["One. Two. Three. Four. Five.", ""]
    assert (found.necessary, found.hops) == (("D1",), 2)


def test_titles_may_repeat(tmp_path: Path) -> None:
    sources = [{"title": "Lima", "text": text, "necessary": text == "b"} for text in "abc"]
    (found,) = examples_in(jsonl(tmp_path / "a.jsonl", line(sources=sources)))
    assert found.necessary == ("D2",)
    assert [source.id for source in found.sources] == ["D1", "D2", "D3"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "holds no examples"),
        ("  \n\n", "holds no examples"),
        ("[]", "holds no examples"),
        ("hello", "record 1 is no JSON"),
        ("[" * 100_000, "record 1 is no JSON"),
        ('{"a":' * 100_000, "record 1 is no JSON: nested too deeply"),
        ('[{"_id": "a"', "record 1 is no JSON"),
        ('["a"]', "record 1 is no JSON object"),
        ("null", "record 1 is no JSON object"),
        ('{"id": ' + "9" * 5000 + "}", "record 1 is no JSON: Exceeds the limit"),
        (f"[{json.dumps(published())}]\n[{json.dumps(published('q2'))}]", "goes on after its list"),
        (f"[{json.dumps(published())}] {' ' * (1 << 20)}x", "goes on after its list"),
        ("{}", "record 1: question: Field required"),
        (json.dumps(line(answer=7)), "record 1: answer: Input should be a valid string"),
        (json.dumps(line(answer=" ")), "record 1: the answer is empty"),
        (json.dumps(line(sources=[{"text": "a", "necessary": "yes"}])), "sources.0.necessary"),
        (json.dumps([published(context=[["a"]])]), "record 1: context.0"),
        (f"{json.dumps(line())}\n\n{json.dumps(line())}", "record 2: the id 'q1' is that of record 1"),
    ],
    ids=range(18),
)
def test_a_file_that_is_neither(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput) as refused:
        list(examples_in(path))
    assert said in str(refused.value)
    assert str(path) in str(refused.value)
    assert len(str(refused.value)) < 1000


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b"[\xff")
    for name, said in (
        ("none.json", "there is no"),
        (".", "cannot be read"),
        ("latin.json", "not UTF-8"),
    ):
        with pytest.raises(InvalidInput, match=said):
            list(examples_in(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "records", "necessary"),
    [
        ("hotpotqa_train", 99, {2}),
        ("hotpotqa_dev", 200, {2}),
        ("musique_train", 100, {2, 3, 4}),
        ("2wiki_train", 150, {2, 4}),
    ],
)
def test_the_real_files(real_data: Path, name: str, records: int, necessary: set[int]) -> None:
    found = list(examples_in(real_data / f"{name}.jsonl"))
    assert len(found) == records
    assert {len(each.necessary) for each in found} == {each.hops for each in found} == necessary
