"""This module describes the origin of an explanation: when it was made, and from which application,
models and sources."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from pydantic import JsonValue

from ..explanation.explanation import Explanation
from ..explanation.records import SourceRecord
from ..lattice import FAMILY_LIMIT
from ..printable import cut_in_the_middle, plain_id, printable, shortened
from ..settings import Settings

_HASH_SHOWN, _MOST_SOURCES, _MOST_SETTINGS = 12, 20, 20
"""The maximum numbers of digits of a hash, of sources and of settings that a report shows. The JSON of
the explanation contains all of them."""


def origins(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """Yields pairs of a label and a text about the origin of the explanation: its time, the
    application, the models, the sources, the settings and the versions. If one of these is unknown, it
    is left out; only for the time, the text says that it is unknown."""
    yield "at", _time(explanation) or "not known"
    if explanation.application.name:
        begun = explanation.application.fingerprint
        hashed = f" (hash of its first requests: {shortened_hash(begun)})" if begun else ""
        yield "application", f"{explanation.application.name}{hashed}"
    for use in ("application", "judge"):
        names = [model.name or "one without a name" for model in explanation.models if model.use == use]
        if names:
            yield "models" if use == "application" else "judges", _listed(names)
    hashes = map(_hashed, explanation.sources)
    if explanation.sources:
        yield "sha256", _listed(hashes, _MOST_SOURCES)
    yield "settings", _listed(_unusual(explanation.settings), _MOST_SETTINGS) or "as they are by default"
    if explanation.versions:
        yield "versions", _listed(f"{name} {version}" for name, version in explanation.versions.items())


def _hashed(source: SourceRecord) -> str:
    named, digest = plain_id(source.id), shortened_hash(source.sha256_now)
    # If a name is written from right to left, a browser or terminal may show the digits of a hash after
    # it in the wrong order. The Latin letters "sha256" between them prevent this.
    return f"{named} {digest}" if named.isascii() else f"{named} sha256:{digest}"


def made_in_one_line(explanation: Explanation) -> str:
    """Returns one line with the time of the explanation, this package's version, the question and the
    number of sources."""
    at = _time(explanation)
    version = explanation.versions.get("rag-rule-explainer", "")
    count = len(explanation.sources)
    sources = "1 source" if count == 1 else f"{count:,} sources"
    question = shortened(explanation.question, 200)
    said = f"made{at and f' {at}'} by rag-rule-explainer {version}".rstrip()
    return printable(f"{said} for the question {question!r} and {sources}")


def changed_since(explanation: Explanation) -> Iterator[str]:
    """Yields a warning if the texts of some sources were changed after the explanation. The hashes of the
    texts show this."""
    changed = [plain_id(each.id) for each in explanation.sources if not each.is_unchanged]
    if changed:
        are = "text is" if len(changed) == 1 else "texts are"
        yield f"{_listed(changed, _MOST_SOURCES)}: the {are} not what was explained, as the hash shows"


def shortened_hash(digest: str) -> str:
    """Returns the first digits of a hash. They are enough to distinguish two texts."""
    return digest[:_HASH_SHOWN]


def _time(explanation: Explanation) -> str:
    if not explanation.made_at:
        return ""
    try:
        made_at = datetime.strptime(explanation.made_at, "%Y-%m-%dT%H:%M:%S%z")
    except ValueError:  # the file may contain an impossible date, such as 31 February
        return ""
    return f"{made_at:%Y-%m-%d %H:%M:%S} UTC"


def _unusual(settings: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yields the settings that differ from the defaults, as "name = value"."""
    usual = dict(_flat(Settings().as_dict()))
    for name, value in _flat(settings):
        if name == "limits.replays" and isinstance(value, int) and value > 1 << FAMILY_LIMIT:
            continue  # the command line sets this limit if replays are free; no search reaches the limit
        said = json.dumps(value, ensure_ascii=False)
        if name not in usual or said != json.dumps(usual[name], ensure_ascii=False):
            yield f"{name} = {shortened(said, 100)}"


def _flat(settings: Mapping[str, JsonValue], under: str = "") -> Iterator[tuple[str, JsonValue]]:
    for name, value in settings.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{under}{name}.")
        else:
            yield f"{under}{name}", value


def _listed(said: Iterable[str], most: int = 50) -> str:
    listed = list(said)
    more = f", … and {len(listed) - most:,} more" if len(listed) > most else ""
    return ", ".join(cut_in_the_middle(printable(each), 200) for each in listed[:most]) + more
