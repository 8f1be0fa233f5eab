"""The page of what has been tried, and of the versions that are supported.

``python -m tests.documentation.making.tables`` writes it.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from tests.agents.zoo import table as agents
from tests.documentation.making.places import DOCS, ROOT
from tests.integrations.langchain.zoo import table as langchain
from tests.integrations.llama_index.zoo import table as llama_index
from tests.integrations.plain.zoo.table import SHAPES as FUNCTIONS
from tests.integrations.tables import table

# Before Python 3.11, pytest brings it under its first name.
toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

PAGE = DOCS / "compatibility.md"
EXPLAINED = """\
Each row is a shape of application that the tests explain with a model that answers from what it is \
shown. A wrong substitution would give a wrong answer. A check mark means: the known minimal rules come \
out, no replay searches again, and every class of the framework is as it was afterwards. A name of an \
error means that the shape is refused, with that error.
"""
AGENTS = """\
A scripted agent reads a list of mails and a calendar, and pays somebody; what makes it pay is in one or \
several of its sources. A check mark means: the rules of the payment are those that trying every subset \
of the sources finds, sync and async, and no tool has run again. Sources are of the kinds of \
`source_kinds=`; a whole run and the next action are values of `replay_of=`. An empty cell stands for \
what another row is about. [How to explain an agent](how-to/agents.md) has the rest.
"""
SYNTHESIZED = """\
*As synthesized*: the sources are the nodes that a query engine gave to its synthesizer. *As retrieved*: \
the sources are what the search returned.
"""


def page() -> str:
    """The page with one table for each framework."""
    lines = ["# What has been tried\n", EXPLAINED]
    lines += ["## LangChain and LangGraph\n", langchain.outcome_table()]
    lines += ["## LlamaIndex\n", SYNTHESIZED, llama_index.outcome_table()]
    rows = [(each.name, ["✓"]) for each in FUNCTIONS]
    lines += ["## Plain Python\n", table(["outcome"], rows)]
    lines += ["## Agents\n", AGENTS, agents.outcome_table()]
    return "\n".join([*lines, "## Versions\n", _versions()])


def _project() -> Mapping[str, Any]:
    return toml.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def extras() -> Mapping[str, Sequence[str]]:
    """The requirements of each extra."""
    return _project()["optional-dependencies"]


def _versions() -> str:
    listed = [
        (f"`[{name}]`", [", ".join(f"`{each}`" for each in needs)]) for name, needs in extras().items()
    ]
    python = _project()["requires-python"]
    return f"Python `{python}`.\n\n" + table(["brings"], listed).replace("shape", "extra", 1)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
