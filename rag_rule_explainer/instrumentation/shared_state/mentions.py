"""This module finds, among the code of many functions, the code that may read a name."""

from collections import defaultdict
from collections.abc import Iterable
from types import CodeType

from .name_reads import is_in, names_known_to, plain_name, reads, texts_in_code


class Mentions:
    """A ``Mentions`` searches the code of many functions once, and then knows which of them contain a
    name. To ask each function for each name would take time that grows with the square of their number.
    """

    def __init__(self, codes: Iterable[CodeType]) -> None:
        self._by_name = defaultdict[str, list[CodeType]](list)
        texts = dict[str, None]()
        for code in codes:
            for name in names_known_to(code):
                self._by_name[name].append(code)
            texts.update(dict.fromkeys(texts_in_code(code)))
        self._texts = tuple(texts)

    def is_read(
        self, name: str, *, in_texts: bool = False, as_attribute: bool = False, as_limit: bool = False
    ) -> bool:
        """Returns True iff any of the code reads the value of this name, or has a string constant that is
        the name or a template that uses it. The keywords are those of ``reads``."""
        return any(
            reads(code, name, in_texts=in_texts, as_attribute=as_attribute, as_limit=as_limit)
            for code in self._by_name.get(plain_name(name), ())
        ) or is_in(self._texts, name)
