"""Fetch sessions (KIP-227)."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.expectations import AtLeast, OneOf
from barnabas.conform.logs import batch, expect_values, fetch_fields, produce, produced
from barnabas.conform.operations import Sleep
from barnabas.conform.partitions import together
from barnabas.conform.sessions import CLOSED, Session, expect_partitions, open_session, returned

NEEDS: Final = {"Produce": 3, "Fetch": 7}


@check("session/full", "KIP-227", needs=NEEDS)
async def full(broker: Broker) -> None:
    """A Fetch that asks for a session gets all its partitions, and a session id or 0."""
    topic, (first, second), leader = await together(broker)
    await produce(broker, topic, batch("a"), partition=first)
    session = Session(broker, topic, leader, broker.version("Fetch", 7))
    response = await session.fetch({first: 0, second: 0})
    response.expect(error_code="NONE", session_id=AtLeast(0))
    expect_values(expect_partitions(response, first, second)[first], "a")


@check("session/none", "KIP-227", needs=NEEDS)
async def none(broker: Broker) -> None:
    """A Fetch outside of sessions (id 0, epoch -1) gets the session id 0."""
    topic = await broker.topic()
    version = broker.version("Fetch", 7)
    body = await fetch_fields(broker, topic, 0, version, max_wait_ms=0)
    response = await (await broker.leader(topic)).send("Fetch", version, **body)
    response.expect(error_code="NONE", session_id=0)


@check("session/unchanged", "KIP-227", needs=NEEDS)
async def unchanged(broker: Broker) -> None:
    """An incremental Fetch leaves out partitions that have not changed."""
    topic, (first, second), leader = await together(broker)
    session = await open_session(broker, topic, leader, {first: 0, second: 0})
    response = await session.fetch({})
    expect_partitions(response.expect(session_id=session.id))


@check("session/new-records", "KIP-227", needs=NEEDS, each="Fetch")
async def new_records(broker: Broker) -> None:
    """An incremental Fetch returns the partitions with new records, and only those."""
    topic, (first, second), leader = await together(broker)
    session = await open_session(broker, topic, leader, {first: 0, second: 0})
    await produce(broker, topic, batch("a"), partition=second)
    response = await session.fetch({})
    expect_values(expect_partitions(response, second)[second], "a")


@check("session/woken", "KIP-227; DelayedFetch", needs=NEEDS)
async def woken(broker: Broker) -> None:
    """A waiting incremental Fetch is answered as soon as records arrive."""
    topic = await broker.topic()
    leader = await broker.leader(topic, fresh=True)
    session = await open_session(broker, topic, leader, {0: 0})
    body = await fetch_fields(broker, topic, 0, session.version, max_wait_ms=8000)
    body |= {"session_id": session.id, "session_epoch": session.epoch, "topics": []}
    await leader.write("Fetch", session.version, **body)
    await leader.expect_silence(0.2)
    await produced(broker, topic, "a")
    response = await leader.read(5)
    expect_values(expect_partitions(response, 0)[0], "a")


@check("session/offset-kept", "KIP-227", needs=NEEDS)
async def offset_kept(broker: Broker) -> None:
    """The broker keeps a partition's offset until the client changes it."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    session = await open_session(broker, topic, await broker.leader(topic), {0: 0})
    expect_values(expect_partitions(await session.fetch({}), 0)[0], "a")


@check("session/offset-changed", "KIP-227", needs=NEEDS)
async def offset_changed(broker: Broker) -> None:
    """An incremental Fetch changes the offset of a partition that it names."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    session = await open_session(broker, topic, await broker.leader(topic), {0: 0})
    received = returned(await session.fetch({0: 1}))
    if 0 in received:
        expect_values(received[0])
    await produced(broker, topic, "b")
    expect_values(expect_partitions(await session.fetch({}), 0)[0], "b")


@check("session/added", "KIP-227", needs=NEEDS)
async def added(broker: Broker) -> None:
    """An incremental Fetch adds the partitions that it names to the session."""
    topic, (first, second), leader = await together(broker)
    session = await open_session(broker, topic, leader, {first: 0})
    expect_values(returned(await session.fetch({second: 0}))[second])
    await produce(broker, topic, batch("a"), partition=second)
    expect_values(expect_partitions(await session.fetch({}), second)[second], "a")


@check("session/forgotten", "KIP-227", needs=NEEDS)
async def forgotten(broker: Broker) -> None:
    """A partition in forgotten_topics_data leaves the session."""
    topic, (first, second), leader = await together(broker)
    session = await open_session(broker, topic, leader, {first: 0, second: 0})
    expect_partitions(await session.fetch({}, forget=[first]))
    for partition in (first, second):
        await produce(broker, topic, batch("a"), partition=partition)
    expect_partitions(await session.fetch({}), second)


@check("session/wrong-epoch", "KIP-227", needs=NEEDS)
async def wrong_epoch(broker: Broker) -> None:
    """An incremental Fetch with another epoch than the next gets INVALID_FETCH_SESSION_EPOCH."""
    topic = await broker.topic()
    session = await open_session(broker, topic, await broker.leader(topic), {0: 0})
    refused = await session.fetch({}, epoch=7)
    refused.expect(error_code="INVALID_FETCH_SESSION_EPOCH", responses=[])


@check("session/epoch-again", "KIP-227", needs=NEEDS)
async def epoch_again(broker: Broker) -> None:
    """An incremental Fetch that repeats the previous epoch gets INVALID_FETCH_SESSION_EPOCH."""
    topic = await broker.topic()
    session = await open_session(broker, topic, await broker.leader(topic), {0: 0})
    (await session.fetch({})).expect(error_code="NONE")
    refused = await session.fetch({}, epoch=session.epoch - 1)
    refused.expect(error_code="INVALID_FETCH_SESSION_EPOCH", responses=[])


@check("session/unknown", "KIP-227", needs=NEEDS)
async def unknown(broker: Broker) -> None:
    """An incremental Fetch of an unknown session gets FETCH_SESSION_ID_NOT_FOUND."""
    topic = await broker.topic()
    version = broker.version("Fetch", 7)
    session = Session(broker, topic, await broker.leader(topic), version, 987_654, epoch=1)
    refused = await session.fetch({0: 0})
    refused.expect(error_code="FETCH_SESSION_ID_NOT_FOUND", responses=[])


@check("session/closed", "KIP-227", needs=NEEDS)
async def closed(broker: Broker) -> None:
    """Epoch -1 with a session's id closes the session."""
    topic = await broker.topic()
    session = await open_session(broker, topic, await broker.leader(topic), {0: 0})
    closing = await session.fetch({0: 0}, epoch=CLOSED)
    closing.expect(error_code="NONE", session_id=0)
    (await session.fetch({})).expect(error_code="FETCH_SESSION_ID_NOT_FOUND")


@check("session/replaced", "KIP-227", needs=NEEDS)
async def replaced(broker: Broker) -> None:
    """Epoch 0 with a session's id closes the session and opens another."""
    topic = await broker.topic()
    session = await open_session(broker, topic, await broker.leader(topic), {0: 0})
    response = await session.fetch({0: 0}, epoch=0)
    expect_partitions(response, 0)
    if response["session_id"] == session.id:
        raise response.failed("session_id", "another session", f"{session.id}")
    (await session.fetch({})).expect(error_code="FETCH_SESSION_ID_NOT_FOUND")


@check("session/two", "KIP-227", needs=NEEDS)
async def two(broker: Broker) -> None:
    """Two sessions of one connection have their own partitions and epochs."""
    topic, (first, second), leader = await together(broker)
    first_session = await open_session(broker, topic, leader, {first: 0})
    other = await open_session(broker, topic, leader, {second: 0})
    for partition in (first, second):
        await produce(broker, topic, batch("a"), partition=partition)
    expect_partitions(await first_session.fetch({}), first)
    expect_partitions(await other.fetch({}), second)
    (await first_session.fetch({first: 1}, max_wait_ms=0)).expect(error_code="NONE")


@check("session/other-connection", "KIP-227; FetchManager", level=SHOULD, needs=NEEDS)
async def other_connection(broker: Broker) -> None:
    """A session goes on when its client connects anew."""
    topic = await broker.topic()
    leader = await broker.leader(topic, fresh=True)
    session = await open_session(broker, topic, leader, {0: 0})
    await leader.close()
    session.leader = await broker.leader(topic, fresh=True)
    await produced(broker, topic, "a")
    expect_values(expect_partitions(await session.fetch({}), 0)[0], "a")


@check("session/error-again", "KIP-227; FetchSession.CachedPartition", needs=NEEDS)
async def error_again(broker: Broker) -> None:
    """A partition with an error is in each response of the session."""
    topic = await broker.topic()
    session = await open_session(broker, topic, await broker.leader(topic), {0: 99})
    for _ in range(2):
        refused = expect_partitions(await session.fetch({}), 0)[0]
        refused.expect(error_code="OFFSET_OUT_OF_RANGE")


@check("session/high-watermark", "KIP-227", level=SHOULD, needs=NEEDS)
async def high_watermark(broker: Broker) -> None:
    """A partition whose records a client has is left out once the client knows its high watermark."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    session = await open_session(broker, topic, await broker.leader(topic), {0: 0})
    moved = returned(await session.fetch({0: 2}))
    if 0 in moved:
        moved[0].expect(high_watermark=2, error_code="NONE")
    expect_partitions(await session.fetch({}))


@check(
    "session/topic-again",
    "KIP-516; twmb/franz-go 1ef0614b",
    level=SHOULD,
    needs={"Fetch": 13, "CreateTopics": 0, "DeleteTopics": 0},
)
async def topic_again(broker: Broker) -> None:
    """A session whose topic is deleted and created again gets an error, not the new topic's records."""
    topic = await broker.topic()
    leader = await broker.leader(topic)
    session = await open_session(broker, topic, leader, {0: 0})
    version = broker.version("DeleteTopics", 0, 5)
    deleted = await broker.send("DeleteTopics", version, topic_names=[topic], timeout_ms=10_000)
    deleted.at("responses[0]").expect(error_code="NONE")
    for _ in range(20):
        if (await broker.metadata(topic))["topics[0].error_code"] != "NONE":
            break
        await Sleep(0.1)
    await broker.create(topic, 1, {})
    body = await fetch_fields(broker, topic, 0, session.version, max_wait_ms=200)
    body |= {"session_id": session.id, "session_epoch": session.epoch, "topics": []}
    response = await leader.send("Fetch", session.version, **body)
    errors = OneOf("UNKNOWN_TOPIC_ID", "INCONSISTENT_TOPIC_ID", "NOT_LEADER_OR_FOLLOWER")
    if response["error_code"] == "NONE":
        response.at("responses[0].partitions[0]").expect(error_code=errors)
    else:
        response.expect(error_code=errors)


CHECKS: Final[tuple[Check, ...]] = (
    full,
    none,
    unchanged,
    new_records,
    woken,
    offset_kept,
    offset_changed,
    added,
    forgotten,
    wrong_epoch,
    epoch_again,
    unknown,
    closed,
    replaced,
    two,
    other_connection,
    error_again,
    high_watermark,
    topic_again,
)
