"""Applications that ``rag-rules cite`` loads by name."""

from tests.citations.formats import function_of, numbered
from tests.citations.oracles import ORACLES

BY_NAME = {each.name: each for each in ORACLES}
honest = function_of(BY_NAME["honest"], numbered)
wrong = function_of(BY_NAME["wrong document"], numbered)
