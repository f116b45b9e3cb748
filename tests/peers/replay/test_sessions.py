from __future__ import annotations

from typing import Any

from peers.replay.sessions import FetchSessions


def asked(
    epoch: int, topics: dict[str, dict[int, int]], gone: dict[str, list[int]] | None = None
) -> dict[str, Any]:
    return {
        "session_id": 7 if epoch > 0 else 0,
        "session_epoch": epoch,
        "topics": [
            {
                "topic": name,
                "partitions": [
                    {"partition": number, "fetch_offset": offset} for number, offset in at.items()
                ],
            }
            for name, at in topics.items()
        ],
        "forgotten_topics_data": [
            {"topic": name, "partitions": several} for name, several in (gone or {}).items()
        ],
    }


def offsets(request: dict[str, Any]) -> dict[str, dict[int, int]]:
    assert request["session_id"] == 0
    assert request["session_epoch"] == -1
    assert not request["forgotten_topics_data"]
    return {
        topic["topic"]: {one["partition"]: one["fetch_offset"] for one in topic["partitions"]}
        for topic in request["topics"]
    }


def test_each_fetch_asks_for_all_of_its_session() -> None:
    sessions = FetchSessions()
    assert offsets(sessions.whole(1, asked(0, {"a": {0: 0, 1: 0}}))) == {"a": {0: 0, 1: 0}}
    assert offsets(sessions.whole(1, asked(1, {"a": {1: 5}}))) == {"a": {0: 0, 1: 5}}
    found = sessions.whole(1, asked(2, {"b": {0: 3}}, {"a": [0]}))
    assert offsets(found) == {"a": {1: 5}, "b": {0: 3}}
    assert offsets(sessions.whole(1, asked(3, {}))) == {"a": {1: 5}, "b": {0: 3}}


def test_a_new_session_forgets_the_one_before() -> None:
    sessions = FetchSessions()
    sessions.whole(1, asked(0, {"a": {0: 0}}))
    assert offsets(sessions.whole(1, asked(0, {"b": {0: 1}}))) == {"b": {0: 1}}


def test_connections_have_their_own() -> None:
    sessions = FetchSessions()
    sessions.whole(1, asked(0, {"a": {0: 0}}))
    assert offsets(sessions.whole(2, asked(1, {"b": {0: 1}}))) == {"b": {0: 1}}
    sessions.forget(1)
    assert offsets(sessions.whole(1, asked(1, {}))) == {}


def test_what_has_no_session_stays_as_it_is() -> None:
    sessions = FetchSessions()
    older: dict[str, Any] = {"topics": []}
    for request in (asked(-1, {"a": {0: 0}}), older):
        assert sessions.whole(1, request) is request
