"""Produce, Fetch, ShareFetch: partitions, records, bytes, producers."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

from barnabas.pipeline.rows.body_columns.batches import Measured, measured
from barnabas.pipeline.rows.body_columns.topics import Body, Names, about, answers, name_of, said
from barnabas.specs.records.record import int64


def produce(request: Body, response: Body, names: Names) -> Body:
    """Produce: what was sent to each partition, and where the broker put it."""
    answered = answers(response.get("responses"), "partition_responses", "index")
    found: Body = {"acks": request.get("acks")}
    partitions: list[Body] = []
    sets: list[Measured] = []
    topics = set()
    for topic in request.get("topic_data") or ():
        called = said(topic)
        name = name_of(called, names)
        topics.add(name)
        for partition in topic["partition_data"]:
            data, index = partition["records"] or b"", partition["index"]
            one = measured(data)
            sets.append(one)
            answer = answered.get((called, index), {})
            offset = answer.get("base_offset", -1)
            partitions.append(
                about(
                    name,
                    index,
                    error_code=answer.get("error_code"),
                    offset=offset if offset >= 0 else None,
                    last_offset=int64(offset + one.records - 1)
                    if offset >= 0 and one.records
                    else None,
                    records=one.records,
                    bytes=len(data),
                    checksum=_checksum(one, data),
                    **_producer(one),
                )
            )
    found["partitions"], found["topics"] = partitions, topics
    found["records"] = _total(one.records for one in sets)
    first = next(
        (one for one in sets if one.first is not None and one.first.producer_id >= 0), None
    )
    if first is not None:
        found |= _producer(first)
        sequences = [one.base_sequence for one in sets if one.base_sequence is not None]
        found["base_sequence"] = min(sequences, default=None)
    return found


def _producer(one: Measured) -> Body:
    first = one.first
    if first is None or first.producer_id < 0:
        return {}
    return {
        "producer_id": first.producer_id,
        "producer_epoch": first.producer_epoch,
        "base_sequence": first.base_sequence if first.base_sequence >= 0 else None,
    }


def _checksum(one: Measured, data: bytes) -> int | None:
    """As barnabas.captures.checks.batches has it."""
    if one.first is None:
        return None
    return one.first.crc if one.first.magic == 2 else zlib.crc32(data)


def fetch(request: Body, response: Body, names: Names) -> Body:
    """Fetch and ShareFetch: what was asked of each partition and what came; first those of the request,
    then those that a session has and the request does not list."""
    index = "partition_index" if "share_session_epoch" in request else "partition"
    answered = answers(response.get("responses"), "partitions", "partition_index")
    partitions: list[Body] = []
    topics = set()
    for topic in request.get("topics") or ():
        called = said(topic)
        name = name_of(called, names)
        topics.add(name)
        for partition in topic["partitions"]:
            answer = answered.pop((called, partition[index]), None)
            asked = partition.get("fetch_offset")
            partitions.append(_fetched(name, partition[index], asked, answer))
    for (called, number), answer in answered.items():
        name = name_of(called, names)
        topics.add(name)
        partitions.append(_fetched(name, number, None, answer))
    for topic in request.get("forgotten_topics_data") or ():
        topics.add(name_of(said(topic), names))
    found: Body = {"partitions": partitions, "topics": topics, "member": request.get("member_id")}
    if "responses" in response:
        found["records"] = _total(one["records"] for one in partitions if one["bytes"] is not None)
    return found


def _fetched(topic: str, partition: int, offset: int | None, answer: Body | None) -> Body:
    if answer is None:
        return about(topic, partition, offset=offset)
    data = answer["records"] or b""
    one = measured(data)
    return about(
        topic,
        partition,
        error_code=answer["error_code"],
        offset=offset,
        last_offset=one.last_offset,
        high_watermark=answer.get("high_watermark"),
        records=one.records,
        bytes=len(data),
    )


def _total(counts: Iterable[Any]) -> int | None:
    """The sum; None if one of them is not known."""
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total
