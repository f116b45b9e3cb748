"""Topics and partitions, as they stand in messages: by name or by id."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from barnabas.pipeline.rows.columns import PARTITION
from barnabas.specs.jsonform import uuid_text

Body = dict[str, Any]

Names = Mapping[uuid.UUID, str]
"""What the topics of some ids are called."""

_NOTHING: Final = dict.fromkeys((column.name for column in PARTITION), None)


def said(topic: Body) -> Any:
    """What a message calls a topic: equal for the same one in a request and its response."""
    name = topic.get("name")
    if name is None:
        name = topic.get("topic")
    return topic.get("topic_id") if name is None else name


def name_of(topic: Any, names: Names) -> str:
    """The name of what a message calls a topic; of an id that nobody knows, Kafka's text.

    >>> name_of(uuid.UUID(int=1), {}), name_of(uuid.UUID(int=1), {uuid.UUID(int=1): "orders"})
    ('AAAAAAAAAAAAAAAAAAAAAQ', 'orders')
    """
    if isinstance(topic, uuid.UUID):
        return names.get(topic) or uuid_text(topic)
    return topic or ""


def about(topic: str, partition: int, **columns: Any) -> dict[str, Any]:
    """A row of PARTITION; what is not given is null.

    >>> row = about("orders", 1, offset=7)
    >>> row["topic"], row["partition"], row["offset"], row["records"]
    ('orders', 1, 7, None)
    """
    return {**_NOTHING, "topic": topic, "partition": partition, **columns}


def answers(topics: Iterable[Body] | None, inner: str, index: str) -> dict[tuple[Any, int], Body]:
    """What a response says of each partition, by topic as it is called there and number."""
    return {
        (said(topic), partition[index]): partition
        for topic in topics or ()
        for partition in topic[inner]
    }


def listed(topics: Iterable[Body] | None, inner: str, names: Names) -> Iterator[dict[str, Any]]:
    """Partitions that a message lists by their numbers alone."""
    for topic in topics or ():
        name = name_of(said(topic), names)
        for number in topic[inner]:
            yield about(name, number)
