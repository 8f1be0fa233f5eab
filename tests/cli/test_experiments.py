"""``rag-rules experiment``: tables and figures in a folder, resumed from a store."""

import csv
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer.storing.opened import close_all
from tests.cli.runs import Holding, RagRules, assert_refused, finished, jsonl, subprocess_of
from tests.experiments.records import line, published
from tests.support.judging import judging
from tests.support.messages import read_offline
from tests.support.openai_server import OpenAIServer

HEAD = "setting,question_id,n,miner,kind,nodes,calls,repeated,rules,minimal_rules,seconds"


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_all()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Questions of six sources, of which the reader needs two."""
    records: list[dict[str, Any]] = []
    for number, (founder, town) in enumerate(
        [("Ada Roe", "Lima"), ("Bo Lind", "Oslo"), ("Cy Paz", "Turin")]
    ):
        texts = [
            (f"Company {number}", f"Company {number} was founded by {founder}.", True),
            (founder, f"{founder} was born in {town}.", True),
            *((f"Note {place}", f"Note {place} is about soup.", False) for place in range(4)),
        ]
        sources = [{"title": title, "text": text, "necessary": is_so} for title, text, is_so in texts]
        question = f"Where was the founder of Company {number} born?"
        records.append(line(f"q{number}", question=question, answer=town, sources=sources))
    return jsonl(tmp_path / "questions.jsonl", *records)


def table(out: Path) -> list[dict[str, str]]:
    with (out / "efficiency.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def untimed(out: Path) -> list[dict[str, str]]:
    return [{**row, "seconds": ""} for row in table(out)]


class TestEfficiency:
    def real(self, data: Path, out: Path, *more: object) -> tuple[object, ...]:
        given = ("experiment", "efficiency", "--setting", "hotpotqa", "--data", data, "--out", out)
        return (*given, "--no-figures", "--examples", 3, "--sizes", "1-5", *more)

    def test_the_synthetic_setting(self, rag_rules: RagRules, tmp_path: Path) -> None:
        out = tmp_path / "new" / "out"
        given = ("experiment", "efficiency", "--examples", 2, "--sizes", "1,3-4", "--no-figures")
        run = rag_rules(*given, "--out", out)
        assert run.code == 0, run.err
        assert (out / "efficiency.csv").read_text().splitlines()[0] == HEAD
        dual = [row for row in table(out) if row["miner"] == "dual"]
        assert [row["nodes"] for row in dual] == ["2", "8", "16"] * 2
        assert {row["seconds"] for row in dual} == {""}
        assert "2 questions; 30 model calls" in run.out
        assert (out / "failures.csv").read_text() == "setting,question_id,reason\n"
        assert {path.suffix for path in out.iterdir()} == {".csv"}
        first = (out / "efficiency.csv").read_bytes()
        rag_rules(*given, "--out", out)
        assert (out / "efficiency.csv").read_bytes() == first

    @pytest.mark.slow
    def test_figures_are_the_same_as_well(self, rag_rules: RagRules, data: Path, tmp_path: Path) -> None:
        pytest.importorskip("matplotlib")
        store = ("--figures", "--store", tmp_path / "s.sqlite")
        for out in (tmp_path / "a", tmp_path / "b"):
            run = rag_rules(*self.real(data, out, *store))
            assert run.code == 0, run.err
            assert "efficiency.csv, deviations.csv and 5 figures" in run.out
        names = {path.name for path in (tmp_path / "a").glob("*.png")}
        assert len(names) == 5
        for name in names:
            assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()

    def test_real_questions_and_again_from_the_store(
        self, rag_rules: RagRules, data: Path, tmp_path: Path
    ) -> None:
        first = rag_rules(*self.real(data, tmp_path / "a"))
        assert first.code == 0, first.err
        assert "3 questions; 93 model calls, 0 answers out of the store" in first.out
        again = rag_rules(*self.real(data, tmp_path / "a"))
        assert "3 questions; 0 model calls, 93 answers out of the store" in again.out
        elsewhere = rag_rules(
            *self.real(data, tmp_path / "b", "--store", tmp_path / "a" / "answers.sqlite")
        )
        assert "0 model calls" in elsewhere.out
        names = {path.name for path in (tmp_path / "b").iterdir()}
        assert not any("sqlite" in name for name in names)
        for name in names:
            assert (tmp_path / "b" / name).read_bytes() == (tmp_path / "a" / name).read_bytes()
        assert all(float(row["seconds"]) > 0 for row in table(tmp_path / "b") if row["calls"] != "0")

    def test_published_json_is_read_as_well(self, rag_rules: RagRules, tmp_path: Path) -> None:
        file = tmp_path / "hotpot.json"
        file.write_text(json.dumps([published("q0"), published("q1"), published("q2")]))
        run = rag_rules(*self.real(file, tmp_path / "out", "--miners", "dual"))
        assert run.code == 0, run.err
        assert {row["question_id"] for row in table(tmp_path / "out")} == {"q0", "q1", "q2"}

    @pytest.mark.waits
    @pytest.mark.slow
    def test_over_the_wire_with_a_judge(
        self, with_key: RagRules, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("JUDGE_KEY", "another")

        def model(body: Any) -> str:
            return f"It is {read_offline(body)}"

        judge = judging(lambda answer: answer in {"It is Lima", "It is Oslo", "It is Turin"})
        offline = with_key(*self.real(data, tmp_path / "offline"))
        assert offline.code == 0
        with OpenAIServer(model) as server, OpenAIServer(judge) as bench:
            run = with_key(
                *self.real(data, tmp_path / "wire"),
                *("--model", "m", "--base-url", server.base_url, "--temperature", 0),
                *("--judge-model", "j", "--judge-base-url", bench.base_url),
                *("--judge-key", "JUDGE_KEY"),
            )
            assert run.code == 0, run.err
            assert run.err == "at most 93 calls of the model, and 3 more of each that fails\n"
            assert len(server.requests) == 93
            assert {request["temperature"] for request in server.requests} == {0}
            assert 0 < len(bench.requests) < 20
        assert untimed(tmp_path / "wire") == untimed(tmp_path / "offline")

    @pytest.mark.waits
    @pytest.mark.slow
    def test_what_fails_is_listed_and_the_rest_is_there(
        self, with_key: RagRules, data: Path, tmp_path: Path
    ) -> None:
        def refusing(body: Any) -> str:
            if "Company 1" in str(body["messages"]) and "Note 2" in str(body["messages"]):
                raise ValueError("no such content")
            return read_offline(body)

        with OpenAIServer(refusing) as server:
            given = self.real(data, tmp_path / "out", "--model", "m", "--base-url", server.base_url)
            run = with_key(*given, "--retries", 0)
        assert run.code == 3
        assert "1 questions failed, and are in failures.csv alone:" in run.out
        assert "no such content" in (tmp_path / "out" / "failures.csv").read_text()
        assert {row["question_id"] for row in table(tmp_path / "out")} == {"q0", "q2"}

    @pytest.mark.parametrize(
        ("more", "said"),
        [
            (("--setting", "hotpotqa"), "give their file as --data"),
            (("--data", "x.json"), "--data goes with --setting hotpotqa only"),
            (("--model", "m"), "--model goes with --setting hotpotqa only"),
            (("--store", "s"), "--store goes with --setting hotpotqa only"),
            (("--sizes", "ten"), "--sizes 'ten' are no sizes"),
            (("--sizes", "1-99"), "from 1 to 12"),
            (("--sizes", "5-3"), "from few to many"),
            (("--miners", "best"), "--miners names 'best'; known are exhaustive"),
            (("--miners", ","), "at least one size and one miner"),
            (("--necessary", "11", "--sizes", "3"), None),
        ],
    )
    def test_bad_input(
        self, rag_rules: RagRules, tmp_path: Path, more: tuple[str, ...], said: str | None
    ) -> None:
        run = rag_rules(
            *("experiment", "efficiency", "--no-figures", "--examples", 1, "--out", tmp_path / "out"),
            *more,
        )
        if said is None:
            assert run.code == 0
        else:
            assert_refused(run, said)
            assert not (tmp_path / "out").exists()

    def test_without_matplotlib_nothing_is_paid_for_figures(
        self,
        rag_rules: RagRules,
        data: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        run = rag_rules(*self.real(data, tmp_path / "out", "--figures"))
        assert_refused(run, "drawing figures needs: pip install 'rag-rule-explainer[experiments]'")
        assert not (tmp_path / "out").exists()

    def test_a_file_with_too_few(self, rag_rules: RagRules, data: Path, tmp_path: Path) -> None:
        run = rag_rules(*self.real(data, tmp_path / "out", "--sizes", "1-7"))
        assert_refused(run, "3 examples were asked for, and 0 of 3 can be drawn; 3: fewer than 7 sources")
        run = rag_rules(*self.real(tmp_path / "none.json", tmp_path / "out"))
        assert_refused(run, "there is no", "give HotpotQA's own JSON")

    @pytest.mark.spread(slow=2)
    @pytest.mark.slow
    @pytest.mark.waits
    @pytest.mark.parametrize("ending", ["interrupted", "killed"])
    def test_ended_in_the_middle_it_goes_on_where_it_was(
        self, rag_rules: RagRules, data: Path, tmp_path: Path, ending: str
    ) -> None:
        key, stopped, holding = {"OPENAI_API_KEY": "any"}, tmp_path / "stopped", Holding(read_offline, 40)
        with OpenAIServer(holding) as server:
            named = ("--model", "m", "--base-url", server.base_url, "--concurrency", 2)
            asked = self.real(data, tmp_path / "out", *named)
            process = subprocess_of(*asked, env=key, stopped=stopped)
            if ending == "interrupted":
                holding.interrupt(process, stopped)
            else:
                assert holding.holds.wait(120)
                process.kill()
            run = finished(process)
            holding.free.set()
            if ending == "interrupted":
                assert run.code == 130
                assert re.search("interrupted after [12] of 3; what was paid for is in", run.err)
                assert "Run the same command again to go on" in run.err
            assert not (tmp_path / "out" / "efficiency.csv").exists()
            paid = len(server.requests)
            assert 40 <= paid < 93
            resumed = finished(subprocess_of(*self.real(data, tmp_path / "out", *named), env=key))
            assert resumed.code == 0, resumed.err
            # What was in flight when it was killed is paid for twice, at the most.
            assert 93 <= len(server.requests) <= 93 + (0 if ending == "interrupted" else 2)
            whole = finished(subprocess_of(*self.real(data, tmp_path / "whole", *named), env=key))
            assert whole.code == 0
        assert untimed(tmp_path / "out") == untimed(tmp_path / "whole")
        before = (tmp_path / "out" / "efficiency.csv").read_bytes()
        # Nobody is asked any more: that endpoint is gone.
        again = finished(subprocess_of(*self.real(data, tmp_path / "out", *named), env=key))
        assert again.code == 0, again.err
        assert "0 model calls" in again.out
        assert (tmp_path / "out" / "efficiency.csv").read_bytes() == before


class TestQuality:
    def test_the_table(self, rag_rules: RagRules, data: Path, tmp_path: Path) -> None:
        given = ("experiment", "quality", "--data", data, "--out", tmp_path / "out")
        run = rag_rules(*given)
        assert run.code == 0, run.err
        assert "questions       all sources" in run.out
        rows = (tmp_path / "out" / "quality.csv").read_text().splitlines()
        assert rows[0].startswith("data,model,shown,questions,exact,declined,other,failed,exact_share")
        assert [row.split(",")[2] for row in rows[1:]] == [
            "all sources",
            "necessary only",
            "without necessary",
        ]
        answers = (tmp_path / "out" / "answers.jsonl").read_text().splitlines()
        assert len(answers) == 9
        before = {path.name: path.read_bytes() for path in (tmp_path / "out").glob("*[lv]")}
        rag_rules(*given)
        assert before == {path.name: path.read_bytes() for path in (tmp_path / "out").glob("*[lv]")}

    def test_bad_input(self, rag_rules: RagRules, tmp_path: Path) -> None:
        none = ("experiment", "quality", "--out", tmp_path / "out", "--data", tmp_path / "none.jsonl")
        assert_refused(rag_rules(*none), "there is no")
        assert_refused(rag_rules(*none, "--base-url", "http://x"), "--base-url goes with --model only")
        assert_refused(rag_rules(*none, "--model", "m"), "OPENAI_API_KEY is not set")
