"""What of a file is the day's, the machine's or an accident, and is not compared.

Each field is named, and a field that is not there is a KeyError: whoever renames one is to see it here.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

ID = "0" * 32
LATENCY = 0.25
VERSION = "0"
MADE_AT = "2000-01-01T00:00:00Z"
FINGERPRINT = "0" * 64

Json = dict[str, Any]


def explanation(told: Json) -> Json:
    """The same with an id, latencies and versions that are everybody's; it can still be read back."""
    probes = [
        {**probe, "latency": None if probe["latency"] is None else LATENCY} for probe in told["probes"]
    ]
    fixed = {
        "id": ID if told["id"] else "",
        "probes": probes,
        "versions": dict.fromkeys(told["versions"], VERSION),
        "made_at": MADE_AT if told["made_at"] else "",
        "application": {
            "name": told["application"]["name"],
            "fingerprint": FINGERPRINT if told["application"]["fingerprint"] else "",
        },
    }
    return {**told, **fixed}


def printed(told: str) -> str:
    """A report for people, without its time and the versions."""
    told = re.sub(r"(its first requests: )[0-9a-f]+", r"\1*", told)
    return re.sub(r"^(  (?:at|versions) +)\S.*$", r"\1*", told, flags=re.MULTILINE)


def laid_out(told: Mapping[str, Any]) -> str:
    """As JSON in ASCII, with a line for each field, and for each entry of a list in one."""
    return "{\n" + ",\n".join(f"{_said(key)}: {_lines(value)}" for key, value in told.items()) + "\n}\n"


def table(content: str, untold: Iterable[str] = ()) -> str:
    """A CSV; of the columns ``untold``, only whether there is a value."""
    rows = list(csv.DictReader(io.StringIO(content)))
    head = content.splitlines()[0].split(",")
    out = io.StringIO()
    writer = csv.DictWriter(out, head, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, **{name: row[name] and "*" for name in untold}})
    return out.getvalue()


def _lines(value: object) -> str:
    if isinstance(value, list) and value:
        return "[\n " + ",\n ".join(map(_said, cast("list[object]", value))) + "\n]"
    return json.dumps(value, separators=(",", ":"))


def _said(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
