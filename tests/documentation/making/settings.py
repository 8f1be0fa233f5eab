"""The page of the reference that lists every setting with its default."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from langchain_rag_rule_explainer import RuleExplainer as OfLangChain
from llama_index_rag_rule_explainer import RuleExplainer as OfLlamaIndex
from plain_rag_rule_explainer import RuleExplainer as OfFunctions

from rag_rule_explainer import (
    Assumptions,
    Explainer,
    Limits,
    Noise,
    Partition,
    Price,
    Retries,
    Sampled,
    Settings,
)
from rag_rule_explainer.cli.pages import help_pages
from tests.documentation.making.docstrings import parameters_of, plain
from tests.documentation.making.signatures import kind, shown

EXPLAINERS: dict[str, Callable[..., Any]] = {
    "Explainer": Explainer,
    "LangChain": OfLangChain,
    "LlamaIndex": OfLlamaIndex,
    "plain": OfFunctions,
}
PARTS = (Limits, Noise, Sampled, Partition, Retries, Price, Assumptions)
"""Classes whose objects are the value of a setting."""

ALSO = {
    "answer_of": "a function that reads the answer from the application's output.",
    "question_of": "a function that reads the question from the application's input.",
    "limiter": "a ``Limiter``; all explainers that get the same one share its limit.",
    "minimal": "False reports all valid rules instead of the minimal ones; not possible with the sampled "
    "and the grouped miner.",
    "print_replays": "True also shows what replays print, and their warnings.",
    "reuse_answers": "False replays an ordered list of sources once for each kind of rule that needs it, "
    "which saves memory.",
    "trace_replays": "False switches off all tracing in replays.",
    "settings": "a ``Settings``. Fields that are also given as keywords take precedence.",
    "false_holds": "the chance of a wrong HOLDS that ``vote='sequential'`` allows.",
    "false_breaks": "the chance of a wrong BREAKS that ``vote='sequential'`` allows.",
    "margin": "how far from a half the share of answers that hold is taken to be, at the least.",
    "input": "the price of a million input tokens.",
    "output": "the price of a million output tokens.",
}
"""What docstrings say of two at once, or of one value only."""


class Setting(NamedTuple):
    """A keyword of an explainer or of a part. ``taken_by``: the names of the explainers that take it."""

    name: str
    type: str
    default: str
    meaning: str
    taken_by: tuple[str, ...]


def _keywords(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return {
        name: each
        for name, each in inspect.signature(function).parameters.items()
        if each.kind is each.KEYWORD_ONLY or name == "predicate"
    }


def settings() -> list[Setting]:
    """Every keyword of every explainer, with what the docstrings say of it."""
    told: dict[str, str] = {}
    for owner in (*EXPLAINERS.values(), Settings):
        told = {**parameters_of(inspect.getdoc(owner) or ""), **told}
    told |= ALSO
    found: dict[str, tuple[inspect.Parameter, list[str]]] = {}
    for explainer, owner in EXPLAINERS.items():
        for name, each in _keywords(owner).items():
            found.setdefault(name, (each, []))[1].append(explainer)
    return [
        Setting(name, kind(each.annotation), _default(each), told.get(name, ""), tuple(takers))
        for name, (each, takers) in sorted(found.items())
    ]


def _default(each: inspect.Parameter) -> str:
    return "" if each.default is each.empty else shown(each.default)


def fields_of(part: type) -> list[Setting]:
    """The fields of a class whose objects are a setting."""
    told = {**ALSO, **parameters_of(inspect.getdoc(part) or "")}
    return [
        Setting(name, kind(each.annotation), _default(each), told.get(name, ""), ())
        for name, each in inspect.signature(part).parameters.items()
    ]


def page() -> str:
    """The page, with a heading for each setting."""
    return "".join(_lines())


def _lines() -> Iterator[str]:
    yield (
        "# Settings\n\nEvery setting is a keyword of an explainer: `RuleExplainer(application, "
        "concurrency=4)`. A setting without a remark is taken by all of them.\n"
    )
    explained = {each.name for each in help_pages() if each.kind == "settings"}
    for each in settings():
        yield f"\n## `{each.name}`\n\n{_sentence(each)}\n\n"
        yield f"- Type: `{each.type}`\n- Default: `{each.default}`\n"
        if len(each.taken_by) < len(EXPLAINERS):
            yield f"- For: {', '.join(each.taken_by)}\n"
        if each.name in explained:
            yield f"- More: [{each.name}](../help/settings/{each.name}.md)\n"
    others = sorted(explained - {each.name for each in settings()})
    yield "\n## Of a single call, and of the command line\n\n"
    yield "".join(f"- [{name}](../help/settings/{name}.md)\n" for name in others)
    for part in PARTS:
        yield f"\n## Fields of `{part.__name__}`\n\n"
        yield "| field | type | default | meaning |\n|---|---|---|---|\n"
        for each in fields_of(part):
            cells = (
                f"`{each.name}`",
                f"`{each.type}`",
                f"`{each.default}`" if each.default else "required",
            )
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells)
            yield f" | {_sentence(each)} |\n"


def _sentence(each: Setting) -> str:
    text = plain(each.meaning)
    return text[:1].upper() + text[1:]
