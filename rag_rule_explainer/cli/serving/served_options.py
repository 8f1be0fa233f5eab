"""This module declares the options of ``rag-rules mcp``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

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
        """Returns the settings of all calls. Raises InvalidInput for a value that cannot be used, so that
        the user sees the error at the start, and not the agent at each call."""
        fields: SettingsFields = {
            "concurrency": self.concurrency,
            "timeout": self.timeout,
            "store": parsed_store(self.store, self.namespace),
        }
        Settings.of(Settings(), fields)
        return fields
