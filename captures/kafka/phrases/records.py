"""Produce and Fetch: partitions, records, bytes."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.captures.kafka.wording import (
    Body,
    Names,
    arrow,
    joined,
    member_name,
    partitions_of,
    ranges,
    size,
)
from barnabas.plural import plural
from barnabas.specs import records


def _batches(topics: Iterable[Body] | None, inner: str, index: str, names: Names) -> str:
    """Partitions with records, how many (`+`: at least), and their bytes."""
    count = length = 0
    uncounted = False
    with_data: list[Body] = []
    for topic in topics or ():
        filled = [partition for partition in topic[inner] if partition["records"]]
        if filled:
            with_data.append(topic | {inner: [partition[index] for partition in filled]})
        for partition in filled:
            found = records.summary(partition["records"])
            count += found.batches if found.records is None else found.records
            uncounted |= found.records is None
            length += found.size
    if not with_data:
        return ""
    where = partitions_of(with_data, inner, names, ranges)
    return f"{where} {f'{count}+ records' if uncounted else plural(count, 'record')} {size(length)}"


def produce(request: Body, response: Body, names: Names) -> str:
    """Produce: partitions, records, bytes, acks."""
    found = _batches(request.get("topic_data"), "partition_data", "index", names)
    acks = request.get("acks")
    return joined(
        found or ("no records" if request else ""),
        f"txn={request['transactional_id']}" if request.get("transactional_id") else "",
        "" if acks is None else f"acks={'all' if acks == -1 else acks}",
    )


def fetch(request: Body, response: Body, names: Names) -> str:
    """Fetch: what came back; without a response, what was asked."""
    if "responses" in response:
        found = _batches(response["responses"], "partitions", "partition_index", names)
        return found or "empty"
    topics = request.get("topics")
    return partitions_of(
        topics, "partitions", names, lambda found: ranges(p["partition"] for p in found)
    )


def share_fetch(request: Body, response: Body, names: Names) -> str:
    """ShareFetch: group, member, and what came back; without a response, what was asked."""
    who = joined(request.get("group_id") or "", member_name(request.get("member_id")))
    if "responses" in response:
        found = _batches(response["responses"], "partitions", "partition_index", names)
        return arrow(who if request else "", found or "empty")
    asked = partitions_of(
        request.get("topics"),
        "partitions",
        names,
        lambda found: ranges(p["partition_index"] for p in found),
    )
    return joined(who, asked) if request else ""
