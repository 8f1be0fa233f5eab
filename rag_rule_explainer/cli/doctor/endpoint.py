"""This module examines whether a model answers at its endpoint. It sends the key to this endpoint only,
and prints it nowhere."""

import json
import os
from collections.abc import Mapping
from http.client import HTTPException
from importlib.util import find_spec
from typing import Any, NamedTuple, cast
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from typing_extensions import override

from ...allowed import did_you_mean
from ...errors import MissingExtra
from ...experiments.models import USUAL_KEY, unset
from ...instrumentation.source_kinds.part_values import read_json
from ...printable import printable, shortened
from ..models import endpoint
from .diagnosis import Diagnosis, Health

_OPENAI = "https://api.openai.com/v1"
_SECONDS = 15.0
_MOST_BYTES = 1_000_000
_SHORT_QUESTION = [{"role": "user", "content": "Say yes."}]
_PACKAGES = ("langchain_openai", "langchain_core")


class HttpReply(NamedTuple):
    """An ``HttpReply`` is the reply of an endpoint. ``status``: its HTTP status; 0 if the endpoint was
    not reached, and ``body`` then gives the reason."""

    status: int
    body: str


class _NoRedirects(HTTPRedirectHandler):
    """This handler refuses redirects, because a redirect could send the key to another server."""

    @override
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def examined_model(part: str, name: str, base_url: str | None, variable: str | None) -> Diagnosis:
    """Returns the findings about a model. ``part``: "model" or "judge-model". ``base_url``: its endpoint;
    None for OpenAI's own. ``variable``: the environment variable of its key; None for OPENAI_API_KEY."""
    missing = [each for each in _PACKAGES if find_spec(each) is None]
    if missing:
        said, _, command = str(MissingExtra.naming("openai", f"--{part}")).partition(": ")
        return Diagnosis(part, "problem", f"{said} {missing[0]}, which is not installed", command)
    url = (endpoint(base_url) or _OPENAI).rstrip("/")
    if not _is_address(url):
        advice = "give one such as http://127.0.0.1:8000/v1, without a user and a password"
        return Diagnosis(part, "problem", f"{url} is no address of a server", advice)
    key = os.environ.get(variable or USUAL_KEY, "")
    if not key:
        advice = "export it; any value will do for a local endpoint"
        return Diagnosis(part, "problem", unset(variable or USUAL_KEY), advice)
    if not (key.isascii() and key.isprintable()) or " " in key:
        said = "the key has a space, a line break or another character that no key has"
        return Diagnosis(part, "problem", said, "copy it again, without quotes and line breaks")
    return _examined(part, name, url, key)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return False


def _examined(part: str, name: str, url: str, key: str) -> Diagnosis:
    listed = _asked(f"{url}/models", key)
    models = _names_in(listed)
    if listed.status == 200 and any(name in {each, each.partition(":")[0]} for each in models):
        return Diagnosis(part, "ok", f"{url} has {name}")
    if listed.status in {0, 401, 403}:
        return _refused(part, name, url, listed, key)
    # Not every endpoint lists its models, and not every list is complete. So the model itself is asked
    # for one token.
    asking = {"model": name, "messages": _SHORT_QUESTION, "max_tokens": 1}
    answered = _asked(f"{url}/chat/completions", key, asking)
    if answered.status == 200:
        return Diagnosis(part, "ok", f"{name} at {url} answers")
    return _refused(part, name, url, answered, key, did_you_mean(name, models))


def _refused(part: str, name: str, url: str, reply: HttpReply, key: str, near: str = "") -> Diagnosis:
    """Returns the diagnosis for a reply that is no success. ``part``: "model" or "judge-model".
    ``name``: the name of the model. ``url``: the endpoint. ``key``: the API key, which is masked in the
    diagnosis. ``near``: a question such as "did you mean gpt-4o? "; empty for none."""
    status, said = reply.status, shortened(printable(reply.body.replace(key, "***")), 200)
    is_about_model = status in {400, 404} and bool(near or "model" in said.lower())
    unknown = f"{url} does not know {name} ({status}): {said}"
    found: tuple[tuple[bool, Health, str, str], ...] = (
        (status == 0, "problem", f"nothing answers at {url}: {said}", _REACH),
        (300 <= status < 400, "problem", f"{url} redirects ({status})", _ELSEWHERE),
        (status in {401, 403}, "problem", f"{url} refuses the key ({status}): {said}", _RIGHT_KEY),
        (is_about_model, "problem", unknown, f"{near}give --{part} a name that it knows"),
        (status in {404, 405}, "problem", f"{url} has no /chat/completions ({status})", _PATH),
        (status == 429, "warning", f"{url} refuses for now (429): {said}", _QUOTA),
        (status >= 500, "problem", f"{url} fails ({status}): {said}", _LOG),
        (True, "warning", f"{url} refuses a short question ({status}): {said}", _SAME),
    )
    return next(Diagnosis(part, state, text, advice) for fits, state, text, advice in found if fits)


_REACH = "start the server, or give its address by --base-url or OPENAI_BASE_URL"
_ELSEWHERE = "give the address to which it redirects by --base-url"
_RIGHT_KEY = "export the right key in OPENAI_API_KEY, or name another variable by --key"
_PATH = "does its base URL end in /v1? give it by --base-url, without /chat/completions"
_QUOTA = "wait, look at your quota there, and use a smaller --concurrency"
_LOG = "look at the log of the server, and try again"
_SAME = "if explaining fails with the same message, do what it says"


def _asked(url: str, key: str, body: Mapping[str, Any] | None = None) -> HttpReply:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    request = Request(url, content, headers)  # noqa: S310 -- the caller lets only http and https pass
    try:
        with build_opener(_NoRedirects).open(request, timeout=_SECONDS) as reply:
            return HttpReply(reply.status, _text_of(reply.read(_MOST_BYTES)))
    except HTTPError as error:
        with error:
            return HttpReply(error.code, _text_of(error.read(_MOST_BYTES)))
    except URLError as error:
        reason = error.reason
        return HttpReply(0, getattr(reason, "strerror", None) or str(reason))
    except (OSError, HTTPException, ValueError) as error:
        return HttpReply(0, f"{type(error).__name__}: {error}")


def _text_of(content: bytes) -> str:
    """Returns the message of an error body in OpenAI's form; of any other body, its text."""
    text = content.decode("utf-8", "replace")
    message = _entry_of(_entry_of(read_json(text), "error"), "message")
    return message if isinstance(message, str) else text


def _names_in(reply: HttpReply) -> list[str]:
    data = _entry_of(read_json(reply.body), "data")
    items = cast("list[object]", data) if isinstance(data, list) else []
    return [name for name in (_entry_of(each, "id") for each in items) if isinstance(name, str)]


def _entry_of(value: object, name: str) -> object:
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None
