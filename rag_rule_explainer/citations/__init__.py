"""This package decides whether the citations of an answer are real: whether the answer makes its claims
because of the sources that it cites.

``cite`` checks all citations of an answer, statement by statement, from the same replays.
``check_citations`` and ``explanation.citations()`` decide from the rules of an explanation, and do not
run the application again.
"""

from .cite_options import CiteFields, CiteOptions
from .cited_answer import CitedAnswer
from .citing_answers import acite, cite
from .classes import CitationClass
from .of_explanation import check_citations
from .reading import CitationReader, CitingText, ReadCitation
from .records import CitationCheck, CitationVerdict
from .several_conditions import aexplain_each, explain_each
from .statements import CitedStatement

__all__ = [
    "CitationCheck",
    "CitationClass",
    "CitationReader",
    "CitationVerdict",
    "CiteFields",
    "CiteOptions",
    "CitedAnswer",
    "CitedStatement",
    "CitingText",
    "ReadCitation",
    "acite",
    "aexplain_each",
    "check_citations",
    "cite",
    "explain_each",
]
