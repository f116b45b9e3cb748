"""The states of a member of a classic group, given its requests and their responses.

States are those of Java's client (AbstractCoordinator.MemberState). The coordinator's responses in each state
of the group are in GroupCoordinator, and in GroupMetadataManager since 4.0.
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
        (UNJOINED, "it has no generation, or was removed from the group"),
        (COMPLETING, "it has a generation, and waits for its assignment"),
        (STABLE, "it has its assignment"),
        (PREPARING, "it was told to join again"),
    ),
    rows=(
        (UNJOINED, "JoinGroup", NONE, COMPLETING),
        (UNJOINED, "JoinGroup", OTHER, UNJOINED),   # also MEMBER_ID_REQUIRED (KIP-394)
        (UNJOINED, "LeaveGroup", ANY, UNJOINED),
        # the application may commit at any time, but no coordinator may accept it
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
        # other members, and thus the group, may have their assignment already
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
        # a new coordinator has the state of the group before the rebalance
        (PREPARING, "Heartbeat", ANY, PREPARING),
        (PREPARING, "OffsetCommit", ANY, PREPARING),
        (PREPARING, "TxnOffsetCommit", ANY, PREPARING),
        (PREPARING, "LeaveGroup", ANY, UNJOINED),

        # a member can be removed at any time
        *(
            (state, api, gone, UNJOINED)
            for state in (COMPLETING, STABLE, PREPARING)
            for api in ("JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit", "TxnOffsetCommit")
            for gone in ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID")
        ),
    ),
)
# fmt: on
