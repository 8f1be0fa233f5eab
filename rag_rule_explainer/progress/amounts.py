"""This module writes numbers in a short form, whose last digit is rounded correctly."""

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_SIZES = ((_DAY, "d", _HOUR, "h"), (_HOUR, "h", _MINUTE, "min"), (_MINUTE, "min", 1, "s"))


def token_amount(count: int) -> str:
    """Returns a number of tokens such as ``999``, ``1.2k``, ``3.4M`` or ``5.6G``."""
    if count < 1000:
        return str(count)
    scaled = count / 1000
    for unit in "kM":
        # 999,950 must become 1.0M, because it would be rounded to 1000.0k.
        if scaled < 999.95:
            return f"{scaled:.1f}{unit}"
        scaled /= 1000
    return f"{scaled:,.1f}G"


def money(cost: float) -> str:
    """Returns an amount of money as text, with four decimals if the amount is below 1, and with two
    otherwise. The text names no currency."""
    if 0 < cost < 0.0001:
        return "< 0.0001"
    return f"{cost:.4f}" if 0 < cost < 1 else f"{cost:,.2f}"


def rate(per_second: float) -> str:
    """Returns a number per second such as ``41.2/s``. A number below one per second is given per minute
    or per hour instead."""
    if per_second >= 99.95:
        return f"{per_second:,.0f}/s"
    if per_second >= 1:
        return f"{per_second:.1f}/s"
    if per_second * _MINUTE >= 1:
        return f"{per_second * _MINUTE:.0f}/min"
    return f"{per_second * _HOUR:.0f}/h"


def duration(seconds: float) -> str:
    """Returns a duration in its two largest units, such as ``12 s`` or ``3 min 20 s``."""
    whole = round(seconds)
    for size, name, part, part_name in _SIZES:
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {name}" + (f" {rest} {part_name}" if rest else "")
    return f"{whole} s"


def elapsed(seconds: float) -> str:
    """Returns a duration in its two largest units, such as ``3 min 20 s``; below ten seconds with one
    decimal, as in ``0.4 s``."""
    return f"{seconds:.1f} s" if seconds < 9.95 else duration(seconds)
