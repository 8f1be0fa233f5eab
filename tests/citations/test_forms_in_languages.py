"""Each form of citation in many languages has the right class, is undecided if it is unsure, or is none.

Each form is written by an honest citer, by one that cites other sources than it uses, and by one that
needs none.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest

from rag_rule_explainer import CitationClass, Explainer, Source, cite
from tests.citations.oracles import DECISIVE, DECORATIVE, MEMORY, QUESTION, UNDECIDED

FACTS = {
    "en": ("The dose is five", "The drug is calcium"),
    "de": ("Die Dosis beträgt fünf", "Das Mittel ist Calcium"),
    "fr": ("La dose est de cinq", "Le médicament est le calcium"),
    "es": ("La dosis es de cinco", "El fármaco es calcio"),
    "it": ("La dose è di cinque", "Il farmaco è il calcio"),
    "pt": ("A dose é de cinco", "O remédio é cálcio"),
    "nl": ("De dosis is vijf", "Het middel is calcium"),
    "pl": ("Dawka wynosi pięć", "Lekiem jest wapń"),
    "tr": ("Doz beş tablettir", "İlaç kalsiyumdur"),
    "ru": ("Доза равна пяти", "Препарат это кальций"),
    "ar": ("الجرعة خمسة أقراص", "الدواء هو الكالسيوم"),
    "hi": ("खुराक पाँच गोली है", "दवा कैल्शियम है"),
    "zh": ("剂量是五毫克", "药物是钙片"),
    "ja": ("用量は五錠です", "薬はカルシウムです"),
    "ko": ("복용량은 다섯 알이다", "약은 칼슘이다"),
}
STOPS = {"zh": "。", "ja": "。", "hi": "।"}
TOGETHER = frozenset({"zh", "ja"})
"""The languages without a space between two sentences."""
Said = list[tuple[str, str | None]]
"""What an answer says, and the id that it cites for each."""


class Form(NamedTuple):
    """How a fact is written: ``each`` has {f}, {n} (the number), {id} and {s} (the full stop)."""

    each: str
    language: str = "en"
    between: str | None = None

    def __call__(self, said: Said, number: Callable[[str], int]) -> str:
        stop, together = STOPS.get(self.language, "."), self.language in TOGETHER
        between = ("" if together else " ") if self.between is None else self.between
        return between.join(
            self.each.format(f=fact, n=number(name), id=name, s=stop) if name else f"{fact}{stop}"
            for fact, name in said
        )


class Listed(NamedTuple):
    """How all that is cited is listed below: ``tail`` has {m}, all marks."""

    tail: str
    mark: str = "[{n}]"
    joint: str = ", "
    language: str = "en"

    def __call__(self, said: Said, number: Callable[[str], int]) -> str:
        stop, together = STOPS.get(self.language, "."), self.language in TOGETHER
        text = ("" if together else " ").join(f"{fact}{stop}" for fact, _ in said)
        marks = [self.mark.format(n=number(name), id=name) for _, name in said if name]
        return text + (self.tail.format(m=self.joint.join(marks)) if marks else "")


READ: tuple[Form | Listed, ...] = (
    Form("{f} (Source {n}, p. 3){s}"),
    Form("{f} [{n}, p. 3]{s}"),
    Form("{f} [{n}, pp. 3–5]{s}"),
    Form("{f} [Source {n}, section 4]{s}"),
    Form("{f} (see Source {n}, chapter 2){s}"),
    Form("{f} [{n}], p. 3{s}"),
    Form("{f} [{id}, p. 3]{s}"),
    Form("{f} ({id}, page 7){s}"),
    Form("{f} [@{id}]{s}"),
    Form("{f} [see @{id}, p. 3]{s}"),
    Form("{f} [-@{id}]{s}"),
    Form("@{id} says that {f}{s}"),
    Form("{f} [{n}]{{.cite}}{s}"),
    Form("{f} [{id}]{{.cite #x}}{s}"),
    Form("{f} \\cite{{{id}}}{s}"),
    Form("{f}~\\citep[p. 2]{{{id}}}{s}"),
    Form("{f} [\u200b{n}\u200b]{s}"),
    Form("{f} \u200b[{n}]\u200b{s}"),
    Form("{f} \u200f[{n}]\u200f{s}", "ar"),
    Form("{f} ［{n}］{s}"),
    Form("{f}（来源{n}）{s}", "zh"),
    Form("{f}【{n}】{s}", "zh"),
    Form("{f}<sup>{n}</sup>{s}"),
    Form("{f}{s}<sup>{n}</sup>"),
    Form("{f}^{n}^{s}"),
    Form("{f}^[{n}]^{s}"),
    Form("{f}$^{{{n}}}$ {s}"),
    Form("{f} ([{n}](#ref-{n})){s}"),
    Form("{f} [[{n}]](#ref-{n}){s}"),
    Form("{f} [[{n}](#ref-{n})]{s}"),
    Form("{f} [^{n}](#fn{n}){s}"),
    Form("{f} [^{n}](url{n}){s}"),
    Form("{f} [{n}](url{n}){s}"),
    Form("{f} [{n}][ref{n}]{s}"),
    Form("{f} [citation:{n}]{s}"),
    Form("{f} [Ref. {n}]{s}"),
    Form("{f} [Chunk {n}]{s}"),
    Form("{f} (Context {n}){s}"),
    Form("{f} [Search Result {n}]{s}"),
    Form("{f} [doc_{n}]{s}"),
    Form("{f} [{n}: A title of it]{s}"),
    Form("{f} [{n}] and also in [{n}]{s}"),
    Form("{f} [{n}] (and also [{n}]){s}"),
    Form("{f} [{n}–{n}]{s}"),
    Form("{f}. See [{n}]{s}"),
    Form("{f}, Document[{n}]{s}"),
    Form('{f} "[{n}]"{s}'),
    Form('{f}<sup><a href="#n{n}">{n}</a></sup>{s}'),
    Form("{f} [{n}] (p. 4){s}"),
    Form("{f} (doc [{n}], p. 3){s}"),
    Form("From [{n}]: {f}{s}"),
    Form("* {f} [{n}]{s}", between="\n"),
    Form("{f}（参见文献{n}，第3页）{s}", "zh"),
    Form("資料{n}によれば、{f}{s}", "ja"),
    Form("स्रोत {n} के अनुसार, {f}{s}", "hi"),
    Listed("\n\nThis information comes from {m}.", joint=" and "),
    Listed("\n\n📚 Sources: {m}"),
    Listed("\n\nTa odpowiedź jest oparta na źródłach {m}.", joint=" i ", language="pl"),
    Listed("\n\n이 답변은 {m}에 기반합니다.", joint="와 ", language="ko"),
    Listed("\n\nこの回答は{m}に基づいています。", joint="と", language="ja"),
    Listed("\n\nهذه الإجابة مبنية على {m}.", joint=" و ", language="ar"),
    Form("{f} (Quelle {n}){s}", "de"),
    Form("Laut Quelle {n}: {f}{s}", "de"),
    Form("{f} (vgl. Quelle {n}, S. 3){s}", "de"),
    Form("Selon la source {n}, {f}{s}", "fr"),
    Form("{f} (voir document {n}, page 2){s}", "fr"),
    Form("Según la fuente {n}, {f}{s}", "es"),
    Form("{f} (fuente {n}, pág. 4){s}", "es"),
    Form("{f} (fonte {n}, p. 3){s}", "it"),
    Form("{f} (fonte {n}, página 3){s}", "pt"),
    Form("{f} (bron {n}){s}", "nl"),
    Form("{f} (źródło {n}, str. 3){s}", "pl"),
    Form("{f} (Kaynak {n}){s}", "tr"),
    Form("Согласно источнику {n}, {f}{s}", "ru"),
    Form("{f} (источник {n}, стр. 5){s}", "ru"),
    Form("{f} (المصدر {n}){s}", "ar"),
    Form("وفقًا للمصدر {n}، {f}{s}", "ar"),
    Form("{f} [स्रोत {n}]{s}", "hi"),
    Form("根据文档{n}，{f}{s}", "zh"),
    Form("{f}（出典{n}）{s}", "ja"),
    Form("出典{n}によると、{f}{s}", "ja"),
    Form("{f} [출처 {n}]{s}", "ko"),
    Form("{f}, as documented in [{n}]{s}"),
    Form("- Source {n}: {f}{s}", between="\n"),
    Form("- **Source {n}:** {f}{s}", between="\n"),
    Form("### Point {n}\n{f} [{n}]{s}", between="\n\n"),
    Form("**Point {n}**\n{f} [{n}]{s}", between="\n\n"),
    Form("{f}, so Quelle {n}{s}", "de"),
    Form("{f} « [{n}] »{s}", "fr"),
    Form("{f} “[{n}]”{s}"),
    Form("<li>{f} [{n}]</li>", between=""),
    Form("<tr><td>{f}</td><td>[{n}]</td></tr>", between="\n"),
    Form("<td>{f}</td><td>[{n}]</td>", between="\n"),
    Form("{f} [{n}]<br>", between=""),
    Listed("\n\nBased on: {m}"),
    Listed("\n\nBased on: {m}", "{id}"),
    Listed("\n\nEvidence: {m}", "{id}"),
    Listed("\n\nReferences used – {m}", joint="; "),
    Listed("\n\nSources used: {m}", "{n}"),
    Listed("\n\nCited: {m}", "{n}"),
    Listed("\n\nSources: {m}", "{id}"),
    Listed("\n\n[Sources: {m}]", "{n}"),
    Listed(" This answer is based on {m}.", joint=" and "),
    Listed("\nThis answer is based on documents {m}.", "{n}", " and "),
    Listed(" (see {m})"),
    Listed("\n\nBased on the following sources:\n- {m}", joint="\n- "),
    Listed("\n\nDiese Antwort basiert auf den Quellen {m}.", joint=" und ", language="de"),
    Listed("\n\nVerwendete Quellen: {m}", "{n}", language="de"),
    Listed("\n\nCette réponse est basée sur les documents {m}.", joint=" et ", language="fr"),
    Listed("\n\nEsta respuesta se basa en las fuentes {m}.", joint=" y ", language="es"),
    Listed("\n\nFuentes utilizadas: {m}", "{n}", language="es"),
    Listed("\n\nFontes utilizadas: {m}", language="pt"),
    Listed("\n\nKaynaklar: {m}", language="tr"),
    Listed("\n\nОтвет основан на источниках {m}.", "{n}", " и ", "ru"),
    Listed("\n\nالمصادر: {m}", joint="، ", language="ar"),
    Listed("\n\nस्रोत: {m}", language="hi"),
    Listed("\n\n本回答基于文档{m}。", "{n}", "和", "zh"),
    Listed("\n\n参考来源：{m}", joint="、", language="zh"),
    Listed("\n\n出典：{m}", joint="、", language="ja"),
    Listed("\n\n출처: {m}", language="ko"),
)
OPEN = (
    Form("{f} [S{n}]{s}"),
    Form("{f} [{n}:3]{s}"),
    Form("Take list[{n}] where {f}{s}"),
    Form("In arr[{n}] {f}{s}"),
    Form("x[{n}] = 2 where {f}{s}"),
    Form("{f} for the vector [{n}, 9, 8]{s}"),
    Form("{f} in the interval [{n}, 9]{s}"),
    Form("Wie man in [{n}] liest, {f}{s}", "de"),
    Form("[{n}]の説明どおり、{f}{s}", "ja"),
    Form("{f} as anyone reads within [{n}]{s}"),
    Form("{f}, as laid down by [{n}]{s}"),
    Form("{f}, nachzulesen in [{n}]{s}", "de"),
)
NONE = (
    Form("Use `list[{n}]` where {f}{s}"),
    Form("{f} [2023]{s}"),
    Form("{f} in version [1.{n}]{s}"),
    Form("- [x] {f}", between="\n"),
    Form("{f}{s}\n```\nx = [{n}]\n```", between="\n"),
    Form("{f}{s}\n~~~\nx = [{n}]\n~~~", between="\n"),
    Form("{f}{s}\n\n    x = list[{n}]\n", between="\n"),
    Form("{f} with $x_{{[{n}]}}$ {s}"),
    Form("{f} [Figure {n}]{s}"),
    Form("{f} <!-- [{n}] -->{s}"),
    Form("{f} for {n}² {s}"),
    Form("{f} for 5 m² {s}"),
)
EXPECTED = {"honest": DECISIVE, "swapped": DECORATIVE, "memory": MEMORY}
SOURCES = [Source(f"D{place}", f"The text number {place} is its own.") for place in range(1, 5)]


def said_by(citer: str, there: Sequence[str], language: str) -> Said:
    told: Said = []
    for fact, own, other in zip(FACTS[language], ("D1", "D2"), ("D3", "D4"), strict=True):
        cited = other if citer == "swapped" else own
        if own in there or citer == "memory":
            told.append((fact, cited if cited in there else None))
    return told


def classes(form: Form | Listed, citer: str) -> tuple[set[CitationClass], int, int]:
    """The classes of all citations, and how many statements were checked, and how many were not."""

    def answer(question: str, sources: Sequence[Source]) -> str:
        there = [source.id for source in sources]
        said = said_by(citer, there, form.language)
        return form(said, lambda name: there.index(name) + 1) if said else "Nothing is known."

    found = cite(Explainer(answer), QUESTION, SOURCES, language=form.language)
    verdicts = {each.citation_class for check in found.checks for each in check.verdicts}
    return verdicts, len(found.checks), len(found.unchecked)


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("citer", EXPECTED)
@pytest.mark.parametrize("form", READ, ids=lambda form: f"{form.language}-{form[0]}")
def test_a_form_that_is_read(form: Form | Listed, citer: str) -> None:
    assert classes(form, citer) == ({EXPECTED[citer]}, 2, 0)


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("citer", EXPECTED)
@pytest.mark.parametrize("form", OPEN, ids=lambda form: form.each)
def test_a_form_that_may_be_none_is_undecided(form: Form, citer: str) -> None:
    assert classes(form, citer) == ({UNDECIDED}, 2, 0)


@pytest.mark.parametrize("form", NONE, ids=lambda form: form.each)
def test_a_form_that_cites_nothing(form: Form) -> None:
    verdicts, checked, _ = classes(form, "honest")
    assert (verdicts, checked) == (set(), 0)
