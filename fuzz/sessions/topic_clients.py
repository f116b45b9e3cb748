"""Sessions of clients of one topic: a client that knows its id, and a consumer in a fetch session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from barnabas.fuzz.sessions.bodies import body, containers, produce
from barnabas.fuzz.sessions.session import TOPIC, Request, Session, Stage, Steps, Stuck
from barnabas.fuzz.sessions.steps import send_request, topic, topic_id
from barnabas.specs import keys

KEYS: Final = frozenset(
    (
        keys.PRODUCE,
        keys.FETCH,
        keys.LIST_OFFSETS,
        keys.METADATA,
        keys.DELETE_RECORDS,
        keys.OFFSET_FOR_LEADER_EPOCH,
        keys.DESCRIBE_PRODUCERS,
    )
)


def _produce(stage: Stage) -> Steps:
    """Request the topic's metadata, and produce a batch."""
    live = yield from topic(stage)
    version = stage.version(keys.PRODUCE, 11)
    yield Request(keys.PRODUCE, version, produce(version, live=live))
    return live


def _body(key: int, version: int) -> Mapping[str, Any] | None:
    return produce(version) if key == keys.PRODUCE else body(key, version)


def _packed(key: int, version: int) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Yield a Produce request for each container."""
    if key == keys.PRODUCE:
        for name in containers(version):
            yield name, produce(version, container=name)


KNOWING: Final = Session(
    "knowing",
    "a client that knows the topic id",
    (keys.METADATA, keys.PRODUCE),
    KEYS,
    200,
    _produce,
    _body,
    _packed,
)


def begin_fetch_session(stage: Stage) -> Steps:
    """Produce a batch, and begin a fetch session with a full Fetch."""
    live = yield from topic(stage)
    version = stage.version(keys.PRODUCE, 11)
    batch = produce(version, live=live)["topic_data"]
    produced = yield from send_request(stage, keys.PRODUCE, version, topic_data=batch)
    # earlier offsets may be gone: the records are older than the retention time
    offset = max(
        (
            row["base_offset"]
            for written in produced["responses"]
            for row in written["partition_responses"]
        ),
        default=0,
    )
    partitions = [{"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1024}]
    topics = [{"topic": TOPIC, "topic_id": topic_id(live), "partitions": partitions}]
    begun = yield from send_request(stage, keys.FETCH, topics=topics)
    if not begun["session_id"]:
        raise Stuck("no fetch session was given")
    return {
        **live,
        "session_id": begun["session_id"],
        "session_epoch": 1,
        "fetch_offset": offset,
    }


def _fetch_body(key: int, version: int) -> Mapping[str, Any] | None:
    return body(key, version, session_epoch=1)


FETCHING: Final = Session(
    "fetching",
    "in a fetch session",
    (keys.PRODUCE, keys.FETCH),
    frozenset((keys.FETCH,)),
    1,
    begin_fetch_session,
    _fetch_body,
    at_least={keys.FETCH: 7},
)
