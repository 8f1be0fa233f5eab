"""This module holds the texts for doubts about the fidelity of replays: a replay may differ from the
baseline in more than its sources."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ..printable import plain_id, shortened
from ..sources import Source
from .shared_state.threadbound import way_out_of

BASELINE = "the baseline"
NOTHING_COMPARED = (
    "fidelity not checked: nothing shows that a replay differs from the baseline in its sources alone, "
    "since "
)
NO_REQUESTS = "no model reported what it was sent in the baseline. "
OF_FRAMEWORKS = (
    "Call models through the framework, so that their requests can be compared; and where a thread calls "
    "one that began before the run, hand the run on to it: contextvars.copy_context().run(model.invoke, "
    "prompt), with the copy made in the run"
)
ANOTHER_MODEL = (
    "another model may have written it, such as one in a process of its own, or in a thread that began "
    "before the run. Call that one through the framework as well, in the run"
)
NO_REPLAY = (
    "the application was not replayed on all sources (check_repeatable=False, a store that had all "
    "answers, or a limit that was reached before)"
)
SHORT_TEXTS = (
    "an answer or a model's reply has fewer than three words, so it is looked for in other runs' "
    "requests only where it has two and the run says them as well: that nothing is carried over rests on "
    "the comparison of the baseline with the replay on all sources"
)
REORDERED = (
    "a model was shown the same documents in another order when the application was run again, as where "
    "searches run side by side or find several with equal scores: rules say what holds in the orders "
    "that came"
)
ASKED = (
    "runs ask {services}, besides models and what retrieves: rules hold as long as it keeps nothing from "
    "one run to the next"
)
UNCERTAIN_TOOL = (
    "fidelity not checked: runs make the tool {name} themselves, around an object such as a client, "
    "after they have asked a model or searched, or from the conversation. A replay may so have made "
    "another tool of this name, and got what the baseline's returned. Make the tool before, or around "
    "texts and numbers alone"
)
CHANGING_TOOL = (
    "fidelity not checked: the tool {name} changes in place what it is given, or an object of the run "
    "that other code can read, such as a list that it encloses or the stream of a graph. No replay runs "
    "the tool, so the change is missing there. Let the tool return what is new, and other code take it "
    "from the result; or, if running it again does no harm, name it: safe_tools=[{name}]"
)
SAMPLED = (
    "a model worded a reply otherwise when the application was run again, and requests after it were "
    "others as well, so they could not be compared; a lower temperature makes them comparable"
)
FEWEST_WORDS = 3
"""If at least this many words of an answer are in no known text (replies, sources, the application's
constants), a model whose requests were not seen may have written the answer."""
CACHED = (
    "Where the application keeps replies in a cache of its own, switch that off, or empty it for each "
    "run, as in RuleExplainer(lambda given: [cache.clear(), app(given)][1]): replies from there "
    "cannot be seen. Make a cache on disk anew in each run, in a folder of its own: "
    "tempfile.mkdtemp()"
)
FOLDERS = (
    " Where it is a cache or other files of the application, make them anew in each run, in a folder of "
    "its own: tempfile.mkdtemp()."
)
IGNORE = (
    "Where the difference means nothing, such as a request number or something drawn at random, name it: "
    "ignore=[r'request no\\. \\d+']; or seed what is drawn"
)


def changed_by_tools(names: Collection[str]) -> str:
    """Returns the doubt for tools that changed in place what other code may read, and that do not run in
    replays; empty if there are none. ``names``: their names."""
    return CHANGING_TOOL.format(name=repr(min(names))) if names else ""


class Advice(NamedTuple):
    """An ``Advice`` holds advice for messages. ``making``: how to pass a function that makes a new
    application for every run; ``seeing``: how to ask models so that their requests are seen."""

    making: str
    seeing: str


def why_not_compared(advice: Advice, *, sampled: bool, no_requests: bool, failed: str) -> str:
    """Returns the note which says that replays were not compared with the baseline, and why.

    ``sampled``: True if a model replied differently to the same request in a replay, so that later
    requests could not be compared. ``no_requests``: True if no model reported the baseline's requests.
    ``failed``: the reason why a replay on all sources failed; empty if none failed. If none of the three
    applies, the note says that no replay on all sources was made.
    """
    if sampled:
        return NOTHING_COMPARED + SAMPLED
    if no_requests:
        return NOTHING_COMPARED + NO_REQUESTS + advice.seeing
    if not failed:
        return NOTHING_COMPARED + NO_REPLAY
    way_out = way_out_of(failed)
    failure = f"the replay on all sources failed ({shortened(failed, 300)})"
    return f"{NOTHING_COMPARED}{failure}{': ' if way_out else ''}{way_out}"


def named(kept: Sequence[Source]) -> str:
    """Returns the words by which messages name the replay on the sources ``kept``, such as "the replay on
    memo, mail"."""
    return f"the replay on {listed(kept)}"


def listed(kept: Sequence[Source]) -> str:
    """Returns the ids of sources, separated by commas and cut to 100 characters; "no sources" if there
    are none."""
    return shortened(", ".join(plain_id(source.id) for source in kept), 100) or "no sources"


def pattern_of(text: str) -> str:
    """Returns a regular expression that matches exactly this text, as a suggestion for the option
    ``ignore=``."""
    return re.escape(text).replace("\\ ", " ")
