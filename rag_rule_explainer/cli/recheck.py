"""This module runs ``rag-rules recheck``, which checks whether a bad answer is gone after a change of the
corpus."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InvalidInput
from ..fixing import Recheck
from ..fixing.change_options import ROUNDS
from ..sources import Source
from ..sources.given import no_source
from .explain import explained_or_verified
from .explaining import print_notes
from .printing import PrintedOptions
from .rechecking_entry import RecheckAsked
from .requests import SearchRequest, parsed_ids
from .searching import SearchOptions
from .sources import load_sources
from .terminal import print_lines, say

_CODES = {True: 0, False: 1, None: 3}
_NO_TOP_K = (
    "a recheck ranks the corpus afresh, so it has to be known how many sources production retrieves; "
    "give --top-k"
)
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        metavar="IDS",
        help="Documents to leave out; separate by commas. Default: the first sure fix.",
    ),
]
Replace = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help='New texts of documents: a .jsonl of {"id": ..., "text": ...}.'),
]
Add = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Documents to add: a .jsonl, or a folder of texts."),
]
Rounds = Annotated[int, typer.Option(min=1, help="The most rounds; each leaves out the next fix too.")]


@dataclass(frozen=True, slots=True)
class CorpusOptions:
    """These options describe the change of the corpus."""

    exclude: Exclude = None
    replace: Replace = None
    add: Add = None
    rounds: Rounds = ROUNDS

    def asked(self, request: SearchRequest) -> RecheckAsked:
        """Returns the change. Raises InvalidInput for files that cannot be read, and for ``--sources``
        without the number of documents to retrieve."""
        subject = request.subject
        corpus: tuple[Source, ...] | None = None
        if subject.app is None and subject.sources is not None:
            if subject.top_k is None:
                raise InvalidInput(_NO_TOP_K)
            corpus = load_sources(subject.sources, subject.question or "", None).sources
        excluded = parsed_ids(self.exclude)
        if self.exclude is not None and not excluded:
            raise InvalidInput("--exclude names no document; give ids, or leave it out")
        new = () if self.replace is None else load_sources(self.replace, "", None).sources
        added = () if self.add is None else load_sources(self.add, "", None).sources
        ids = tuple(each.id for each in corpus or ())
        unknown = [name for name in (*excluded, *(each.id for each in new)) if name not in ids]
        if corpus is not None and unknown:
            raise InvalidInput(f"the corpus lacks {no_source(unknown[:1], ids)}")
        return RecheckAsked(
            excluded or None,
            {each.id: each.text for each in new},
            added,
            self.rounds,
            corpus,
            subject.top_k,
        )


def recheck_answer(
    corpus: CorpusOptions, request: SearchRequest, search: SearchOptions, printed: PrintedOptions
) -> None:
    """Check whether a bad answer is gone after a change of the corpus.

    The answer is explained. Then the documents are retrieved again, without those that are left out, and
    the new answer is explained. Other documents fill up the result, as in production. With --sources and
    --top-k, words rank the changed corpus; with --app, the application's own searches are asked for more.

    Examples:
      rag-rules recheck --question "..." --sources t/ --top-k 5 --exclude blog-17
      rag-rules recheck --question "..." --app m:chain --predicate contains:25
      rag-rules recheck --question "..." --app m:chain --replace new.jsonl --json

    Environment:
      OPENAI_API_KEY   key of --model and --judge-model (or see --key)
      OPENAI_BASE_URL  their endpoint

    Exit codes:
      0    the bad answer is gone
      1    it is still there, or back
      2    bad input; no fix to try; a search that cannot be filled up
      3    undecided: the new answer has no verdict
      130  interrupted
    """
    settings = search.settings(free=request.is_free)
    recheck: Recheck = explained_or_verified(request, settings, corpus.asked(request))
    last = recheck.last.explanation
    if last is None:
        print_lines(str(recheck).splitlines())
        raise typer.Exit(_CODES[recheck.is_gone])
    if printed.form == "text":
        printed.show(last, str(recheck))
    else:
        # Only the form "text" shows the whole recheck; all other forms contain only the last explanation.
        for line in str(recheck).splitlines():
            say(line)
        printed.show(last)
    print_notes(last, settings)
    raise typer.Exit(_CODES[recheck.is_gone])
