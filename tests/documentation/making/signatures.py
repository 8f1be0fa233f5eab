"""What a reader has to write to call something, as it stands in the reference."""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin

from pydantic import BaseModel

from rag_rule_explainer.predicates import PredicateLike
from rag_rule_explainer.sources import SourceLike

MODULES = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])")
WIDTH = 90
ALIASES = {"PredicateLike": PredicateLike, "SourceLike": SourceLike}
"""Types that are longer than what they are called."""
OURS = (
    "rag_rule_explainer",
    "langchain_rag_rule_explainer",
    "llama_index_rag_rule_explainer",
    "openai_rag_rule_explainer",
    "plain_rag_rule_explainer",
    "scorers_rag_rule_explainer",
)


def kind(annotation: object) -> str:
    """An annotation in the words of the source, without the modules that its names come from."""
    if annotation is inspect.Parameter.empty:
        return ""
    text = _words(annotation)
    for name, alias in ALIASES.items():
        text = text.replace(_words(alias), name)
    return MODULES.sub("", text.replace("NoneType", "None").replace("~", "")).strip("'\"")


def _words(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    if get_origin(annotation) in {Union, UnionType}:
        return " | ".join(map(_words, get_args(annotation)))
    if isinstance(annotation, type) and not get_args(annotation):
        return annotation.__name__
    return inspect.formatannotation(annotation)


def shown(default: object) -> str:
    """A default as one would write it; an address in memory means nothing to anybody."""
    if isinstance(default, type) or inspect.isroutine(default):
        return getattr(default, "__name__", "...")
    if is_dataclass(default) and cast("Any", type(default))() == default:
        return f"{type(default).__name__}()"
    text = repr(default)
    return "..." if " at 0x" in text or "<factory>" in text else text


def signature(name: str, thing: Callable[..., Any]) -> str:
    """``name(parameter: type = default, ...)``, in as many lines as it needs."""
    try:
        found = inspect.signature(thing)
    except ValueError:
        return name
    given = [each for each in found.parameters.values() if each.name not in {"self", "cls"}]
    texts = list(_written(given))
    returned = kind(found.return_annotation)
    arrow = f" -> {returned}" if returned and not inspect.isclass(thing) else ""
    line = f"{name}({', '.join(texts)}){arrow}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {text},\n" for text in texts) + f"){arrow}"


def _written(given: list[inspect.Parameter]) -> Iterator[str]:
    starred = False
    for each in given:
        if each.kind is each.VAR_POSITIONAL:
            starred = True
        elif each.kind is each.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        annotated = f": {kind(each.annotation)}" if kind(each.annotation) else ""
        default = "" if each.default is each.empty else f" = {shown(each.default)}"
        yield f"{stars}{each.name}{annotated}{default}"


def members(owner: type) -> Iterator[tuple[str, object]]:
    """The public methods and properties that this package gives a class, those of its bases last."""
    seen: set[str] = set()
    for base in owner.__mro__:
        if not base.__module__.startswith(OURS):
            continue
        for name, value in vars(base).items():
            told = isinstance(
                cast("object", value), (property, classmethod, staticmethod)
            ) or inspect.isfunction(value)
            if not told or name.startswith("_") or name in seen:
                continue
            seen.add(name)
            if inspect.getdoc(value):
                yield name, value


def entries(owner: type) -> dict[str, str]:
    """The fields of a pydantic model, each with its type."""
    if not issubclass(owner, BaseModel):
        return {}
    fields: Any = vars(owner)["__pydantic_fields__"]
    return {name: kind(each.annotation) for name, each in fields.items()}
