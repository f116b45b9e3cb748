"""The alphabet of two members of a consumer group (KIP-848), between which partitions move.

The members share a topic of two partitions, which the run creates. A member confirms in its next heartbeat
what a response has assigned to it or taken away. Outputs tell how many partitions a member has, not which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.states.alphabet import Alphabet, Answer, Input, Memory
from barnabas.fuzz.states.commits import COMMITTED
from barnabas.fuzz.states.consumer_group import CONSUMER_GROUP, begins
from barnabas.fuzz.states.two_clients import CLIENTS, begins_with, of_both
from barnabas.plural import plural
from barnabas.specs import keys
from barnabas.specs.groups import NONE, TWO_MEMBERS
from barnabas.specs.groups.pairs import ENTERS, LEAVES, SENDS

_JOIN: Final = "Heartbeat that joins"
_EVENTS: Final = {
    _JOIN: ENTERS,
    "Heartbeat": SENDS,
    "Heartbeat that leaves": LEAVES,
    "OffsetCommit": SENDS,
}
_DESCRIBE: Final = "ConsumerGroupDescribe"
_GROUP: Final = 32
"""The type of a group's configuration."""
_AHEAD: Final = 100
"""Conversations between two configurations of groups."""


def _topic(name: str) -> str:
    """Return the run's topic."""
    run, _, _ = name.rpartition("-")
    return run or name


def _member(name: str, client: str) -> Memory:
    return {
        **begins(f"{name}-{client}"),
        "group_id": begins(name)["group_id"],
        "subscribed_topic_names": [_topic(name)],
        "topic_partitions": [],
    }


def _begins(name: str) -> Memory:
    """Return what both members know at first, and the groups to configure before."""
    both = begins_with(_member)(name)
    run, _, number = name.rpartition("-")
    at = int(number) if number.isdigit() else 0
    ahead = range(at, at + 2 * _AHEAD) if at % _AHEAD == 1 else ()
    return {
        **both,
        "group_id": begins(name)["group_id"],
        "topic": _topic(name),
        "groups": [begins(f"{run}-{each}")["group_id"] for each in ahead],
    }


def _assign_at_once(memory: Memory) -> Mapping[str, Any] | None:
    """Return the configuration of groups whose assignments do not wait for others (Kafka 4.3).

    It is set for many groups before they are used, since brokers apply it after the response.
    """
    config = {"name": "consumer.assignment.interval.ms", "config_operation": 0, "value": "0"}
    resources = [
        {"resource_type": _GROUP, "resource_name": group, "configs": [config]}
        for group in memory["groups"]
    ]
    return {"resources": resources} if resources else None


def _create(memory: Memory) -> Mapping[str, Any] | None:
    if not memory["groups"]:
        return None
    return {"topics": [{"name": memory["topic"], "num_partitions": 2, "replication_factor": 1}]}


def _list_offsets(memory: Memory) -> Mapping[str, Any] | None:
    if not memory["groups"]:
        return None
    partitions = [{"partition_index": index, "timestamp": -1} for index in range(2)]
    return {"topics": [{"name": memory["topic"], "partitions": partitions}]}


def _is_prepared(memory: Memory, _: Answer, error: str) -> None:
    if error == NONE:
        memory["groups"] = []


_CONFIGURATION: Final = Input(
    "IncrementalAlterConfigs", keys.INCREMENTAL_ALTER_CONFIGS, _assign_at_once
)
_CREATION: Final = Input("CreateTopics", keys.CREATE_TOPICS, _create, sent_before=_CONFIGURATION)
_PREPARATION: Final = Input(
    "ListOffsets", keys.LIST_OFFSETS, _list_offsets, _is_prepared, sent_before=_CREATION
)
"""Its response is without an error once the topic exists."""


def _count(partitions: Any) -> str:
    return plural(sum(len(topic["partitions"]) for topic in partitions), "partition")


def _with_assignment(alone: Input) -> Input:
    """Return a member's input that owns, keeps and shows what is assigned to the member."""
    if alone.key != keys.CONSUMER_GROUP_HEARTBEAT:
        return alone

    def fields(memory: Memory) -> Mapping[str, Any] | None:
        sent = alone.fields(memory)
        return sent and {**sent, "topic_partitions": []} if alone.name == _JOIN else sent

    def heard(memory: Memory, answer: Answer, error: str) -> None:
        before = memory["member_epoch"]
        alone.heard(memory, answer, error)
        if error != NONE:
            return
        memory["is_new_epoch"] = memory["member_epoch"] != before
        if answer["assignment"] is not None:
            memory["topic_partitions"] = answer["assignment"]["topic_partitions"]
        elif not memory["member_epoch"]:
            memory["topic_partitions"] = []

    def shown(memory: Memory, answer: Answer) -> str:
        if answer["member_epoch"] <= 0:
            return ""
        epoch = "a new epoch" if memory["is_new_epoch"] else "the same epoch"
        return f"{epoch}, {_count(memory['topic_partitions'])}"

    return alone._replace(fields=fields, heard=heard, shown=shown)


def _described(memory: Memory, answer: Answer) -> str:
    """Return the group's state, and each member's partitions; an earlier epoch than the group's is noted."""
    group = answer["groups"][0]
    members = {member["member_id"]: member for member in group["members"]}
    parts = [group["group_state"]]
    for client in CLIENTS:
        if member := members.get(memory[client]["member_id"]):
            is_current = member["member_epoch"] == group["group_epoch"]
            partitions = _count(member["assignment"]["topic_partitions"])
            parts.append(f"{client}: {partitions}{'' if is_current else ', earlier epoch'}")
    return "; ".join(parts)


_INPUTS: Final = of_both([*map(_with_assignment, CONSUMER_GROUP.inputs)], _EVENTS)

MEMBERS: Final = Alphabet(
    "two-members",
    "two members of a consumer group (KIP-848)",
    CONSUMER_GROUP.needs,
    _begins,
    (
        *(each._replace(sent_before=_PREPARATION) for each in _INPUTS),
        Input(
            _DESCRIBE,
            keys.CONSUMER_GROUP_DESCRIBE,
            lambda memory: {"group_ids": [memory["group_id"]]},
            shown=_described,
            sent_before=COMMITTED._replace(sent_before=_PREPARATION),
        ),
    ),
    TWO_MEMBERS,
    describes=_DESCRIBE,
)
