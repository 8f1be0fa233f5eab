"""This module runs ``rag-rules verify``, which checks one rule of an answer."""

import typer

from ..errors import InvalidInput
from ..rules import RuleKind
from .explain import explained_or_verified
from .explaining import print_notes
from .options import KindOption, RuleIds
from .printing import PrintedOptions
from .requests import SearchRequest, parsed_ids
from .searching import TrialOptions

_CODES = {True: 0, False: 1, None: 3}


def verify(
    rule: RuleIds, kind: KindOption, request: SearchRequest, trial: TrialOptions, printed: PrintedOptions
) -> None:
    """Check whether one rule holds on all its subsets, and show a witness if it breaks.

    With more than 8 other sources, the rule is tested on random subsets, and the guarantee is stated.

    Examples:
      rag-rules verify --rule D2,D4 --kind retention --question "..." --sources t/
      rag-rules verify --rule blog --kind omission --question "..." --app m:chain
      rag-rules verify --rule D2 --kind retention --question "..." --app m:c --json

    Environment:
      OPENAI_API_KEY   key of --model and --judge-model (or see --key)
      OPENAI_BASE_URL  their endpoint

    Exit codes:
      0    the rule held
      1    it breaks
      2    bad input; a model or application that fails
      3    undecided: the search was stopped, or a subset has no verdict
      130  interrupted
    """
    named = parsed_ids(rule)
    if not named:
        raise InvalidInput("the rule names no source; give ids, such as --rule D2,D4")
    settings = trial.settings(kind, free=request.is_free)
    verification = explained_or_verified(request, settings, (named, RuleKind(kind)))
    printed.show(verification.explanation, str(verification))
    print_notes(verification.explanation, settings)
    raise typer.Exit(_CODES[verification.holds])
