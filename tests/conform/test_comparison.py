"""Responses of two brokers to the same requests: what counts as a difference."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from barnabas.conform.catalog import CHECKS
from barnabas.conform.comparison import Transcript, contrast
from barnabas.conform.html_report import as_html
from barnabas.conform.operations import Read, Write
from barnabas.conform.report import Report, as_json, contrast_lines
from barnabas.conform.sources import source_link
from barnabas.conform.verdicts import Evidence, Failed, Outcome, Verdict
from barnabas.specs.frames import Frame, encode_frame
from barnabas.specs.records import Record, build
from barnabas.specs.registry import key_of
from tests.page.browser import axe_in_both_schemes, page_at

Exchange = tuple[str, int, dict[str, Any], dict[str, Any]]
"""API, version, fields of the request, fields of the response."""

TOPIC = {"topics": [{"name": "conform-1-topic"}]}
UNKNOWN = ("Metadata", 4, TOPIC, {"topics": [{"name": "conform-1-topic", "error_code": 3}]})
READY = ("Metadata", 4, TOPIC, {"topics": [{"name": "conform-1-topic", "error_code": 0}]})


def transcript(*exchanges: Exchange) -> Transcript:
    recorded = Transcript()
    for number, (name, version, request, response) in enumerate(exchanges):
        header = {"correlation_id": number}
        key = key_of(name)
        sent = encode_frame(Frame("request", key, version, header, request))
        received = encode_frame(Frame("response", key, version, header, response))
        recorded.observe(Write(0, sent), None)
        recorded.observe(Read(0, 1.0), received[4:])
    return recorded


def differing(left: Transcript, right: Transcript) -> str:
    return str(contrast(left, right, ("conform-1", "conform-1")))


def test_the_first_response_that_differs_is_found() -> None:
    assert differing(transcript(READY), transcript(UNKNOWN)) == (
        "Metadata v4 response: topics[conform-1-topic].error_code: 0 ≠ 3"
    )


def test_repeated_requests_count_once_by_their_last_response() -> None:
    assert differing(transcript(READY), transcript(UNKNOWN, UNKNOWN, READY)) == "None"


def test_what_brokers_have_for_themselves_is_no_difference() -> None:
    request: dict[str, Any] = {"topics": None}
    left: dict[str, Any]
    right: dict[str, Any]
    left, right = ({"brokers": [{"node_id": node, "host": "h", "port": 1}]} for node in (1, 2))
    assert (
        differing(
            transcript(("Metadata", 4, request, left)), transcript(("Metadata", 4, request, right))
        )
        == "None"
    )


@pytest.mark.parametrize(("names", "found"), [(["conform-1-topic"], True), (None, False)])
def test_an_element_counts_if_the_request_names_something_of_the_check(
    names: list[str] | None, found: bool
) -> None:
    request = {"topics": None if names is None else [{"name": name} for name in names]}
    listed = {"topics": [{"name": "conform-1-topic"}, {"name": "other"}]}
    fewer = {"topics": [{"name": "conform-1-topic"}]}
    text = differing(
        transcript(("Metadata", 4, request, listed)), transcript(("Metadata", 4, request, fewer))
    )
    assert (text != "None") == found


def test_a_field_of_a_newer_version_is_no_difference() -> None:
    left: Exchange = ("Metadata", 7, TOPIC, {})
    right: Exchange = ("Metadata", 8, TOPIC, {"cluster_authorized_operations": 1})
    assert differing(transcript(left), transcript(right)) == "None"


def fetched(*values: bytes, timestamp: int) -> Exchange:
    records = build([Record(i, timestamp, None, value) for i, value in enumerate(values)])
    partitions = [{"partition_index": 0, "records": records}]
    request = {"topics": [{"topic": "conform-1-topic", "partitions": []}]}
    return (
        "Fetch",
        11,
        request,
        {"responses": [{"topic": "conform-1-topic", "partitions": partitions}]},
    )


def test_records_are_compared_by_offset_key_and_value() -> None:
    left = transcript(fetched(b"a", timestamp=1))
    assert differing(left, transcript(fetched(b"a", timestamp=2))) == "None"
    assert "b'a') ≠ (0, None, b'b')" in differing(left, transcript(fetched(b"b", timestamp=1)))


def test_bytes_that_are_no_request_are_left_out() -> None:
    recorded = transcript(READY)
    recorded.observe(Write(0, b"\0\0"), None)
    recorded.observe(Write(0, struct.pack(">ihhih", 10, 9999, 0, 5, -1)), None)
    recorded.observe(Read(0, 1.0), None)
    assert differing(recorded, transcript(READY)) == "None"


def report() -> Report:
    """Return a report with a failure, whose text has markup, and a difference."""
    chosen = CHECKS[:2]
    found = contrast(transcript(READY), transcript(UNKNOWN), ("conform-1", "conform-1"))
    assert found is not None
    failure = Failed("<b>what</b>", "1", "2", Evidence("Metadata", 4, b"\0\0", None))
    made = Report("127.0.0.1:9092", chosen, against="apache:4.3.1")
    made.add(Verdict(chosen[0].name, "fail", str(failure), failure, packets=(7, 9)))
    made.add(Verdict(chosen[1].name, "pass"))
    made.contrasts |= {check.name: found for check in chosen}
    return made


def test_the_page_has_failures_differences_and_no_markup_of_the_broker() -> None:
    page = as_html(report(), "2026-01-01")
    assert "&lt;b&gt;what&lt;/b&gt;" in page
    assert "<b>what</b>" not in page
    assert "Packets 7, 9 of the capture." in page
    assert "Differences from apache:4.3.1" in page
    assert page.count("topics[conform-1-topic].error_code: 0 ≠ 3") == 2
    assert source_link(CHECKS[0].sources[0]) in page.replace("&amp;", "&")


def test_the_page_begins_with_a_sentence_and_marks_the_wrong_field() -> None:
    name, version, _, fields = READY
    frame = Frame("response", key_of(name), version, {"correlation_id": 0}, fields)
    evidence = Evidence(name, version, b"\0\0", encode_frame(frame)[4:], "topics[0].error_code")
    made, failure = report(), Failed("error_code", "3", "0", evidence)
    made.add(Verdict(CHECKS[0].name, "fail", str(failure), failure))
    page = as_html(made, "2026-01-01")
    assert "1 of 2 checks passed, 1 failure counted for the exit code." in page
    assert re.findall("<mark>(.*?)</mark>", page) == ["→     error_code: 0 (NONE)"]
    assert page.count(f' id="{CHECKS[0].name}"') == 1
    assert page.count(f'href="#{CHECKS[0].name}"') == 2, "in the list of all checks, and beside it"


@pytest.mark.needs_chromium
@pytest.mark.parametrize("width", [1400, 420])
def test_the_page_is_usable_by_all_and_a_link_opens_a_failure(tmp_path: Path, width: int) -> None:
    file = tmp_path / "conform.html"
    file.write_text(as_html(report(), "2026-01-01"))
    with page_at(f"{file.as_uri()}#{CHECKS[0].name}", width=width) as shown:
        assert shown.locator("details[open]").count() == 1
        shown.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert shown.evaluate("document.documentElement.scrollWidth") == width
        assert axe_in_both_schemes(shown) == []


@pytest.mark.needs_chromium
def test_areas_are_sorted_by_share_and_checks_by_verdict(tmp_path: Path) -> None:
    by_area = {
        area: [check for check in CHECKS if check.area == area][:2]
        for area in ("fetch", "metadata", "produce")
    }
    outcomes: list[Outcome] = ["pass", "fail", "pass", "pass", "fail", "fail"]
    checks = [check for area in by_area.values() for check in area]
    made = Report("127.0.0.1:9092", checks)
    for check, outcome in zip(checks, outcomes, strict=True):
        made.add(Verdict(check.name, outcome))
    file = tmp_path / "conform.html"
    file.write_text(as_html(made, "2026-01-01"))
    with page_at(file.as_uri()) as shown:
        areas, listed = (shown.get_by_role("group", name=each) for each in ("Areas", "All checks"))
        areas.get_by_role("button", name="share").press("Enter")
        assert areas.locator("td:last-child").all_inner_texts() == ["100%", "50%", "0%"]
        listed.get_by_role("button", name="verdict").press("Enter")
        assert listed.locator("td:nth-child(3)").all_inner_texts() == ["fail"] * 3 + ["pass"] * 3
        assert shown.get_by_text("Columns").count() == 2


def test_differences_are_in_json_and_frames_are_beside_each_other_for_a_failure() -> None:
    made = report()
    rows = json.loads(json.dumps(as_json(made, {})))["checks"]
    difference = {"path": "topics[conform-1-topic].error_code", "target": "0", "against": "3"}
    assert [row["differences"] for row in rows] == [[difference]] * 2
    (failed, found), (passed, _) = made.differing
    assert len(contrast_lines(passed, found, made)) == 1
    lines = contrast_lines(failed, found, made)
    assert any("0 (NONE)" in line and "| " in line and "3 (UNKNOWN" in line for line in lines)


@pytest.mark.parametrize(
    ("source", "link"),
    [
        ("KIP-227", "https://cwiki.apache.org/confluence/dosearchsite.action?queryString=KIP-227"),
        ("FetchResponse.json: session_id", "https://github.com/apache/kafka/blob/trunk/clients/src/"
         "main/resources/common/message/FetchResponse.json"),
        ("the protocol guide", ""),
    ],
)  # fmt: skip
def test_sources_have_links(source: str, link: str) -> None:
    assert source_link(source) == link
