"""The log line, on terminals and without."""

from __future__ import annotations

import io
import json
from datetime import UTC
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Span, Text

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.cli.console import layout, painting, show
from barnabas.cli.console.terminal import Terminal
from barnabas.proxy.control import views
from barnabas.specs.registry import api


def heartbeat(**changes: Any) -> Exchange:
    declared = api("Heartbeat")
    member = "app-6d1f0c38-3a8e-4a8c-9d3e-2f6f5a3c1b7e"
    request = {"group_id": "billing", "generation_id": 3, "member_id": member}
    values: dict[str, Any] = {
        "ts": 1_500_000_000_123_999_999,
        "connection": 1,
        "client_address": "127.0.0.1:5000",
        "client_id": "app",
        "broker": 2,
        "key": 12,
        "version": 3,
        "correlation_id": 9,
        "request_size": 60,
        "latency_ms": 3.14159,
        "rules": ("slow fetches",),
        "request_body": declared.request.codec(3).encode(request),
        "response_body": declared.response.codec(3).encode({"error_code": 27}),
    }
    return Exchange(**values | changes)


def line(
    exchange: Exchange, width: int | None = None, columns: layout.Columns | None = None
) -> str:
    return layout.plain(show.line(show.log_line_of(exchange), width, columns, zone=UTC))


UNKNOWN: dict[str, Any] = {
    **dict.fromkeys(("client_id", "broker", "latency_ms", "request_body", "response_body")),
    "rules": (),
    "note": "connection closed",
}
LONG_ID = f"consumer-billing-{'b' * 30}-2"


@pytest.mark.parametrize(
    ("exchange", "width", "shown"),
    [
        (
            heartbeat(),
            None,
            "02:40:00.127 app              b2  Heartbeat v3         billing generation 3 member 6d1f0c38 "
            "REBALANCE_IN_PROGRESS 3.14 ms ⟵ slow fetches",
        ),
        (
            heartbeat(**UNKNOWN),
            None,
            "02:40:00.123 127.0.0.1:5000   -   Heartbeat v3         connection closed",
        ),
        (heartbeat(client_id=LONG_ID), 200, " consumer-billing-b…bbbbbbb-2 1→b2 "),
        (heartbeat(client_id=LONG_ID), None, f" {LONG_ID} b2"),
        (heartbeat(key=44, version=1), 80, " IncrementalA…gs v1 "),
        (heartbeat(key=44, version=1), 140, " IncrementalAlterConfigs v1 "),
    ],
    ids=["all", "little", "id cut", "id whole", "API cut", "API whole"],
)
def test_lines(exchange: Exchange, width: int | None, shown: str) -> None:
    """What is not known takes no room; only a terminal cuts."""
    found = line(exchange, width)
    assert shown in found
    assert found == shown or not shown[0].isdigit()


def commit(group: str, **changes: Any) -> Exchange:
    """A commit of two offsets of orders."""
    partitions = [
        {"partition_index": index, "committed_offset": 50 + index, "committed_metadata": ""}
        for index in range(2)
    ]
    request = {
        "group_id": group,
        "generation_id_or_member_epoch": 3,
        "member_id": "m",
        "topics": [{"name": "orders", "partitions": partitions}],
    }
    refused = {"partition_index": 0, "error_code": 22}
    response = {"topics": [{"name": "orders", "partitions": [refused]}]}
    declared = api("OffsetCommit")
    bodies = {
        "request_body": declared.request.codec(8).encode(request),
        "response_body": declared.response.codec(8).encode(response),
    }
    return heartbeat(**{"key": 8, "version": 8, **bodies, **changes})


@pytest.mark.parametrize("width", [120, 140, 200, None])
@pytest.mark.parametrize("length", [20, 60, 249, 5000])
def test_a_long_group_id_leaves_what_matters(width: int | None, length: int) -> None:
    group = f"team-a.{'g' * length}.eu-1"
    shown = line(commit(group, client_id="consumer-billing-1"), width)
    latency = " 3.14 ms" if width is None else ""
    for what in (" team-", "-1 orders[0=50,1=", f"ILLEGAL_GENERATION{latency} ⟵ slow fe"):
        assert what in shown


@pytest.mark.parametrize("width", [80, 120, 200])
def test_lines_stand_below_each_other(width: int) -> None:
    columns = layout.Columns()
    several = [
        heartbeat(client_id=client, key=key, version=version, broker=broker)
        for key, version in ((71, 0), (12, 3), (44, 1), (1, 17))
        for broker in (None, 1, 1001)
        for client in (f"consumer-{'readers' * 9}-1", f"consumer-{'readers' * 9}-2", "app")
    ]
    begins = []
    for exchange in several:
        exchange.request_body = exchange.response_body = None
        exchange.note = "@"
        begins.append(line(exchange, width, columns).index("@"))
    assert set(begins[-9:]) == {max(begins)}
    assert columns.put("client", several[0].client_id or "", width)[-2:] == "-1"
    assert columns.put("client", several[1].client_id or "", width)[-2:] == "-2"


ERRORS = (
    None,
    7,
    27,
    53,
)  # no error, REQUEST_TIMED_OUT, one of a normal rebalance, the longest name
NAMED = {
    7: "REQUEST_TIMED_OUT",
    27: "REBALANCE_IN_PROGRESS",
    53: "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
}


@pytest.mark.parametrize("width", [80, 120, 200])
def test_an_outcome_is_whole_in_a_line_that_fits(width: int) -> None:
    columns = layout.Columns()
    declared = api("Heartbeat").response.codec(3)
    for code in ERRORS * 2:
        body = declared.encode({"error_code": code or 0})
        found = line(heartbeat(response_body=body, rules=("slow",)), width, columns)
        assert cell_len(found) <= width
        assert NAMED.get(code or 0, "") in found
        assert " 3.14 ms " in found


@pytest.mark.parametrize("width", [120, 200])
def test_latencies_and_outcomes_are_aligned(width: int) -> None:
    columns = layout.Columns()
    several = [
        heartbeat(latency_ms=latency, rules=(rule,), response_body=None)
        for latency in (0.5, 33.3, 1500.0)
        for rule in ("slow fetches", "slow")
    ]
    several.insert(
        3, heartbeat(latency_ms=None, rules=(), response_body=None, note="no response: gone")
    )
    shown = [line(each, width, columns) for each in several]
    assert len({found.index(" ms ") for found in shown if " ms " in found}) == 1
    outcomes = [max(found.find("⟵"), found.find("no response")) for found in shown]
    assert len(set(outcomes)) == 1


def test_a_narrow_terminal_abbreviates() -> None:
    exchange = heartbeat(
        latency_ms=None, rules=(), response_body=None, note="no response: the client closed"
    )
    log_line = show.log_line_of(exchange, retry=2)
    narrow, wide = (layout.plain(show.line(log_line, width)) for width in (80, 140))
    assert narrow.endswith(" the client closed ↻2")
    assert wide.endswith(" no response: the client closed retry 2")
    assert " 1→b2 " in wide


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, "normal"),  # REBALANCE_IN_PROGRESS
        ({"response_body": api("Heartbeat").response.codec(3).encode({"error_code": 25})}, "error"),
        (
            {"latency_ms": None, "note": "no response: connection closed", "response_body": None},
            "unanswered",
        ),
        ({"latency_ms": None, "note": "no response (acks=0)", "response_body": None}, "note"),
    ],
    ids=["part of a rebalance", "error", "no response", "acks=0"],
)
def test_the_kind_of_an_outcome_is_its_meaning(changes: dict[str, Any], kind: str) -> None:
    kinds = {kind for kind, _ in show.segments(show.log_line_of(heartbeat(**changes)))}
    assert kinds & {"normal", "error", "unanswered", "note"} == {kind}


def test_the_clock_of_a_log_does_not_go_back() -> None:
    """Lines come when exchanges are over: a Fetch that has waited comes behind what began later."""
    second = 1_000_000_000
    produced = heartbeat(ts=10 * second, latency_ms=2.0)
    fetched = heartbeat(ts=9 * second, latency_ms=1500.0)
    cut = heartbeat(ts=8 * second, latency_ms=None, ended=11 * second)
    assert [line(each)[:12] for each in (produced, fetched, cut)] == [
        "00:00:10.002",
        "00:00:10.500",
        "00:00:11.000",
    ]


def test_a_row_of_the_control_port_gives_the_line_of_the_log() -> None:
    context = Context()
    for exchange in (
        heartbeat(),
        commit("billing"),
        heartbeat(broker=None, client_id=None, latency_ms=None, note="connection closed"),
    ):
        exchange.ended = exchange.end
        row = json.loads(json.dumps(views.exchange(exchange, context)))
        for width in (80, 200, None):
            of_row = layout.plain(show.line(show.log_line_of_row(row), width, zone=UTC))
            assert of_row == line(exchange, width)


@pytest.mark.parametrize(
    ("key", "latency", "kind"), [(12, 99.0, "latency"), (12, 100.0, "slow"), (1, 500.0, "latency")]
)
def test_slow_is_marked(key: int, latency: float, kind: str) -> None:
    exchange = heartbeat(key=key, latency_ms=latency, request_body=None, response_body=None)
    assert kind in {kind for kind, _ in show.segments(show.log_line_of(exchange))}


TEXTS = st.text(
    st.sampled_from("ab =,[]…⟵漢字é\u0301\u200d\U0001f469\U0001f3fd\x1b\n\u2028{}%\x7f\ud800")
    | st.characters(),
    max_size=40,
)

SHOWN = st.builds(
    show.LogLine,
    end=st.integers(0, 4 * 10**18),
    client=TEXTS,
    broker=st.none() | st.integers(0, 2**31 - 1),
    key=st.sampled_from([0, 1, 12]),
    version=st.integers(0, 17),
    api=st.sampled_from(["Fetch", "IncrementalAlterConfigs", "key 999"]),
    details=TEXTS,
    note=TEXTS,
    error=st.sampled_from(["", "ILLEGAL_GENERATION"]),
    latency_ms=st.none() | st.floats(0, 1e7),
    rules=st.lists(TEXTS, max_size=2).map(tuple),
    connection=st.integers(0, 2000),
    retry=st.integers(0, 20),
)


def by_rich(console: Console, found: show.LogLine, width: int | None) -> None:
    """The line as rich writes it, from its parts before they are cut."""
    parts = show.segments(found, zone=UTC)
    if width is None:
        pad = show.PADDED
        parts = [(kind, text + " " * (pad.get(kind, 0) - cell_len(text))) for kind, text in parts]
    else:
        parts = layout.arranged(show.worded(parts, found, width), width, layout.Columns())
    spans, at = [], 0
    for kind, text in parts:
        spans.append(Span(at, at + len(text), painting.STYLES[kind]))
        at += len(text) + 1
    made = Text(" ".join(text for _, text in parts), spans=spans)
    if width is not None:
        made.truncate(width, overflow="ellipsis")
    console.print(made, soft_wrap=True)


@pytest.mark.parametrize(
    "environment",
    [
        {"TERM": "xterm"},
        {"TERM": "xterm-256color"},
        {"TERM": "xterm-256color", "COLORTERM": "truecolor"},
        {"TERM": "xterm-256color", "NO_COLOR": "1"},
        {"TERM": "dumb"},
        {"TERM": "dumb", "FORCE_COLOR": "1"},
        {"TERM": "xterm", "FORCE_COLOR": "1", "NO_COLOR": "1"},
        {"FORCE_COLOR": "1"},
        {},
    ],
    ids=lambda given: " ".join(f"{name}={value}" for name, value in given.items()),
)
@pytest.mark.parametrize("terminal", [True, None], ids=["terminal", "pipe"])
@given(found=SHOWN, width=st.integers(1, 200))
@example(found=show.LogLine(0, "漢" * 9, 1, 1, 3, "Fetch", "x", "", "", 3.0, ()), width=12)
@example(found=show.LogLine(0, " ", None, 1, 3, "Fetch", " " * 40, "", "", None, ()), width=40)
def test_a_line_is_written_as_rich_would(
    environment: dict[str, str], terminal: bool | None, found: show.LogLine, width: int
) -> None:
    said = []
    for way in (by_rich, None):
        file = io.StringIO()
        console = Terminal(file=file, force_terminal=terminal, _environ=environment)
        if terminal:
            console.width = width
        cells = show.width_of(console)
        if way is None:
            painting.write(console, show.line(found, cells, zone=UTC))
        else:
            way(console, found, cells)
        said.append(file.getvalue())
    assert said[0] == said[1]
