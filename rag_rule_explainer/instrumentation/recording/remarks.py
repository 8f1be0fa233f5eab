"""This module holds remarks for the reader of an explanation. They concern replays whose searches differ
from the searches of the baseline."""

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
    "replays searched for what the baseline never searched for, and were served all that they kept, "
    "which is not what a real search finds: if what is found first decides what is searched for next, "
    'rules may differ from those of real searches. on_new_query="filter" searches live instead. Or gate '
    "one function that makes both searches: rules then say what is left out of its result"
)
WAITED = "some replays have no verdict, so rules may be missing: {reason}"
NOT_SEARCHED_FOR = (
    "{named} was retained, and the application did not search for it, as what it searches for depends on "
    "what it found before"
)
NOT_DELIVERED = "{named} not delivered: the replay did not retrieve it"
REPLIED_OTHERWISE = (
    "{named} not delivered: a model replied otherwise to a request that it was sent in the baseline too, "
    "and the application did not search for it. Let the model reply alike each time (temperature=0, a "
    "seed)"
)
FOUND_OTHERS = (
    "{named} not delivered: the replay did not retrieve it, as it searched for what the baseline never "
    'searched for. on_new_query="kept" serves any search all that is retained'
)
NEW_RETRIEVAL = "a retrieval that the baseline never made was served everything kept"
FILTERED = "a retrieval that the baseline never made was made live, and what is not kept was dropped"
NOT_CALLED_FOR = (
    "the application did not make all calls whose results were retained, as what it calls depends on "
    "what it was told before"
)
