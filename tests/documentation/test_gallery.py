"""The gallery: each page shows the whole of its file, what it prints, and its picture."""

import re

import pytest

from tests.documentation.blocks import agrees, blocks_in, readme
from tests.documentation.making.places import DOCS, ROOT
from tests.pictures.gallery import FOLDER, SHOWN, file_of, incident

WRITTEN = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}


def test_each_incident_has_its_page_and_its_file_and_there_are_no_others() -> None:
    assert {*SHOWN, "index"} == set(WRITTEN)
    assert {file_of(name) for name in SHOWN} == set(FOLDER.glob("*.py"))


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("name", SHOWN)
def test_a_page_has_the_whole_file_and_what_it_prints(name: str) -> None:
    (block,) = blocks_in(name, WRITTEN[name])
    assert block.code == file_of(name).read_text(encoding="utf-8")
    assert block.printed
    assert agrees(incident(name).printed, block.printed), incident(name).printed
    assert "whenever" in block.printed or "always" in block.printed


@pytest.mark.parametrize("name", SHOWN)
def test_a_page_says_that_it_is_reconstructed_and_shows_its_picture(name: str) -> None:
    assert "*A reconstruction: " in WRITTEN[name]
    assert "A reconstruction: " in file_of(name).read_text(encoding="utf-8")
    assert f"](../pictures/{incident(name).picture})" in WRITTEN[name]
    assert f"]({file_of(name).name})" in WRITTEN[name]


@pytest.mark.parametrize("name", SHOWN)
def test_the_index_leads_to_each(name: str) -> None:
    title = re.findall(r"^# (.*)$", WRITTEN[name], re.MULTILINE)[0]
    assert f"[{title}]({name}.md)" in WRITTEN["index"]
    assert f"](../pictures/{incident(name).picture})]({name}.md)" in WRITTEN["index"]


def test_the_pages_that_readers_begin_with_lead_to_the_gallery() -> None:
    assert "(docs/gallery/index.md)" in readme()
    assert "(gallery/index.md)" in (DOCS / "index.md").read_text(encoding="utf-8")
    listed = (ROOT / "llms.txt").read_text(encoding="utf-8")
    assert [name for name in SHOWN if f"(docs/gallery/{name}.md)" not in listed] == []


def test_the_healthcare_case_is_as_the_paper_tells_it() -> None:
    """Keyword queries that find ten, five that the model is shown, a judge with evidence, and a pair."""
    told = incident("healthcare")
    found = told.explanation
    assert len(found.sources) == 5
    assert found.counts.judge_requests > 0
    assert [len(rule.sources) for rule in found.retention_rules] == [2]
    assert {rule.sources for rule in found.omission_rules} == {
        (source,) for source in found.retention_rules[0].sources
    }
    assert "retention rules left: 0" in told.printed
    program = file_of("healthcare").read_text(encoding="utf-8")
    assert "k=10" in program
    assert "[:5]" in program


def test_every_picture_of_an_incident_is_of_all_that_it_found() -> None:
    for name in SHOWN:
        assert incident(name).explanation.complete, name
        assert {rule.claim for rule in incident(name).explanation} == {"proved"}, name
