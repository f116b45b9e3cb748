"""Releases the records that a broker acquired for a member of a share group that never gets them.

A rule may refuse a partition of a ShareFetch whose records the broker has acquired for the member (KIP-932).
The next request of the member's session then acknowledges them as released: the group gets them again.
"""

from __future__ import annotations

import uuid
from typing import Any, Final

from barnabas.captures.kafka.context.memory import Memory
from barnabas.specs import api
from barnabas.specs.keys import SHARE_ACKNOWLEDGE, SHARE_FETCH
from barnabas.specs.malformed import Malformed

KEYS: Final = (SHARE_FETCH, SHARE_ACKNOWLEDGE)
"""The APIs that acknowledge records."""

_RELEASE: Final = 2
"""The acknowledge type of a release (AcknowledgeType)."""

Member = tuple[int | None, str | None, str | None]
"""Broker, group id and member id."""

Ranges = dict[tuple[uuid.UUID, int], tuple[tuple[int, int], ...]]
"""Topic id and partition -> first and last offsets of acquired records."""


Partitions = frozenset[tuple[uuid.UUID, int]]
"""Topic ids and partitions."""


class ShareReleases:
    """The acquired records that members did not get, by member."""

    def __init__(self) -> None:
        self._owed: Memory[Member, Ranges] = Memory()

    def __bool__(self) -> bool:
        return bool(len(self._owed))

    def note(
        self, broker: int | None, version: int, request: bytes | None, before: bytes, after: bytes
    ) -> None:
        """Note the records that a ShareFetch response has lost by a change of its body."""
        try:
            member = _member(broker, SHARE_FETCH, version, request or b"")
            codec = api(SHARE_FETCH).response.codec(version)
            old, new = (_acquired(codec.decode(body)) for body in (before, after))
        except Malformed:
            return
        lost = {partition: ranges for partition, ranges in old.items() if partition not in new}
        if lost:
            owed = dict(self._owed.get(member, {}))
            for partition, ranges in lost.items():
                owed[partition] = (*owed.get(partition, ()), *ranges)
            self._owed[member] = owed

    def released(
        self, broker: int | None, key: int, version: int, body: bytes
    ) -> tuple[bytes, Partitions] | None:
        """Return a request that also releases what its member is owed, and the partitions added to it.

        None if the member is owed nothing. A request that begins or ends a session acknowledges nothing,
        because the broker then releases the records. A request that renews acquisitions acknowledges nothing
        else.
        """
        codec = api(key).request.codec(version)
        try:
            member, values = _member(broker, key, version, body), codec.decode(body)
        except Malformed:
            return None
        if member not in self._owed or values.get("is_renew_ack"):
            return None
        ranges = self._owed.pop(member)
        if values["share_session_epoch"] <= 0:
            return None
        named = {
            (topic["topic_id"], partition["partition_index"])
            for topic in values["topics"]
            for partition in topic["partitions"]
        }
        for (topic, partition), offsets in ranges.items():
            batches = _partition(values, topic, partition)["acknowledgement_batches"]
            batches += [
                {"first_offset": first, "last_offset": last, "acknowledge_types": [_RELEASE]}
                for first, last in offsets
            ]
            batches.sort(key=lambda batch: batch["first_offset"])
        return codec.encode(values), frozenset(ranges.keys() - named)


def without_releases(key: int, version: int, added: Partitions, body: bytes) -> bytes:
    """Return a response without the results of added releases; entries with records stay."""
    codec = api(key).response.codec(version)
    try:
        values = codec.decode(body)
    except Malformed:
        return body
    for topic in values["responses"]:
        topic["partitions"] = [
            partition
            for partition in topic["partitions"]
            if (topic["topic_id"], partition["partition_index"]) not in added
            or (key == SHARE_FETCH and (partition["error_code"] or partition["acquired_records"]))
        ]
        for partition in topic["partitions"]:
            if (topic["topic_id"], partition["partition_index"]) in added:
                partition |= {name: 0 for name in partition if name == "acknowledge_error_code"}
    values["responses"] = [topic for topic in values["responses"] if topic["partitions"]]
    return codec.encode(values)


def _member(broker: int | None, key: int, version: int, request: bytes) -> Member:
    values = api(key).request.codec(version).project("group_id", "member_id")(request)
    return broker, values["group_id"], values["member_id"]


def _acquired(response: dict[str, Any]) -> Ranges:
    """Return the acquired records in a ShareFetch response."""
    return {
        (topic["topic_id"], partition["partition_index"]): tuple(
            (each["first_offset"], each["last_offset"]) for each in partition["acquired_records"]
        )
        for topic in response["responses"]
        for partition in topic["partitions"]
        if partition["acquired_records"]
    }


def _partition(request: dict[str, Any], topic: uuid.UUID, index: int) -> dict[str, Any]:
    """Return a partition of a request, added if the request does not name it."""
    for each in request["topics"]:
        if each["topic_id"] == topic:
            break
    else:
        each = {"topic_id": topic, "partitions": []}
        request["topics"].append(each)
    partitions: list[dict[str, Any]] = each["partitions"]
    for partition in partitions:
        if partition["partition_index"] == index:
            return partition
    partitions.append({"partition_index": index, "acknowledgement_batches": []})
    return partitions[-1]
