"""This package runs ``rag-rules mcp``, a server of the Model Context Protocol. Its clients can have one
application's answers explained, and cannot choose the application, the folder or the limits."""

import os.path

from ...instrumentation.importing import load_application
from ...instrumentation.integration import Integration
from ..terminal import say, stdout_kept
from .allowance import ReplayAllowance
from .answering import ServedApplication
from .saved import SavedFolder
from .sdk import McpSdk
from .served_options import ServedOptions, ServedSpending
from .server import run_server


def serve_mcp(served: ServedOptions, spending: ServedSpending) -> None:
    """Serve estimate, explain, verify and show to an agent, by the Model Context Protocol.

    The application, the folder and the limits are fixed here. A call needs a cap on its replays: from
    --max-replays, or its own. Nothing else is read or run.

    Examples:
      rag-rules mcp --app my_module:chain --folder rules/ --max-replays 100
      rag-rules mcp --app my_module:chain --folder rules/ --all-replays 1000
      rag-rules mcp --app m:chain --folder rules/ --judge-model gpt-4o

    Environment:
      OPENAI_API_KEY   key of --judge-model
      OPENAI_BASE_URL  its endpoint

    Exit codes:
      0    the client has left
      2    bad input; a package that is missing
      130  interrupted
    """
    sdk, settings = McpSdk.installed(), spending.settings()
    with stdout_kept():
        application = load_application(str(served.app))
        integration = Integration.of(application, served.framework)
    is_new = not os.path.lexists(served.folder)
    folder = SavedFolder.of(served.folder)
    if is_new:
        say(f"made the folder {folder.path}")
    allowance = ReplayAllowance(spending.max_replays, spending.all_replays)
    run_server(sdk, ServedApplication(application, integration, served, allowance, settings, folder))
