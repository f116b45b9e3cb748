"""The registry of what hides inside bytes: every message with the module that declares it.

A literal tuple, so that nothing is imported before it is needed.
"""

from __future__ import annotations

import difflib
import functools
import importlib
from typing import Final

from barnabas.specs.message import Message

REGISTRY: Final = (
    ("ConsumerProtocolSubscription", "consumer_protocol"),
    ("ConsumerProtocolAssignment", "consumer_protocol"),
    ("ConnectProtocolSubscription", "connect_protocol"),
    ("ConnectProtocolAssignment", "connect_protocol"),
    ("SubscriptionInfoData", "streams_protocol"),
    ("AssignmentInfo", "streams_protocol"),
    ("StickyAssignorUserData", "sticky_assignors"),
    ("CooperativeStickyAssignorUserData", "sticky_assignors"),
    ("LegacyOffsetCommitKey", "classic_groups"),
    ("LegacyOffsetCommitValue", "classic_groups"),
    ("OffsetCommitKey", "classic_groups"),
    ("OffsetCommitValue", "classic_groups"),
    ("GroupMetadataKey", "classic_groups"),
    ("GroupMetadataValue", "classic_groups"),
    ("ConsumerGroupMetadataKey", "consumer_groups"),
    ("ConsumerGroupMetadataValue", "consumer_groups"),
    ("ConsumerGroupPartitionMetadataKey", "consumer_groups"),
    ("ConsumerGroupPartitionMetadataValue", "consumer_groups"),
    ("ConsumerGroupMemberMetadataKey", "consumer_groups"),
    ("ConsumerGroupMemberMetadataValue", "consumer_groups"),
    ("ConsumerGroupTargetAssignmentMetadataKey", "consumer_groups"),
    ("ConsumerGroupTargetAssignmentMetadataValue", "consumer_groups"),
    ("ConsumerGroupTargetAssignmentMemberKey", "consumer_groups"),
    ("ConsumerGroupTargetAssignmentMemberValue", "consumer_groups"),
    ("ConsumerGroupCurrentMemberAssignmentKey", "consumer_groups"),
    ("ConsumerGroupCurrentMemberAssignmentValue", "consumer_groups"),
    ("ConsumerGroupRegularExpressionKey", "consumer_groups"),
    ("ConsumerGroupRegularExpressionValue", "consumer_groups"),
    ("ShareGroupMemberMetadataKey", "share_groups"),
    ("ShareGroupMemberMetadataValue", "share_groups"),
    ("ShareGroupMetadataKey", "share_groups"),
    ("ShareGroupMetadataValue", "share_groups"),
    ("ShareGroupTargetAssignmentMetadataKey", "share_groups"),
    ("ShareGroupTargetAssignmentMetadataValue", "share_groups"),
    ("ShareGroupTargetAssignmentMemberKey", "share_groups"),
    ("ShareGroupTargetAssignmentMemberValue", "share_groups"),
    ("ShareGroupCurrentMemberAssignmentKey", "share_groups"),
    ("ShareGroupCurrentMemberAssignmentValue", "share_groups"),
    ("ShareGroupStatePartitionMetadataKey", "share_groups"),
    ("ShareGroupStatePartitionMetadataValue", "share_groups"),
    ("StreamsGroupMetadataKey", "streams_groups"),
    ("StreamsGroupMetadataValue", "streams_groups"),
    ("StreamsGroupMemberMetadataKey", "streams_groups"),
    ("StreamsGroupMemberMetadataValue", "streams_groups"),
    ("StreamsGroupTargetAssignmentMetadataKey", "streams_groups"),
    ("StreamsGroupTargetAssignmentMetadataValue", "streams_groups"),
    ("StreamsGroupTargetAssignmentMemberKey", "streams_groups"),
    ("StreamsGroupTargetAssignmentMemberValue", "streams_groups"),
    ("StreamsGroupCurrentMemberAssignmentKey", "streams_groups"),
    ("StreamsGroupCurrentMemberAssignmentValue", "streams_groups"),
    ("StreamsGroupTopologyKey", "streams_groups"),
    ("StreamsGroupTopologyValue", "streams_groups"),
    ("TransactionLogKey", "transaction_state"),
    ("TransactionLogValue", "transaction_state"),
    ("ShareSnapshotKey", "share_group_state"),
    ("ShareSnapshotValue", "share_group_state"),
    ("ShareUpdateKey", "share_group_state"),
    ("ShareUpdateValue", "share_group_state"),
    ("RegisterBrokerRecord", "metadata_cluster"),
    ("UnregisterBrokerRecord", "metadata_cluster"),
    ("FenceBrokerRecord", "metadata_cluster"),
    ("UnfenceBrokerRecord", "metadata_cluster"),
    ("FeatureLevelRecord", "metadata_cluster"),
    ("ProducerIdsRecord", "metadata_cluster"),
    ("BrokerRegistrationChangeRecord", "metadata_cluster"),
    ("NoOpRecord", "metadata_cluster"),
    ("ZkMigrationStateRecord", "metadata_cluster"),
    ("BeginTransactionRecord", "metadata_cluster"),
    ("EndTransactionRecord", "metadata_cluster"),
    ("AbortTransactionRecord", "metadata_cluster"),
    ("RegisterControllerRecord", "metadata_cluster"),
    ("TopicRecord", "metadata_topics"),
    ("PartitionRecord", "metadata_topics"),
    ("PartitionChangeRecord", "metadata_topics"),
    ("RemoveTopicRecord", "metadata_topics"),
    ("ClearElrRecord", "metadata_topics"),
    ("ConfigRecord", "metadata_settings"),
    ("DelegationTokenRecord", "metadata_settings"),
    ("UserScramCredentialRecord", "metadata_settings"),
    ("ClientQuotaRecord", "metadata_settings"),
    ("AccessControlEntryRecord", "metadata_settings"),
    ("RemoveAccessControlEntryRecord", "metadata_settings"),
    ("RemoveUserScramCredentialRecord", "metadata_settings"),
    ("RemoveDelegationTokenRecord", "metadata_settings"),
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
    """The declaration of a message by its name in Kafka.

    Raises LookupError, with the nearest name, for one that does not exist.

    >>> message("GroupMetadataValue").versions
    (0, 4)
    """
    if name not in _MODULES:
        near = difflib.get_close_matches(name, _MODULES, n=1, cutoff=0)
        raise LookupError(f"no message inside bytes is called {name!r}; did you mean {near[0]}?")
    found = getattr(
        importlib.import_module(f"barnabas.specs.embedded.messages.{_MODULES[name]}"), name
    )
    assert isinstance(found, Message)  # noqa: S101 - a slip in the table above
    return found
