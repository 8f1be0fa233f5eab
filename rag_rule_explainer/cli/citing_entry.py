"""This module finds the function of an explainer that checks citations. It works for the explainers of
all integrations."""

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

from ..citations import CiteOptions, cite
from ..explainer import Explainer


def citing_entry(explainer: Any, options: CiteOptions) -> Callable[..., Any]:
    """Returns the function of an explainer that checks citations, such as its method ``cite``, with
    these options already set."""
    given: dict[str, Any] = {each.name: getattr(options, each.name) for each in fields(options)}
    if isinstance(explainer, Explainer):
        return partial(cite, explainer, **given)
    return partial(explainer.cite, **given)
