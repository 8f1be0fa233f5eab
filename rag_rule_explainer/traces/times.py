"""This module makes the times that tracers write comparable as texts."""

import re
from datetime import datetime, timedelta

from ..late_patterns import compiled_late

_TIME = compiled_late(
    r"(?P<day>\d{4}-\d\d-\d\d)[T ](?P<clock>\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d{1,9})\d*)?"
    r"(?:Z|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d))?",
    re.ASCII | re.IGNORECASE,
)


def sortable_time(written: str) -> str:
    """Returns a time of ISO 8601 in UTC and with nine digits after the point, so that texts sort as
    their times do; any other text unchanged. A time without an offset is taken for UTC."""
    found = _TIME.fullmatch(written)
    if found is None:
        return written
    try:
        time = datetime.fromisoformat(f"{found['day']}T{found['clock']}")
        if found["sign"]:
            offset = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"]))
            time = time - offset if found["sign"] == "+" else time + offset
    except (ValueError, OverflowError):
        return written
    return f"{time.isoformat()}.{(found['fraction'] or '').ljust(9, '0')}"
