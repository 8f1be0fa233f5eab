"""An MCP server over stdio that finds the facts it is given, in all forms in which servers return them.

It imports nothing else of the tests: it is a process of its own, and whoever started it waits.
"""

import json
import sys

from mcp.server.fastmcp import FastMCP
from mcp.types import EmbeddedResource, TextContent, TextResourceContents
from pydantic import AnyUrl, BaseModel

TEXTS: dict[str, str] = json.loads(sys.argv[1])

server = FastMCP("facts", log_level="ERROR")


class Fact(BaseModel):
    """A fact with its name."""

    id: str
    text: str


@server.tool()
def texts(query: str) -> list[str]:
    """Finds facts, as texts."""
    return list(TEXTS.values())


@server.tool()
def named(query: str) -> list[Fact]:
    """Finds facts, as objects."""
    return [Fact(id=name, text=text) for name, text in TEXTS.items()]


@server.tool(structured_output=False)
def resources(query: str) -> list[EmbeddedResource]:
    """Finds facts, as resources."""
    return [
        EmbeddedResource(
            type="resource",
            resource=TextResourceContents(uri=AnyUrl(f"file:///{name}.txt"), text=text),
        )
        for name, text in TEXTS.items()
    ]


@server.tool(structured_output=False)
def blocks(query: str) -> list[TextContent]:
    """Finds facts, as content blocks that are named."""
    return [
        TextContent(type="text", text=text, _meta={"id": name})  # pyright: ignore[reportCallIssue] -- its alias
        for name, text in TEXTS.items()
    ]


@server.tool()
def whole(query: str) -> str:
    """Finds all facts, as one text."""
    return "\n\n".join(TEXTS.values())


class Found(BaseModel):
    """What is found, among other fields."""

    hits: list[Fact]
    total: int
    query: str


@server.tool()
def typed(query: str) -> Found:
    """Finds facts, as one object that lists them."""
    return Found(hits=named(query), total=len(TEXTS), query=query)


@server.tool()
def as_json(query: str) -> str:
    """Finds facts, as a text that lists them."""
    return json.dumps({"results": [{"id": name, "content": text} for name, text in TEXTS.items()]})


@server.tool()
def failing(query: str) -> str:
    """Finds nothing, ever."""
    raise RuntimeError("the archive is closed")


if __name__ == "__main__":
    server.run()
