"""This package audits a corpus: it explains many answers, and says in which of them each document is a
cause, according to the rules."""

from .auditing import aaudit, audit
from .blame import BlamedDocument, BlameList
from .blame_plan import BlamePlan, PivotPair, Suspect
from .engine import AuditEngine, AuditJob
from .options import AuditFields, AuditOptions
from .questions import AuditedAnswer, AuditedQuestion, AuditedRule, LoggedQuestion, ShownDocument
from .removal import Removal
from .result import Audit
from .tables import DocumentRow

__all__ = [
    "Audit",
    "AuditEngine",
    "AuditFields",
    "AuditJob",
    "AuditOptions",
    "AuditedAnswer",
    "AuditedQuestion",
    "AuditedRule",
    "BlameList",
    "BlamePlan",
    "BlamedDocument",
    "DocumentRow",
    "LoggedQuestion",
    "PivotPair",
    "Removal",
    "ShownDocument",
    "Suspect",
    "aaudit",
    "audit",
]
