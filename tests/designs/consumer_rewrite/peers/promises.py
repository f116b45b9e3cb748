"""What a coordinator may never answer to a consumer of the rewrite, looked at as it is answered.

All of it is seen from outside: in requests, in their answers, and in what the registry has by then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from barnabas.designs.brokers.registry import MemoryRegistry
from barnabas.designs.consumer_rewrite.peers.group_entry import GroupEntry, decode, path_of
from barnabas.designs.consumer_rewrite.peers.wire import read_request, read_response
from barnabas.specs.malformed import Malformed


@dataclass
class Promises:
    """Of one world. Raises AssertionError when a promise is broken."""

    registry: MemoryRegistry
    waiting: dict[tuple[int, int], tuple[str, dict[str, Any]]] = field(default_factory=dict)
    """Connection and correlation id -> what was asked."""

    def asked(self, connection: int, data: bytes) -> None:
        """A request has reached a broker."""
        try:
            correlation_id, api, body = read_request(data[4:])
        except Malformed:
            return
        self.waiting[connection, correlation_id] = api, body

    def answered(self, connection: int, data: bytes, *, leads: bool) -> None:
        """A broker answers; leads: whether it coordinates the group and knows who does."""
        api, body = self.waiting.pop((connection, int.from_bytes(data[4:8])))
        if api == "OffsetCommit":
            _, answer = read_response(data[4:], api)
            self._committed(body, answer)
        elif api == "Heartbeat" and leads:
            _, answer = read_response(data[4:], api)
            if not answer["error_code"]:
                self._current(body, "a heartbeat")

    def _current(self, body: dict[str, Any], what: str) -> GroupEntry:
        """It is of the generation that the registry has, and of one who is in it."""
        entry = self.registry.read(path_of(body["group_id"]))
        record = GroupEntry() if entry is None else decode(entry.data)
        generation = body["group_generation_id"]
        assert generation == record.generation, (
            f"{what} of generation {generation} was taken in {record.generation}"
        )
        assert body["consumer_id"] in {one.consumer_id for one in record.consumers}, (
            f"{what} of {body['consumer_id']}, who is in no generation {generation}, was taken"
        )
        return record

    def _committed(self, body: dict[str, Any], answer: dict[str, Any]) -> None:
        """What is taken is of the current generation, and stands in the registry."""
        for topic, told in zip(body["topics"], answer["responses"], strict=True):
            for row, said in zip(topic["partitions"], told["partition_responses"], strict=True):
                if said["error_code"]:
                    continue
                record = self._current(body, "a commit")
                kept = record.offsets.get((topic["topic"], row["partition"]))
                assert kept is not None, "a commit was taken and not kept"
                assert kept.offset == row["offset"], "a commit was taken and not kept"
