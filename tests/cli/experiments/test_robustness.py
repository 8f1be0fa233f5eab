"""Robustness over the wire: models with seeded errors, against what these errors imply."""

import csv
import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer.storing.opened import close_all
from tests.cli.runs import (
    UNREACHABLE,
    Holding,
    RagRules,
    assert_refused,
    finished,
    jsonl,
    subprocess_of,
)
from tests.experiments.seeded import (
    EVERY,
    EXPECTED,
    ErrorRates,
    Kind,
    Seeded,
    candidates_in,
    judged_true,
    mean,
)
from tests.support.judging import judging
from tests.support.openai_server import OpenAIServer

pytestmark = pytest.mark.waits

KINDS: tuple[Kind, ...] = ("retention", "omission")
MODELS = {
    "steady": ErrorRates(0.02, 0.01),
    "shaky": ErrorRates(0.15, 0.08),
    "wild": ErrorRates(0.35, 0.3),
}
ASKED = len(EVERY) - 1
DRAWS = find_spec("matplotlib") is not None
FIGURES = {"robustness_micro.png", "robustness_macro.png"} if DRAWS else set[str]()
WRITTEN = FIGURES | {
    "robustness.csv",
    "robustness_questions.csv",
    "unexpected.jsonl",
    "judgements.jsonl",
    "failures.csv",
}


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_all()


@pytest.fixture
def judge() -> Iterator[OpenAIServer]:
    with OpenAIServer(judging(judged_true)) as server:
        yield server


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


def number(cell: str) -> float | None:
    return float(cell) if cell else None


def contents(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in WRITTEN}


def command(
    seeded: Seeded, folder: Path, server: OpenAIServer, judge: OpenAIServer | None, *more: object
) -> list[object]:
    written: list[object] = ["experiment", "robustness", "--data", seeded.write(folder / "q.jsonl")]
    written += ["--examples", seeded.questions, "--base-url", server.base_url]
    if judge is not None:
        written += ["--judge-model", "judge", "--judge-base-url", judge.base_url]
    return [*written, "--figures" if DRAWS else "--no-figures", *more]


@pytest.mark.nightly
def test_precision_and_recall_are_those_that_the_seeds_imply(
    with_key: RagRules, tmp_path: Path, judge: OpenAIServer
) -> None:
    seeded, samples = Seeded(MODELS, questions=8), 10
    named = [part for name in MODELS for part in ("--model", name)]
    with OpenAIServer(seeded.script) as server:
        wanted = command(seeded, tmp_path, server, judge, *named)
        run = with_key(*wanted, "--out", tmp_path / "a")
        assert run.code == 0, run.err
        assert run.err == "at most 7,440 calls of the models, and 3 more of each that fails\n"
        paid = server.paid
        assert paid == len(seeded.asked) * samples == 3 * 8 * ASKED * samples
        check_rows(seeded, table(tmp_path / "a" / "robustness.csv"), samples)
        check_judging(seeded, judge, samples)
        check_unexpected(seeded, lines(tmp_path / "a" / "unexpected.jsonl"), samples)

        close_all()
        again = with_key(*wanted, "--out", tmp_path / "b", "--store", tmp_path / "a" / "answers.sqlite")
        assert again.code == 0
        assert "0 model calls, 7,440 answers out of the store, 0 requests to the judge" in again.out
        assert server.paid == paid
        assert contents(tmp_path / "b") == contents(tmp_path / "a")


def check_rows(seeded: Seeded, rows: list[dict[str, str]], samples: int) -> None:
    assert len(rows) == len(MODELS) * len(KINDS) * samples
    within = 0
    for row in rows:
        kind: Kind = "retention" if row["kind"] == "retention" else "omission"
        count, rates = int(row["samples"]), MODELS[row["model"]]
        of_questions = list(seeded.counted(row["model"], kind, count))
        found = sum(len(each.found) for each in of_questions)
        right = sum(each.right for each in of_questions)
        each_expected = {"retention": 8, "omission": 24}[kind]
        assert len(EXPECTED[kind]) == each_expected
        expected = each_expected * seeded.questions
        assert (row["questions"], row["failed"]) == (str(seeded.questions), "0")
        assert (row["expected"], row["found"], row["right"]) == (str(expected), str(found), str(right))
        implied = {
            "micro_precision": right / found if found else None,
            "micro_recall": right / expected,
            "macro_precision": mean([each.precision for each in of_questions]),
            "macro_recall": mean([each.recall for each in of_questions]),
        }
        for name, value in implied.items():
            assert number(row[name]) == (None if value is None else pytest.approx(value, abs=1e-6))
        undefined = sum(each.precision is None for each in of_questions)
        assert (row["precision_undefined"], row["recall_undefined"]) == (str(undefined), "0")
        # And the rates behind the seeds, in closed form.
        mean_found, mean_right = rates.expected_counts(kind, count)
        true_rates = {
            "micro_precision": mean_right / mean_found,
            "micro_recall": mean_right / each_expected,
            "macro_recall": mean_right / each_expected,
        }
        for name, rate in true_rates.items():
            low, high = number(row[f"{name}_low"]), number(row[f"{name}_high"])
            within += low is None or high is None or low <= rate <= high
    # 95 % intervals, drawn too wide rather than too narrow.
    assert within >= 0.95 * 3 * len(rows)


def check_judging(seeded: Seeded, judge: OpenAIServer, samples: int) -> None:
    """All answers of a model to a question in one request, and none of them twice."""
    known: dict[int, set[str]] = {question: set() for question in range(seeded.questions)}
    expected = list[set[str]]()
    for model in MODELS:
        for question in range(seeded.questions):
            fresh = seeded.unsettled(model, question, samples) - known[question]
            known[question] |= fresh
            if fresh:
                expected.append(fresh)
    asked = candidates_in(judge.requests)
    assert len(asked) == len(expected) <= len(MODELS) * seeded.questions
    assert sorted(map(sorted, asked)) == sorted(map(sorted, expected))


def check_unexpected(seeded: Seeded, records: list[dict[str, Any]], samples: int) -> None:
    """Every rule that is not what it should be, at the samples at which it is not, and nothing else."""
    told = {
        (each["model"], each["question_id"], each["kind"], frozenset(each["rule"]), count)
        for each in records
        for count in each["at_samples"]
    }
    implied = {
        (model, f"q{question}", kind, frozenset(f"D{place}" for place in rule), count)
        for model in MODELS
        for kind in KINDS
        for count in range(1, samples + 1)
        for question, each in enumerate(seeded.counted(model, kind, count))
        for rule in each.found ^ EXPECTED[kind]
    }
    assert told == implied
    assert len(records) == len({(each[:4]) for each in told})
    for each in records:
        rule = frozenset(int(name[1:]) for name in each["rule"])
        assert each["deviation"] == ("missing" if rule in EXPECTED[each["kind"]] else "unexpected")
        assert [source["text"] for source in each["sources"]] == [
            f"Leaf {each['question_id'][1:]}-{place} of a book." for place in range(1, 6)
        ]
        decided_at = {count for decided in each["decided_by"] for count in decided["at_samples"]}
        assert decided_at == set(each["at_samples"])
        for decided in each["decided_by"]:
            kept = frozenset(int(name[1:]) for name in decided["kept"])
            assert kept >= rule if each["kind"] == "retention" else not kept & rule
            key = each["model"], 1.0, int(each["question_id"][1:]), kept
            said = [seeded.said(*key, n) if kept else "N/A" for n in range(samples)]
            assert [answer["answer"] for answer in decided["answers"]] == said
            right = [seeded.is_right(*key, n) for n in range(samples)]
            assert [answer["consistent"] for answer in decided["answers"]] == right
            if kept:
                assert {answer["finish_reason"] for answer in decided["answers"]} == {"stop"}


@pytest.mark.slow
def test_at_temperature_0_every_vote_is_that_of_one_sample(with_key: RagRules, tmp_path: Path) -> None:
    seeded = Seeded({"m": ErrorRates(0.2, 0.2)}, questions=2)
    with OpenAIServer(seeded.script) as server:
        run = with_key(
            *command(seeded, tmp_path, server, None, "--out", tmp_path, "--samples", 3),
            *("--model", "m", "--model", "m,temperature=0"),
        )
        assert run.code == 0, run.err
        assert {body["temperature"] for body in server.requests} == {0.0, 1.0}
    rows = table(tmp_path / "robustness_questions.csv")
    assert {row["temperature"] for row in rows} == {"1.000000", "0.000000"}
    cold = [row for row in rows if row["temperature"] == "0.000000"]
    for question in ("q0", "q1"):
        for kind in KINDS:
            own = [r for r in cold if (r["question_id"], r["kind"]) == (question, kind)]
            assert len({(row["found"], row["right"]) for row in own}) == 1


@pytest.mark.nightly
def test_interrupted_and_resumed_it_comes_to_the_same_and_pays_nothing_twice(
    tmp_path: Path, judge: OpenAIServer
) -> None:
    rates, env = {"shaky": MODELS["shaky"], "wild": MODELS["wild"]}, {"OPENAI_API_KEY": "any"}
    names = ("--model", "shaky", "--model", "wild", "--samples", 4, "--concurrency", 4)
    straight, broken = Seeded(rates, questions=3), Seeded(rates, questions=3)
    whole = 2 * 3 * ASKED * 4
    with OpenAIServer(straight.script) as server:
        run = finished(
            subprocess_of(
                *command(straight, tmp_path, server, judge, *names, "--out", tmp_path / "a"), env=env
            )
        )
        assert run.code == 0, run.err
        assert server.paid == whole
    requests = len(judge.requests)
    holding = Holding(broken.script, 0)
    with OpenAIServer(holding) as server:
        arguments = command(broken, tmp_path, server, judge, *names, "--out", tmp_path / "b")
        for share in (0.2, 0.7):
            holding.hold_after(int(share * whole))
            stopped = tmp_path / f"stopped at {share}"
            process = subprocess_of(*arguments, env=env, stopped=stopped)
            holding.interrupt(process, stopped)
            run = finished(process)
            assert run.code == 130, run.err
            assert "Run the same command again to go on" in run.err
            assert server.paid < whole
            assert not (tmp_path / "b" / "robustness.csv").exists()
        run = finished(subprocess_of(*arguments, env=env))
        assert run.code == 0, run.err
        assert server.paid == whole
    assert contents(tmp_path / "b") == contents(tmp_path / "a")
    assert len(judge.requests) == 2 * requests


def test_bad_input(rag_rules: RagRules, tmp_path: Path) -> None:
    seeded = Seeded({}, questions=3)
    data = seeded.write(tmp_path / "q.jsonl")
    command = "experiment", "robustness", "--no-figures", "--out", tmp_path / "out"
    assert_refused(rag_rules(*command), "give their file as --data")
    assert_refused(rag_rules(*command, "--data", tmp_path / "no.jsonl"), "there is no", "no.jsonl")
    wrong = jsonl(tmp_path / "wrong.jsonl", {"question": "q"})
    assert_refused(rag_rules(*command, "--data", wrong), "record 1", "answer: Field required")
    assert_refused(rag_rules(*command, "--data", data), "50 examples were asked for, and 3 of 3 can")
    three = *command, "--data", data, "--examples", 3
    assert_refused(rag_rules(*three, "--sources", 6), "3: fewer than 6 sources")
    assert_refused(rag_rules(*three, "--sources", 1), "1 sources cannot hold the 2")
    assert_refused(rag_rules(*three, "--base-url", UNREACHABLE), "--base-url goes with --model only")
    assert_refused(rag_rules(*three, "--judge-base-url", UNREACHABLE), "goes with --judge-model only")
    (tmp_path / "file").write_text("")
    assert_refused(
        rag_rules(*three, "--out", tmp_path / "file"), "cannot be written to", "give --out another"
    )


@pytest.mark.slow
def test_models_that_cannot_be_asked(
    rag_rules: RagRules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Seeded({}, questions=3).write(tmp_path / "q.jsonl")
    command = "experiment", "robustness", "--no-figures", "--out", tmp_path / "out"
    three = *command, "--data", data, "--examples", 3
    assert_refused(rag_rules(*three, "--model", "m"), "OPENAI_API_KEY is not set, and m needs a key")
    assert_refused(rag_rules(*three, "--model", "m,key=MINE"), "named for the key is not set")
    assert_refused(rag_rules(*three, "--judge-model", "j"), "OPENAI_API_KEY is not set, and j needs")
    monkeypatch.setenv("MINE", "any")
    twice = "--model", "m,key=MINE", "--model", "m,key=MINE"
    assert_refused(rag_rules(*three, *twice), "m is named twice at the same temperature")
    down = "--model", f"m,key=MINE,url={UNREACHABLE}", "--retries", 0
    most = "at most 930 calls of the models, and 0 more of each that fails"
    run = rag_rules(*three, *down)
    assert_refused(run, "calls of m all failed; check that its endpoint is up", before=most)
    assert not (tmp_path / "out" / "robustness.csv").exists()


@pytest.mark.slow
def test_the_offline_reader_on_a_few_questions(rag_rules: RagRules, tmp_path: Path) -> None:
    data = Seeded({}, questions=2).write(tmp_path / "q.jsonl")
    pytest.importorskip("matplotlib")
    command = "experiment", "robustness", "--data", data, "--examples", 2, "--samples", 2
    run = rag_rules(*command, "--out", tmp_path / "a")
    assert (run.code, run.err) == (0, "")
    assert "2 questions; 124 model calls, 0 answers out of the store" in run.out
    rows = table(tmp_path / "a" / "robustness.csv")
    assert {(row["model"], row["temperature"]) for row in rows} == {("offline-reader", "")}
    # It finds no code in these, so nothing retains one, and no share is made of that.
    retention = [row for row in rows if row["kind"] == "retention"]
    assert {(row["found"], row["micro_precision"], row["macro_precision"]) for row in retention} == {
        ("0", "", "")
    }
    assert {row["precision_undefined"] for row in retention} == {"2"}
    assert "precision is undefined 2 times at 2 samples" in run.out
    close_all()
    again = rag_rules(*command, "--out", tmp_path / "b", "--store", tmp_path / "a" / "answers.sqlite")
    close_all()
    assert "0 model calls, 124 answers out of the store" in again.out
    names = WRITTEN - {"judgements.jsonl"}
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert (tmp_path / "a" / "robustness_macro.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_what_efficiency_has_paid_for_is_the_first_sample(
    with_key: RagRules, tmp_path: Path, judge: OpenAIServer
) -> None:
    seeded = Seeded({"m": ErrorRates(0.2, 0.2)}, questions=2)
    with OpenAIServer(seeded.script) as server:
        given = command(seeded, tmp_path, server, judge, "--model", "m", "--no-figures")
        store = "--store", tmp_path / "s.sqlite"
        cost = "experiment", "efficiency", *given[2:], "--setting", "hotpotqa", "--sizes", "5"
        assert with_key(*cost, *store, "--out", tmp_path / "cost").code == 0
        assert server.paid == 2 * ASKED
        run = with_key(*given, *store, "--samples", 2, "--out", tmp_path / "robust")
        assert run.code == 0, run.err
        assert f"{2 * ASKED} model calls, {2 * ASKED} answers out of the store" in run.out
    check_few_rows(seeded, table(tmp_path / "robust" / "robustness.csv"))


def check_few_rows(seeded: Seeded, rows: list[dict[str, str]]) -> None:
    for row in rows:
        kind: Kind = "retention" if row["kind"] == "retention" else "omission"
        found = [each.found for each in seeded.counted("m", kind, int(row["samples"]))]
        assert int(row["found"]) == sum(map(len, found))
