"""This module lets notebooks display results as HTML. The function that makes this HTML is registered by
the package, and imported only when a notebook displays a result for the first time."""

from collections.abc import Collection

from ..late_names import registered_function


class InNotebooks:
    """This base class of results has the method that Jupyter, VS Code and Colab call to display them."""

    __slots__ = ()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """Returns the result as HTML without script, and as text. ``include``: the MIME types that are
        wanted; None for all. ``exclude``: the MIME types that are not wanted."""
        html: str = registered_function("notebook_html")(self)
        bundle = {"text/plain": str(self), "text/html": html}
        wanted = set(bundle if include is None else include).difference(exclude or ())
        return {kind: shown for kind, shown in bundle.items() if kind in wanted}
