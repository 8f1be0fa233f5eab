"""What a process that applications give work to remembers."""

_seen = set[str]()


def note() -> None:
    _seen.add("two")


def noted() -> bool:
    return bool(_seen)


def length_of(text: str) -> int:
    return len(text)
