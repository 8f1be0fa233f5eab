"""Writes what one exporter makes of one framework's applications: one program for each, since tracers
stay in a process. Arguments: the exporter, the framework, the folder."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.traces.making.exporters import EXPORTERS


def main(exporter: str, framework: str, folder: Path) -> None:
    shapes = import_module(f"tests.traces.making.of_{framework}").SHAPES
    make, _, ending = EXPORTERS[exporter]

    def asking(build: Any) -> Any:
        def ask(callbacks: list[Any]) -> Any:
            asked = build()
            # Branches run one after the other: which ends first would differ from run to run.
            config = {"callbacks": callbacks, "max_concurrency": 1}
            return asked.run(asked.application, asked.given, config)

        return ask

    files = make(framework, {name: asking(build) for name, build in shapes.items()})
    for name, text in files.items():
        (folder / f"{framework}-{name}.{ending}").write_text(text)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
