"""Every section, with results that were made by hand."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go
import pytest

from barnabas.pipeline.report.parts import Drawn, Result, Section
from barnabas.pipeline.report.registry import SECTIONS
from tests.pipeline.report.made import at, results

BY_NAME = {section.name: section for section in SECTIONS}


def drawn(name: str, **changed: Result) -> Drawn:
    return BY_NAME[name].draw({**results(), **changed})


@pytest.mark.parametrize("section", SECTIONS, ids=lambda one: one.name)
def test_a_section_shows_something_that_plotly_takes(section: Section) -> None:
    shown = section.draw(results())
    assert shown.plots or shown.tables
    for plot in shown.plots:
        assert plot.traces
        go.Figure({"data": list(plot.traces), "layout": plot.layout})  # raises at what it knows not
        metas = {trace.get("meta") for trace in plot.traces}
        assert metas == set(plot.choices or [None])


@pytest.mark.parametrize("section", SECTIONS, ids=lambda one: one.name)
def test_a_section_names_columns_that_its_rows_have(section: Section) -> None:
    for table in section.draw(results()).tables:
        assert table.rows
        for row in table.rows:
            assert set(table.columns) <= set(row)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda one: one.name)
def test_a_section_takes_what_captures_may_not_say(section: Section) -> None:
    """Names are missing where a capture begins in the middle."""
    unknown = {"client_id", "software", "member", "reason", "file", "advice", "removed_in", "share"}

    def without(row: Mapping[str, object]) -> dict[str, object]:
        return {name: None if name in unknown else value for name, value in row.items()}

    section.draw(
        {
            name: Result([without(row) for row in found.rows], found.total)
            for name, found in results().items()
        }
    )


@pytest.mark.parametrize("section", SECTIONS, ids=lambda one: one.name)
def test_what_is_left_out_is_said(section: Section) -> None:
    given = {name: Result(found.rows, len(found.rows) + 7) for name, found in results().items()}
    remarks = section.draw(given).remarks
    assert any(remark.startswith("7 of ") for remark in remarks)


def test_a_rise_of_latency_stands_out_and_the_usual_does_not() -> None:
    said = drawn("latency").said
    assert [sentence.text.split(":")[0] for sentence in said] == ["Produce"]
    even = [{**row, "p99_ms": 5.0} for row in results()["latency"].rows]
    assert not drawn("latency", latency=Result(even, len(even))).said


def test_who_goes_again_and_again_is_named_with_the_reasons() -> None:
    found = [row for row in results()["rebalances"].rows if row["phase"] == "join"]
    why = "consumer poll timeout has expired."
    went = [{**row, "phase": "stopped", "reason": why} for row in found]
    of = {row["client_id"] for row in found}
    (said,) = drawn("rebalances", rebalances=Result([*found, *went], len(found) * 2)).said
    for client in of:
        times = sum(row["client_id"] == client for row in found)
        assert (f"{client} left {times} times ({why})" in said.text) == (times > 1)
    (table,) = drawn("rebalances", rebalances=Result([*found, *went], len(found) * 2)).tables
    assert {row["stopped"] for row in table.rows} == {why}


def test_a_standstill_and_who_was_late_are_said() -> None:
    (said,) = drawn("rebalances").said
    assert said.severity == "bad"
    assert "delivery stopped for up to 15.7 s (generation 2)" in said.text
    assert "late: <script>" in said.text, "as it is: the page escapes"


def test_the_bars_of_a_rebalance_begin_and_last_as_their_phases() -> None:
    (plot,) = drawn("rebalances").plots
    join = next(trace for trace in plot.traces if trace["name"] == "join")
    assert join["base"][0] == "2026-11-21 14:05:05.000000"
    assert join["x"][0] == 3000.0
    (late,) = (trace for trace in plot.traces if trace["name"] == "late")
    assert late["x"] == ["2026-11-21 14:06:05.500000"]


def test_one_band_is_drawn_for_each_generation() -> None:
    (plot,) = drawn("rebalances").plots
    bands = plot.layout["shapes"]
    assert [band["x0"][11:19] for band in bands] == ["14:05:05", "14:05:50", "14:06:30"]
    assert bands[1]["x1"][11:21] == "14:06:05.7", "until the last of them knows"


def test_versions_that_are_gone_are_bad_and_first_in_the_table() -> None:
    shown = drawn("versions")
    assert [sentence.text for sentence in shown.said] == [
        "Kafka 4.0 no longer supports versions that payments use: Produce v2, Fetch v3"
    ]
    assert [row["removed_in"] for row in shown.tables[0].rows[:3]] == ["4.0", "4.0", None]


def test_clients_beyond_what_can_be_drawn_are_counted() -> None:
    rows = [
        {**row, "client_id": f"c{n}"} for n in range(40) for row in results()["errors"].rows[:1]
    ]
    remarks = drawn("errors", errors=Result(rows, 40)).remarks
    assert [*remarks] == ["25 clients with fewer errors are not drawn"]


def test_a_heatmap_counts_all_apis_together() -> None:
    (plot,) = drawn("latency_heatmap").plots
    total = sum(row["count"] for row in results()["latency_heatmap"].rows)
    assert sum(count or 0 for line in plot.traces[0]["customdata"] for count in line) == total
    assert plot.choices == ("all APIs", "Produce", "Fetch", "Heartbeat", "Metadata")


def test_what_was_not_leaves_a_hole_and_what_took_no_time_is_drawn_all_the_same() -> None:
    first = results()["latency"].rows[0]
    rows = [
        {**first, "bucket": at(1), "p99_ms": 0.0},
        {**first, "bucket": at(2), "p99_ms": 3.0},
        {**first, "bucket": at(4), "p99_ms": 4.0},
    ]
    (plot,) = drawn("latency", latency=Result(rows, 3)).plots
    assert plot.traces[0]["y"] == [0.01, 3.0, None, 4.0]
    assert plot.traces[0]["customdata"][0] == "0.00 ms, of 40"
