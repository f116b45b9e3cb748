from __future__ import annotations

from typing import Any

from barnabas.peers.replay.sessions import FetchSessions


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


def answer(session_id: int, error: int = 0) -> dict[str, Any]:
    return {"session_id": session_id, "error_code": error}


def said(request: dict[str, Any]) -> tuple[Any, ...]:
    topics, forgotten = request["topics"], request["forgotten_topics_data"]
    return (
        (request["session_id"], request["session_epoch"]),
        {
            (topic["topic"], one["partition"]): one["fetch_offset"]
            for topic in topics
            for one in topic["partitions"]
        },
        {(topic["topic"], number) for topic in forgotten for number in topic["partitions"]},
    )


HERE = 1, 5
"""A recorded connection and a live broker."""


def test_a_live_session_is_told_what_changed() -> None:
    sessions = FetchSessions()
    first = sessions.ask(HERE, asked(0, {"a": {0: 0, 1: 0}, "b": {0: 0}}))
    assert said(first) == ((0, 0), {("a", 0): 0, ("a", 1): 0, ("b", 0): 0}, set())
    sessions.answered(HERE, answer(99))
    then = sessions.ask(HERE, asked(1, {"a": {1: 5, 2: 0}, "b": {0: 0}}))
    assert said(then) == ((99, 1), {("a", 1): 5, ("a", 2): 0}, {("a", 0)})
    sessions.answered(HERE, answer(99))
    then = sessions.ask(HERE, asked(2, {"a": {1: 5, 2: 0}, "b": {0: 0}}))
    assert said(then) == ((99, 2), {}, set())


def test_all_is_asked_again_of_a_broker_without_the_session() -> None:
    everything = {"a": {0: 0, 1: 0}}
    for answers in ([answer(0)], [answer(99), answer(0, 70)], [answer(99), answer(0, 71)], []):
        sessions = FetchSessions()
        for epoch, one in enumerate(answers):
            sessions.ask(HERE, asked(epoch, everything))
            sessions.answered(HERE, one)
        if not answers:  # nobody knows what became of it
            sessions.ask(HERE, asked(0, everything))
        found = sessions.ask(HERE, asked(1, everything))
        assert said(found) == ((0, 0), {("a", 0): 0, ("a", 1): 0}, set()), answers


def test_who_ends_a_session_ends_the_live_one() -> None:
    for epoch in (0, -1):
        sessions = FetchSessions()
        sessions.ask(HERE, asked(0, {"a": {0: 0}}))
        sessions.answered(HERE, answer(99))
        found = sessions.ask(HERE, asked(epoch, {"a": {0: 0}}))
        assert said(found) == ((99, epoch), {("a", 0): 0}, set())
        sessions.answered(HERE, answer(0))
        assert said(sessions.ask(HERE, asked(3, {})))[0] == (0, 0)


def test_brokers_have_sessions_of_their_own() -> None:
    sessions = FetchSessions()
    other = 1, 6
    for number, place in enumerate((HERE, other)):
        sessions.ask(place, asked(0, {"a": {number: 0}}))
        sessions.answered(place, answer(100 + number))
    assert said(sessions.ask(HERE, asked(1, {"a": {0: 0}})))[0] == (100, 1)
    sessions.forget(1)
    assert said(sessions.ask(other, asked(1, {"a": {1: 0}})))[0] == (0, 0)


def test_the_epoch_wraps() -> None:
    sessions = FetchSessions()
    sessions.ask(HERE, asked(0, {}))
    sessions.answered(HERE, answer(99))
    sessions._live[HERE] = sessions._live[HERE]._replace(epoch=(1 << 31) - 1)
    assert sessions.ask(HERE, asked(1, {}))["session_epoch"] == (1 << 31) - 1
    sessions.answered(HERE, answer(99))
    assert sessions.ask(HERE, asked(1, {}))["session_epoch"] == 1


def test_a_version_without_sessions() -> None:
    sessions = FetchSessions()
    older: dict[str, Any] = {"topics": []}
    assert sessions.ask(HERE, older) is older
    sessions.answered(HERE, {"responses": []})
