"""Produce and Fetch: partitions, records, bytes."""

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
    asked: Asked | None = None,
) -> str:
    """Partitions with records, how many (`+`: at least), and their bytes.

    asked: where a Fetch asks to begin; with it partitions have their offsets.
    """
    count = length = 0
    uncounted = False
    with_data: list[Body] = []
    for topic in topics or ():
        filled = [partition for partition in topic[inner] if partition["records"]]
        places: list[tuple[int, int | None, int | None]] = []
        for partition in filled:
            found = records.summary(partition["records"])
            count += found.batches if found.records is None else found.records
            uncounted |= found.records is None
            length += found.size
            number = partition[index]
            first = None if asked is None else asked.get((_topic(topic), number))
            places.append((number, first, found.last_offset))
        if filled:
            with_data.append(topic | {inner: places})
    if not with_data:
        return ""
    where = partitions_of(with_data, inner, names, _plain if asked is None else _offsets)
    return f"{where} {f'{count}+ records' if uncounted else plural(count, 'record')} {size(length)}"


Asked = dict[tuple[Any, int], int]
"""The offset from which records of a topic and partition are asked."""


def _topic(topic: Body) -> Any:
    return topic.get("topic") or topic.get("topic_id")


def _plain(places: Iterable[tuple[int, int | None, int | None]]) -> str:
    return ranges(number for number, _, _ in places)


def _offsets(places: Iterable[tuple[int, int | None, int | None]]) -> str:
    """Partitions with the offset asked for and the last one that came: 0=105→109, or 0→109 in a session
    that knows the first already."""
    texts = []
    for number, first, last in sorted(places, key=lambda place: place[0]):
        asked = "" if first is None else f"={first}"
        texts.append(f"{number}{asked}{'' if last is None else f'→{last}'}")
    return shorten(",".join(texts), LIST // 2)


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
    """Fetch: from which offsets was asked, and what came back."""
    topics = request.get("topics") or []
    asked = {
        (_topic(topic), partition["partition"]): partition["fetch_offset"]
        for topic in topics
        for partition in topic["partitions"]
    }
    if "responses" in response:
        responses = response["responses"]
        found = _batches(responses, "partitions", "partition_index", names, asked)
        if found:
            return found
    where = partitions_of(
        topics,
        "partitions",
        names,
        lambda found: pairs(sorted((p["partition"], p["fetch_offset"]) for p in found)),
    )
    return joined(where, "empty" if "responses" in response else "")


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
