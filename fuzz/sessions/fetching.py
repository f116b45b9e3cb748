"""A consumer in a fetch session (KIP-227): the next Fetch goes on with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.sessions.bodies import body
from barnabas.fuzz.sessions.knowing import produce_live
from barnabas.fuzz.sessions.session import TOPIC, Ask, Session, Stage, Steps, Stuck, Unoffered
from barnabas.fuzz.sessions.steps import ask, topic, topic_id
from barnabas.specs import keys

SESSIONS_SINCE: Final = 7


def run(stage: Stage) -> Steps:
    """Writes a batch, and begins a session with a whole Fetch."""
    live = yield from topic(stage)
    version = stage.version(keys.PRODUCE, 11)
    yield Ask(keys.PRODUCE, version, produce_live(version, live))
    if stage.version(keys.FETCH) < SESSIONS_SINCE:
        raise Unoffered("the broker has no fetch sessions")
    partitions = [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1024}]
    topics = [{"topic": TOPIC, "topic_id": topic_id(live), "partitions": partitions}]
    begun = yield from ask(stage, keys.FETCH, topics=topics)
    if not begun["session_id"]:
        raise Stuck("no fetch session was given")
    return {**live, "session_id": begun["session_id"], "session_epoch": 1}


def _body(key: int, version: int) -> Mapping[str, Any] | None:
    return body(key, version, session_epoch=1)


FETCHING: Final = Session(
    "fetching",
    "in a fetch session",
    (keys.PRODUCE, keys.FETCH),
    frozenset((keys.FETCH,)),
    1,
    run,
    _body,
)
