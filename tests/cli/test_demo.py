"""``rag-rules demo``."""

import io
from contextlib import redirect_stderr, redirect_stdout

import pytest

from rag_rule_explainer.cli import main
from rag_rule_explainer.cli.stories import STORIES
from tests.cli.runs import Run, finished, subprocess_of

pytestmark = pytest.mark.waits


@pytest.fixture(
    scope="module", params=["in this process", pytest.param("as a program", marks=pytest.mark.slow)]
)
def demo(request: pytest.FixtureRequest) -> Run:
    if request.param == "as a program":
        return finished(subprocess_of("demo"))
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as end:
        main(["demo"])
    return Run(end.value.code, out.getvalue(), err.getvalue())


class TestDemo:
    def test_both_stories_end_in_their_rules(self, demo: Run) -> None:
        assert demo.code == 0
        covid, knee = demo.out.split("\n2. ")
        assert "whenever preprint-17 is retained, the answer contains 'prednisolone'" in covid
        assert "whenever preprint-17 is omitted, the answer does not contain 'prednisolone'" in covid
        assert (
            "whenever programme-1998 and leaflet-9 are retained, the answer contains 'six weeks'" in knee
        )
        for one in ("programme-1998", "leaflet-9"):
            assert f"whenever {one} is omitted, the answer does not contain 'six weeks'" in knee
            assert f"whenever {one} is retained" not in knee

    def test_question_answer_documents_and_costs_are_shown(self, demo: Run) -> None:
        for story in STORIES:
            assert f"Question: {story.question}\n" in demo.out
            for document in story.documents:
                assert document.id in demo.out
                assert document.title in demo.out
        assert "What would flip it" in demo.out
        assert "8 of 8 subsets probed; 10 replays" in demo.out
        assert "32 of 32 subsets probed; 34 replays" in demo.out

    def test_it_says_how_to_do_the_same_on_ones_own_chain(self, demo: Run) -> None:
        assert "RuleExplainer(your_chain" in demo.out
        assert "rag-rules explain --question" in demo.out

    def test_it_is_plain_text_where_it_is_not_a_terminal(self, demo: Run) -> None:
        assert "\x1b" not in demo.out + demo.err
