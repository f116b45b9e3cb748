"""The page as text: what it holds, and what it can't be made to hold."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from barnabas.captures.kafka.notes import ONE_DIRECTION
from barnabas.pipeline.report.page import page
from barnabas.pipeline.report.parts import Overview, Result
from barnabas.pipeline.report.registry import SECTIONS
from barnabas.specs.frames import DIRECTIONS, Direction
from tests.pipeline.report.made import HOSTILE, OVERVIEW, at, results

PLOTLY = "window.Plotly = {};"
NOTHING = Overview(("empty.pcapng",), None, None, 0, 0, 0, 0, 0, 0, 0, 0)


class Seen(HTMLParser):
    """The elements of a page, its texts, and what stands in its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self._in = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in = tag

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        (self.scripts if self._in == "script" else self.texts).append(data)


def made(**changed: Result) -> Seen:
    return Seen(page(OVERVIEW, {**results(), **changed}, PLOTLY))


def test_a_hostile_client_id_is_text_and_nothing_else() -> None:
    seen = made()
    assert any(HOSTILE in text for text in seen.texts)
    assert {tag for tag, _ in seen.tags}.isdisjoint({"img", "iframe", "object", "link", "form"})
    for tag, attributes in seen.tags:
        assert not any(name.startswith("on") for name in attributes)
        if tag == "a":
            assert str(attributes["href"]).startswith("#")
    assert len(seen.scripts) == 4, "the figures, what all reports run, plotly, and ours"


def test_a_range_of_several_days_has_both_dates() -> None:
    for seconds, said in (
        (120, "14:05:00 to 14:07:00 UTC, 2 min"),
        (4 * 86_400, "14:05:00 to Wednesday, 25 November 2026, 14:05:00 UTC, 4 days"),
    ):
        seen = page(OVERVIEW._replace(ends=at(seconds)), results(), PLOTLY)
        assert f"Saturday, 21 November 2026, {said}" in seen


def test_plotly_gets_no_markup_but_ours() -> None:
    text = made().scripts[0]
    assert "<" not in text, "nothing in it can end the element that it stands in"
    figures = json.loads(text)["figures"].values()
    found: list[tuple[str, str]] = []

    def look(value: Any, key: str = "") -> None:
        if isinstance(value, dict):
            for name, one in value.items():
                look(one, name)
        elif isinstance(value, list):
            for one in value:
                look(one, key)
        elif isinstance(value, str) and "<" in value:
            found.append((key, value))

    for figure in figures:
        look([figure["data"], figure["layout"]])
    assert {key for key, _ in found} == {"hovertemplate"}
    assert not any("script" in value for _, value in found)


def test_nothing_but_our_scripts_may_run_and_nothing_may_be_asked_for() -> None:
    seen = made()
    policy = next(
        str(attributes["content"])
        for tag, attributes in seen.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert "default-src 'none'" in policy
    hashes = re.findall(r"'sha256-([^']+)'", policy)
    own = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in seen.scripts]
    assert hashes == own[1:]


def test_what_could_not_be_read_stands_first_and_errors_before_warnings() -> None:
    text = page(OVERVIEW, results(), PLOTLY)
    assert text.index('id="unread"') < text.index('id="findings"')
    top = text[text.index("What stands out") : text.index("<nav")]
    severities = re.findall(r'<li class="(\w+)"', top)
    assert severities == sorted(severities)
    assert {"error", "warning"} == set(severities)


def test_what_was_looked_for_and_not_found_is_said() -> None:
    text = page(NOTHING, {}, PLOTLY)
    assert "no exchanges" in text
    assert "The captures were read completely." in text
    assert text.count("<li><b>") == len(SECTIONS)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_one_direction_is_not_all_that_was_checked(direction: Direction) -> None:
    text = page(NOTHING._replace(only=direction), {}, PLOTLY)
    assert f">{ONE_DIRECTION[direction].capitalize()}</p>" in text
    assert "Checked, nothing found" not in text
    assert "no errors" not in text
    assert ("<dt>with errors</dt><dd>–</dd>" in text) == (direction == "request")


def _lead(overview: Overview, **changed: Result) -> str:
    (lead,) = re.findall('<p class="lead">(.*)</p>', page(overview, changed, PLOTLY))
    return str(lead)


def test_the_first_sentence_counts_what_stands_out() -> None:
    counts = "48,213 exchanges of 12 clients with 3 brokers in 2 min"
    assert _lead(OVERVIEW) == f"{counts}: nothing stands out."
    named = {name: results()[name] for name in ("findings", "findings_by_check", "unread")}
    assert _lead(OVERVIEW, **named) == f"{counts}: 1 error and 3 warnings stand out."
    of_one = OVERVIEW._replace(exchanges=1, clients=1, brokers=1)
    assert _lead(of_one, errors=results()["errors"]) == (
        "1 exchange of 1 client with 1 broker in 2 min: 1 warning stands out."
    )
    assert _lead(NOTHING) == "No exchanges: nothing stands out."


def test_links_lead_to_sections_statements_and_findings() -> None:
    row = results()["findings"].rows[0]
    seen = made(findings=Result([row, row, {**row, "packets": []}], 3))
    ids = [attributes["id"] for _, attributes in seen.tags if attributes.get("id")]
    assert len(ids) == len(set(ids)), "of findings with one name the first has it"
    links = {str(attributes.get("href"))[1:] for tag, attributes in seen.tags if tag == "a"}
    assert links <= set(ids)
    assert {"findings", "findings-sequence-error"} <= links
    assert {"findings-sequence-4-99", "findings-sequence-4-2026-11-21T14:05:09+00:00"} <= set(ids)


def test_usual_errors_and_tables_without_rows_are_not_shown_as_faults() -> None:
    text = page(OVERVIEW, results(), PLOTLY)
    assert '<div class="bad"><dt>with errors</dt>' in text
    (row, *_) = results()["errors"].rows
    usual = Result([{**row, "error": "REBALANCE_IN_PROGRESS"}], 1)
    phases = [{**row, "generation": None} for row in results()["rebalances"].rows]
    rebalances = Result(phases, len(phases))
    text = page(OVERVIEW, {"errors": usual, "rebalances": rebalances}, PLOTLY)
    assert "<div><dt>with errors</dt>" in text
    assert "Members: <span" in text
    assert "Generations: <span" not in text


def test_columns_without_a_value_are_not_shown() -> None:
    rows = [{**row, "topic": None} for row in results()["findings"].rows]
    tables = [
        page(OVERVIEW, {"findings": each}, PLOTLY)
        for each in (results()["findings"], Result(rows, len(rows)))
    ]
    assert [">topic</th>" in table for table in tables] == [True, False]


def test_rows_beyond_the_page_are_counted() -> None:
    row = results()["findings"].rows[0]
    text = page(OVERVIEW, {"findings": Result([row] * 620, 900)}, PLOTLY)
    assert "120 more rows are in the Parquet table, not on this page" in text
    assert "280 of 900 rows of findings are not shown" in text
