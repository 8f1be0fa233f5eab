"""This module gives explanations the methods that write them as a report and examine them further.

Other packages define the functions that do this, such as ``report``. Each is imported when such a method
is first called. So these packages can import explanations, without a circular import.
"""

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..late_names import registered_function

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..citations.reading import CitationReading
    from ..citations.records import CitationCheck
    from ..fixing.fixes import Fixes
    from ..predicates import PredicateLike


TableName: TypeAlias = Literal["rules", "probes", "importance"]
FrameLibrary: TypeAlias = Literal["pandas", "polars"]


class LaidOut:
    """This base class of ``Explanation`` has the methods that write it for people, programs and files."""

    def report(self, form: str = "text") -> str:
        """Returns the report as the command line prints it. ``form``: the name of the form, such as
        "text" or "csv"; ``rag_rule_explainer.report.FORMS`` contains all forms."""
        return registered_function("report_in")(self, form)

    def to_markdown(self) -> str:
        """Returns the report as Markdown. Texts of sources, answers and ids are escaped, so that none of
        them acts as markup, HTML or a link."""
        return self.report("markdown")

    def to_html(self) -> str:
        """Returns the report as one HTML file that needs no network. ``load`` can read the explanation
        from this file again. Texts of sources, answers and ids are escaped, so that none acts as
        markup."""
        return self.report("html")

    def to_json(self) -> str:
        """Returns the whole explanation as JSON, in ASCII. ``load`` can read it again."""
        return self.report("json")

    def to_dataframe(self, table: TableName = "rules", library: FrameLibrary | None = None) -> Any:
        """Returns a table as a data frame of pandas or polars. ``table``: "rules", "probes" with their
        answers and verdicts, or "importance". ``library``: "pandas" or "polars". If None, the library
        that the program has already imported is used; if it has imported neither, the installed one.

        Texts are not changed, so they may contain control characters. Numbers of 2^63 and more are
        missing values. Raises MissingExtra if neither library is installed.
        """
        return registered_function("as_dataframe")(self, table, library)

    def plot(self, what: str = "lattice") -> "Figure":
        """Returns a picture for a paper or a slide, as a figure of matplotlib. A notebook displays it,
        and its method ``savefig`` writes it into a file.

        ``what``: "lattice" shows all subsets, "rules" shows which rule names which source, and
        "importance" shows how important each source is for the rules. Raises MissingExtra if matplotlib
        is not installed. Raises InvalidInput if ``what`` is something else, if there are too many
        sources, or if there is nothing to draw.
        """
        return registered_function("plotted")(self, what)

    def citations(
        self,
        *,
        output: Any = None,
        cited: Iterable[str] | None = None,
        reading: "CitationReading" = None,
        numbers_from: int = 1,
    ) -> "CitationCheck":
        """Returns, for each citation of the answer, whether the rules show that the cited source decides
        the answer. The condition of the rules has to be that the answer makes the claim for which the
        sources are cited. The application is not run again. ``output``: the output of the application, if
        it has citations outside of the text. ``cited``: the ids of the cited sources, if they are known.
        ``reading``: how citations are read. ``numbers_from``: the number of the first source, 1 or 0."""
        return registered_function("check_citations")(
            self, output=output, cited=cited, reading=reading, numbers_from=numbers_from
        )

    def fixes(self, *, good: "PredicateLike | Sequence[PredicateLike] | None" = None) -> "Fixes":
        """Returns the smallest removals of sources after which the bad outcome cannot come back, whatever
        else is removed, each with its evidence. Also returns the removals that flip the outcome without
        this guarantee.

        The bad outcome is the condition with which the answer was explained. ``good``: one or several
        conditions that should still hold; fixes that break fewer of them come first. These conditions
        are judged on the answers that the explanation keeps. Nothing is replayed.
        """
        return registered_function("fixes_of")(self, good)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the explanation into a file, and replaces an existing file. The suffix of the path, such
        as ``.json`` or ``.html``, decides the form. ``load`` can read ``.json`` and ``.html`` files
        again.

        Raises InvalidInput if no form has this suffix, or if the file cannot be written.
        """
        registered_function("save_report")(self, path)
