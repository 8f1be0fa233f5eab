"""Each framework's own runner scores twenty answers whose rules are known, and reaches no network.

The frameworks are in an environment of their own: ``make scorers``.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from math import isnan
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from scorers_rag_rule_explainer import RuleScorer
from scorers_rag_rule_explainer.deepeval import deepeval_metric
from scorers_rag_rule_explainer.inspect_ai import inspect_scorer
from scorers_rag_rule_explainer.langfuse import langfuse_evaluator
from scorers_rag_rule_explainer.langsmith import langsmith_evaluator
from scorers_rag_rule_explainer.mlflow import mlflow_scorer
from scorers_rag_rule_explainer.phoenix import phoenix_evaluator
from scorers_rag_rule_explainer.pydantic_evals import pydantic_evaluator

from tests.scorers.records import RECORDS, SHOP, TRUTH, expected_of, save_goldens, scorers

# What the frameworks warn of is their own affair.
pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("default")]
Scored: TypeAlias = dict[str, dict[str, float | None]]
QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
    "DO_NOT_TRACK": "1",
    "LANGFUSE_TRACING_ENABLED": "false",
    "LANGSMITH_TRACING": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
}
HERE = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def goldens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("goldens")
    save_goldens(folder)
    return folder


@pytest.fixture(autouse=True)
def reached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[Any]]:
    """Every address that was asked for. There must be none, not even on this machine."""
    asked = list[Any]()

    def refused(_socket: socket.socket, address: Any) -> None:
        asked.append(address)
        raise PermissionError(f"a scorer tried to reach {address}")

    for name, value in QUIET.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket.socket, "connect", refused)
    yield asked
    assert not asked


def needed(*names: str) -> Any:
    """The modules; the test is skipped where one is not installed."""
    found = [pytest.importorskip(each, reason="make scorers", exc_type=ImportError) for each in names]
    return found[0] if len(found) == 1 else found


def answered(question: str) -> str:
    return SHOP.invoke(question)


def answered_untraced(inputs: dict[str, str]) -> dict[str, str]:
    """LangChain's own tracer sends the runs of an application, also where no results are uploaded."""
    with needed("langsmith").tracing_context(enabled=False):
        return {"answer": answered(inputs["question"])}


def answered_case(inputs: dict[str, str]) -> str:
    return answered(inputs["question"])


def answered_item(*, item: Any, **_: Any) -> str:
    return answered(item["input"]["question"])


def of_langsmith(made: list[RuleScorer], goldens: Path) -> Scored:
    langsmith, schemas = needed("langsmith", "langsmith.schemas")
    from uuid import uuid4

    examples = [
        schemas.Example(
            id=uuid4(), inputs={"question": each.question}, outputs=expected_of(each, goldens)
        )
        for each in RECORDS
    ]
    ended = langsmith.evaluate(
        answered_untraced,
        data=examples,
        evaluators=list(map(langsmith_evaluator, made)),
        upload_results=False,
        client=langsmith.Client(api_key="none", api_url="http://127.0.0.1:1", auto_batch_tracing=False),
    )
    scored: Scored = defaultdict(dict)
    for row in ended:
        for each in row["evaluation_results"]["results"]:
            scored[each.key][row["example"].inputs["question"]] = each.score
            assert (each.value == "undecided") is (each.score is None)
            assert each.comment
    return scored


def of_mlflow(made: list[RuleScorer], goldens: Path) -> Scored:
    mlflow = needed("mlflow", "mlflow.genai")[0]
    mlflow.set_tracking_uri("sqlite:///mlflow.db")
    rows = [
        {"inputs": {"question": each.question}, "expectations": expected_of(each, goldens)}
        for each in RECORDS
    ]
    ended = mlflow.genai.evaluate(
        data=rows,
        scorers=list(map(mlflow_scorer, made)),
        predict_fn=answered,
    )
    scored: Scored = defaultdict(dict)
    for _, row in ended.result_df.iterrows():
        for each in row["assessments"]:
            if each["assessment_name"] in TRUTH:
                value = each["feedback"].get("value")
                scored[each["assessment_name"]][row["request"]["question"]] = value
                assert ("error" in each["feedback"]) is (value is None)
    for name, values in scored.items():
        decided = [each for each in values.values() if each is not None]
        assert ended.metrics[f"{name}/mean"] == pytest.approx(sum(decided) / len(decided))
    return scored


def of_inspect(made: list[RuleScorer], goldens: Path) -> Scored:
    inspect, datasets, solvers, models = needed(
        "inspect_ai", "inspect_ai.dataset", "inspect_ai.solver", "inspect_ai.model"
    )

    @solvers.solver
    def answers() -> Any:
        async def solve(state: Any, _generate: Any) -> Any:
            answer = await SHOP.ainvoke(state.input_text)
            state.output = models.ModelOutput.from_content("shop", answer)
            return state

        return solve

    samples = [
        datasets.Sample(each.question, id=number, metadata=expected_of(each, goldens))
        for number, each in enumerate(RECORDS)
    ]
    task = inspect.Task(
        dataset=samples, solver=answers(), scorer=list(map(inspect_scorer, made)), model="none"
    )
    (log,) = inspect.eval(task, model=None, display="none", log_dir="logs")
    assert log.status == "success", log.error
    scored: Scored = defaultdict(dict)
    for sample in log.samples:
        for name, score in sample.scores.items():
            value = score.as_float()
            scored[name][sample.input] = None if isnan(value) else value
            assert (score.reason == "undecided") is isnan(value)
    for each in log.results.scores:
        decided = [value for value in scored[each.name].values() if value is not None]
        assert each.metrics["mean"].value == pytest.approx(sum(decided) / len(decided))
        assert each.unscored_samples == len(RECORDS) - len(decided)
    return scored


def of_deepeval(made: list[RuleScorer], goldens: Path) -> Scored:
    deepeval, cases, configs = needed("deepeval", "deepeval.test_case", "deepeval.evaluate.configs")
    rows = [
        cases.LLMTestCase(
            input=each.question,
            actual_output=answer,
            metadata=expected_of(each, goldens),
        )
        for each in RECORDS
        for answer in [SHOP.invoke(each.question)]
    ]
    ended = deepeval.evaluate(
        rows,
        list(map(deepeval_metric, made)),
        display_config=configs.DisplayConfig(show_indicator=False, print_results=False),
        cache_config=configs.CacheConfig(write_cache=False),
    )
    scored: Scored = defaultdict(dict)
    for row in ended.test_results:
        for each in row.metrics_data:
            scored[each.name][row.input] = each.score
            assert (each.error is None) is (each.score is not None)
            assert each.success is (each.score == 1)
    return scored


def of_pydantic_evals(made: list[RuleScorer], goldens: Path) -> Scored:
    evals = needed("pydantic_evals")
    rows = [
        evals.Case(
            name=each.question, inputs={"question": each.question}, metadata=expected_of(each, goldens)
        )
        for each in RECORDS
    ]
    data = evals.Dataset(name="records", cases=rows, evaluators=list(map(pydantic_evaluator, made)))
    ended = data.evaluate_sync(answered_case, progress=False)
    scored: Scored = defaultdict(dict)
    for case in ended.cases:
        for name, score in case.scores.items():
            scored[name][case.name] = score.value
        for failure in case.evaluator_failures:
            scored[failure.name][case.name] = None
            assert "undecided" in failure.error_message.lower()
    return scored


def of_phoenix(made: list[RuleScorer], goldens: Path) -> Scored:
    evals, pandas = needed("phoenix.evals", "pandas")
    rows = [
        {
            "input": each.question,
            "output": SHOP.invoke(each.question),
            "metadata": expected_of(each, goldens),
        }
        for each in RECORDS
    ]
    ended = evals.evaluate_dataframe(
        dataframe=pandas.DataFrame(rows),
        evaluators=list(map(phoenix_evaluator, made)),
        hide_tqdm_bar=True,
    )
    scored: Scored = defaultdict(dict)
    for _, row in ended.iterrows():
        for name in TRUTH:
            score = row[f"{name}_score"]
            score = json.loads(score) if isinstance(score, str) else score
            scored[name][row["input"]] = score.get("score")
            assert (score["label"] == "undecided") is (score.get("score") is None)
    return scored


def of_langfuse(made: list[RuleScorer], goldens: Path) -> Scored:
    langfuse = needed("langfuse")
    rows = [
        {"input": {"question": each.question}, "expected_output": expected_of(each, goldens)}
        for each in RECORDS
    ]
    client = langfuse.Langfuse(public_key="none", secret_key="none", host="http://127.0.0.1:1")  # noqa: S106 -- it is none
    ended = client.run_experiment(
        name="records",
        data=rows,
        task=answered_item,
        evaluators=list(map(langfuse_evaluator, made)),
        max_concurrency=4,
    )
    scored: Scored = {name: dict.fromkeys(truth) for name, truth in TRUTH.items()}
    for row in ended.item_results:
        for each in row.evaluations:
            assert each.value is not None
            scored[each.name][row.item["input"]["question"]] = each.value
    assert len(ended.item_results) == len(RECORDS)
    return scored


PROVIDER = """
import sys
sys.path.insert(0, {here!r})
from scorers_rag_rule_explainer.promptfoo import promptfoo_provider
from tests.scorers.records import scorers

made = {{each.name: promptfoo_provider(each) for each in scorers()}}

def call_api(prompt, options, context):
    return made[options["config"]["scorer"]](prompt, options, context)
"""


def of_promptfoo(made: list[RuleScorer], goldens: Path) -> Scored:
    """Runs in a namespace without any network."""
    program = HERE / ".venv-promptfoo" / "node_modules" / ".bin" / "promptfoo"
    alone = shutil.which("unshare")
    if alone is None or not program.exists():
        pytest.skip("make scorers")
    Path("rules.py").write_text(PROVIDER.format(here=str(HERE)))
    tests = [{"vars": {"question": each.question, **expected_of(each, goldens)}} for each in RECORDS]
    providers = [
        {"id": "file://rules.py", "label": each.name, "config": {"scorer": each.name}} for each in made
    ]
    config = {
        "prompts": ["{{question}}"],
        "providers": providers,
        "defaultTest": {
            "options": {"disableVarExpansion": True},
            "assert": [{"type": "python", "value": "output"}],
        },
        "tests": tests,
    }
    Path("config.json").write_text(json.dumps(config))
    said = (*("eval", "-c", "config.json"), *("-o", "out.json"), "--no-cache", "--no-table")
    env = {**os.environ, "PROMPTFOO_PYTHON": sys.executable, "PROMPTFOO_CONFIG_DIR": str(Path.cwd())}
    ended = subprocess.run(
        [alone, "-r", "-n", str(program), *said], env=env, capture_output=True, text=True, check=False
    )
    assert Path("out.json").exists(), ended.stdout + ended.stderr
    results = json.loads(Path("out.json").read_text())["results"]
    scored: Scored = defaultdict(dict)
    for row in results["results"]:
        is_error = row["failureReason"] == 2
        name = row["provider"]["label"]
        scored[name][row["vars"]["question"]] = None if is_error else row["score"]
        assert row["success"] is (row["score"] == 1)
        assert is_error or row["namedScores"] == {name: row["score"]}
    undecided = [each for truth in TRUTH.values() for each in truth.values() if each is None]
    assert results["stats"]["errors"] == len(undecided)
    return scored


RUNNERS: dict[str, Callable[[list[RuleScorer], Path], Scored]] = {
    "langsmith": of_langsmith,
    "mlflow": of_mlflow,
    "inspect_ai": of_inspect,
    "deepeval": of_deepeval,
    "pydantic_evals": of_pydantic_evals,
    "phoenix": of_phoenix,
    "langfuse": of_langfuse,
    "promptfoo": of_promptfoo,
}


@pytest.mark.parametrize("runner", RUNNERS)
def test_the_scores_are_right_and_undecided_ones_are_unscored(runner: str, goldens: Path) -> None:
    scored = RUNNERS[runner](scorers(), goldens)
    assert {name: dict(sorted(each.items())) for name, each in scored.items()} == TRUTH
