"""This package runs ``rag-rules mcp``, a server of the Model Context Protocol. Its clients can have one
application's answers explained, and cannot choose the application, the folder or the limits."""

import os.path
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ...instrumentation.importing import load_application
from ...instrumentation.integration import Integration
from ...settings import DEFAULT_TIMEOUT, Settings, SettingsFields
from ..options import (
    App,
    Concurrency,
    FrameworkOption,
    InputKey,
    JudgeBaseUrl,
    JudgeModel,
    Timeout,
    place,
)
from ..searching import parsed_store
from ..terminal import say, stdout_kept
from .allowance import ReplayAllowance
from .answering import ServedApplication
from .saved import SavedFolder
from .sdk import McpSdk
from .server import run_server

Folder = Annotated[
    Path,
    typer.Option(
        parser=place, metavar="DIR", help="Save explanations here, and show those of this folder."
    ),
]
ReplaysOfACall = Annotated[
    int | None, typer.Option("--max-replays", min=1, help="The most replays that one call may ask for.")
]
ReplaysOfAll = Annotated[
    int | None, typer.Option("--all-replays", min=1, help="The most replays of all calls together.")
]
StoreOfAnswers = Annotated[
    str | None, typer.Option("--store", metavar="URL", help="Keep paid answers here; needs --namespace.")
]
VersionOfApplication = Annotated[
    str | None, typer.Option("--namespace", help="Which version of the application its answers are from.")
]


@dataclass(frozen=True, slots=True)
class ServedOptions:
    """These options fix what the clients of the server can use."""

    app: App
    folder: Folder
    framework: FrameworkOption = None
    input_key: InputKey = None
    judge_model: JudgeModel = None
    judge_base_url: JudgeBaseUrl = None


@dataclass(frozen=True, slots=True)
class ServedSpending:
    """These options fix what the clients of the server can spend."""

    max_replays: ReplaysOfACall = None
    all_replays: ReplaysOfAll = None
    concurrency: Concurrency = 8
    timeout: Timeout = DEFAULT_TIMEOUT
    store: StoreOfAnswers = None
    namespace: VersionOfApplication = None

    def settings(self) -> SettingsFields:
        """Returns the settings of all calls. Raises InvalidInput for a value that cannot be used, since
        the agent would else be told of it, at each call."""
        fields: SettingsFields = {
            "concurrency": self.concurrency,
            "timeout": self.timeout,
            "store": parsed_store(self.store, self.namespace),
        }
        Settings.of(Settings(), fields)
        return fields


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
