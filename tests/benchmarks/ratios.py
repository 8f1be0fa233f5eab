"""How a ratio is shown."""

import statistics


def show(
    title: str, other: str, ours: list[float], theirs: list[float], bar: float | None = None
) -> None:
    """Prints the medians of two series taken in turns, their ratio, and how far single pairs spread."""
    ratio = statistics.median(ours) / statistics.median(theirs)
    spread = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    told = "" if bar is None else f"; bar {bar}"
    print(
        f"\n{title}\n"
        f"  {other:<8} {1000 * statistics.median(theirs):8.1f} ms (median of {len(theirs)})\n"
        f"  explain  {1000 * statistics.median(ours):8.1f} ms\n"
        f"  ratio    {ratio:8.2f}    (single pairs {spread[0]:.2f} to {spread[-1]:.2f}{told})"
    )
