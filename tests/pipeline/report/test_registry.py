"""Every section, with results that were made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import pytest

from barnabas.captures.kafka.normal_errors import GUIDING
from barnabas.pipeline.report.marks import together
from barnabas.pipeline.report.parts import Content, Result, Section, cut
from barnabas.pipeline.report.registry import SECTIONS
from barnabas.pipeline.report.sections.rebalances import LONG_MS
from barnabas.pipeline.report.sections.unread import MISSING
from tests.pipeline.report.made import HOSTILE, at, results

BY_NAME = {section.name: section for section in SECTIONS}


def drawn(name: str, **changed: Result) -> Content:
    return BY_NAME[name].content({**results(), **changed})


@pytest.mark.parametrize("section", SECTIONS, ids=lambda one: one.name)
def test_a_section_shows_something_that_plotly_takes(section: Section) -> None:
    shown = section.content(results())
    assert shown.plots or shown.tables
    for plot in shown.plots:
        assert plot.traces
        go.Figure({"data": list(plot.traces), "layout": plot.layout})  # raises at what it knows not
        metas = {trace.get("meta") for trace in plot.traces}
        assert metas == set(plot.choices or [None])
        assert len(plot.rows) in (0, len(plot.traces))
        for trace, of in zip(plot.traces, plot.rows, strict=False):
            assert isinstance(of, Mapping) or len(of) == len(trace["x"])
    for table in shown.tables:
        assert table.rows
        for row in table.rows:
            assert set(table.columns) <= set(row)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda one: one.name)
def test_a_section_takes_what_captures_may_not_say(section: Section) -> None:
    """Names are missing where a capture begins in the middle."""
    unknown = {"client_id", "software", "member", "reason", "file", "advice", "removed_in", "share"}

    def without(row: Mapping[str, object]) -> dict[str, object]:
        return {name: None if name in unknown else value for name, value in row.items()}

    section.content(
        {
            name: Result([without(row) for row in found.rows], found.total)
            for name, found in results().items()
        }
    )


@pytest.mark.parametrize("section", SECTIONS, ids=lambda one: one.name)
def test_what_is_left_out_is_said(section: Section) -> None:
    given = {name: Result(found.rows, len(found.rows) + 7) for name, found in results().items()}
    assert any(remark.startswith("7 of ") for remark in cut(given, section))


def test_segments_that_are_not_there_are_said_before_the_gaps_that_come_of_them() -> None:
    of = {"capture": "a", "bytes": None}
    missing = {**of, "kind": "missing", "file": "a-7", "reason": "segments ... missing: 6"}
    gaps = {**of, "kind": "gap", "file": None, "reason": MISSING, "bytes": 5310}
    other = {**of, "kind": "gap", "file": None, "reason": "it began before"}
    results = [{**row, "count": 28} for row in (other, gaps, missing)]
    assert [one.text for one in drawn("unread", unread=Result(results, 3)).statements] == [
        "not read: a-7: segments ... missing: 6",
        "not read: 28 gaps in a, 5,310 bytes",
        "not read: gap, 28 times",
    ]


def test_a_rise_of_latency_stands_out_and_the_usual_does_not() -> None:
    output = drawn("latency").statements
    assert [sentence.text.split(":")[0] for sentence in output] == ["Produce"]
    even = [{**row, "p99_ms": 5.0} for row in results()["latency"].rows]
    assert not drawn("latency", latency=Result(even, len(even))).statements


def test_who_goes_again_and_again_is_named_with_the_reasons() -> None:
    found = [row for row in results()["rebalances"].rows if row["phase"] == "join"]
    why = "consumer poll timeout has expired."
    went = [{**row, "phase": "stopped", "reason": why} for row in found]
    of = {row["client_id"] for row in found}
    (said,) = drawn("rebalances", rebalances=Result([*found, *went], len(found) * 2)).statements
    for client in of:
        times = sum(row["client_id"] == client for row in found)
        assert (f"{client} stopped {times} times ({why})" in said.text) == (times > 1)
    *_, table = drawn("rebalances", rebalances=Result([*found, *went], len(found) * 2)).tables
    assert {row["stopped"] for row in table.rows} == {why}


def test_a_standstill_and_who_was_late_are_said() -> None:
    (said,) = drawn("rebalances").statements
    assert said.severity == "error"
    assert said.text.startswith(
        "group orders-service: 3 generations from 14:05:05.000 to 14:06:58.000, "
    )
    assert "delivery stopped for up to 15.7 s from 14:05:50.000 (generation 2)" in said.text
    assert "late: <script>" in said.text, "as it is: the page escapes"
    assert said.text.endswith(" in generation 2; orders-service-a missed generation 3")


def test_the_events_of_a_lane_begin_and_end_as_their_phases() -> None:
    (group,) = drawn("rebalances").lanes
    assert len(group.lanes) == 4
    first = group.lanes[0]
    assert (first["client"], first["instance"]) == ("orders", "orders 0ffee0")
    assert [event["api"] for event in first["events"]] == ["join", "sync", "consuming"] * 3
    join = first["events"][0]
    assert (int(join["start"]), int(join["end"])) == (_ns(5), _ns(8))


def test_one_band_is_drawn_for_each_generation() -> None:
    (group,) = drawn("rebalances").lanes
    assert [(band["generation"], int(band["from"])) for band in group.bands] == [
        *((1, _ns(5)), (2, _ns(50)), (3, _ns(90)))
    ]
    ends = [band["until"] and int(band["until"]) for band in group.bands]
    assert ends == [_ns(50), _ns(90), None]
    assert [band["standstill_ms"] for band in group.bands] == [4100.0, 15_700.0, 4100.0]
    late = {band["generation"]: band["late"] for band in group.bands}
    assert late == {
        1: None,
        2: {"kind": "late", "members": ["consumer-3-c0ffee3"]},
        3: {"kind": "absent", "members": ["consumer-1-c0ffee1"]},
    }


def test_a_generation_has_the_members_and_the_beginning_that_it_is_said_to_have() -> None:
    """Not those of the rows that are there: a capture may not show all, and who missed it has none."""
    found = [
        {**row, "members": 7, "began_ts": at(row["generation"])}
        for row in results()["rebalances"].rows
    ]
    generations, _ = drawn("rebalances", rebalances=Result(found, len(found))).tables
    assert [(row["members"], row["start"]) for row in generations.rows] == [
        *((7, at(number)) for number in (1, 2, 3))
    ]


def _ns(seconds: float) -> int:
    return int(at(seconds).timestamp()) * 1_000_000_000


def test_who_waited_for_which_broker_since_when_is_said() -> None:
    outlier, said = drawn("latency_clients").statements
    assert outlier.text == (
        f"{HOSTILE}, Produce to broker 2: its median latency is 4.9 s from 14:05:01.000 to 14:06:39.000, "
        "10 times that of its 11 peers, 500 ms"
    )
    assert said.text.startswith("payments, Produce to broker 2: p99 rose to ")
    assert " from 14:06:00.000 to 14:06:08.000, " in said.text
    assert together(said.rows)["client"] == "payments"


def test_who_is_stuck_throttled_or_writes_beside_others_is_named_with_time_and_number() -> None:
    stuck, without_commit = drawn("lag").statements[0], drawn("lag").statements[1:]
    assert stuck.text == (
        "group readers is stuck at orders[0], orders[1]: it has committed nothing since 14:05:03.000, for "
        "57 s, and its lag rose from 3 to 590"
    )
    assert not without_commit
    (said,) = drawn("topics").statements
    assert said.text == (
        f"orders has 2 writers: orders-service-a (80%), {HOSTILE} (20%) of 9.8 KiB; read by payments (0%)"
    )
    assert {
        one.severity for name in ("throttling", "logins") for one in drawn(name).statements
    } == {"warning", "error"}


def test_what_rose_is_in_front_of_what_is_frequent() -> None:
    shown = drawn("latency_clients")
    (table,), (plot,) = shown.tables, shown.plots
    first = table.rows[0]
    assert (first["client_id"], first["broker"], first["api"]) == ("payments", "2", "Produce")
    assert [row["rose"] for row in table.rows[1:]] == [None] * 15
    assert plot.traces[0]["name"] == "payments → broker 2, Produce"
    assert any(remark.startswith("Of 16 lines 10 are drawn at once") for remark in shown.remarks)


@pytest.mark.parametrize(
    ("section", "rose"),
    [("latency", "Produce"), ("latency_clients", "payments → broker 2, Produce")],
)
def test_what_rose_is_drawn_above_all_else(section: str, rose: str) -> None:
    (plot,) = drawn(section).plots
    drawn_so = {(one["name"] == rose, one["zorder"], one["line"]["width"]) for one in plot.traces}
    assert drawn_so == {(True, 1, 3), (False, 0, 1)}


def test_series_that_the_query_leaves_out_are_counted() -> None:
    found = [{**row, "series": 70} for row in results()["latency_clients"].rows]
    remarks = drawn("latency_clients", latency_clients=Result(found, len(found))).remarks
    assert any(remark.startswith("54 of 70 series") for remark in remarks)


def test_versions_that_are_gone_are_bad_and_first_in_the_table() -> None:
    shown = drawn("versions")
    assert [sentence.text for sentence in shown.statements] == [
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
    rows = [{**first, "bucket": at(n), "p99_ms": p99} for n, p99 in ((1, 0.0), (2, 3.0), (4, 4.0))]
    (plot,) = drawn("latency", latency=Result(rows, 3)).plots
    assert plot.traces[0]["y"] == [0.01, 3.0, None, 4.0]
    assert plot.traces[0]["customdata"][0] == "0.00 ms, of 40"


def test_partitions_have_the_measures_with_data_only() -> None:
    rows = [
        {**row, "fetched_bytes": 0, "fetched_records": None}
        for row in results()["hot_partitions"].rows
    ]
    content = drawn("hot_partitions", hot_partitions=Result(rows, len(rows)))
    (plot,), (table,) = content.plots, content.tables
    assert plot.choices == ("bytes produced", "records produced")
    assert not any(column.startswith("fetched") for column in table.columns)


def test_a_reader_whose_responses_were_not_captured_has_no_share() -> None:
    (first, *_) = results()["topics"].rows
    writers = [{**first, "client_id": name} for name in "ab"]
    reader = {**first, "access": "read", "client_id": "c", "bytes": None, "share": None}
    (statement,) = drawn("topics", topics=Result([*writers, reader], 3)).statements
    assert statement.text.endswith("; read by c")


@pytest.mark.parametrize(
    ("standstill_ms", "severities"), [(3_000.0, []), (LONG_MS - 1, []), (LONG_MS, ["error"])]
)
def test_the_first_join_of_a_group_stands_out_only_if_it_is_long(
    standstill_ms: float, severities: list[str]
) -> None:
    found = [
        {**row, "group_standstill_ms": standstill_ms}
        for row in results()["rebalances"].rows
        if row["generation"] == 1
    ]
    statements = drawn("rebalances", rebalances=Result(found, len(found))).statements
    assert [statement.severity for statement in statements] == severities


@pytest.mark.parametrize(
    ("api", "names", "severity", "beginning"),
    [
        ("JoinGroup", GUIDING, "fine", "a: 9 MEMBER_ID_REQUIRED, 9 REBALANCE_IN_PROGRESS in responses"),
        ("JoinGroup", (*GUIDING, "NOT_COORDINATOR"), "warning", "b: 1 NOT_COORDINATOR in responses"),
        ("ApiVersions", ["UNSUPPORTED_VERSION"], "fine", "b: 1 UNSUPPORTED_VERSION in responses"),
        ("Produce", ["UNSUPPORTED_VERSION"], "warning", "b: 1 UNSUPPORTED_VERSION in responses"),
    ],
)  # fmt: skip
def test_usual_errors_do_not_stand_out(
    api: str, names: Sequence[str], severity: str, beginning: str
) -> None:
    (row, *_) = results()["errors"].rows
    rows = [
        {**row, "api": api, "error": name, "client_id": "a" if name in GUIDING else "b"}
        | {"count": 9 if name in GUIDING else 1}
        for name in names
    ]
    (statement,) = drawn("errors", errors=Result(rows, len(rows))).statements
    assert (statement.severity, statement.text[: len(beginning)]) == (severity, beginning)
