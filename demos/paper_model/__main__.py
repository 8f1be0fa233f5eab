"""Measures what the paper measures on a real language model, and writes the tables to a folder.

Every answer is stored as soon as it is there. After Ctrl-C, or when the process was killed, the same
command goes on where it was, and asks nothing again that was stored.
"""

import argparse
import sys
import time
from contextlib import nullcontext
from os import environ
from pathlib import Path

from demos.paper_model.measures import measured
from demos.paper_model.run import OtherRun, begun, ended
from demos.paper_model.sizes import Inputs, Size
from demos.paper_model.subject import Identity, Subject
from demos.real_model.asked import FILE, read_questions
from demos.real_model.runtime import Endpoint, served, weights
from rag_rule_explainer import RagRuleError
from rag_rule_explainer.experiments.injections import injections_in
from rag_rule_explainer.experiments.models import Endpoint as Asking

INTERRUPTED = 130
EVERY = 10.0
"""The seconds between two lines on how far it is."""


def main() -> int:
    parser, options = arguments()
    try:
        inputs = inputs_of(options)
        asked = read_questions(options.data)
    except (ValueError, RagRuleError) as error:
        parser.error(str(error))
    there = Endpoint(options.url, options.name, environ.get("OPENAI_API_KEY", "none"))
    with nullcontext(there) if options.url else served(options.gguf) as endpoint:
        identity = Identity.of(endpoint, options.gguf)
        try:
            about = begun(inputs, identity, asked)
            found = measured(Subject.of(inputs, identity, endpoint, asked), Telling())
        except KeyboardInterrupt:
            print("interrupted; the same command goes on where it was", file=sys.stderr)
            return INTERRUPTED
        except (OtherRun, RagRuleError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
    print(ended(inputs, about, found))
    print(f"written to {inputs.out}")
    return 0


class Telling:
    """Says on stderr how far it is, at most every ten seconds."""

    def __init__(self) -> None:
        self._said = -EVERY

    def __call__(self, line: str) -> None:
        if time.monotonic() - self._said >= EVERY:
            self._said = time.monotonic()
            print(line, file=sys.stderr, flush=True)


def inputs_of(options: argparse.Namespace) -> Inputs:
    """Raises ValueError or InvalidInput for what would be noticed only when much has been asked."""
    Asking("any", temperature=options.temperature, max_tokens=options.tokens)
    if options.injections:
        injections_in(options.injections)
    return Inputs(
        options.out,
        Size.of(options),
        options.seed,
        options.temperature,
        options.tokens,
        options.injections,
    )


def arguments() -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    parser = argparse.ArgumentParser(prog="python -m demos.paper_model", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("paper-model"), help="the folder (paper-model)")
    parser.add_argument("--gguf", type=Path, help="weights of another model, in llama.cpp's format")
    parser.add_argument(
        "--url", help="an OpenAI-compatible server instead, such as http://localhost:11434/v1"
    )
    parser.add_argument("--name", help="what the model is called there")
    parser.add_argument("--data", type=Path, default=FILE, help="other questions, written as these are")
    parser.add_argument("--injections", type=Path, help='adversarial texts: a .jsonl of {"text": ...}')
    parser.add_argument("--seed", type=int, default=0, help="decides what is drawn (0)")
    parser.add_argument("--temperature", type=float, default=1.0, help="as in the paper (1.0)")
    parser.add_argument("--tokens", type=int, default=40, help="the most tokens of an answer (40)")
    Size.add_to(parser)
    options = parser.parse_args()
    if bool(options.url) != bool(options.name):
        parser.error("--url and --name belong together: where the server is, and what it calls the model")
    for file in filter(None, (options.gguf, options.data, options.injections)):
        if not file.is_file():
            parser.error(f"there is no file {file}")
    options.gguf = None if options.url else options.gguf or weights()
    return parser, options


if __name__ == "__main__":
    sys.exit(main())
