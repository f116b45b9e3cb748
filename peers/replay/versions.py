"""Conversion of a recorded body to another version, for a live cluster without the recorded one."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from typing import Any, Final

from barnabas.specs.keys import (
    FIND_COORDINATOR,
    LEAVE_GROUP,
    OFFSET_FETCH,
    PRODUCE,
    TXN_OFFSET_COMMIT,
)
from barnabas.specs.layout import Layout
from barnabas.specs.registry import NAMES, api

MAGIC_2: Final = 3
"""From this version on Produce takes no records of magic 0 and 1."""

IMPLICIT: Final = {PRODUCE: 12, TXN_OFFSET_COMMIT: 5}
"""From these versions on the partitions of a transaction need not be added to it before (KIP-890)."""

OF_NO_CONSEQUENCE: Final = frozenset(
    (
        "allow_auto_topic_creation",
        "committed_leader_epoch",
        "current_leader_epoch",
        "enable2_pc",
        "forgotten_topics_data",
        "include_cluster_authorized_operations",
        "include_topic_authorized_operations",
        "isolation_level",
        "last_fetched_epoch",
        "log_start_offset",
        "max_bytes",
        "producer_epoch",
        "producer_id",
        "rack_id",
        "reason",
        "rebalance_timeout_ms",
        "require_stable",
        "retention_time_ms",
        "session_epoch",
        "session_id",
        "timeout_ms",
        "protocol_name",
        "protocol_type",
    )
)
"""Fields that may be dropped for a version that lacks them: limits, hints, redundant fields, and the session
of a Fetch, which is then requested with all its partitions."""


NAMED: Final = ("topic", "name", "topic_name", "topic_id")
"""Fields that identify a topic: a name in most versions, an id in the newest."""


class NotReplayable(ValueError):
    """A request that the live cluster does not support; the message is the reason."""


def version_for(key: int, recorded: int, offered: Mapping[int, tuple[int, int]]) -> int:
    """Return the version to use: the recorded one, or the nearest that both sides know.

    Raises:
        NotReplayable: There is no such version.

    >>> version_for(1, 17, {1: (4, 16)})
    16
    """
    if key not in offered:
        raise NotReplayable(f"the live cluster does not offer {NAMES[key]}")
    low, high = (
        max(offered[key][0], api(key).versions[0]),
        min(offered[key][1], api(key).versions[1]),
    )
    if low > high:
        raise NotReplayable(f"the live cluster offers no known version of {NAMES[key]}")
    return min(max(recorded, low), high)


def convert(
    key: int, body: dict[str, Any], before: int, after: int, names: Mapping[uuid.UUID, str]
) -> dict[str, Any]:
    """Convert a request's body to another version.

    Args:
        key: of the API.
        body: the recorded request.
        before: recorded version.
        after: live version.
        names: of topics by their recorded ids.

    Raises:
        NotReplayable: The live version can't express it.

    >>> convert(10, {"key": "g", "key_type": 0}, 3, 4, {})
    {'key_type': 0, 'coordinator_keys': ['g']}
    """
    if before == after:
        return body
    _check_producing(key, body, before, after)
    layout = api(key).request.layout(after)
    converted_body = _reshaped(key, body, {slot.name for slot in layout.slots})
    converted_body = named_topics(converted_body, layout, names)
    _check(converted_body, layout, api(key).request.layout(before), f"{NAMES[key]} v{after}")
    return prune(converted_body, layout)


def _check_producing(key: int, body: dict[str, Any], before: int, after: int) -> None:
    since = IMPLICIT.get(key)
    transactional = body.get("transactional_id")
    if since is not None and after < since <= before and transactional:
        raise NotReplayable(
            f"{NAMES[key]} v{before} adds its partitions to the transaction, v{after} does not"
        )
    if key == PRODUCE and before < MAGIC_2 <= after:
        for topic in body["topic_data"]:
            for partition in topic["partition_data"]:
                data = partition["records"] or b""
                if len(data) > 16 and data[16] < 2:
                    raise NotReplayable(
                        f"Produce v{after} does not accept records of magic {data[16]}"
                    )


def _reshaped(key: int, body: dict[str, Any], has: set[str]) -> dict[str, Any]:
    """Convert between one and several: coordinator keys, groups of OffsetFetch, members that leave."""
    converted_body = dict(body)
    if key == FIND_COORDINATOR and "key" in body and "coordinator_keys" in has:
        converted_body["coordinator_keys"] = [converted_body.pop("key")]
    elif key == FIND_COORDINATOR and "coordinator_keys" in body and "key" in has:
        converted_body["key"] = _only(converted_body.pop("coordinator_keys"), "keys")
    elif key == OFFSET_FETCH and "groups" in body and "group_id" in has:
        converted_body |= _only(converted_body.pop("groups"), "groups")
        for name in ("member_id", "member_epoch"):
            converted_body.pop(name, None)
    elif key == OFFSET_FETCH and "group_id" in body and "groups" in has:
        converted_body["groups"] = [
            {name: converted_body.pop(name) for name in ("group_id", "topics")}
        ]
    elif key == LEAVE_GROUP and "members" in body and "member_id" in has:
        member = _only(converted_body.pop("members"), "members")
        if member.get("group_instance_id") is not None:
            raise NotReplayable("a static member leaves, which the live version does not support")
        converted_body["member_id"] = member["member_id"]
    elif key == LEAVE_GROUP and "member_id" in body and "members" in has:
        converted_body["members"] = [{"member_id": converted_body.pop("member_id")}]
    return converted_body


def _only(several: list[Any], noun: str) -> Any:
    if len(several) != 1:
        raise NotReplayable(f"{len(several)} {noun} at once, but the live version accepts one")
    return several[0]


def named_topics(value: Any, layout: Layout, names: Mapping[uuid.UUID, str]) -> Any:
    """Replace topic ids by names where the version has no ids, and names by ids where it has no names."""
    converted_body = dict(value)
    slots = {slot.name: slot for slot in layout.slots}
    for field in NAMED[:-1]:
        if "topic_id" in converted_body and field in slots and not converted_body.get(field):
            topic = (
                converted_body["topic_id"]
                if "topic_id" in slots
                else converted_body.pop("topic_id")
            )
            if "topic_id" not in slots:
                if topic not in names:
                    raise NotReplayable(f"nothing in the recording names the topic with id {topic}")
                converted_body[field] = names[topic]
        elif "topic_id" in slots and field in converted_body and field not in slots:
            converted_body["topic_id"] = _id_of(converted_body.pop(field), names)
    for name, inner in converted_body.items():
        slot = slots.get(name)
        struct = None if slot is None else (slot.node.element or slot.node).struct
        if struct is not None and isinstance(inner, list):
            converted_body[name] = [named_topics(item, struct, names) for item in inner]
    return converted_body


def _id_of(name: str, names: Mapping[uuid.UUID, str]) -> uuid.UUID:
    for topic, other in names.items():
        if other == name:
            return topic
    raise NotReplayable(f"the live version needs the id of topic {name!r}, and none was recorded")


def _check(value: Any, layout: Layout, before: Layout, where: str) -> None:
    """Raise NotReplayable for a field with a meaning that the version can't express."""
    slots = {slot.name: slot for slot in layout.slots}
    defaults = {
        slot.name: slot.node.struct.defaults() if slot.node.struct else slot.default
        for slot in before.slots
    }
    nodes = {slot.name: slot.node for slot in before.slots}
    for name, inner in value.items():
        if name not in slots:
            silent = name in OF_NO_CONSEQUENCE or inner in ("", None) or inner == defaults.get(name)
            if not silent and name in nodes:
                raise NotReplayable(f"{where} has no {name}, which holds {inner!r}")
            continue
        if inner is None and not slots[name].node.nullable:
            raise NotReplayable(f"{where} does not accept null as {name}")
        struct = (slots[name].node.element or slots[name].node).struct
        old = nodes[name].element or nodes[name] if name in nodes else None
        if struct is not None and old is not None and old.struct is not None:
            for item in inner if isinstance(inner, list) else [inner] if inner else []:
                _check(item, struct, old.struct, where)


def prune(value: Any, layout: Layout, keep: Collection[str] = ()) -> dict[str, Any]:
    """Return a structure with only the fields that a layout has, and those to keep.

    >>> prune({"key": "g", "key_type": 0}, api(10).request.layout(0))
    {'key': 'g'}
    """
    slots = {slot.name: slot for slot in layout.slots}
    fields: dict[str, Any] = {}
    for name, inner in value.items():
        slot = slots.get(name)
        struct = None if slot is None else (slot.node.element or slot.node).struct
        if struct is not None and isinstance(inner, list):
            fields[name] = [prune(item, struct, keep) for item in inner]
        elif slot is not None or name in keep:
            fields[name] = inner
    return fields
