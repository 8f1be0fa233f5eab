"""A saved explanation is read only if its probes show what it claims, whichever of them were deleted."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import pytest
from pydantic import ValidationError

from rag_rule_explainer import Explainer, Explanation, InvalidInput, Source, contains, load
from rag_rule_explainer.probing.noise import Noise
from rag_rule_explainer.report.loading import EMBEDDED

IDS = "abcde"
Answering = Callable[[str], bool]


def explained(
    holds: Answering, *, ids: str = IDS, pinned: Sequence[str] = (), **fields: Any
) -> Explanation:
    def answer(_question: str, shown: Sequence[Source]) -> str:
        return "yes" if holds("".join(source.id for source in shown)) else "no"

    sources = [Source(each, f"{each} says something of its own") for each in ids]
    explainer = Explainer(answer, predicate=contains("yes"), **fields)
    return explainer.explain("?", sources, pinned=pinned)


def drawn(seed: int) -> Answering:
    return lambda kept: kept == IDS or random.Random(f"{seed} {kept}").random() < 0.6


def saved(explanation: Explanation) -> Any:
    return json.loads(explanation.to_json())


def refused(content: object) -> str:
    try:
        Explanation.model_validate_json(json.dumps(content))
    except ValidationError as error:
        return str(error)
    return ""


SETTINGS: Mapping[str, dict[str, Any]] = {
    "exact": {},
    "all, not minimal": {"minimal": False},
    "exhaustive": {"miner": "exhaustive"},
    "sampled": {"miner": "sampled"},
    "grouped": {"miner": "grouped"},
    "in batches": {"partition": 3},
    "a share": {"noise": Noise(min_confidence=0.7)},
    "by votes": {"noise": 3},
    "stopped": {"limits": 12},
    "retention only": {"rules": "retention"},
    "pinned": {"pinned": ["b"]},
}


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("fields", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("seed", range(4))
def test_no_probe_can_be_deleted(fields: dict[str, Any], seed: int) -> None:
    content = saved(explained(drawn(seed), **fields))
    assert not refused(content)
    lots = random.Random(seed)
    for count in (1, 1, 1, 2, 5, len(content["probes"])):
        kept = sorted(lots.sample(range(len(content["probes"])), max(0, len(content["probes"]) - count)))
        assert refused({**content, "probes": [content["probes"][place] for place in kept]})


def applies(rule: Any, kept: set[str], free: set[str]) -> bool:
    beyond = free - {*rule["kept"]} if rule["with_others"] else set[str]()
    named = {*rule["sources"]} | beyond
    return named <= kept if rule["kind"] == "retention" else not named & kept


def shown(content: Any, rule: Any, verdict: str) -> int:
    free = {each["id"] for each in content["sources"] if not each["pinned"]}
    return sum(
        applies(rule, {*probe["kept"]}, free)
        and probe["verdicts"].get(rule["kind"], {}).get("verdict") == verdict
        for probe in content["probes"]
    )


def broken(content: Any, kind: str) -> list[set[str]]:
    found = (each for each in content["probes"] if kind in each["verdicts"])
    return [{*each["kept"]} for each in found if each["verdicts"][kind]["verdict"] == "breaks"]


def is_open(content: Any, kind: str) -> bool:
    """Whether the probes leave it open if some sources are a rule, by going through all of them."""
    free = {each["id"] for each in content["sources"] if not each["pinned"]}
    rules = [{*rule["sources"]} for rule in content[f"{kind}_rules"]]
    fulfilled = [kept & free if kind == "retention" else free - kept for kept in broken(content, kind)]
    for size in range(len(free) + 1):
        for named in map(set, combinations(sorted(free), size)):
            if not any(rule <= named for rule in rules) and not any(named <= all_ for all_ in fulfilled):
                return True
    return False


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("fields", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("seed", range(6))
def test_no_claim_outlives_its_probes_where_the_counts_are_forged_too(
    fields: dict[str, Any], seed: int
) -> None:
    content = saved(explained(drawn(seed), **fields))
    for place in range(len(content["probes"])):
        probes = content["probes"][:place] + content["probes"][place + 1 :]
        less: Any = {**content, "probes": probes, "counts": {**content["counts"], "probes": len(probes)}}
        rules = [*less["retention_rules"], *less["omission_rules"]]
        lacking = any(
            shown(less, rule, "holds") < rule["observed"] or shown(less, rule, "breaks") < rule["broken"]
            for rule in rules
        )
        unseen = any({*each["kept"]} not in broken(less, each["kind"]) for each in less["witnesses"])
        is_exact = less["complete"] and less["miner"]["name"] in {"exact", "exhaustive"}
        missed = is_exact and any(is_open(less, kind) for kind in less["predicates"])
        assert bool(refused(less)) or not (lacking or unseen or missed)
        if not fields:
            without: Any = {**less, "witnesses": [], "counterfactuals": []}
            assert bool(refused(without)) == (lacking or missed)


def test_probes_are_refused_in_another_ones_place() -> None:
    content = saved(explained(drawn(1)))
    content["probes"][1] = content["probes"][0]
    assert "two probes kept the same sources" in refused(content)
    content["probes"][1] = {**content["probes"][0], "kept": list(reversed(content["probes"][0]["kept"]))}
    assert "two probes kept the same sources" in refused(content)
    content["probes"][1] = {**content["probes"][0], "kept": ["a", "a"]}
    assert "kept a source twice" in refused(content)


def test_what_is_not_complete_says_why() -> None:
    content = saved(explained(drawn(1))) | {"complete": False, "stop_reason": " "}
    assert "marked not complete, and nothing says why" in refused(content)
    assert not refused(content | {"stop_reason": "stopped by hand"})


@pytest.mark.parametrize("suffix", [".json", ".html"])
def test_the_message_names_the_file(tmp_path: Any, suffix: str) -> None:
    file = tmp_path / f"saved{suffix}"
    explanation = explained(lambda kept: "a" in kept)
    explanation.save(file)
    assert load(file) == explanation
    whole, changed = file.read_text("utf-8"), json.dumps({**saved(explanation), "probes": []})
    begin, tag, rest = whole.partition(EMBEDDED)
    forged = f"{begin}{tag}{changed}</script>{rest.partition('</script>')[2]}" if tag else changed
    file.write_text(forged, "utf-8")
    with pytest.raises(InvalidInput, match=f"saved{suffix}: Value error, .* probes"):
        load(file)


@pytest.mark.slow  # it makes the 8,192 replays that are more than are kept
def test_more_probes_than_are_kept_can_be_saved() -> None:
    ids = "abcdefghijklm"
    explanation = explained(lambda kept: "a" in kept or len(kept) < 3, ids=ids, miner="exhaustive")
    content = saved(explanation)
    assert content["counts"]["probes"] == 1 << len(ids) > len(content["probes"]) == 4096
    assert not refused(content)
    content["probes"].pop()
    assert "it has 4095 probes, but counts 8192" in refused(content)
