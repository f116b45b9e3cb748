"""A recorded body in another version, for a live cluster that lacks the recorded one."""

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
"""Fields that a request can do without where a version lacks them: limits, hints, what is said twice,
and the session of a Fetch, which is then asked for all of its partitions."""


NAMED: Final = ("topic", "name", "topic_name", "topic_id")
"""What topics are called by: a name in most versions, an id in the newest."""


class NotReplayable(ValueError):
    """A request that the live cluster can't be asked; its text says why."""


def version_for(key: int, recorded: int, offered: Mapping[int, tuple[int, int]]) -> int:
    """The version to ask in: the recorded one, or the nearest that both know. Raises NotReplayable.

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


def converted(
    key: int, body: dict[str, Any], before: int, after: int, names: Mapping[uuid.UUID, str]
) -> dict[str, Any]:
    """A request's body, with what the other version calls otherwise. Raises NotReplayable.

    names: of topics by the recorded ids.

    >>> converted(10, {"key": "g", "key_type": 0}, 3, 4, {})
    {'key_type': 0, 'coordinator_keys': ['g']}
    """
    if before == after:
        return body
    _check_producing(key, body, before, after)
    layout = api(key).request.layout(after)
    found = _reshaped(key, body, {slot.name for slot in layout.slots})
    found = named_topics(found, layout, names)
    _check(found, layout, api(key).request.layout(before), f"{NAMES[key]} v{after}")
    return pruned(found, layout)


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
    """Where one became several: keys of coordinators, groups whose offsets are read, members that leave."""
    found = dict(body)
    if key == FIND_COORDINATOR and "key" in body and "coordinator_keys" in has:
        found["coordinator_keys"] = [found.pop("key")]
    elif key == FIND_COORDINATOR and "coordinator_keys" in body and "key" in has:
        found["key"] = _only(found.pop("coordinator_keys"), "keys")
    elif key == OFFSET_FETCH and "groups" in body and "group_id" in has:
        found |= _only(found.pop("groups"), "groups")
        for name in ("member_id", "member_epoch"):
            found.pop(name, None)
    elif key == OFFSET_FETCH and "group_id" in body and "groups" in has:
        found["groups"] = [{name: found.pop(name) for name in ("group_id", "topics")}]
    elif key == LEAVE_GROUP and "members" in body and "member_id" in has:
        member = _only(found.pop("members"), "members")
        if member.get("group_instance_id") is not None:
            raise NotReplayable("a static member leaves, which the live version does not support")
        found["member_id"] = member["member_id"]
    elif key == LEAVE_GROUP and "member_id" in body and "members" in has:
        found["members"] = [{"member_id": found.pop("member_id")}]
    return found


def _only(several: list[Any], what: str) -> Any:
    if len(several) != 1:
        raise NotReplayable(f"{len(several)} {what} at once, but the live version accepts one")
    return several[0]


def named_topics(value: Any, layout: Layout, names: Mapping[uuid.UUID, str]) -> Any:
    """Topics by name where the version has no ids for them, and by id where it has no names."""
    found = dict(value)
    slots = {slot.name: slot for slot in layout.slots}
    for field in NAMED[:-1]:
        if "topic_id" in found and field in slots and not found.get(field):
            topic = found["topic_id"] if "topic_id" in slots else found.pop("topic_id")
            if "topic_id" not in slots:
                if topic not in names:
                    raise NotReplayable(f"nothing in the recording names the topic with id {topic}")
                found[field] = names[topic]
        elif "topic_id" in slots and field in found and field not in slots:
            found["topic_id"] = _id_of(found.pop(field), names)
    for name, inner in found.items():
        slot = slots.get(name)
        struct = None if slot is None else (slot.node.element or slot.node).struct
        if struct is not None and isinstance(inner, list):
            found[name] = [named_topics(item, struct, names) for item in inner]
    return found


def _id_of(name: str, names: Mapping[uuid.UUID, str]) -> uuid.UUID:
    for topic, other in names.items():
        if other == name:
            return topic
    raise NotReplayable(f"the live version needs the id of topic {name!r}, and none was recorded")


def _check(value: Any, layout: Layout, before: Layout, where: str) -> None:
    """Raises NotReplayable for a field that says something which the version can't say."""
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


def pruned(value: Any, layout: Layout, keep: Collection[str] = ()) -> dict[str, Any]:
    """A structure with those fields only that a layout has, and those to keep.

    >>> pruned({"key": "g", "key_type": 0}, api(10).request.layout(0))
    {'key': 'g'}
    """
    slots = {slot.name: slot for slot in layout.slots}
    found: dict[str, Any] = {}
    for name, inner in value.items():
        slot = slots.get(name)
        struct = None if slot is None else (slot.node.element or slot.node).struct
        if struct is not None and isinstance(inner, list):
            found[name] = [pruned(item, struct, keep) for item in inner]
        elif slot is not None or name in keep:
            found[name] = inner
    return found
