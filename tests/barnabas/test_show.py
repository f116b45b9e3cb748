"""The log line and the closing tables, on terminals and without."""

from __future__ import annotations

import io
from datetime import UTC
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.cells import cell_len
from rich.console import Console

from barnabas import show
from captures.exchange import Exchange
from captures.tally import Row
from specs.contents import api


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


def printed(exchange: Exchange, **settings: Any) -> str:
    out = io.StringIO()
    show.show(Console(file=out, **settings), exchange)
    return out.getvalue()


def test_a_line_says_it_all_in_order() -> None:
    assert show.line(heartbeat(), zone=UTC).plain == (
        "02:40:00.123 app              b2  Heartbeat v3         "
        "billing generation 3 member 6d1f0c38 REBALANCE_IN_PROGRESS 3.14 ms ⟵ slow fetches"
    )


def test_what_is_not_known_takes_no_room() -> None:
    bare = heartbeat(
        client_id=None,
        broker=None,
        latency_ms=None,
        rules=(),
        request_body=None,
        response_body=None,
        note="connection closed",
    )
    assert show.line(bare, zone=UTC).plain == (
        "02:40:00.123 127.0.0.1:5000   -   Heartbeat v3         connection closed"
    )


@pytest.mark.parametrize("width", [20, 80, 100, 133, 200])
@pytest.mark.parametrize("client_id", ["app", "a-very-long-client-id" * 5, "客户端" * 9])
def test_a_line_never_wraps(width: int, client_id: str) -> None:
    exchange = heartbeat(client_id=client_id, rules=("one", "another rule"))
    assert cell_len(show.line(exchange, width).plain) <= width
    shown = printed(exchange, force_terminal=True, width=width, color_system=None)
    assert shown.count("\n") == 1


def test_details_give_way_before_the_error_and_the_latency() -> None:
    plain = show.line(heartbeat(rules=()), 110, zone=UTC).plain
    assert "…" in plain
    assert plain.endswith(" REBALANCE_IN_PROGRESS 3.14 ms")
    assert cell_len(plain) == 110


def test_only_a_terminal_cuts_the_client_id() -> None:
    exchange = heartbeat(client_id="consumer-billing-2")
    assert "consumer-billin… b2" in show.line(exchange, 200).plain
    assert "consumer-billing-2 b2" in show.line(exchange).plain


def test_the_version_of_an_api_with_a_long_name_is_seen() -> None:
    assert "IncrementalAlterConfigs v1 " in show.line(heartbeat(key=44, version=1), 80).plain


def test_a_pipe_gets_the_whole_line_without_colours() -> None:
    shown = printed(heartbeat(rules=("r" * 150,)), width=80)
    assert "\x1b" not in shown
    assert shown.endswith("r" * 150 + "\n")


def test_a_terminal_gets_colours_unless_it_asks_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[35m" in printed(heartbeat(), force_terminal=True, width=200)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[35m" not in printed(heartbeat(), force_terminal=True, width=200)


@pytest.mark.parametrize(
    ("key", "latency", "kind"), [(12, 99.0, "latency"), (12, 100.0, "slow"), (1, 500.0, "latency")]
)
def test_slow_is_marked(key: int, latency: float, kind: str) -> None:
    exchange = heartbeat(key=key, latency_ms=latency, request_body=None, response_body=None)
    assert kind in {segment.kind for segment in show.segments(exchange)}


def test_strangers_do_not_move_the_cursor() -> None:
    plain = show.line(heartbeat(client_id="\x1b[2J", note="\r\n", rules=("a\u202eb",))).plain
    assert plain.isprintable()


def test_every_kind_of_segment_has_a_style() -> None:
    assert {segment.kind for segment in show.segments(heartbeat(note="x"))} <= set(show.STYLES)


def text_of(table: Any) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=100).print(table)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_the_table_of_apis() -> None:
    rows = [Row("Fetch", 1200, 3, 0.512, 98.76, 501.2), Row("Produce", 7, None, None, None, None)]
    assert text_of(show.tally_table(rows)) == [
        "API      count  errors  p50 ms  p99 ms  max ms",
        "Fetch     1200       3    0.51    98.8     501",
        "Produce      7       -       -       -       -",
    ]


def test_the_table_of_rules_shows_names_as_they_are() -> None:
    rule = SimpleNamespace(
        name="[bold]slow[/bold]",
        matched=10,
        fired=2,
        what="hold, 8 released, 1 timed out",
    )
    assert text_of(show.rules_table([cast(Any, rule)])) == [
        "rule               matched  fired  what",
        "[bold]slow[/bold]       10      2  hold, 8 released, 1 timed out",
    ]
