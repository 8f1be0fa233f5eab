"""An MCP server over stdio with an inbox and a calendar. It writes into a file which of its tools ran.

It imports nothing else of the tests: it is a process of its own, and whoever started it waits.
"""

import sys
from pathlib import Path

from mcp.server.fastmcp import FastMCP

RAN = Path(sys.argv[1])
server = FastMCP("mailbox", log_level="ERROR")


def note(name: str) -> None:
    with RAN.open("a") as file:
        file.write(f"{name}\n")


@server.tool()
def search_inbox(of: str) -> list[str]:
    """Searches the inbox."""
    note("search_inbox")
    return [
        "Amber is fossil tree resin that people have valued since the Neolithic for its colour.",
        "Basalt columns form when thick lava flows cool slowly and crack from the surface down.",
    ]


@server.tool()
def calendar() -> str:
    """Looks into the calendar."""
    note("calendar")
    return "Dunes wander because the wind carries sand up one side and drops it down the other."


if __name__ == "__main__":
    server.run()
