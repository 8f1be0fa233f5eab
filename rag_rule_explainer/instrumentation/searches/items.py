"""This module splits the results of the user's own searches into items, and reads the text of items of
any kind."""

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, cast
from uuid import UUID

from ...allowed import brief, checked_function, named_function
from ...errors import InvalidInput, UnknownQuery
from ...printable import type_said, with_article
from ...sources.given import Given
from ..clients import Client, ItemsOf
from ..clients.fields import TEXT_KEYS, field_of
from ..clients.reading import read_any
from ..clients.recognising import is_faiss, recognised
from ..clients.seen_as_one import doubt_about
from ..clients.several import is_response
from ..clients.users_functions import users_result
from ..copies.copying import copied
from ..run_context import participation
from .identity import RetrievedText
from .item_refusals import AS_ONE, CLIENT_NAMED, NO_ITEM, NO_RESPONSE, NO_ROW, NO_TEXTS
from .result_forms import form_of, result_like

TextOf: TypeAlias = Callable[[Any], str]
"""A function of the user that returns the text of an item whose kind is unknown to this package."""


class ResponsePart(NamedTuple):
    """A ``ResponsePart`` is one item of a client's response. ``row``: the index, counted from 0, of the
    query that found the item, because a response may answer several queries. If a response is built from
    items, the item is put into the result of the same query."""

    item: Any
    row: int


class MadeItem(NamedTuple):
    """A ``MadeItem`` is an item that the user's ``item_of`` returned for a document in ``documents=``."""

    item: Any


class Response(NamedTuple):
    """A ``Response`` is the form of a client's response, from which responses with other items are built.

    ``client``: splits and builds responses. ``like``: a copy of the response that the client returned;
    None if it returned None.
    """

    client: Client
    like: Any


@dataclass(frozen=True, slots=True)
class ItemReading:
    """An ``ItemReading`` reads the results of a search that belongs to no framework.

    ``items_of``: the user's client, which splits every result into items; if it is None, responses of
    known clients and lists are split, and any other result is one item. ``text_of``: the user's function
    from an item to its text; None if this package finds the texts itself.
    """

    items_of: Client | None = None
    text_of: TextOf | None = None

    def __post_init__(self) -> None:
        client = all(hasattr(self.items_of, name) for name in ("rows", "response", "read"))
        if client and isinstance(self.items_of, type):
            name = self.items_of.__name__
            raise InvalidInput(f"items_of is the class {name}; make one, such as {name}(...)")
        if self.items_of is not None and not client:
            raise InvalidInput(
                f"items_of={brief(self.items_of)} does not take responses apart; pass {CLIENT_NAMED}"
            )
        if self.text_of is not None:
            checked_function("text_of", self.text_of, "a function from an item to its text")

    def parts(self, result: Any) -> list[tuple[RetrievedText, ResponsePart]] | None:
        """Returns the items of a client's response, each with its text. Returns None if the result is not
        recognised as a response.

        Raises InvalidInput if the response cannot be split into items, or an item has no text.
        """
        form = self.form(result)
        if not isinstance(form, Response):
            if is_faiss(result):
                raise InvalidInput(NO_TEXTS)
            return None
        client, like = form
        rows = () if like is None else self._rows(client, like)
        parts = [ResponsePart(item, place) for place, row in enumerate(rows) for item in row]
        if self.items_of is not None and like is not None:
            # A response is built as a trial. If the trial fails, the user learns this now, before paying
            # for a replay.
            trial = Response(client, copied(like))
            self._response(parts, trial)
            self._check_unused(client, result, len(parts))
            self._check_put_together(parts, trial)
        alone = len(parts) == 1
        return [(self._read(client, part.item, alone=alone), part) for part in parts]

    def form(self, result: Any) -> object:
        """Returns the form of a result, from which a result of the same kind is built with other items:
        for a client's response, a ``Response``; for any other result, a marker of its type."""
        if self.items_of is not None:
            return Response(self.items_of, copied(result))
        client = None if self._is_one_text(result) else recognised(result)
        return form_of(result) if client is None else Response(client, copied(result))

    def of_another(self, form: object) -> object:
        """Returns the form of the result for a search that the baseline never made. This is ``form``, the
        form of a recorded search's result, unchanged.

        Raises UnknownQuery if the recorded search had several queries, because it is then unknown to
        which query a new item belongs.
        """
        if isinstance(form, Response) and form.like is not None:
            rows = form.client.rows(form.like)
            if rows is not None and len(rows) > 1:
                raise UnknownQuery(NO_ROW)
        return form

    def result(self, given: Sequence[Any], form: object) -> Any:
        """Builds a result of this form from the items, and returns the result. Raises InvalidInput if the
        items cannot be put into a client's response.
        """
        if isinstance(form, Response):
            return self._response(given, form)
        if any(isinstance(each, ResponsePart) for each in given) or (
            self.items_of is not None and form == ()
        ):
            raise InvalidInput(NO_RESPONSE)
        return result_like([each.item if isinstance(each, MadeItem) else each for each in given], form)

    def read(self, item: Any, *, whole: bool = False) -> RetrievedText:
        """Returns the text, id and metadata of an item. ``text_of`` reads the text if it is set.

        ``whole``: True if the item is the whole result of the search; only the error message depends on
        it. Raises InvalidInput if no text can be read.
        """
        given = read_any(item)
        is_response_only = whole and self.text_of is None and is_response(item)
        text = None if is_response_only else self._text(item, given)
        if not isinstance(text, str):
            kind = type(cast("object", item)).__name__
            if whole:
                raise InvalidInput(
                    f"a search returned {with_article(kind)}, and it is not known what is in it; pass "
                    f"{CLIENT_NAMED}{AS_ONE}"
                )
            raise InvalidInput(
                f"a search returned {with_article(kind)} without a text that is known as one; pass "
                f"gate(search, text_of=...), a function from such an item to its text, or {CLIENT_NAMED}"
            )
        self._note_doubt(item, text, alone=isinstance(item, str))
        return _retrieved(text, given)

    def _is_one_text(self, result: object) -> bool:
        """Returns True iff the result is a text and the user passed ``text_of=str``. The text is then one
        document, even if it lists several results."""
        return self.text_of is str and isinstance(result, str)

    def _note_doubt(self, item: Any, text: str, *, alone: bool) -> None:
        """Records a warning on the current run if this text seems to contain several results. ``alone``:
        True if the text may be the whole result of the search."""
        run = participation() if self.text_of is None and self.items_of is None else None
        doubt = "" if run is None else doubt_about(item, text, alone=alone)
        if run is not None and doubt:
            run.doubts.add(doubt)

    def _rows(self, client: Client, response: Any) -> Sequence[Sequence[Any]]:
        rows = self._ask(client.rows, response)
        if rows is None:
            raise InvalidInput(
                f"a search returned {type_said(response)}, which items_of={brief(client)} does not "
                f"know; pass {CLIENT_NAMED}"
            )
        return rows

    def _read(self, client: Client, item: Any, *, alone: bool) -> RetrievedText:
        given = self._ask(client.read, item)
        text = self._text(item, given)
        if not isinstance(text, str):
            raise InvalidInput(
                f"a response was taken apart by items_of={brief(client)}, and an item of it, a "
                f"{type(item).__name__}, has no text that is known as one; have the text returned, or "
                "pass gate(search, text_of=...), a function from such an item to its text"
            )
        self._note_doubt(item, text, alone=alone)
        return _retrieved(text, given)

    def _check_unused(self, client: Client, response: Any, items: int) -> None:
        """Raises InvalidInput if the user's ``take_apart`` emptied a response, because the application
        would then find no items in it. Emptying an iterator is allowed, because the application is given
        a new iterator."""
        if not isinstance(client, ItemsOf) or isinstance(response, Iterator):
            return
        # ``copied`` makes a deep copy, or a shallow copy if that fails. A shallow copy has the same
        # iterators as the response, so it shows whether the iterators are used up. A deep copy still has
        # all its items.
        if sum(map(len, self._rows(client, copied(response)))) == items:
            return
        raise InvalidInput(
            f"take_apart, which gate was given ({named_function(client.take_apart)}), used up the items "
            f"in {type_said(response)}, so the application would find none; gate a function that "
            "returns a response with a list of them"
        )

    def _check_put_together(self, parts: Sequence[ResponsePart], form: Response) -> None:
        """Raises InvalidInput if the user's ``put_together`` builds a response with more items than it
        was given. A replay would then show an omitted source."""
        client, some = form.client, parts[:-1] or parts
        if not isinstance(client, ItemsOf) or isinstance(form.like, Iterator):
            return
        made = self._response(some, form)
        try:
            found = sum(map(len, client.rows(made) or ()))
        except InvalidInput:  # ``take_apart`` does not know this kind of response
            return
        if found != len(some):
            raise InvalidInput(
                f"put_together, which gate was given ({named_function(client.put_together)}), was called "
                f"with {len(some)} of the {len(parts)} items, and take_apart finds {found} in what it "
                "returned; have it return a response with just these items"
            )

    def _text(self, item: Any, given: Given | None) -> Any:
        if self.text_of is None:
            return None if given is None else given.text
        text = users_result("text_of", self.text_of, item, what="the text of the item")
        if not isinstance(text, str):
            raise InvalidInput(
                f"text_of returned {brief(text)} for {type_said(item)}; have it return a str"
            )
        return text

    def _ask(self, method: Callable[..., Any], *given: Any) -> Any:
        """Calls a method of a client and returns its result. If the user wrote the client, errors that
        the method raises are replaced by errors whose messages name ``items_of``."""
        return method(*given) if self.items_of is None else users_result("items_of", method, *given)

    def _response(self, given: Sequence[Any], form: Response) -> Any:
        client, like = form
        if like is None:
            if given:
                raise InvalidInput(NO_RESPONSE)
            return None
        rows: list[list[Any]] = [[] for _ in client.rows(like) or ()]
        for each in given:
            if not isinstance(each, (ResponsePart, MadeItem)):
                raise InvalidInput(NO_ITEM)
            place = each.row if isinstance(each, ResponsePart) and len(rows) > 1 else 0
            if place >= len(rows):
                raise UnknownQuery(NO_ROW)
            # An item of a generator could not be copied later, so it is copied now.
            rows[place].append(copied(each.item) if isinstance(like, Iterator) else each.item)
        return copied(self._ask(client.response, rows, like))


def why_empty(form: object) -> str:
    """Returns the reason why a client's response is empty, if the response contains one, such as an error
    message; otherwise an empty text.

    ``form``: the form of the response, as ``ItemReading.form`` returned it.
    """
    fault: Any = getattr(form.client, "fault", None) if isinstance(form, Response) else None
    return "" if fault is None else fault(cast("Response", form).like)


def _retrieved(text: str, given: Given | None) -> RetrievedText:
    if given is None:
        return RetrievedText(text)
    return RetrievedText(text, _plain_id(given.id), copied(dict(given.metadata)))


def _plain_id(given: object) -> str | None:
    if isinstance(given, (str, UUID)):
        return str(given)
    with suppress(TypeError):  # an id may be an integer of NumPy, whose type is not ``int``
        return None if isinstance(given, bool) else str(operator.index(cast("Any", given)))
    return None


def text_in(item: Any) -> str | None:
    """Returns the text of an item: the item itself if it is a text, otherwise the text in the first of
    the fields ``TEXT_KEYS`` that has a text. Returns None if no field has a text."""
    if isinstance(item, str):
        return item
    texts = (field_of(item, key) for key in TEXT_KEYS)
    return next((each for each in texts if isinstance(each, str)), None)
