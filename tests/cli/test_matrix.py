"""Which command prints which form, on stdout or into a file; everything else is refused."""

import json
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from rag_rule_explainer import Comparison, Explanation, JudgeCheck, load
from rag_rule_explainer.cli.app import app
from rag_rule_explainer.cli.forms import MATRIX
from rag_rule_explainer.cli.printing import write_result
from rag_rule_explainer.errors import InvalidInput
from rag_rule_explainer.report import FORMS
from tests.cli.runs import QUESTION, RagRules, jsonl
from tests.report.test_text import explained, yes_if

ALL_FORMS = sorted({*FORMS, *(form for forms in MATRIX.values() for form in forms), "pdf", "TEXT", ""})
OTHERS = {"sarif": ".sarif", "junit": ".xml"}
MODELS: dict[str, Any] = {"diff": Comparison, "judge-check": JudgeCheck}
Asking = Callable[[str], Sequence[object]]


@pytest.fixture
def asking(tmp_path: Path, sources: Path) -> Asking:
    """Arguments of a command that prints something."""
    saved = tmp_path / "saved.json"
    explained(yes_if("D1")).save(saved)
    labels = jsonl(
        tmp_path / "labels.jsonl", {"question": "?", "answer": "1889", "label": True, "truth": "1889"}
    )
    given = ("--question", QUESTION, "--sources", sources)
    questions = tmp_path / "questions.txt"
    questions.write_text(f"{QUESTION}\n")
    commands: dict[str, Sequence[object]] = {
        "explain": given,
        "verify": (*given, "--rule", "plaque", "--kind", "retention"),
        "recheck": (*given, "--top-k", 2, "--predicate", "contains:1889", "--exclude", "plaque"),
        "show": (saved,),
        "diff": (saved, saved),
        "judge-check": (labels, "--predicate", "contains:1889"),
        "cite": ("--questions", questions, "--sources", sources),
        "check": ("--questions", questions, "--forbid", "contains:1066", "--sources", sources),
    }
    return lambda command: (command, *commands[command])


def test_every_command_that_has_forms_is_in_the_matrix() -> None:
    commands: Any = get_command(app)
    with_forms = {
        name
        for name, command in commands.commands.items()
        if any("--format" in parameter.opts for parameter in command.params)
    }
    assert with_forms == {*MATRIX}
    assert MATRIX["explain"].keys() == MATRIX["verify"].keys() == MATRIX["show"].keys() == FORMS.keys()


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("command", MATRIX)
@pytest.mark.parametrize("form", ALL_FORMS)
def test_every_cell_is_printed_or_refused(
    rag_rules: RagRules, asking: Asking, tmp_path: Path, command: str, form: str
) -> None:
    out = tmp_path / "out"
    run = rag_rules(*asking(command), "--format", form)
    filed = rag_rules(*asking(command), "--format", form, "--out", out)
    if form not in MATRIX[command]:
        forms = ", ".join(MATRIX[command])
        told = f"rag-rules: this command has no form {form!r}; give --format one of {forms}\n"
        assert (run.code, run.out, run.err) == (filed.code, filed.out, filed.err) == (2, "", told)
        assert not out.exists()
        return
    assert (run.code, filed.code, filed.out) == (0, 0, "")
    if command in {"show", "diff", "judge-check"} or form not in {"json", "html", "junit"}:
        assert out.read_text(encoding="utf-8") == run.out
    if form == "json":
        assert json.loads(run.out)
        if command not in {"check", "cite"}:
            MODELS.get(command, Explanation).model_validate_json(run.out)


@pytest.mark.parametrize("command", MATRIX)
def test_json_has_a_short_form(rag_rules: RagRules, asking: Asking, tmp_path: Path, command: str) -> None:
    assert json.loads(rag_rules(*asking(command), "--json").out)
    for more in ([], ["--format", "json"]):
        rag_rules(*asking(command), "--json", "--out", tmp_path / "out.txt", *more)
        assert json.loads((tmp_path / "out.txt").read_text())
    run = rag_rules(*asking(command), "--json", "--format", "text")
    assert (run.code, run.out) == (2, "")
    assert run.err == "rag-rules: --json is a form as well; leave it or --format text out\n"


@pytest.mark.parametrize("command", ["show", "check"])
def test_a_dash_is_stdout(
    rag_rules: RagRules, asking: Asking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run = rag_rules(*asking(command), "--format", "json", "--out", "-")
    assert json.loads(run.out)
    assert not (tmp_path / "-").exists()


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("command", MATRIX)
def test_without_a_form_the_name_of_the_file_decides(
    rag_rules: RagRules, asking: Asking, tmp_path: Path, command: str
) -> None:
    for form in MATRIX[command]:
        for suffix in FORMS[form].suffixes if form in FORMS else [OTHERS[form]]:
            out = tmp_path / f"out{suffix}"
            assert rag_rules(*asking(command), "-o", out).code == 0
            as_asked = tmp_path / "asked"
            rag_rules(*asking(command), "-o", as_asked, "--format", form)
            assert len(out.read_text().splitlines()) == len(as_asked.read_text().splitlines())
    run = rag_rules(*asking(command), "--out", tmp_path / "report.pdf")
    assert (run.code, run.out) == (2, "")
    assert (
        "report.pdf does not say by its name in which form to write; give --format one of text" in run.err
    )
    assert not (tmp_path / "report.pdf").exists()


class TestFiles:
    @pytest.mark.parametrize("command", MATRIX)
    @pytest.mark.parametrize("place", ["no/folder/out.json", "folder.json"])
    def test_a_place_that_is_none_is_told_before_anything_is_asked(
        self, rag_rules: RagRules, asking: Asking, tmp_path: Path, command: str, place: str
    ) -> None:
        (tmp_path / "folder.json").mkdir()
        run = rag_rules(*asking(command), "--out", tmp_path / place)
        assert (run.code, run.out) == (2, "")
        assert "cannot be written: " in run.err
        assert run.err.endswith("; give another file\n")
        assert len(run.err.splitlines()) == 1

    @pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="a folder that takes no file")
    @pytest.mark.parametrize("command", MATRIX)
    def test_a_folder_that_takes_no_file_is_told_before_anything_is_asked(
        self, rag_rules: RagRules, asking: Asking, command: str
    ) -> None:
        run = rag_rules(*asking(command), "--out", "/proc/out.json")
        assert (run.code, run.out) == (2, "")
        assert "/proc/out.json cannot be written: " in run.err
        assert "printed instead" not in run.err

    def test_a_result_that_can_no_longer_be_written_is_printed(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(InvalidInput, match=r"cannot be written: .*; the result is printed instead"):
            write_result(tmp_path / "gone" / "out.txt", "what was paid for\n")
        assert capsys.readouterr().out == "what was paid for\n"

    def test_what_was_there_is_replaced(
        self, rag_rules: RagRules, asking: Asking, tmp_path: Path
    ) -> None:
        out = tmp_path / "out.json"
        out.write_text("x" * 1_000_000)
        out.chmod(0o600)
        assert rag_rules(*asking("explain"), "--out", out).code == 0
        assert load(out).question == QUESTION
        assert stat.S_IMODE(out.stat().st_mode) == 0o600
        assert not [*tmp_path.glob(".*")]

    def test_beside_a_table_in_a_file_stands_what_it_leaves_out(
        self, rag_rules: RagRules, asking: Asking, tmp_path: Path
    ) -> None:
        run = rag_rules(*asking("verify"), "--out", tmp_path / "rules.csv")
        assert "held: whenever plaque is retained" in run.err
        assert (tmp_path / "rules.csv").read_text().startswith("kind,sources,")

    def test_an_interrupted_check_has_its_exit_code(
        self, rag_rules: RagRules, asking: Asking, tmp_path: Path
    ) -> None:
        broken = list(asking("verify"))
        broken[broken.index("plaque")] = "menu"
        assert rag_rules(*broken, "--out", tmp_path / "a.txt").code == 1
        assert (tmp_path / "a.txt").read_text().startswith("broken: retaining menu does not")


class TestLegend:
    def test_says_how_to_read_it(self, rag_rules: RagRules, asking: Asking) -> None:
        plain, explained = rag_rules(*asking("show")), rag_rules(*asking("show"), "--legend")
        assert explained.out.startswith(plain.out)
        assert "How to read this" in explained.out.removeprefix(plain.out)
        assert "“proved”: " in explained.out

    def test_goes_with_text(self, rag_rules: RagRules, asking: Asking) -> None:
        run = rag_rules(*asking("explain"), "--legend", "--json")
        assert (run.code, run.out) == (2, "")
        assert run.err == "rag-rules: --legend goes with text, not with json; leave it out\n"


def test_the_documentation_has_the_same_matrix() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/results.md").read_text(encoding="utf-8")
    table = page[page.index("| | text |") :].split("\n\n")[0].splitlines()
    _, *forms = (cell.strip() for cell in table[0].strip("|").split("|"))
    told: dict[str, set[str]] = {}
    for row in table[2:]:
        commands, *cells = row.strip("|").split("|")
        for command in commands.replace("`", "").split(","):
            told[command.strip()] = {
                form for form, cell in zip(forms, cells, strict=True) if cell.strip() == "yes"
            }
    assert told == {command: {*forms} for command, forms in MATRIX.items()}
