"""The rules as a table for a paper."""

import re
from dataclasses import replace

import pytest

from rag_rule_explainer import Explanation, __version__
from rag_rule_explainer.printable import plain_id
from rag_rule_explainer.report import as_latex
from tests.report.test_csv import explained

ESCAPED = {
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\textasciigrave{}": "`",
    r"{\char34}": '"',
    "{-}": "-",
    "{[}": "[",
    "{]}": "]",
    **{f"\\{mark}": mark for mark in "&%$#_{}"},
}
"""All that may stand for a text: what LaTeX prints for each."""
ACTIVE = set('\\{}$&#^_~%`|<>[]"-')
TOKEN = re.compile("|".join(map(re.escape, sorted(ESCAPED, key=len, reverse=True))) + "|.")
HOSTILE = (
    r"\input{/etc/passwd}",
    r"\immediate\write18{rm *}",
    r"} & x \\ \hline \end{longtable}",
    r"\\[9cm] \\*",
    r"^^5cinput{x} ^^M",
    "% the rest is gone",
    "$x_1^2$ #1 ~ a & b",
    r"\char34 {\char34} \textbackslash{} \_",
    "a--b ``c'' <d> |e| \"a",
    "\\\r\n\\par\x00\x1b[0m",
)


def printed(cell: str) -> str:
    """What LaTeX prints for a cell; fails for anything that is a command."""
    tokens: list[str] = TOKEN.findall(cell)
    assert not ACTIVE & set(tokens), cell
    return "".join(ESCAPED.get(token, token) for token in tokens)


def cells(explanation: Explanation) -> list[list[str]]:
    """The rows of the table, as they are printed."""
    lines = as_latex(explanation).splitlines()
    start = next(place for place, line in enumerate(lines) if line.endswith(r"\endhead")) + 1
    rows = lines[start : lines.index(r"\hline", start)]
    assert all(row.endswith(r" \\") for row in rows)
    return [[printed(cell) for cell in row[:-3].split(" & ")] for row in rows]


def test_one_row_a_rule_and_whether_it_is_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1750000000")
    assert as_latex(explained("D1", "D2")).splitlines() == [
        (
            r"\begin{longtable}{p{0.12\linewidth}p{0.14\linewidth}p{0.27\linewidth}p{0.13\linewidth}"
            r"p{0.16\linewidth}}"
        ),
        r"\hline kind & sources & rule & claim & support \\ \hline \endhead",
        (
            r"retention & D1, D2 & whenever D1 and D2 are retained, the answer is yes & proved"
            r" & proved on the only subset \\"
        ),
        r"\hline",
        r"\end{longtable}",
        r"\noindent complete: these are all the rules there are\par",
        (
            r"\noindent made 2025{-}06{-}15 15:06:40 UTC by rag{-}rule{-}explainer VERSION for the"
            r" question 'Is it so?' and 2 sources\par"
        ).replace("VERSION", __version__),
    ]


def test_without_rules_there_is_a_header_and_what_is_said_of_them() -> None:
    none = explained("D1").model_copy(update={"retention_rules": ()})
    assert not cells(none)
    assert "complete: " in as_latex(none)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_id_is_a_command(text: str) -> None:
    ((_, sources, rule, *_),) = cells(explained(text, needed=1))
    assert sources == plain_id(text)
    assert rule == f"whenever {plain_id(text)} is retained, the answer is yes"


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_else_is_a_command(text: str) -> None:
    made = explained("D1", needed=1, said=text)
    forged = made.model_copy(
        update={
            "question": text,
            "retention_rules": (replace(made.rules[0], claim="tested", sampling=text),),
            "warnings": (text,),
            "complete": False,
            "stop_reason": text,
        }
    )
    assert len(cells(forged)) == 1
    first, *_, last, made = as_latex(forged).splitlines()
    warning = re.fullmatch(r"\\noindent\\textbf\{(.*)\}\\par", first)
    ending = re.fullmatch(r"\\noindent (.*)\\par", last)
    assert warning
    assert ending
    assert printed(warning[1]).startswith("WARNING: ")
    assert printed(ending[1]).startswith("not complete (")
    assert printed(made.removeprefix(r"\noindent ").removesuffix(r"\par")).startswith("made ")
