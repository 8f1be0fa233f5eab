"""What a response says of documents that a replay leaves out."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from plain_rag_rule_explainer import RuleExplainer, gate, offline_client

from rag_rule_explainer import UntrueReplay, contains
from rag_rule_explainer.instrumentation.clients import elasticsearch


def found(counts: bool = True) -> dict[str, Any]:
    texts = {"n1": "Delivery takes six weeks.", "n2": "Returns are free."}
    hits = [{"_id": name, "_source": {"text": text}} for name, text in texts.items()]
    counted: dict[str, Any] = {"words": {"buckets": [{"key": "weeks", "doc_count": 1}]}}
    return {"hits": {"hits": hits}, **({"aggregations": counted} if counts else {})}


READINGS: list[Callable[[Any], object]] = [
    lambda part: part["words"],
    lambda part: part.get("words"),
    lambda part: "words" in part,
    list,
    dict,
    bool,
    len,
    str,
    lambda part: json.dumps({"part": part}),
    lambda part: {**part},
    lambda part: part == {},
]


@pytest.mark.parametrize("read", READINGS)
def test_a_part_that_counts_omitted_documents_is_not_read(read: Callable[[Any], object]) -> None:
    whole = found()
    rows = elasticsearch.rows(whole)
    assert rows is not None
    read(elasticsearch.response(rows, whole)["aggregations"])
    with pytest.raises(UntrueReplay, match="'aggregations'"):
        read(elasticsearch.response([rows[0][:1]], whole)["aggregations"])


def explained(shown: Callable[[Any], str]) -> Any:
    def search(_: str) -> dict[str, Any]:
        return found()

    gated, client = gate(search, items_of=elasticsearch), offline_client()

    def answer(question: str) -> str:
        response = gated(question)
        texts = [hit["_source"]["text"] for hit in response["hits"]["hits"]]
        prompt = "\n".join([*texts, shown(response), question])
        said = client.chat.completions.create(model="m", messages=[{"role": "user", "content": prompt}])
        return str(said.choices[0].message.content)

    return RuleExplainer(answer, predicate=contains("six")).explain("How many weeks does delivery take?")


def test_an_application_that_reads_it_is_refused_and_one_that_does_not_is_explained() -> None:
    with pytest.raises(UntrueReplay, match="Compute it from the hits"):
        explained(lambda response: str(response["aggregations"]["words"]["buckets"]))
    explanation = explained(lambda _: "")
    assert [rule.sources for rule in explanation.retention_rules] == [("n1",)]
    assert explanation.complete
