"""What importing and installing the package does."""

import importlib
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import rag_rule_explainer

ROOT = Path(__file__).parents[1]
HEAVY = (
    "langchain_core",
    "llama_index",
    "sqlalchemy",
    "pysat",
    "typer",
    "rich",
    "numpy",
    "asyncio",
    "anyio",
)


def python(code: str, *, executable: str | Path = sys.executable) -> str:
    run = subprocess.run([executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_the_public_names_are_sorted_and_all_there() -> None:
    names = rag_rule_explainer.__all__
    assert names == sorted(names)
    for name in names:
        assert getattr(rag_rule_explainer, name) is not None
        assert name in dir(rag_rule_explainer)


def test_the_lazy_names_are_the_ones_that_type_checkers_see() -> None:
    source = Path(rag_rule_explainer.__file__).read_text(encoding="utf-8")
    checked = source[source.index("if TYPE_CHECKING:") : source.index("_ROOMS")]
    seen = set(re.findall(r"\b\w+\b", re.sub(r"from \S+ import|if TYPE_CHECKING", "", checked)))
    assert seen == set(rag_rule_explainer.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Explaner"):
        rag_rule_explainer.Explaner  # noqa: B018 -- reading it raises the error


@pytest.mark.waits
def test_a_search_without_a_store_loads_no_sqlalchemy() -> None:
    code = (
        "import sys; from rag_rule_explainer import Explainer; "
        "Explainer(lambda question, sources: 'yes').explain('?', ['a']); "
        "print('sqlalchemy' in sys.modules)"
    )
    assert python(code).strip() == "False"


@pytest.mark.waits
@pytest.mark.parametrize("name", ["", ".Explainer", ".Explanation", ".contains", ".diff"])
def test_importing_loads_no_framework(name: str) -> None:
    code = f"import rag_rule_explainer, sys; rag_rule_explainer{name or '.Source'}; print(*sys.modules)"
    loaded = set(python(code).split())
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.waits
def test_an_explainer_is_imported_without_what_only_some_options_need() -> None:
    code = "import sys; from rag_rule_explainer import Explainer; print(*sys.modules)"
    loaded = set(python(code).split())
    ours = {name for name in loaded if name.startswith("rag_rule_explainer")}
    optional = (
        *("predicates.judge", "predicates.text", "mining.search", "mining.grouped", "mining.partitioned"),
        *("mining.speculation", "probing.wholeness", "probing.tracing", "progress.bar", "session.plan"),
        *("session.session", "explanation"),
    )
    assert ours.isdisjoint(f"rag_rule_explainer.{name}" for name in optional)
    assert loaded.isdisjoint({"decimal", "difflib"})
    assert len(ours) <= 52  # of a hundred that an explanation imports


def test_every_room_has_its_docstring_and_so_has_every_public_name() -> None:
    for file in (ROOT / "rag_rule_explainer").rglob("*.py"):
        room = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        assert importlib.import_module(room).__doc__, room
    for name in rag_rule_explainer.__all__:
        if name != "__version__":
            assert getattr(rag_rule_explainer, name).__doc__, name


@pytest.mark.waits
def test_the_repository_names_no_registry_and_no_lock_file() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    files = listed.stdout.split()
    if not files:
        pytest.skip("not a git checkout")
    assert not [file for file in files if file.endswith(".lock") or "requirements" in file]
    registry = re.compile("py" + r"pi\.org|python" + "hosted|npm" + "js", re.IGNORECASE)
    texts = {
        file: (ROOT / file).read_text("utf-8", "ignore") for file in files if (ROOT / file).is_file()
    }
    assert [file for file, text in texts.items() if registry.search(text)] == []


@pytest.mark.waits
@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path, ROOT], check=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    home = tmp_path / "empty"
    venv.create(home)
    inside = next(
        path for path in (home / "bin" / "python", home / "Scripts" / "python.exe") if path.exists()
    )
    # Our own pip installs into it: a new environment would unpack one for six seconds.
    pip = [sys.executable, "-m", "pip", "--python", inside]
    subprocess.run([*pip, "install", "--quiet", wheel], check=True)
    assert (
        python("import rag_rule_explainer as r; print(r.Explainer.__name__)", executable=inside)
        == "Explainer"
    )
    # Needs nothing but this package: whoever asks a model has the client.
    assert (
        python("import plain_rag_rule_explainer as p; print(p.gate.__name__)", executable=inside)
        == "gate"
    )
    for integration, extra in (("langchain", "langchain"), ("llama_index", "llama-index")):
        told = python(
            f"try:\n import {integration}_rag_rule_explainer\nexcept ImportError as e: print(e)",
            executable=inside,
        )
        assert f"pip install 'rag-rule-explainer[{extra}]'" in told
    command = inside.parent / "rag-rules"
    demo = subprocess.run([command, "demo"], capture_output=True, text=True, check=False)
    assert (demo.returncode, demo.stdout) == (2, "")
    assert "rag-rule-explainer[langchain,bm25]" in demo.stderr
    # The experiments need their own extra, and say so before anything is asked.
    for given in (
        ["redteam", "--out", tmp_path / "a"],
        ["redteam", "--model", "m", "--out", tmp_path / "b"],
    ):
        experiment = subprocess.run(
            [command, "experiment", *given], capture_output=True, text=True, check=False
        )
        assert (experiment.returncode, experiment.stdout) == (2, "")
        assert "pip install 'rag-rule-explainer[experiments]'" in experiment.stderr
    (tmp_path / "sources.jsonl").write_text('{"text": "The bridge opened in 1931."}\n')
    asked = [command, "explain", "--question", "When did the bridge open?", "--sources"]
    explained = subprocess.run(
        [*asked, tmp_path / "sources.jsonl"], capture_output=True, text=True, check=True
    )
    assert "whenever D1 is retained" in explained.stdout
