from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary import summary as module
from barnabas.captures.summary.summary import OTHERS, Summary
from barnabas.specs import api


def exchange(
    name: str = "Heartbeat", *, client: str | None = "a", connection: int = 1, **more: Any
) -> Exchange:
    given: dict[str, Any] = {
        "version": 0,
        "correlation_id": 0,
        "request_size": 10,
        "response_size": 6,
    }
    given |= {"latency_ms": 1.0, "response_body": b"\0\0", **more}
    return Exchange(5, connection, "127.0.0.1:9", client, 2, api(name).key, **given)


def test_it_counts_what_came_of_exchanges() -> None:
    overview = Summary()
    for found in (
        exchange(),
        exchange(latency_ms=3.0, response_body=b"\0\x1b"),
        exchange(response_body=b""),
        exchange(response_size=None, response_body=None, latency_ms=None),
    ):
        overview.note(found, Context())
    ((name, row),) = overview.rows("api")
    assert name == "Heartbeat"
    document = row.document()
    assert document["p50_ms"] == pytest.approx(1.0, rel=0.01)
    assert document | {"p50_ms": None, "p99_ms": None} == {
        "count": 4,
        "unanswered": 1,
        "undecoded": 1,
        "errors": {"REBALANCE_IN_PROGRESS": 1},
        "p50_ms": None,
        "p99_ms": None,
        "max_ms": 3.0,
        "request_bytes": 40,
        "response_bytes": 18,
        "versions": {"Heartbeat": [0]},
        "software": [],
    }
    first = [overview.rows(by)[0][0] for by in ("client", "connection", "broker")]
    assert first == ["a", "1 127.0.0.1:9", "2"]
    assert overview.rows("topic") == []


def test_the_software_of_a_connection_is_what_it_has_said() -> None:
    overview = Summary(("client",))
    said = {"client_software_name": "franz-go", "client_software_version": "1.2"}
    body = api("ApiVersions").request.codec(3).encode(said)
    overview.note(exchange("ApiVersions", version=3, request_body=body), Context())
    overview.note(exchange(client="b"), Context())
    overview.note(exchange(client="c", connection=2), Context())
    rows = dict(overview.rows("client"))
    assert {name: row.software for name, row in rows.items()} == {
        "a": {"franz-go 1.2"},
        "b": {"franz-go 1.2"},
        "c": set(),
    }


def test_an_exchange_about_several_topics_counts_in_each() -> None:
    overview = Summary(("topic",))
    topics = [{"name": "a"}, {"name": "b"}]
    body = api("Metadata").request.codec(1).encode({"topics": topics})
    overview.note(exchange("Metadata", version=1, request_body=body), Context())
    assert [(name, row.count) for name, row in overview.rows("topic")] == [("a", 1), ("b", 1)]


def test_beyond_so_many_rows_one_stands_for_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2)
    overview = Summary(("client",))
    for client in ("a", "b", "c", "d", "a"):
        overview.note(exchange(client=client), Context())
    assert {name: row.count for name, row in overview.rows("client")} == {"a": 2, "b": 1, OTHERS: 2}
