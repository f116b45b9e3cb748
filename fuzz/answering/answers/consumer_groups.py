"""Heartbeats of KIP-848 and of share groups (KIP-932): the one member is given everything at once."""

from __future__ import annotations

from typing import Any, Final

from barnabas.fuzz.answering.answers.ask import Ask
from barnabas.fuzz.answering.cluster import TOPIC_ID, Cluster

_INTERVAL: Final = 3000
"""Milliseconds between heartbeats, as brokers say by default."""


def group_heartbeat(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """Epoch 0 joins, -1 and -2 leave."""
    group, epoch = cluster.group(ask.body["group_id"]), ask.body["member_epoch"]
    member = ask.body["member_id"] or cluster.new_member()
    if epoch < 0:
        group.member = ""
        return {"member_id": member, "member_epoch": epoch, "heartbeat_interval_ms": _INTERVAL}
    answer: dict[str, Any] = {"member_id": member, "heartbeat_interval_ms": _INTERVAL}
    if epoch == 0:
        group.member = member
        group.generation += 1
        everything = {"topic_id": TOPIC_ID, "partitions": list(range(len(cluster.logs)))}
        answer["assignment"] = {"topic_partitions": [everything]}
    return {**answer, "member_epoch": group.generation}
