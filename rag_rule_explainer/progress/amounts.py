"""Numbers as people read them at a glance: short, and never off by more than their last digit."""

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_SIZES = ((_DAY, "d", _HOUR, "h"), (_HOUR, "h", _MINUTE, "min"), (_MINUTE, "min", 1, "s"))


def token_amount(count: int) -> str:
    """``999``, ``1.2k``, ``3.4M``, ``5.6G``."""
    if count < 1000:
        return str(count)
    scaled = count / 1000
    for unit in "kM":
        # 999,950 would be rounded to 1000.0k.
        if scaled < 999.95:
            return f"{scaled:.1f}{unit}"
        scaled /= 1000
    return f"{scaled:,.1f}G"


def money(cost: float) -> str:
    """Two decimals, four for small amounts; in whatever currency the prices are."""
    if 0 < cost < 0.0001:
        return "< 0.0001"
    return f"{cost:.4f}" if 0 < cost < 1 else f"{cost:,.2f}"


def rate(per_second: float) -> str:
    """``1,234/s``, ``41.2/s``; ``12/min`` and ``3/h`` where a second is too short."""
    if per_second >= 99.95:
        return f"{per_second:,.0f}/s"
    if per_second >= 1:
        return f"{per_second:.1f}/s"
    if per_second * _MINUTE >= 1:
        return f"{per_second * _MINUTE:.0f}/min"
    return f"{per_second * _HOUR:.0f}/h"


def duration(seconds: float) -> str:
    """In whole seconds: ``12 s``, ``3 min 20 s``, ``2 h 5 min``, ``4 d 3 h``."""
    whole = round(seconds)
    for size, name, part, part_name in _SIZES:
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {name}" + (f" {rest} {part_name}" if rest else "")
    return f"{whole} s"


def elapsed(seconds: float) -> str:
    """Returns the same with one decimal below ten seconds: ``0.4 s``."""
    return f"{seconds:.1f} s" if seconds < 9.95 else duration(seconds)
