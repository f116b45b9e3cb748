"""What the control port says, in lines for a person."""

from __future__ import annotations

from typing import Any

from barnabas.proxy.control import lines

WAY: dict[str, Any] = {"frames": 3, "queued": 0, "held": 0, "lost": False}
CONNECTION: dict[str, Any] = {
    "connection": 7, "client_id": "a", "client_address": "127.0.0.1:5", "broker": 1, "paused": False,
    "waiting_requests": 0, "request": WAY, "response": WAY,
}  # fmt: skip
WAITING: dict[str, Any] = {
    "id": "7.1", "rule": "look", "client_id": "a", "client_address": "127.0.0.1:5", "broker": 1,
    "direction": "request", "api": "Produce", "version": 9, "correlation_id": 4, "size": 120,
    "waited_ms": 1500.0, "left_ms": 298_500.0,
    "client_timeout": {"field": "timeout_ms", "ms": 30_000, "left_ms": 28_500.0},
}  # fmt: skip
STRANGER: dict[str, Any] = {"client_id": None, "broker": None}


def test_connections() -> None:
    busy = CONNECTION | STRANGER | {
        "paused": True, "waiting_requests": 2,
        "request": WAY | {"queued": 1, "held": 4}, "response": WAY | {"lost": True},
    }  # fmt: skip
    assert list(lines.connections([CONNECTION, busy])) == [
        "   7 a → b1, 3 requests, 3 responses",
        "   7 127.0.0.1:5 → bootstrap, 2 requests in flight, 3 requests, "
        "1 request delayed, 4 held, 3 responses, responses are lost from here on, paused",
    ]
    assert list(lines.connections([])) == ["no connections"]


def test_rules() -> None:
    rule = {"name": "r", "matched": 3, "fired": 2, "what": "delay"}
    assert list(lines.rules({"rules": [rule]})) == ["r: 3 matched, 2 fired, delay"]
    assert list(lines.rules({"rules": []})) == ["no rules"]
    (line, _) = lines.rules({"rules": [], "missing_workers": [1, 3]})
    assert line.startswith("workers 1 and 3 do not answer: ")


def test_status() -> None:
    found = {
        "listen": "127.0.0.1:1", "bootstrap": ["a:1", "b:2"], "draining": True,
        "brokers": [{"kind": "broker", "id": 1, "listen": "127.0.0.1:2", "upstream": "a:1"}],
        "connections": {"open": 1, "accepted": 5},
        "rules": 2,
        "undecided": [{"rule": "r", "messages": 7, "reason": "the body can't be read"}],
        "topic_names": {"wanted": 3, "trouble": "no answer in 10 s"},
        "apis": [{"api": "Fetch", "count": 3, "p50_ms": None}, {"api": "Produce", "count": 1, "p50_ms": 1.5}],
        "errors": [{"api": "Fetch", "error": "NOT_LEADER_OR_FOLLOWER", "count": 2},
                   {"api": "Fetch", "error": "OFFSET_OUT_OF_RANGE", "count": 1}],
        "capture": {"path": "c.pcapng", "packets": 1, "lost_packets": 1},
    }  # fmt: skip
    assert list(lines.status(found)) == [
        "draining: 127.0.0.1:1 for a:1, b:2",
        "broker 1: 127.0.0.1:2 for a:1",
        "connections: 1 open, 5 accepted",
        "rules: 2",
        "rule 'r': 7 messages undecided: the body can't be read",
        "3 topic IDs not yet resolved, needed by rules: no answer in 10 s",
        "Fetch: 3 exchanges, p50 - ms, NOT_LEADER_OR_FOLLOWER 2, OFFSET_OUT_OF_RANGE 1",
        "Produce: 1 exchange, p50 1.50 ms",
        "capture: c.pcapng, 1 packet, 1 lost",
    ]


def test_messages_that_wait() -> None:
    other = WAITING | STRANGER | {"direction": "response", "client_timeout": None}
    found, back = lines.breakpoints([WAITING, other])
    assert found == (
        "   7.1 a → b1 Produce v9 #4, 120 bytes, waits 1.5 s, 298.5 s more at most, "
        "timeout_ms of 30.0 s for 28.5 s more, rule 'look'"
    )
    assert back.startswith("   7.1 127.0.0.1:5 ← bootstrap Produce v9 #4, 120 bytes, waits 1.5 s,")
    late = WAITING | {"client_timeout": {"field": "max_wait_ms", "ms": 500, "left_ms": -1000.0}}
    assert "max_wait_ms of 0.5 s ended 1.0 s ago" in lines.breakpoint(late)
    assert list(lines.breakpoints([])) == ["no message waits at a breakpoint"]


def test_a_list_of_as_many_as_are_listed_may_lack_some() -> None:
    assert len([*lines.breakpoints([WAITING] * 999)]) == 999
    last = [*lines.breakpoints([WAITING] * 1000)][-1]
    assert last == "the 1000 that wait longest; more may wait"


def test_what_was_decided_can_be_kept_as_a_scenario() -> None:
    found = {"id": "7.1", "what": ["drop"], "scenario": "version: 1\nrules: []\n"}
    assert list(lines.decided(found)) == ["# 7.1: drop", "version: 1", "rules: []"]
    assert list(lines.decided(found | {"scenario": None})) == ["# 7.1: drop"]
