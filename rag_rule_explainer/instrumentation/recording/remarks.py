"""This module holds the remarks, for the reader of an explanation, on replays whose searches differ from
the baseline's."""

SEVERAL_RESULTS = (
    "a retrieval had several results in the baseline, so each time that a replay makes it, it is served "
    "the kept ones of what came that time. If these were searches of different kinds, put each in a "
    "gate(...) of its own"
)
NO_TURN = (
    "a retrieval that had several results in the baseline was made once more than there, or at the same "
    "time as before, so nobody knows which of them it would have had"
)
ASKED_ANEW = (
    "replays searched for what the baseline never searched for, and were served all that they kept: if "
    "what is found first decides what is searched for next, rules may differ from those of real "
    'searches. on_new_query="filter" searches live instead'
)
NEW_RETRIEVAL = "a retrieval that the baseline never made was served everything kept"
FILTERED = "a retrieval that the baseline never made was made live, and what is not kept was dropped"
