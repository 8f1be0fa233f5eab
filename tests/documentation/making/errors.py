"""The page of the reference that lists every error."""

import inspect
import re
from collections.abc import Iterator

import rag_rule_explainer.errors as module
from rag_rule_explainer.cli.pages import help_pages
from rag_rule_explainer.errors import RagRuleError
from tests.documentation.making.docstrings import as_markdown
from tests.documentation.making.help_pages import body_of


def errors() -> list[type[RagRuleError]]:
    """Every error, those that are raised for the same cause below the one that stands for it."""

    def below(parent: type[RagRuleError]) -> Iterator[type[RagRuleError]]:
        yield parent
        for each in parent.__subclasses__():
            if each.__module__ == module.__name__:
                yield from below(each)

    return list(below(RagRuleError))


def page() -> str:
    """The page, with the tree of all errors and a heading for each."""
    docstring = inspect.getdoc(module) or ""
    (tree,) = re.findall(r"^    RagRuleError.*?(?=\n\n)", docstring, re.MULTILINE | re.DOTALL)
    told = "".join(f"\n## `{each.__name__}`\n\n{_told(each)}\n" for each in errors())
    known = {each.__name__ for each in errors()}
    others = [each.name for each in help_pages() if each.kind == "errors" and each.name not in known]
    told += "".join(f"\n## `{name}`\n\n{body_of('errors', name)}\n" for name in others)
    return (
        "# Errors\n\nEvery error that this package raises on purpose is a `RagRuleError`. The message "
        "names the wrong value and says what to do. `rag_rule_explainer.errors` has them all.\n\n"
        f"```none\n{inspect.cleandoc(tree)}\n```\n{told}"
    )


def _told(error: type[RagRuleError]) -> str:
    page = body_of("errors", error.__name__).removeprefix("Error. ")
    return page or as_markdown(inspect.getdoc(error) or "")
