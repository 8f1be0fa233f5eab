"""This module holds remarks for the reader of an explanation on replays whose searches differ from the
searches of the baseline."""

SEVERAL_RESULTS = (
    "a retrieval was made several times in the baseline, with different results. The first time that a "
    "replay makes it, it gets the retained sources of the first result, and so on. If these were "
    "searches of different kinds, put each into its own gate(...)"
)
NO_TURN = (
    "a retrieval that had several results in the baseline was made more often in a replay, or twice at "
    "the same time, so it is not known which result it would have had"
)
ASKED_ANEW = (
    "replays searched for what the baseline never searched for, and got all retained sources. A real "
    "search may find less: if the first results decide the next query, rules may differ from those of "
    'real searches. on_new_query="filter" searches live instead. Or gate one function that makes both '
    "searches: rules are then about what is left out of its result"
)
NAMED_OUTER = (
    "a retriever named in retrievers= reorders or drops what the searches inside it found. It is served "
    "as recorded, so rules do not know what it would bring up in place of a document that is left out. "
    "Name the searches inside it instead, and it runs in every replay"
)
WAITED = "some replays have no verdict, so rules may be missing: {reason}"
NOT_SEARCHED_FOR = (
    "{named} was retained, and the application did not search for it, because its queries depend on "
    "earlier results"
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
    "the application did not make all calls whose results were retained, because its calls depend on "
    "earlier results"
)
