"""Describe Produce and Fetch: partitions, records, bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from barnabas.captures.kafka.wording import (
    LIST,
    Body,
    Names,
    arrow,
    joined,
    member_name,
    pairs,
    partitions_of,
    ranges,
    shorten,
    size,
)
from barnabas.plural import plural
from barnabas.specs import records


def _batches(
    topics: Iterable[Body] | None,
    inner: str,
    index: str,
    names: Names,
    requested: FetchOffsets | None = None,
) -> str:
    """Describe partitions with records, their count (`+`: at least) and their bytes.

    With `requested`, the offsets that a Fetch requested, each partition has its offsets.
    """
    count = length = 0
    uncounted = False
    with_data: list[Body] = []
    for topic in topics or ():
        filled = [partition for partition in topic[inner] if partition["records"]]
        places: list[tuple[int, int | None, int | None]] = []
        for partition in filled:
            summary = records.summary(partition["records"])
            count += summary.batches if summary.records is None else summary.records
            uncounted |= summary.records is None
            length += summary.size
            number = partition[index]
            first = None if requested is None else requested.get((_topic(topic), number))
            places.append((number, first, summary.last_offset))
        if filled:
            with_data.append(topic | {inner: places})
    if not with_data:
        return ""
    partitions = partitions_of(with_data, inner, names, _plain if requested is None else _offsets)
    return f"{partitions} {f'{count}+ records' if uncounted else plural(count, 'record')} {size(length)}"


FetchOffsets = dict[tuple[Any, int], int]
"""The requested fetch offset by topic and partition."""


def _topic(topic: Body) -> Any:
    return topic.get("topic") or topic.get("topic_id")


def _plain(entries: Iterable[tuple[int, int | None, int | None]]) -> str:
    return ranges(number for number, _, _ in entries)


def _offsets(entries: Iterable[tuple[int, int | None, int | None]]) -> str:
    """Format partitions with the requested and the last returned offset: 0=105→109.

    If a session knows the requested offset already, it is left out: 0→109.
    """
    texts = []
    for number, first, last in sorted(entries, key=lambda entry: entry[0]):
        requested = "" if first is None else f"={first}"
        texts.append(f"{number}{requested}{'' if last is None else f'→{last}'}")
    return shorten(",".join(texts), LIST // 2)


def produce(request: Body, response: Body, names: Names) -> str:
    """Describe a Produce: partitions, records, bytes, acks."""
    batches = _batches(request.get("topic_data"), "partition_data", "index", names)
    acks = request.get("acks")
    return joined(
        batches or ("no records" if request else ""),
        f"txn={request['transactional_id']}" if request.get("transactional_id") else "",
        "" if acks is None else f"acks={'all' if acks == -1 else acks}",
    )


def fetch(request: Body, response: Body, names: Names) -> str:
    """Describe a Fetch: the requested offsets, and the returned records."""
    topics = request.get("topics") or []
    requested = {
        (_topic(topic), partition["partition"]): partition["fetch_offset"]
        for topic in topics
        for partition in topic["partitions"]
    }
    if "responses" in response:
        responses = response["responses"]
        batches = _batches(responses, "partitions", "partition_index", names, requested)
        if batches:
            return batches
    offsets = partitions_of(
        topics,
        "partitions",
        names,
        lambda partitions: pairs(sorted((p["partition"], p["fetch_offset"]) for p in partitions)),
    )
    return joined(offsets, "empty" if "responses" in response else "")


def share_fetch(request: Body, response: Body, names: Names) -> str:
    """Describe a ShareFetch: group, member and returned records, or the requested partitions."""
    member = joined(request.get("group_id") or "", member_name(request.get("member_id")))
    if "responses" in response:
        batches = _batches(response["responses"], "partitions", "partition_index", names)
        return arrow(member if request else "", batches or "empty")
    requested = partitions_of(
        request.get("topics"),
        "partitions",
        names,
        lambda partitions: ranges(p["partition_index"] for p in partitions),
    )
    return joined(member, requested) if request else ""
