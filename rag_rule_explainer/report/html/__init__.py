"""This package writes an explanation as one HTML file that needs no other file and no network."""

from ..form import ReportForm
from .cell import notebook_html
from .page import as_html

HTML = ReportForm("html", as_html, (".html", ".htm"), "text/html")

__all__ = ["HTML", "as_html", "notebook_html"]
