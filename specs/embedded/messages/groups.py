"""Parts that records of __consumer_offsets share for groups of all kinds but the classic.

Layout: *Group*Key.json and *GroupTargetAssignmentMetadataValue.json of Apache Kafka 4.3.1.
"""

from barnabas.specs.declaration import FOREVER, Int32, Int64, String
from barnabas.specs.message import Message

# fmt: off

def of_group(name: str) -> Message:
    """Return the key of a record about a group."""
    return Message(
        "group_id" / String,
    ).of(name, (0, 0), FOREVER)


def of_member(name: str) -> Message:
    """Return the key of a record about a member of a group."""
    return Message(
        "group_id"  / String,
        "member_id" / String,
    ).of(name, (0, 0), FOREVER)


def target_metadata(name: str) -> Message:
    """Return the value of a record about a group's target assignment."""
    return Message(
        "assignment_epoch"     / Int32,
        "assignment_timestamp" / Int64.tag(0),
    ).of(name, (0, 0), 0)
