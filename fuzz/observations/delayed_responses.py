"""Requests that a broker may leave unanswered for a while, with reasons. Others are answered at once.

Sources: KafkaApis, DelayedOperationPurgatory and the message definitions of Apache Kafka.
"""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.observations.requests import SentRequest
from barnabas.specs import keys

PARKED: Final = {
    keys.PRODUCE: "waits timeout_ms for replicas, unless acks=1; with acks=0 there is no answer",
    keys.FETCH: "waits max_wait_ms for min_bytes",
    keys.JOIN_GROUP: "waits for the other members, up to the rebalance timeout",
    keys.SYNC_GROUP: "waits for the leader's assignment",
    keys.LIST_OFFSETS: "waits for remote storage, up to timeout_ms (v10)",
    keys.OFFSET_COMMIT: "waits until its records are written, up to offsets.commit.timeout.ms",
    keys.TXN_OFFSET_COMMIT: "the same",
    keys.DELETE_RECORDS: "waits timeout_ms for replicas",
    keys.CREATE_TOPICS: "waits timeout_ms for the controller",
    keys.DELETE_TOPICS: "the same",
    keys.CREATE_PARTITIONS: "the same",
    keys.ELECT_LEADERS: "the same",
    keys.ALTER_PARTITION_REASSIGNMENTS: "the same",
    keys.LIST_PARTITION_REASSIGNMENTS: "the same",
    keys.ALTER_CONFIGS: "goes to the controller",
    keys.INCREMENTAL_ALTER_CONFIGS: "the same",
    keys.CREATE_ACLS: "the same",
    keys.DELETE_ACLS: "the same",
    keys.ALTER_CLIENT_QUOTAS: "the same",
    keys.ALTER_USER_SCRAM_CREDENTIALS: "the same",
    keys.UPDATE_FEATURES: "the same",
    keys.CREATE_DELEGATION_TOKEN: "the same",
    keys.RENEW_DELEGATION_TOKEN: "the same",
    keys.EXPIRE_DELEGATION_TOKEN: "the same",
    keys.UNREGISTER_BROKER: "the same",
    keys.DESCRIBE_QUORUM: "the same",
    keys.ALLOCATE_PRODUCER_IDS: "the same",
    keys.INIT_PRODUCER_ID: "waits until the transaction log has it, or a block of ids has come",
    keys.ADD_PARTITIONS_TO_TXN: "waits until the transaction log has it",
    keys.ADD_OFFSETS_TO_TXN: "the same",
    keys.END_TXN: "the same",
    keys.WRITE_TXN_MARKERS: "waits for the append",
    keys.DELETE_GROUPS: "waits until its tombstones are written",
    keys.OFFSET_DELETE: "the same",
    keys.CONSUMER_GROUP_HEARTBEAT: "waits until the group's records are written",
    keys.STREAMS_GROUP_HEARTBEAT: "the same",
    keys.SHARE_GROUP_HEARTBEAT: "the same",
    keys.SHARE_FETCH: "waits max_wait_ms for min_bytes",
    keys.SHARE_ACKNOWLEDGE: "waits until the share coordinator has it",
    keys.DESCRIBE_SHARE_GROUP_OFFSETS: "asks the share coordinator, again if it lacks the partition",
    keys.ALTER_SHARE_GROUP_OFFSETS: "waits until the share coordinator has it",
    keys.DELETE_SHARE_GROUP_OFFSETS: "the same",
    keys.INITIALIZE_SHARE_GROUP_STATE: "the same",
    keys.READ_SHARE_GROUP_STATE: "the same",
    keys.WRITE_SHARE_GROUP_STATE: "the same",
    keys.DELETE_SHARE_GROUP_STATE: "the same",
    keys.READ_SHARE_GROUP_STATE_SUMMARY: "the same",
    keys.LEADER_AND_ISR: "moves logs",
    keys.STOP_REPLICA: "deletes logs",
    keys.UPDATE_METADATA: "between brokers",
    keys.CONTROLLED_SHUTDOWN: "moves leaders",
    keys.ALTER_PARTITION: "waits for the controller",
    keys.BROKER_REGISTRATION: "the same",
    keys.BROKER_HEARTBEAT: "the same",
    keys.CONTROLLER_REGISTRATION: "the same",
    keys.ASSIGN_REPLICAS_TO_DIRS: "the same",
    keys.VOTE: "waits for the quorum",
    keys.BEGIN_QUORUM_EPOCH: "the same",
    keys.END_QUORUM_EPOCH: "the same",
    keys.FETCH_SNAPSHOT: "the same",
    keys.ADD_RAFT_VOTER: "the same",
    keys.REMOVE_RAFT_VOTER: "the same",
    keys.UPDATE_RAFT_VOTER: "the same",
    keys.UNREGISTER_CONTROLLER: "the same",
    keys.ENVELOPE: "as long as what is in it",
    keys.ALTER_REPLICA_LOG_DIRS: "moves logs",
}
"""API key -> why its response may be delayed."""

LIMIT_MS: Final = 3000
"""Milliseconds that any other response may take, alone, while a probe is answered."""

AT_WORK_MS: Final = 30_000
"""Milliseconds that it may take while the process is at work: the machine may be busy."""


def may_wait(request: SentRequest) -> bool:
    """Return whether the response to a request may be delayed."""
    return request.key in PARKED and request.acks != 1
