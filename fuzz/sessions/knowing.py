"""A client that knows the topic and its id, and has produced to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from barnabas.fuzz.sessions.bodies import body, containers, produce
from barnabas.fuzz.sessions.session import Ask, Session, Stage, Steps
from barnabas.fuzz.sessions.steps import topic, topic_id
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


def run(stage: Stage) -> Steps:
    """Asks for the topic, and writes a batch."""
    live = yield from topic(stage)
    version = stage.version(keys.PRODUCE, 11)
    yield Ask(keys.PRODUCE, version, produce_live(version, live))
    return live


def produce_live(version: int, live: Mapping[str, int | str | bytes]) -> Mapping[str, Any]:
    """A Produce request of the live topic, whatever names it."""
    found = produce(version)
    for one in found["topic_data"]:
        if "topic_id" in one:
            one["topic_id"] = topic_id(live)
    return found


def _body(key: int, version: int) -> Mapping[str, Any] | None:
    return produce(version) if key == keys.PRODUCE else body(key, version)


def _packed(key: int, version: int) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Batches in every container."""
    if key == keys.PRODUCE:
        for name in containers(version):
            yield name, produce(version, container=name)


KNOWING: Final = Session(
    "knowing",
    "a client that knows the topic id",
    (keys.METADATA, keys.PRODUCE),
    KEYS,
    200,
    run,
    _body,
    _packed,
)
