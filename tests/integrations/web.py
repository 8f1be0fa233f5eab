"""A search engine of somebody else's."""

import asyncio
from typing import Any

from tests.integrations.known import TEXTS


class Web:
    """Finds all there is, and counts its requests."""

    def __init__(self) -> None:
        self.requests = 0

    def hits(self, query: str) -> list[dict[str, Any]]:
        self.requests += 1
        return [{"id": name, "snippet": text, "rank": n} for n, (name, text) in enumerate(TEXTS.items())]

    async def ahits(self, query: str) -> list[dict[str, Any]]:
        await asyncio.sleep(0)
        return self.hits(query)


def snippets(hits: list[dict[str, Any]]) -> str:
    """What was found, as a prompt shows it."""
    return "\n".join(hit["snippet"] for hit in hits) or "nothing"
