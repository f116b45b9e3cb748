"""A member of a classic group, as its requests and their answers show it.

States are those of Java's client (AbstractCoordinator.MemberState); what a coordinator answers in
which state of the group is in GroupCoordinator, and in GroupMetadataManager since 4.0.
"""

from __future__ import annotations

from typing import Final

from barnabas.specs.groups.table import ANY, NONE, OTHER, Table

UNJOINED: Final = "UNJOINED"
COMPLETING: Final = "COMPLETING_REBALANCE"
STABLE: Final = "STABLE"
PREPARING: Final = "PREPARING_REBALANCE"

NOBODY: Final = "OffsetCommit of no member"

# fmt: off
CLASSIC_MEMBER: Final = Table(
    source="AbstractCoordinator.MemberState; GroupCoordinator (to 3.9), GroupMetadataManager (4.0)",
    states=(
        (UNJOINED, "it has no generation, or was told that it is a member no longer"),
        (COMPLETING, "it has a generation, and waits for its assignment"),
        (STABLE, "it has its assignment"),
        (PREPARING, "it was told to join again"),
    ),
    rows=(
        (UNJOINED, "JoinGroup", NONE, COMPLETING),
        (UNJOINED, "JoinGroup", OTHER, UNJOINED),   # MEMBER_ID_REQUIRED too (KIP-394)
        (UNJOINED, "LeaveGroup", ANY, UNJOINED),
        # the application may commit whenever it likes, but nobody may take it
        (UNJOINED, "OffsetCommit", OTHER, UNJOINED),
        (UNJOINED, "TxnOffsetCommit", OTHER, UNJOINED),
        (UNJOINED, NOBODY, ANY, UNJOINED),  # as long as the group is empty

        (COMPLETING, "JoinGroup", NONE, COMPLETING),
        (COMPLETING, "JoinGroup", OTHER, COMPLETING),
        (COMPLETING, "SyncGroup", NONE, STABLE),
        (COMPLETING, "SyncGroup", "REBALANCE_IN_PROGRESS", PREPARING),
        (COMPLETING, "SyncGroup", OTHER, COMPLETING),
        # brokers before 2.6 answer REBALANCE_IN_PROGRESS while assignments are awaited
        (COMPLETING, "Heartbeat", ANY, COMPLETING),
        # others may have their assignment already, and with it the group
        (COMPLETING, "OffsetCommit", ANY, COMPLETING),
        (COMPLETING, "TxnOffsetCommit", ANY, COMPLETING),
        (COMPLETING, "LeaveGroup", ANY, UNJOINED),

        (STABLE, "JoinGroup", NONE, COMPLETING),
        (STABLE, "JoinGroup", OTHER, STABLE),
        (STABLE, "SyncGroup", NONE, STABLE),
        (STABLE, "SyncGroup", "REBALANCE_IN_PROGRESS", PREPARING),
        (STABLE, "SyncGroup", OTHER, STABLE),
        (STABLE, "Heartbeat", "REBALANCE_IN_PROGRESS", PREPARING),
        (STABLE, "Heartbeat", ANY, STABLE),
        (STABLE, "OffsetCommit", ANY, STABLE),
        (STABLE, "TxnOffsetCommit", ANY, STABLE),
        (STABLE, "LeaveGroup", ANY, UNJOINED),

        (PREPARING, "JoinGroup", NONE, COMPLETING),
        (PREPARING, "JoinGroup", OTHER, PREPARING),
        (PREPARING, "SyncGroup", OTHER, PREPARING),
        # a coordinator that took over has the group as it was before the rebalance
        (PREPARING, "Heartbeat", ANY, PREPARING),
        (PREPARING, "OffsetCommit", ANY, PREPARING),
        (PREPARING, "TxnOffsetCommit", ANY, PREPARING),
        (PREPARING, "LeaveGroup", ANY, UNJOINED),

        # a member can be thrown out at any time
        *(
            (state, api, gone, UNJOINED)
            for state in (COMPLETING, STABLE, PREPARING)
            for api in ("JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit", "TxnOffsetCommit")
            for gone in ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID")
        ),
    ),
)
# fmt: on
