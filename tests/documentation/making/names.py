"""The pages of the reference that are made of docstrings: every public name, once."""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module

from rag_rule_explainer.errors import RagRuleError
from tests.documentation.making.definitions import defined
from tests.documentation.making.docstrings import as_markdown
from tests.documentation.making.signatures import entries, members, signature

ROOT = "rag_rule_explainer"
GROUPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "explaining": (
        "Explaining",
        (
            "Explainer",
            "Source",
            "Answer",
            "RuleKind",
            "Settings",
            "SettingsFields",
            "Update",
            "__version__",
        ),
    ),
    "conditions": (
        "Conditions",
        (
            *("same_answer", "equals", "contains", "matches", "one_of", "consistent_with", "refuses"),
            *("cites", "mentions_source", "json_path", "is_valid", "judged", "condition", "Case"),
            *("calls_tool", "next_call", "calls_in_order", "number_of_calls", "ToolCall"),
            *("Judgement", "Verdict", "JudgeRequest", "JudgeReply", "ignoring_citations"),
        ),
    ),
    "results": (
        "Results",
        (
            *("Explanation", "Finding", "Summary", "RuleSummary", "Verification", "load", "diff"),
            *("Comparison", "check_judge", "LabelledCase", "JudgeCheck", "Incident", "Annotations"),
        ),
    ),
    "citations": (
        "Citations",
        (
            *("cite", "acite", "CitedAnswer", "check_citations", "CitationCheck"),
            *("CitationVerdict", "CitationClass"),
        ),
    ),
    "spending": (
        "Cost, noise and many sources",
        (
            *("Limits", "Price", "Estimate", "Assumptions", "Store", "Retries", "Limiter", "Noise"),
            *("Sampled", "Partition", "Progress", "ProgressBar", "ProgressReport"),
        ),
    ),
}
"""The names of the package itself, by what they are for; its errors have a page of their own."""
PACKAGES: Mapping[str, tuple[str, str]] = {
    "langchain": ("LangChain", "langchain_rag_rule_explainer"),
    "llama-index": ("LlamaIndex", "llama_index_rag_rule_explainer"),
    "plain": ("Plain Python", "plain_rag_rule_explainer"),
    "clients": ("Clients of searches", "rag_rule_explainer.instrumentation.clients"),
    "pytest-plugin": ("The plugin of pytest", "rag_rule_explainer.pytest_plugin"),
    "scorers": ("Scorers of evaluation frameworks", "scorers_rag_rule_explainer"),
    "reports": ("Reports", "rag_rule_explainer.report"),
    "predicates": ("Conditions of your own", "rag_rule_explainer.predicates"),
    "mining": ("Miners", "rag_rule_explainer.mining"),
    "comparing": ("Comparisons in detail", "rag_rule_explainer.comparison"),
    "citing": ("Citations in detail", "rag_rule_explainer.citations"),
    "fixing": ("Fixes and rechecks", "rag_rule_explainer.fixing"),
    "auditing": ("Audits of a corpus", "rag_rule_explainer.audit"),
    "checking": ("Checks of judges in detail", "rag_rule_explainer.checking"),
    "showing-progress": ("Progress", "rag_rule_explainer.progress"),
    "testing": ("Fakes for your tests", "rag_rule_explainer.testing"),
}


@dataclass(frozen=True, slots=True)
class Named:
    """A public name. ``page``: the page of the reference that it stands on."""

    package: str
    name: str
    page: str

    @property
    def thing(self) -> object:
        return getattr(import_module(self.package), self.name)

    @property
    def anchor(self) -> str:
        return self.name.strip("_").lower()


def public() -> list[Named]:
    """Every name that a package lists in ``__all__``, on its page; none is on two."""
    found = {name: Named(ROOT, name, page) for page, (_, names) in GROUPS.items() for name in names}
    for page, (_, package) in PACKAGES.items():
        for name in import_module(package).__all__:
            if not _is_error(getattr(import_module(package), name)):
                key = name if name not in found else f"{package}.{name}"
                if name in found and found[name].thing is getattr(import_module(package), name):
                    continue
                found[key] = Named(package, name, page)
    return list(found.values())


def _is_error(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, RagRuleError)


def pages() -> Iterator[tuple[str, str]]:
    """Each page by its file's name."""
    listed = public()
    links = {
        each.name: f"{each.page}.md#{each.anchor}" for each in reversed(listed) if each.name[0] != "_"
    }
    for page, (title, package) in {**{p: (t, ROOT) for p, (t, _) in GROUPS.items()}, **PACKAGES}.items():
        head = f"# {title}\n\n`from {package} import ...`\n"
        module = inspect.getdoc(import_module(package)) if package != ROOT else None
        told = [f"\n{as_markdown(module)}\n"] if module else []
        here = [_entry(each, links) for each in listed if each.page == page]
        yield f"{page}.md", "".join([head, *told, *here])


def _entry(named: Named, links: Mapping[str, str]) -> str:
    others = {name: link for name, link in links.items() if name != named.name}
    thing = named.thing
    title = f"\n## `{named.name}`\n"
    if not (isinstance(thing, type) or inspect.isroutine(thing)):
        return f"{title}\n{_value(named, others)}\n"
    parts = [title, _called(named.name, thing), _told(thing, others)]
    if isinstance(thing, type):
        parts += [_fields(thing), *_members(thing, others)]
    return "\n".join(part for part in parts if part)


def _value(named: Named, links: Mapping[str, str]) -> str:
    """A constant or an alias of a type: how it is defined, and the text below its definition."""
    if named.name == "__version__":
        return "The version of this package, as text."
    definition, told = defined(named.package.split(".")[0])[named.name]
    return f"```python\n{definition}\n```\n\n{as_markdown(told, links)}"


def _called(name: str, thing: object) -> str:
    return f"```python\n{signature(name, thing)}\n```\n" if callable(thing) else ""


def _told(thing: object, links: Mapping[str, str]) -> str:
    docstring = inspect.getdoc(thing)
    assert docstring, thing
    return as_markdown(docstring, links) + "\n"


def _fields(owner: type) -> str:
    listed = [
        f"| `{name}` | `{kind.replace('|', chr(92) + '|')}` |" for name, kind in entries(owner).items()
    ]
    return "\n".join(["| field | type |", "|---|---|", *listed, ""]) if listed else ""


def _members(owner: type, links: Mapping[str, str]) -> Iterator[str]:
    for name, value in members(owner):
        inner = getattr(value, "__func__", value)
        title = f"### `{owner.__name__}.{name}`\n"
        called = "" if isinstance(value, property) else _called(name, inner)
        yield "\n".join(part for part in (title, called, _told(value, links)) if part)
