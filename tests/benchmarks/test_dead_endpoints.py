"""How much later a process ends that explains, where nobody takes its traces, than the bare application.

In seconds after the imports: of the application alone, and explained, each in a process of its own.
"""

import pytest

from tests.benchmarks.ratios import STUDIES
from tests.integrations.langchain.ending import DEAF, HOW, TRACERS, Ended, ended

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(600)]
MOST_LATER = 10.0
AT_MOST = 45.0
"""A process that is still there by then is ended: the client of LangSmith tries again for minutes."""
TITLE = "seconds to the end of a process whose traces nobody takes"


@pytest.mark.parametrize("kind", DEAF)
@pytest.mark.parametrize("tracer", TRACERS)
def test_a_process_ends_hardly_later_than_the_bare_application(tracer: str, kind: str) -> None:
    bare = ended("bare", tracer, kind, AT_MOST)
    ours = {how: ended(how, tracer, kind, AT_MOST) for how in HOW}
    heading = ("tracer", "endpoint", "bare", *HOW)
    rows = STUDIES.setdefault(TITLE, [heading])
    rows.append((tracer, kind, shown(bare), *map(shown, ours.values())))
    for each in ours.values():
        assert each.seconds <= bare.seconds + MOST_LATER
        assert each.by_itself or not bare.by_itself


def shown(process: Ended) -> str:
    return f"{process.seconds:.1f}" if process.by_itself else f"> {process.seconds:.0f}"
