"""The registry: every API that Kafka ever had, by key, with the module that declares it.

A literal tuple, so that nothing is imported before it is needed.
"""

from __future__ import annotations

import difflib
import functools
import importlib
from typing import Final

from barnabas.specs.message import Api

REGISTRY: Final = (
    (0, "Produce", "produce"),
    (1, "Fetch", "fetch"),
    (2, "ListOffsets", "list_offsets"),
    (3, "Metadata", "metadata"),
    (4, "LeaderAndIsr", "leader_and_isr"),
    (5, "StopReplica", "stop_replica"),
    (6, "UpdateMetadata", "update_metadata"),
    (7, "ControlledShutdown", "controlled_shutdown"),
    (8, "OffsetCommit", "offset_commit"),
    (9, "OffsetFetch", "offset_fetch"),
    (10, "FindCoordinator", "find_coordinator"),
    (11, "JoinGroup", "join_group"),
    (12, "Heartbeat", "heartbeat"),
    (13, "LeaveGroup", "leave_group"),
    (14, "SyncGroup", "sync_group"),
    (15, "DescribeGroups", "describe_groups"),
    (16, "ListGroups", "list_groups"),
    (17, "SaslHandshake", "sasl_handshake"),
    (18, "ApiVersions", "api_versions"),
    (19, "CreateTopics", "create_topics"),
    (20, "DeleteTopics", "delete_topics"),
    (21, "DeleteRecords", "delete_records"),
    (22, "InitProducerId", "init_producer_id"),
    (23, "OffsetForLeaderEpoch", "offset_for_leader_epoch"),
    (24, "AddPartitionsToTxn", "add_partitions_to_txn"),
    (25, "AddOffsetsToTxn", "add_offsets_to_txn"),
    (26, "EndTxn", "end_txn"),
    (27, "WriteTxnMarkers", "write_txn_markers"),
    (28, "TxnOffsetCommit", "txn_offset_commit"),
    (29, "DescribeAcls", "describe_acls"),
    (30, "CreateAcls", "create_acls"),
    (31, "DeleteAcls", "delete_acls"),
    (32, "DescribeConfigs", "describe_configs"),
    (33, "AlterConfigs", "alter_configs"),
    (34, "AlterReplicaLogDirs", "alter_replica_log_dirs"),
    (35, "DescribeLogDirs", "describe_log_dirs"),
    (36, "SaslAuthenticate", "sasl_authenticate"),
    (37, "CreatePartitions", "create_partitions"),
    (38, "CreateDelegationToken", "create_delegation_token"),
    (39, "RenewDelegationToken", "renew_delegation_token"),
    (40, "ExpireDelegationToken", "expire_delegation_token"),
    (41, "DescribeDelegationToken", "describe_delegation_token"),
    (42, "DeleteGroups", "delete_groups"),
    (43, "ElectLeaders", "elect_leaders"),
    (44, "IncrementalAlterConfigs", "incremental_alter_configs"),
    (45, "AlterPartitionReassignments", "alter_partition_reassignments"),
    (46, "ListPartitionReassignments", "list_partition_reassignments"),
    (47, "OffsetDelete", "offset_delete"),
    (48, "DescribeClientQuotas", "describe_client_quotas"),
    (49, "AlterClientQuotas", "alter_client_quotas"),
    (50, "DescribeUserScramCredentials", "describe_user_scram_credentials"),
    (51, "AlterUserScramCredentials", "alter_user_scram_credentials"),
    (52, "Vote", "vote"),
    (53, "BeginQuorumEpoch", "begin_quorum_epoch"),
    (54, "EndQuorumEpoch", "end_quorum_epoch"),
    (55, "DescribeQuorum", "describe_quorum"),
    (56, "AlterPartition", "alter_partition"),
    (57, "UpdateFeatures", "update_features"),
    (58, "Envelope", "envelope"),
    (59, "FetchSnapshot", "fetch_snapshot"),
    (60, "DescribeCluster", "describe_cluster"),
    (61, "DescribeProducers", "describe_producers"),
    (62, "BrokerRegistration", "broker_registration"),
    (63, "BrokerHeartbeat", "broker_heartbeat"),
    (64, "UnregisterBroker", "unregister_broker"),
    (65, "DescribeTransactions", "describe_transactions"),
    (66, "ListTransactions", "list_transactions"),
    (67, "AllocateProducerIds", "allocate_producer_ids"),
    (68, "ConsumerGroupHeartbeat", "consumer_group_heartbeat"),
    (69, "ConsumerGroupDescribe", "consumer_group_describe"),
    (70, "ControllerRegistration", "controller_registration"),
    (71, "GetTelemetrySubscriptions", "get_telemetry_subscriptions"),
    (72, "PushTelemetry", "push_telemetry"),
    (73, "AssignReplicasToDirs", "assign_replicas_to_dirs"),
    (74, "ListConfigResources", "list_config_resources"),
    (75, "DescribeTopicPartitions", "describe_topic_partitions"),
    (76, "ShareGroupHeartbeat", "share_group_heartbeat"),
    (77, "ShareGroupDescribe", "share_group_describe"),
    (78, "ShareFetch", "share_fetch"),
    (79, "ShareAcknowledge", "share_acknowledge"),
    (80, "AddRaftVoter", "add_raft_voter"),
    (81, "RemoveRaftVoter", "remove_raft_voter"),
    (82, "UpdateRaftVoter", "update_raft_voter"),
    (83, "InitializeShareGroupState", "initialize_share_group_state"),
    (84, "ReadShareGroupState", "read_share_group_state"),
    (85, "WriteShareGroupState", "write_share_group_state"),
    (86, "DeleteShareGroupState", "delete_share_group_state"),
    (87, "ReadShareGroupStateSummary", "read_share_group_state_summary"),
    (88, "StreamsGroupHeartbeat", "streams_group_heartbeat"),
    (89, "StreamsGroupDescribe", "streams_group_describe"),
    (90, "DescribeShareGroupOffsets", "describe_share_group_offsets"),
    (91, "AlterShareGroupOffsets", "alter_share_group_offsets"),
    (92, "DeleteShareGroupOffsets", "delete_share_group_offsets"),
    (93, "StreamsGroupTopologyDescriptionUpdate", "streams_group_topology_description_update"),
    (94, "UnregisterController", "unregister_controller"),
)
"""(key, name, module below barnabas.specs.apis)."""

NAMES: Final = {key: name for key, name, _ in REGISTRY}
"""Name of each API by its key."""

_HEADERS: Final = 32767
"""The highest key that a header can hold."""

_KEYS: Final = {name.lower(): key for key, name, _ in REGISTRY}
_MODULES: Final = {key: module for key, _, module in REGISTRY}


def api(which: int | str) -> Api:
    """The declaration of an API, by key or by name in any case.

    Raises LookupError, with the nearest name, for one that does not exist.

    >>> api("fetch").key, api(3).name
    (1, 'Metadata')
    """
    return _load(key_of(which))


def key_of(which: int | str) -> int:
    """The key of an API, by key or by name in any case. Raises LookupError as `api` does."""
    if isinstance(which, int) or which.isdecimal():
        key = int(which)
        if key in NAMES or (key > _HEADERS and _of_draft(key) is not None):
            return key
        raise LookupError(f"no API has key {key}; the keys are 0 to {max(NAMES)}")
    found = _KEYS.get(which.lower())
    if found is not None:
        return found
    near = difflib.get_close_matches(which.lower(), _KEYS, n=1, cutoff=0)
    raise LookupError(f"no API is called {which!r}; did you mean {NAMES[_KEYS[near[0]]]}?")


def name_of(key: int) -> str | None:
    """The name of an API, of a draft too (`barnabas.specs.drafts.keys`); None: there is none.

    >>> name_of(3), name_of(65536 + 7), name_of(1000)
    ('Metadata', 'Ping', None)
    """
    found = NAMES.get(key)
    if found is None and key > _HEADERS and (declared := _of_draft(key)) is not None:
        return declared.name
    return found


@functools.cache
def _of_draft(key: int) -> Api | None:
    """A draft's API by the key that it has here."""
    drafts = importlib.import_module("barnabas.specs.drafts.keys")
    try:
        found = drafts.of_key(key)[1].api
    except LookupError:
        return None
    assert isinstance(found, Api)  # noqa: S101 - the type of DraftApi.api
    return found


@functools.cache
def _load(key: int) -> Api:
    if key > _HEADERS:
        declared = _of_draft(key)
        assert declared is not None  # noqa: S101 - key_of has looked
        return declared
    found = getattr(importlib.import_module(f"barnabas.specs.apis.{_MODULES[key]}"), NAMES[key])
    assert isinstance(found, Api)  # noqa: S101 - a slip in the table above
    return found
