"""Topics and partitions in messages, by name or by id."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from barnabas.pipeline.rows.columns import PARTITION
from barnabas.specs.jsonform import uuid_text

Body = dict[str, Any]

Names = Mapping[uuid.UUID, str]
"""Topic names by id."""

_NOTHING: Final = dict.fromkeys((column.name for column in PARTITION), None)


def topic_key(topic: Body) -> Any:
    """Return a message's name or id of a topic; it is equal in a request and its response."""
    name = topic.get("name")
    if name is None:
        name = topic.get("topic")
    return topic.get("topic_id") if name is None else name


def name_of(topic: Any, names: Names) -> str:
    """Return the name for a message's name or id of a topic; an unknown id becomes Kafka's text.

    >>> name_of(uuid.UUID(int=1), {}), name_of(uuid.UUID(int=1), {uuid.UUID(int=1): "orders"})
    ('AAAAAAAAAAAAAAAAAAAAAQ', 'orders')
    """
    if isinstance(topic, uuid.UUID):
        return names.get(topic) or uuid_text(topic)
    return topic or ""


def partition_row(topic: str, partition: int, **columns: Any) -> dict[str, Any]:
    """Return a row of PARTITION; columns that are not passed are null.

    >>> row = partition_row("orders", 1, offset=7)
    >>> row["topic"], row["partition"], row["offset"], row["records"]
    ('orders', 1, 7, None)
    """
    return {**_NOTHING, "topic": topic, "partition": partition, **columns}


def partitions_of_response(
    topics: Iterable[Body] | None, inner: str, index: str
) -> dict[tuple[Any, int], Body]:
    """Return a response's values for each partition, by (topic's name or id, partition)."""
    return {
        (topic_key(topic), partition[index]): partition
        for topic in topics or ()
        for partition in topic[inner]
    }


def partition_rows(
    topics: Iterable[Body] | None, inner: str, names: Names
) -> Iterator[dict[str, Any]]:
    """Yield rows for partitions that a message lists by index."""
    for topic in topics or ():
        name = name_of(topic_key(topic), names)
        for number in topic[inner]:
            yield partition_row(name, number)
