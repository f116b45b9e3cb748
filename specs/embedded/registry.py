"""The registry of messages inside bytes: every name with the module that declares it.

These are tables of names, so that modules are imported on first use. The tables of records also have the
records' types.
"""

from __future__ import annotations

import functools
import importlib
from typing import Final

from barnabas.nearest import did_you_mean
from barnabas.specs.message import Message

_COORDINATORS: Final[dict[str, dict[str, dict[int, str]]]] = {
    "__consumer_offsets": {
        "classic_groups": {0: "LegacyOffsetCommit", 1: "OffsetCommit", 2: "GroupMetadata"},
        "consumer_groups": {
            3: "ConsumerGroupMetadata",
            4: "ConsumerGroupPartitionMetadata",
            5: "ConsumerGroupMemberMetadata",
            6: "ConsumerGroupTargetAssignmentMetadata",
            7: "ConsumerGroupTargetAssignmentMember",
            8: "ConsumerGroupCurrentMemberAssignment",
            16: "ConsumerGroupRegularExpression",
        },
        "share_groups": {
            10: "ShareGroupMemberMetadata",
            11: "ShareGroupMetadata",
            12: "ShareGroupTargetAssignmentMetadata",
            13: "ShareGroupTargetAssignmentMember",
            14: "ShareGroupCurrentMemberAssignment",
            15: "ShareGroupStatePartitionMetadata",
        },
        "streams_groups": {
            17: "StreamsGroupMetadata",
            19: "StreamsGroupMemberMetadata",
            20: "StreamsGroupTargetAssignmentMetadata",
            21: "StreamsGroupTargetAssignmentMember",
            22: "StreamsGroupCurrentMemberAssignment",
            23: "StreamsGroupTopology",
        },
    },
    "__transaction_state": {"transaction_state": {0: "TransactionLog"}},
    "__share_group_state": {"share_group_state": {0: "ShareSnapshot", 1: "ShareUpdate"}},
}
"""Topic -> module -> type of record -> its name, to which `Key` and `Value` are appended (Kafka 4.3.1)."""

COORDINATORS: Final = {
    topic: {number: name for types in modules.values() for number, name in types.items()}
    for topic, modules in _COORDINATORS.items()
}
"""Topic -> type of record -> its name."""

_METADATA: Final = {
    "metadata_cluster": {
        0: "RegisterBrokerRecord",
        1: "UnregisterBrokerRecord",
        7: "FenceBrokerRecord",
        8: "UnfenceBrokerRecord",
        12: "FeatureLevelRecord",
        15: "ProducerIdsRecord",
        17: "BrokerRegistrationChangeRecord",
        20: "NoOpRecord",
        21: "ZkMigrationStateRecord",
        23: "BeginTransactionRecord",
        24: "EndTransactionRecord",
        25: "AbortTransactionRecord",
        27: "RegisterControllerRecord",
    },
    "metadata_topics": {
        2: "TopicRecord",
        3: "PartitionRecord",
        5: "PartitionChangeRecord",
        9: "RemoveTopicRecord",
        28: "ClearElrRecord",
    },
    "metadata_settings": {
        4: "ConfigRecord",
        10: "DelegationTokenRecord",
        11: "UserScramCredentialRecord",
        14: "ClientQuotaRecord",
        18: "AccessControlEntryRecord",
        19: "RemoveAccessControlEntryRecord",
        22: "RemoveUserScramCredentialRecord",
        26: "RemoveDelegationTokenRecord",
    },
}
"""Module -> type of record in __cluster_metadata -> its name (Kafka 4.3.1)."""

METADATA_RECORDS: Final = {
    number: name for types in _METADATA.values() for number, name in types.items()
}
"""Type of record in __cluster_metadata -> its name."""

REGISTRY: Final = (
    ("ConsumerProtocolSubscription", "consumer_protocol"),
    ("ConsumerProtocolAssignment", "consumer_protocol"),
    ("ConnectProtocolSubscription", "connect_protocol"),
    ("ConnectProtocolAssignment", "connect_protocol"),
    ("SubscriptionInfoData", "streams_protocol"),
    ("AssignmentInfo", "streams_protocol"),
    ("StickyAssignorUserData", "sticky_assignors"),
    ("CooperativeStickyAssignorUserData", "sticky_assignors"),
    *(
        (f"{name}{part}", module)
        for modules in _COORDINATORS.values()
        for module, types in modules.items()
        for name in types.values()
        for part in ("Key", "Value")
    ),
    *((name, module) for module, types in _METADATA.items() for name in types.values()),
    ("ControlRecordTypeSchema", "control"),
    ("EndTxnMarker", "control"),
    ("LeaderChangeMessage", "control"),
    ("SnapshotHeaderRecord", "control"),
    ("SnapshotFooterRecord", "control"),
    ("KRaftVersionRecord", "control"),
    ("VotersRecord", "control"),
    ("DefaultPrincipalData", "principal"),
    ("AbortedTxn", "files"),
    ("QuorumStateData", "files"),
)
"""(name, module below barnabas.specs.embedded.messages)."""

_MODULES: Final = dict(REGISTRY)


@functools.cache
def message(name: str) -> Message:
    """Return the declaration of a message by its name in Kafka.

    Raises:
        LookupError: There is no such message; the error has the nearest name.

    >>> message("GroupMetadataValue").versions
    (0, 4)
    """
    if name not in _MODULES:
        hint = did_you_mean(name, _MODULES)
        raise LookupError(f"no message inside bytes is called {name!r}{hint}")
    declared = getattr(
        importlib.import_module(f"barnabas.specs.embedded.messages.{_MODULES[name]}"), name
    )
    assert isinstance(declared, Message)  # noqa: S101 - a slip in the table above
    return declared
