"""Test embedded messages, decoded with facts from earlier exchanges."""

from __future__ import annotations

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.embedded import inside
from tests.captures.kafka.context.exchanges import exchange

SUBSCRIPTION = bytes.fromhex("0000 00000001 000174 ffffffff")
ASSIGNMENT = bytes.fromhex("0000 00000001 000174 00000001 00000002 ffffffff")

MINE = {"name": "range", "metadata": SUBSCRIPTION}

JOIN = exchange(
    "JoinGroup",
    5,
    {"group_id": "g", "protocol_type": "consumer", "protocols": [MINE]},
    {"protocol_name": "range", "members": [{"member_id": "m", "metadata": SUBSCRIPTION}]},
)  # fmt: skip

SYNC = exchange(
    "SyncGroup",
    3,
    {"group_id": "g", "assignments": [{"member_id": "m", "assignment": ASSIGNMENT}]},
    {"assignment": ASSIGNMENT},
)


def test_a_join_says_itself_what_it_is() -> None:
    found = inside(JOIN, Context())
    assert found["request"]["protocols[0].metadata"]["values"]["topics"] == ["t"]
    assert found["response"]["members[0].metadata"]["values"]["topics"] == ["t"]


def test_a_sync_is_read_once_a_join_has_passed() -> None:
    context = Context()
    before = inside(SYNC, context)["response"]["assignment"]
    assert before == {
        "unread": "nothing says the protocol type of the group",
        "size": len(ASSIGNMENT),
    }
    context.learn(JOIN)
    found = inside(SYNC, context)
    values = {"assigned_partitions": [{"topic": "t", "partitions": [2]}], "user_data": None}
    assert found["response"]["assignment"]["values"] == values
    assert found["request"]["assignments[0].assignment"]["values"] == values


def test_nothing_hides_in_most() -> None:
    assert inside(exchange("Heartbeat", 1, {"group_id": "g"}, {}), Context()) == {}
    cut = exchange("JoinGroup", 5, {"protocols": []}, {})
    cut.request_body = b"?"
    cut.response_body = None
    assert inside(cut, Context()) == {}
