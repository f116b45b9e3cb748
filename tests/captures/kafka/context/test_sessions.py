"""Test the partitions of fetch sessions and share sessions with incremental requests."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.context.sessions import Sessions
from barnabas.captures.kafka.exchange import Exchange
from tests.captures.kafka.context.exchanges import CLICKS, ORDERS, exchange, line, metadata

Partitions = dict[Any, list[int]]


def topics(of: Partitions, version: int) -> list[dict[str, Any]]:
    """Return the topics of a request: by name up to v12, by id from v13."""
    name = "topic" if version < 13 else "topic_id"
    return [
        {name: topic, "partitions": [{"partition": number} for number in numbers]}
        for topic, numbers in of.items()
    ]


def fetch(
    session: int,
    epoch: int,
    of: Partitions | None = None,
    gone: Partitions | None = None,
    *,
    version: int = 11,
    answer: int | None = None,
    error: int = 0,
    broker: int | None = 1,
) -> Exchange:
    name = "topic" if version < 13 else "topic_id"
    request = {
        "session_id": session,
        "session_epoch": epoch,
        "topics": topics(of or {}, version),
        "forgotten_topics_data": [{name: t, "partitions": n} for t, n in (gone or {}).items()],
    }
    response = {"session_id": session if answer is None else answer, "error_code": error}
    return exchange("Fetch", version, request, response, broker=broker)


@pytest.mark.parametrize("version", [7, 11, 12, 13, 18])
def test_an_incremental_fetch_is_about_all_partitions_of_its_session(version: int) -> None:
    orders, clicks = ("orders", "clicks") if version < 13 else (ORDERS, CLICKS)
    context = Context()
    context.learn(metadata(orders=ORDERS, clicks=CLICKS))
    lines = [
        line(context, found)
        for found in (
            fetch(0, 0, {orders: [0, 1, 2]}, version=version, answer=123),
            fetch(123, 1, version=version),
            fetch(123, 2, {clicks: [5]}, version=version),
            fetch(123, 3, {orders: [7]}, {orders: [0], clicks: [5]}, version=version),
        )
    ]
    assert lines == [
        "orders[0=0,1=0,2=0] empty, session 123: 3 partitions orders[0-2]",
        "empty, session 123: 3 partitions orders[0-2]",
        "clicks[5=0] empty, session 123: 4 partitions orders[0-2] clicks[5]",
        "orders[7=0] empty, session 123: 3 partitions orders[1,2,7]",
    ]


def test_a_session_that_began_before_says_so() -> None:
    context = Context()
    assert line(context, fetch(123, 8)) == "empty, session 123 that began earlier"
    output = line(context, fetch(123, 9, {"orders": [4]}))
    assert output == (
        "orders[4=0] empty, session 123: 1 partition orders[4] (partial: the session began earlier)"
    )
    output = line(context, fetch(123, 10, gone={"orders": [4, 5]}))
    assert output == "empty, session 123 that began earlier"
    # the client begins anew, and from then on all is known
    assert line(context, fetch(123, 0, {"orders": [1]}, answer=124)) == (
        "orders[1=0] empty, session 124: 1 partition orders[1]"
    )
    assert context.sessions.of(fetch(123, 9)) is None


@pytest.mark.parametrize(
    "end",
    [
        fetch(123, -1, {"orders": [0]}, answer=0),  # the client ends it
        fetch(123, 1, error=70, answer=0),  # FETCH_SESSION_ID_NOT_FOUND
        fetch(123, 0, {"orders": [0]}, answer=0),  # the broker makes no new one
    ],
)
def test_a_session_that_is_over_is_forgotten(end: Exchange) -> None:
    context = Context()
    context.learn(fetch(0, 0, {"orders": [0, 1]}, answer=123))
    context.learn(end)
    assert len(context.sessions) == 0
    assert context.sessions.forgotten == 0
    output = line(context, fetch(123, 2))
    assert output == "empty, session 123 that began earlier"


@pytest.mark.parametrize(
    "nothing",
    [
        fetch(123, 1, {"clicks": [9]}, error=71),  # INVALID_FETCH_SESSION_EPOCH
        exchange("Fetch", 11, {"session_id": 123, "session_epoch": 1, "topics": []}),
        exchange("Fetch", 11, None, {"session_id": 123}),
        exchange("Fetch", 4, {"topics": topics({"clicks": [9]}, 4)}, {}),
        fetch(123, 1, {"clicks": [9]}, broker=2),  # another broker's
    ],
)
def test_what_does_not_change_a_session(nothing: Exchange) -> None:
    context = Context()
    context.learn(fetch(0, 0, {"orders": [0, 1]}, answer=123))
    context.learn(nothing)
    result = context.sessions.of(fetch(123, 1))
    assert result is not None
    assert (result.partitions, result.complete) == ({"orders": {0, 1}}, True)


def test_sessions_are_bounded_and_counted() -> None:
    sessions = Sessions(most=3)
    for number in range(1, 6):
        sessions.learn(fetch(0, 0, {"orders": [number]}, answer=number))
    assert sessions.forgotten == 2
    assert sessions.of(fetch(2, 1)) is None
    assert sessions.of(fetch(5, 1)) is not None


def test_a_session_that_is_too_large_counts_as_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("barnabas.captures.kafka.context.sessions.PARTITIONS", 3)
    context = Context()
    context.learn(fetch(0, 0, {"orders": [0, 1, 2]}, answer=5))
    assert line(context, fetch(5, 1, {"orders": [3]})) == (
        "orders[3=0] empty, session 5 that began earlier"
    )


def share(epoch: int, of: Partitions | None = None, gone: Partitions | None = None) -> Exchange:
    results = [
        {"topic_id": topic, "partitions": [{"partition_index": number} for number in numbers]}
        for topic, numbers in (of or {}).items()
    ]
    left = [{"topic_id": topic, "partitions": numbers} for topic, numbers in (gone or {}).items()]
    who = {"group_id": "g", "member_id": "m", "share_session_epoch": epoch}
    return exchange("ShareFetch", 1, who | {"topics": results, "forgotten_topics_data": left}, {})


def test_share_sessions_go_by_group_and_member() -> None:
    context = Context()
    context.learn(metadata(orders=ORDERS))
    lines = [
        line(context, found)
        for found in (
            share(4),
            share(0, {ORDERS: [0, 1]}),
            share(1, {ORDERS: [2]}),
            share(2, gone={ORDERS: [0]}),
            share(-1),
        )
    ]
    who = "g member m → empty"
    assert lines == [
        f"{who}, share session that began earlier",
        f"{who}, share session: 2 partitions orders[0,1]",
        f"{who}, share session: 3 partitions orders[0-2]",
        f"{who}, share session: 2 partitions orders[1,2]",
        who,
    ]


def test_an_acknowledgement_may_end_a_share_session() -> None:
    context = Context()
    context.learn(share(0, {ORDERS: [0]}))
    who = {"group_id": "g", "member_id": "m", "share_session_epoch": 1}
    for nothing in (
        exchange("ShareAcknowledge", 1, who, {}),
        exchange("ShareFetch", 1, who),
        exchange("ShareFetch", 1, None, {}),
        exchange("ShareFetch", 1, who | {"topics": [{"topic_id": CLICKS}]}, {"error_code": 29}),
    ):
        context.learn(nothing)
    result = context.sessions.of(share(2))
    assert result is not None
    assert result.partitions == {ORDERS: {0}}
    context.learn(exchange("ShareAcknowledge", 1, who | {"share_session_epoch": -1}, {}))
    assert context.sessions.of(share(2)) is None


def test_an_entry_is_weighed_anew_when_it_is_put_in_again() -> None:
    memory: Memory[str, tuple[str, ...]] = Memory(bytes_=1000)
    memory["a"] = memory["b"] = ()
    for _ in range(10):
        memory["b"] = ("x" * 900,)
    assert (list(memory), memory.forgotten) == (["a", "b"], 0)
    memory["b"] = ("x" * 2000,)  # the last one stays, however large
    assert (list(memory), memory.forgotten) == (["b"], 1)
    del memory["b"]
    memory["c"] = memory["d"] = ("x" * 400,)
    assert list(memory) == ["c", "d"]
