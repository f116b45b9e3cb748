"""Markdown and HTML of one database: what was said by strangers stays text."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from barnabas.fuzz.database.findings import Findings
from barnabas.fuzz.engine.rounds import run_range
from barnabas.fuzz.engine.stats import Cell, Field, Judged, Stats
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.fuzz.report.cause import cause_name
from barnabas.fuzz.report.markdown import markdown
from barnabas.fuzz.report.page import page
from barnabas.fuzz.report.reached_lines import shown, unseen
from barnabas.fuzz.report.summary import Summary, summaries
from tests.fuzz.fakes import RAISED, FakeMaker, FakeTarget
from tests.fuzz.report.test_finding import FINDING

EVIL = "<script>alert(1)</script> | `x` \x1b[2J"


@pytest.fixture
def found(tmp_path: Path) -> list[Summary]:
    (batch,) = run_range(FakeTarget(), FakeMaker("s"), [RAISED], range(100))
    first = next(iter(batch.stats.findings.values())).observation
    said = replace(first, log=(EVIL,))
    batch.stats.add(Judged(said, frozenset(), (Verdict("evil", EVIL, (EVIL,)),)))
    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", EVIL, {"seed": 4}, 0.0)
        kept.keep(batch.stats, 100, 0)
        findings.campaign("empty", "fake", {}, 0.0)
        return summaries(findings)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_runs_our_script_only(found: list[Summary]) -> None:
    tags, text = Tags(), page(found)
    tags.feed(text)
    assert tags.open == []
    assert {"details", "table", "pre"} <= tags.names
    assert "\x1b" not in text
    (script,) = re.findall(r'<script type="module">(.*?)</script>', text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'\">" in text


def test_the_first_sentence_counts_causes_by_severity(found: list[Summary]) -> None:
    leads = re.findall('<p class="lead">(.*)</p>', page(found))
    assert leads == [
        "0 cases: no findings.",
        "100 cases: 3 findings of 3 causes (3 other).",
    ]


def test_what_was_changed_is_marked_in_fields_and_bytes(found: list[Summary]) -> None:
    first = found[1].findings[0]
    finding = replace(FINDING, name="marked", campaign=first.campaign)
    text = page([replace(found[1], findings=(finding,))])
    marks = re.findall("<mark>(.*?)</mark>", text)
    assert marks[0].startswith("&gt; topics.count: 1  &lt;-- counts: ")
    assert marks[1:] == ["00", ".", "00 00 04", "..."], "bytes and characters of both rows"


def test_two_campaigns_with_one_finding_have_one_id_for_it_and_its_cause(
    found: list[Summary],
) -> None:
    ids = re.findall(' id="(.*?)"', page([found[1], replace(found[1], database="other.db")]))
    causes = [cause_name(group.cause) for group in found[1].groups]
    for name in (*causes, *(finding.name for finding in found[1].findings)):
        assert ids.count(name) == 1


def test_facts_that_all_findings_of_a_cause_share_are_with_the_cause(found: list[Summary]) -> None:
    first = found[1].findings[0]
    second = replace(first, name="second", cases=first.cases + 1)
    text = page([replace(found[1], findings=(first, second))])
    assert text.count("<dt>behaviour</dt>") == 1
    assert text.count("<dt>found by</dt>") == 2
    cause, card, _ = text.split('<details class="fold">')
    assert "<dt>behaviour</dt>" in cause
    assert "<dt>found by</dt>" in card


def test_every_finding_is_in_both_with_its_command(found: list[Summary]) -> None:
    text, html = markdown(found), page(found)
    names = [each.name for each in found[1].findings]
    assert len(names) == 3
    for name in names:
        assert f"barnabas fuzz replay {name} --db" in text
        assert f"barnabas fuzz replay {name} --db" in html


def test_what_no_one_case_shows_is_shown_as_such(found: list[Summary]) -> None:
    one = found[1].findings[0]
    seen = replace(one.observation, facts=(("together", [one.first_case - 1, one.first_case]),))
    shared = replace(found[1], findings=(replace(one, observation=seen),))
    for whole, alone in ((markdown([shared]), markdown(found)), (page([shared]), page(found))):
        assert f"not attributable to one case; first seen after case {one.first_case}" in whole
        assert "not attributable" not in alone


def test_numbers_are_those_of_the_database(found: list[Summary]) -> None:
    empty, one = found
    assert dict(one.facts)["cases"] == "100"
    assert sum(row.changes for row in one.apis) == 100
    assert one.progress == ((0, "not over", 0, 0),)
    assert "| round | new features |" in markdown([one])
    assert ">new features</th>" in page([one])
    assert dict(one.facts)["findings"] == "3 (raised 2, evil 1)"
    assert dict(empty.facts)["findings"] == "0"
    assert "None." in markdown([empty])


def test_places_count_cases_by_how_deep_they_went(tmp_path: Path) -> None:
    stats = Stats(coverage=Counter())
    for field, mutator, cases in (
        ("topics[].name", "odd_text", 7),
        ("responses[].records[].crc", "checksums", 3),
        ("responses[].records[].records[].headers.count", "counts", 2),
        ("responses[].records[].records[].headers.count", "varints", 3),
        ("responses[].records[].records[].key", "emptiness", 4),
        ("responses[].records[].lz4.content_size", "lengths", 1),
    ):
        stats.coverage[Cell("Fetch", 4, field, mutator)] = cases
    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", "t", {"seed": 4}, 0.0)
        kept.keep(stats, 20, 0)
        (only,) = summaries(findings)
    assert only.places == (
        ("message", 1, 7, 7), ("batch", 1, 3, 3), ("lz4", 1, 1, 1), ("record", 2, 9, 4),
    )  # fmt: skip
    assert "| record | 2 | 9 | 4 |" in markdown([only])


def test_a_field_is_a_gap_in_versions_in_which_no_mutator_showed_anything() -> None:
    def cell(version: int, mutator: str, field: str = "topics[].name") -> Cell:
        return Cell("Fetch", version, field, mutator)

    coverage = {cell(4, "null"): 2, cell(5, "null"): 3, cell(5, "flip"): 1, cell(6, "null"): 1}
    coverage |= {cell(9, "null"): 9, cell(4, "trailing", ""): 1}
    as_valid = {cell(4, "null"): 2, cell(5, "null"): 3, cell(6, "null"): 1, cell(9, "null"): 8}
    as_valid |= {cell(4, "trailing", ""): 1}
    assert unseen(coverage, as_valid) == [
        ("Fetch", "topics[].name", "4, 6", 3),
        ("Fetch", "(frame)", "4", 1),
    ]
    assert unseen(coverage, {}) == []


def test_fields_that_showed_something_are_counted_and_so_are_those_that_were_given_more() -> None:
    cells = {Cell("Fetch", version, "a", "null"): 2 for version in range(4)}
    as_valid = {Cell("Fetch", version, "a", "null"): version for version in range(4)}
    given = {Field("Fetch", version, "a") for version in (1, 2)}
    assert dict(shown(cells, as_valid, given)) == {
        "fields (by version) whose change had an effect": "2 of 4",
        "of those, fields with more cases because they had none": "1 of 2",
    }
    assert len(shown(cells, as_valid, set())) == 1
    assert shown(cells, {}, set()) == ()
