from __future__ import annotations

from typing import Any

import pytest

from barnabas.peers.replay.sessions import FetchSessions

Topics = dict[str, dict[int, int]]
"""Offsets by topic and partition."""

HERE = (1, 5)
"""A recorded connection and a live broker."""


def asked(epoch: int, topics: Topics, gone: dict[str, list[int]] | None = None) -> dict[str, Any]:
    named = {
        name: [{"partition": number, "fetch_offset": offset} for number, offset in at.items()]
        for name, at in topics.items()
    }
    forgotten = [{"topic": name, "partitions": several} for name, several in (gone or {}).items()]
    return {
        "session_id": 7 if epoch > 0 else 0,
        "session_epoch": epoch,
        "topics": [{"topic": name, "partitions": several} for name, several in named.items()],
        "forgotten_topics_data": forgotten,
    }


def said(request: dict[str, Any]) -> tuple[tuple[int, int], Topics, dict[str, list[int]]]:
    """Session and epoch, offsets, and what is forgotten."""
    offsets = {
        topic["topic"]: {one["partition"]: one["fetch_offset"] for one in topic["partitions"]}
        for topic in request["topics"]
    }
    forgotten = {one["topic"]: one["partitions"] for one in request["forgotten_topics_data"]}
    return (request["session_id"], request["session_epoch"]), offsets, forgotten


def whole(sessions: FetchSessions, connection: int, request: dict[str, Any]) -> Topics:
    _, offsets, forgotten = said(sessions.whole(connection, request))
    assert not forgotten
    return offsets


def begun(topics: Topics) -> FetchSessions:
    """Session 99 of a broker that holds these partitions."""
    sessions = FetchSessions()
    sessions.ask(HERE, asked(0, topics))
    sessions.learn_response(HERE, answer(99))
    return sessions


def answer(session_id: int) -> dict[str, Any]:
    return {"session_id": session_id, "error_code": 0}


def test_each_fetch_asks_for_all_of_its_session() -> None:
    sessions = FetchSessions()
    assert whole(sessions, 1, asked(0, {"a": {0: 0, 1: 0}})) == {"a": {0: 0, 1: 0}}
    assert whole(sessions, 1, asked(1, {"a": {1: 5}})) == {"a": {0: 0, 1: 5}}
    assert whole(sessions, 1, asked(2, {"b": {0: 3}}, {"a": [0]})) == {"a": {1: 5}, "b": {0: 3}}
    assert whole(sessions, 1, asked(3, {})) == {"a": {1: 5}, "b": {0: 3}}
    # connections have their own
    assert whole(sessions, 2, asked(1, {"b": {0: 1}})) == {"b": {0: 1}}
    # a new session forgets the one before
    assert whole(sessions, 1, asked(0, {"b": {0: 1}})) == {"b": {0: 1}}
    sessions.forget(1)
    assert whole(sessions, 1, asked(1, {})) == {}


def test_a_live_session_is_told_what_changed() -> None:
    sessions = FetchSessions()
    topics = {"a": {0: 0, 1: 0}, "b": {0: 0}}
    assert said(sessions.ask(HERE, asked(0, topics))) == ((0, 0), topics, {})
    sessions.learn_response(HERE, answer(99))
    then = sessions.ask(HERE, asked(1, {"a": {1: 5, 2: 0}, "b": {0: 0}}))
    assert said(then) == ((99, 1), {"a": {1: 5, 2: 0}}, {"a": [0]})
    sessions.learn_response(HERE, answer(99))
    then = sessions.ask(HERE, asked(2, {"a": {1: 5, 2: 0}, "b": {0: 0}}))
    assert said(then) == ((99, 2), {}, {})


@pytest.mark.parametrize("epoch", [0, -1])
def test_who_ends_a_session_ends_the_live_one(epoch: int) -> None:
    sessions = begun({"a": {0: 0}})
    found = sessions.ask(HERE, asked(epoch, {"a": {0: 0}}))
    assert said(found) == ((99, epoch), {"a": {0: 0}}, {})
    sessions.learn_response(HERE, answer(0))
    assert said(sessions.ask(HERE, asked(3, {})))[0] == (0, 0)


def test_the_epoch_wraps() -> None:
    sessions = begun({})
    sessions._live[HERE] = sessions._live[HERE]._replace(epoch=(1 << 31) - 1)
    assert sessions.ask(HERE, asked(1, {}))["session_epoch"] == (1 << 31) - 1
    sessions.learn_response(HERE, answer(99))
    assert sessions.ask(HERE, asked(1, {}))["session_epoch"] == 1


def test_what_has_no_session_stays_as_it_is() -> None:
    sessions = FetchSessions()
    older: dict[str, Any] = {"topics": []}
    for request in (asked(-1, {"a": {0: 0}}), older):
        assert sessions.whole(1, request) is request
    assert sessions.ask(HERE, older) is older
    sessions.learn_response(HERE, {"responses": []})
