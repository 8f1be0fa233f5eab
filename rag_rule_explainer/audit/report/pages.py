"""This module defines what all pages of an audit have in common: their head, their links, and their rules
in words. Every text from outside is escaped here or where it is inserted."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from importlib import resources

from markupsafe import Markup

from ...printable import cut_in_the_middle, plain_id, printable, shortened
from ...report.html.markup import as_one, isolated, joined_markup
from ...rules import RuleKind
from ..documents import DocumentKey
from ..questions import AuditedQuestion, AuditedRule
from ..result import Audit

STYLES, SCRIPT = "audit.css", "audit.js"
DOCUMENTS, QUESTIONS = "documents", "questions"
MOST_ON_A_PAGE = 1000
"""The largest number of entries of one list on a page. The tables have all entries."""
_LONGEST_NAME, _LONGEST_TITLE = 120, 100
# 'self' allows the styles and the script if the pages come from a server. If a page is opened as a file,
# 'self' may match nothing, so the scheme "file:" is allowed, too.
_POLICY = (
    "default-src 'none'; style-src 'self' file:; script-src 'self' file:; base-uri 'none'; "
    "form-action 'none'"
)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<link rel="stylesheet" href="{up}{styles}">
</head>
<body>
<nav><a href="{up}index.html">Documents</a> <a href="{up}questions.html">Questions</a></nav>
{body}
</body>
</html>
"""


@dataclass(frozen=True)
class Places:
    """A ``Places`` knows the file of the page of each document and of each question."""

    audit: Audit

    @cached_property
    def documents(self) -> Mapping[str, str]:
        """Returns the name of the file of each document's page, by the name of the document."""
        return {row.name: document_file(row.key) for row in self.audit.documents}

    @cached_property
    def questions(self) -> Mapping[str, AuditedQuestion]:
        """Returns the questions by their ids."""
        return {each.id: each for each in self.audit.questions}

    def document(self, name: str, up: str = "../") -> Markup:
        """Returns a link to the page of a document; only its name if it has no page. ``up``: the path
        from the page that has the link to the folder of the audit."""
        said = as_one(cut_in_the_middle(plain_id(name), _LONGEST_NAME))
        file = self.documents.get(name)
        if file is None:
            return said
        return Markup('<a class="source" href="{}{}/{}">{}</a>').format(up, DOCUMENTS, file, said)

    def question(self, identity: str, up: str = "../") -> Markup:
        """Returns a link to the page of a question."""
        text = shortened(printable(self.questions[identity].question), _LONGEST_TITLE)
        return Markup('<a href="{}{}/{}">{}</a>').format(
            up, QUESTIONS, question_file(identity), as_one(text)
        )

    def question_list(self, ids: Iterable[str]) -> Markup:
        """Returns a list of links to questions. If there are more than ``MOST_ON_A_PAGE``, a last line
        says how many are left out."""
        listed = list(ids)
        shown = (Markup("<li>{}</li>").format(self.question(each)) for each in listed[:MOST_ON_A_PAGE])
        return Markup('<ul class="listed">{}</ul>{}').format(
            joined_markup(shown), and_more(len(listed) - MOST_ON_A_PAGE, "questions.csv and rules.csv")
        )


def document_file(key: DocumentKey) -> str:
    """Returns the name of the file of a document's page."""
    return _file(f"{key.sha256}:{key.name}")


def question_file(identity: str) -> str:
    """Returns the name of the file of a question's page."""
    return _file(identity)


def _file(text: str) -> str:
    return f"{sha256(text.encode('utf-8', 'replace')).hexdigest()[:20]}.html"


def page(title: str, body: Markup, up: str = "") -> str:
    """Returns a whole page. ``up``: the relative path from the page to the folder of the audit, such as
    "../"."""
    return Markup(_PAGE).format(  # noqa: S704 -- the template is a constant of this module
        policy=Markup(_POLICY),  # noqa: S704 -- the template is a constant of this module
        title=shortened(printable(title), _LONGEST_TITLE),
        up=up,
        styles=STYLES,
        body=body,
    )


@lru_cache(maxsize=1)
def assets() -> Mapping[str, str]:
    """Returns the styles and the script, which all pages share, by the names of their files."""
    styles = [
        resources.files("rag_rule_explainer.report.html").joinpath("page.css"),
        resources.files(__package__ or "").joinpath(STYLES),
    ]
    script = resources.files(__package__ or "").joinpath(SCRIPT)
    return {
        STYLES: "".join(each.read_text("utf-8") for each in styles),
        SCRIPT: script.read_text("utf-8"),
    }


def section(heading: str, content: Markup) -> Markup:
    """Returns a section; nothing if it has no content."""
    if not content:
        return Markup()
    return Markup("<section><h2>{}</h2>{}</section>\n").format(heading, content)


def and_more(count: int, where: str) -> Markup:
    """Returns a line that says how many entries are left out, and where they are."""
    if count <= 0:
        return Markup()
    return Markup('<p class="aside">… and {:,} more; see {}</p>').format(count, where)


def rule_item(places: Places, question: AuditedQuestion, rule: AuditedRule, doubted: bool) -> Markup:
    """Returns a rule as an entry of a list: its sentence, with links to the documents, and its claim.
    ``doubted``: True if no rule of this question counts as sure, which the entry then says."""
    names = places.audit.names.named(question, rule.documents)
    linked = [places.document(each) for each in names[:MOST_ON_A_PAGE]]
    verb = "retained" if rule.kind is RuleKind.RETENTION else "omitted"
    if not linked:
        before = Markup("Whichever of these documents are retained")
    else:
        before = Markup("Whenever {} {} {}").format(
            joined_words(linked), "is" if len(linked) == 1 else "are", verb
        )
    said = rule.evidence or rule.claim
    return Markup(
        '<li><span class="sentence">{}, the answer is {}</span><span class="claim {}">{}{}</span></li>'
    ).format(
        before,
        rule.outcome,
        "sure" if rule.is_sure and not doubted else "open",
        "doubted, so it does not count: " if doubted else "",
        isolated(printable(said)),
    )


def joined_words(parts: list[Markup]) -> Markup:
    """Returns parts joined to "A, B and C"."""
    if len(parts) == 1:
        return parts[0]
    return Markup(", ").join(parts[:-1]) + Markup(" and ") + parts[-1]
