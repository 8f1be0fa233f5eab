"""This module makes a name for a model that is a judge. A store keeps the judgements under this name. So
the name contains everything that determines the model's opinions, but no secrets."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, cast
from urllib.parse import urlsplit

from ...printable import printable

_SETTINGS = {
    "deployment_name": "deployment",
    "engine": "deployment",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "seed": "seed",
    "reasoning_effort": "reasoning effort",
}
_MORE_SETTINGS = ("model_kwargs", "additional_kwargs")


def judge_name_of(
    model: object, model_name: str | None, *more: str, endpoints: Iterable[str]
) -> str | None:
    """Returns a name such as "gpt-4o at api.openai.com, temperature 0, seed 7"; None without
    ``model_name``.

    The name has only the host and the port of the endpoint, because the rest of its URL may be secret.
    Settings that are not set are left out. ``more``: texts that are added to the name. ``endpoints``:
    the attributes of the model that may hold the URL of its endpoint, such as "client.base_url"; the
    first one with a URL is used.
    """
    if not model_name:
        return None
    endpoint = next((host for path in endpoints if (host := _host(_at(model, path)))), None)
    place = f" at {endpoint}" if endpoint else ""
    return printable(", ".join([f"{model_name}{place}", *_settings(model), *more]))


def _settings(model: object) -> Iterator[str]:
    others = [getattr(model, name, None) for name in _MORE_SETTINGS]
    mappings = [cast("Mapping[str, object]", each) for each in others if isinstance(each, Mapping)]
    for name, word in _SETTINGS.items():
        values = (getattr(model, name, None), *(each.get(name) for each in mappings))
        # In a request, the values in the mappings of ``_MORE_SETTINGS`` take precedence over the model's
        # own fields.
        value = next((each for each in reversed(values) if each is not None), None)
        if isinstance(value, (int, float)):
            yield f"{word} {value:g}" if isinstance(value, float) else f"{word} {value}"
        elif isinstance(value, str) and value:
            yield f"{word} {value}"


def _at(model: object, path: str) -> Any:
    for name in path.split("."):
        model = getattr(model, name, None)
    return model


def _host(url: object) -> str | None:
    text = "" if url is None else str(url)
    with suppress(ValueError):  # ``parts.port`` raises a ValueError if the port is no number.
        parts = urlsplit(text if "//" in text else f"//{text}")
        return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
    return None
