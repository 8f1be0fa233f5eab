"""This module runs ``rag-rules verify``, which checks one rule of an answer."""

from contextlib import suppress

import typer

from ..errors import InvalidInput
from ..rules import RuleKind
from .explain import explained_or_verified, print_notes
from .options import KindOption, RuleIds
from .printing import PrintedOptions
from .requests import SearchRequest, parsed_ids
from .searching import TrialOptions

_CODES = {True: 0, False: 1, None: 3}


def verify(
    rule: RuleIds, kind: KindOption, request: SearchRequest, trial: TrialOptions, printed: PrintedOptions
) -> None:
    """Check whether one rule holds on all subsets that it applies to, and show a witness if it breaks.

    With more than 8 other sources, the rule is tested on random subsets, and the guarantee is stated.

    Exit code 0: the rule held; 1: it breaks; 2: bad input; 3: undecided, because the search was stopped
    or a subset has no verdict.
    """
    named = parsed_ids(rule)
    if not named:
        raise InvalidInput("the rule names no source; give ids, such as --rule D2,D4")
    settings = trial.settings(kind, free=request.is_free)
    verification = explained_or_verified(request, settings, (named, RuleKind(kind)))
    # Printing ends the program if the reader of the output has closed the pipe. That is suppressed, so
    # that the exit code below is right even then.
    with suppress(SystemExit):
        printed.show(verification.explanation, str(verification))
    print_notes(verification.explanation, settings)
    raise typer.Exit(_CODES[verification.holds])
