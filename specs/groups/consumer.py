"""The states of a member that sends group heartbeats of its own, given its requests and their responses.

They are the same in consumer groups (KIP-848), share groups (KIP-932) and Streams groups (KIP-1071). The
epoch of a heartbeat gives its purpose: 0 joins, -1 leaves, -2 leaves temporarily (static members).
"""

from __future__ import annotations

from typing import Final

from barnabas.specs.groups.table import ANY, NONE, OTHER, Table

UNSUBSCRIBED: Final = "UNSUBSCRIBED"
JOINED: Final = "JOINED"
FENCED: Final = "FENCED"

JOIN: Final = "join"
BEAT: Final = "heartbeat"
LEAVE: Final = "leave"
COMMIT: Final = "OffsetCommit"
NOBODY: Final = "OffsetCommit of no member"

# fmt: off
CONSUMER_MEMBER: Final = Table(
    source="KIP-848, Heartbeat & Session; MemberState (client), GroupMetadataManager (broker)",
    states=(
        (UNSUBSCRIBED, "it is not a member, or no longer one"),
        (JOINED, "it has an epoch, and revokes and adds partitions as requested"),
        (FENCED, "it was told to join again with epoch 0"),
    ),
    rows=(
        (UNSUBSCRIBED, JOIN, NONE, JOINED),
        (UNSUBSCRIBED, JOIN, OTHER, UNSUBSCRIBED),
        (UNSUBSCRIBED, LEAVE, ANY, UNSUBSCRIBED),
        (UNSUBSCRIBED, COMMIT, OTHER, UNSUBSCRIBED),
        (UNSUBSCRIBED, NOBODY, ANY, UNSUBSCRIBED),  # as long as the group is empty

        (JOINED, JOIN, NONE, JOINED),
        (JOINED, JOIN, OTHER, JOINED),
        (JOINED, BEAT, NONE, JOINED),
        (JOINED, BEAT, "UNKNOWN_MEMBER_ID", FENCED),
        (JOINED, BEAT, "FENCED_MEMBER_EPOCH", FENCED),
        (JOINED, BEAT, "GROUP_ID_NOT_FOUND", FENCED),
        (JOINED, BEAT, OTHER, JOINED),
        (JOINED, LEAVE, ANY, UNSUBSCRIBED),
        (JOINED, COMMIT, ANY, JOINED),

        (FENCED, JOIN, NONE, JOINED),
        (FENCED, JOIN, OTHER, FENCED),
        (FENCED, LEAVE, ANY, UNSUBSCRIBED),
        (FENCED, COMMIT, OTHER, FENCED),
        (FENCED, NOBODY, ANY, FENCED),
    ),
)
# fmt: on


def event(epoch: int) -> str:
    """Return the event of a heartbeat with this epoch.

    >>> event(0), event(7), event(-1), event(-2)
    ('join', 'heartbeat', 'leave', 'leave')
    """
    return JOIN if epoch == 0 else BEAT if epoch > 0 else LEAVE
