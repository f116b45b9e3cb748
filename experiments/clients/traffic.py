"""The records that a draw stands for, as plain data for the programs in all languages.

A plan is a list of rounds. Sends of a round are in flight together and awaited together; in `transact` a
round is a transaction. A send is a list of records that are handed to the client at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Final

from barnabas.experiments.clients.draws import SEND_BYTES, Draw
from barnabas.experiments.clients.members import members
from barnabas.experiments.clients.workloads import Workload

ALL_BYTES: Final = 8_000_000
"""Bytes of all values of a draw."""

DAY: Final = 86_400_000
"""Milliseconds, up to which given timestamps are in the past."""

EMPTY: Final = 0.2
"""Share of null and empty values in a draw that has them."""

SEPARATOR: Final = "|"
"""The end of a record's id in its value; padding follows."""

Round = list[list[dict[str, Any]]]
"""Sends that are awaited together, each a list of records."""


def parameters(drawn: Draw, workload: Workload, topic: str, now_ms: int) -> dict[str, Any]:
    """Return the parameters of a program that a draw decides (`peers/clients/programs/work.py`)."""
    ids = [f"{topic}-{number}" for number in range(drawn.records)]
    return {
        "records": drawn.records,
        "topics": topics_of(drawn, topic),
        "partitions": drawn.partitions,
        "ending": drawn.ending,
        "members": members(drawn, workload, topic),
        "pause": drawn.pause,
        "settings": drawn.settings,
        "rounds": plan(drawn, ids, topic, now_ms),
    }


def topics_of(drawn: Draw, topic: str) -> list[str]:
    """Return the names of a draw's topics.

    >>> topics_of(Draw(sends=1, topics=2), "t")
    ['t', 't-topic-2']
    """
    return [topic, *(f"{topic}-topic-{number}" for number in range(2, drawn.topics + 1))]


class _Records:
    """The records of a draw, in order.

    Each feature has random numbers of its own, so that another feature can be left out.
    """

    def __init__(self, drawn: Draw, topic: str, now_ms: int) -> None:
        self._drawn, self._topics, self._now_ms = drawn, topics_of(drawn, topic), now_ms
        self._budget = ALL_BYTES
        self._random = {
            feature: Random(f"{drawn.seed}/{feature}")  # noqa: S311 (no secret)
            for feature in ("to", "keys", "topics", "sizes", "headers", "empty", "timestamps")
        }

    def send(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return the records of a send."""
        room = min(SEND_BYTES, self._budget)
        records = []
        for record_id in ids:
            record = {"id": record_id, **self._target(record_id), **self._value(record_id, room)}
            room -= record.get("size", 0)
            self._budget -= record.get("size", 0)
            records.append(record)
        return records

    def _target(self, record_id: str) -> dict[str, Any]:
        random, drawn = self._random["to"], self._drawn
        targets = ("key", "nothing", "partition") if drawn.to == "any" else (drawn.to,)
        target, partition = random.choice(targets), random.randrange(drawn.partitions)
        topic = self._random["topics"].randrange(len(self._topics))
        record: dict[str, Any] = {"topic": self._topics[topic]} if topic else {}
        number = self._random["keys"].randrange(drawn.keys or 1)
        if target == "key":
            return {**record, "key": record_id if drawn.keys is None else f"key-{number}"}
        return {**record, "partition": partition} if target == "partition" else record

    def _value(self, record_id: str, room: int) -> dict[str, Any]:
        drawn, record = self._drawn, dict[str, Any]()
        size = round(drawn.largest ** self._random["sizes"].random()) if drawn.largest else 0
        if len(record_id) + len(SEPARATOR) < size <= room:
            record["size"] = size
        empty = self._random["empty"]
        if drawn.empty and empty.random() < EMPTY:  # its key is its id then
            record = {"key": record_id, **empty.choice(({"null": True}, {"size": 0}))}
        if drawn.headers:
            count = self._random["headers"].randrange(4)
            record["headers"] = [[f"h{number}", "x" * number] for number in range(count)]
        if drawn.timestamps:
            record["timestamp"] = self._now_ms - self._random["timestamps"].randrange(DAY)
        return record


def plan(drawn: Draw, ids: Sequence[str], topic: str, now_ms: int) -> list[Round]:
    """Return rounds of sends of records.

    A record has an `id`; a `topic` if that is not the first one; a `key` (its id), a `partition` or neither;
    `null`, or the `size` of its value, if the value is not its id; `headers`; and a `timestamp`.

    Args:
        drawn: the draw.
        ids: of the records, in order.
        topic: the first topic.
        now_ms: before which timestamps are.
    """
    records = _Records(drawn, topic, now_ms)
    size = drawn.per_send
    sends = [records.send(ids[at : at + size]) for at in range(0, len(ids), size)]
    together = drawn.in_flight or len(sends) or 1
    return [sends[at : at + together] for at in range(0, len(sends), together)]


def identity(key: bytes | None, value: bytes | None) -> str:
    """Return a record's id: its value up to the separator, or its key if there is no value.

    >>> identity(b"a-1", None), identity(None, b"a-2|xxx")
    ('a-1', 'a-2')
    """
    text = value.partition(SEPARATOR.encode())[0] if value else key or b""
    return text.decode(errors="backslashreplace")
