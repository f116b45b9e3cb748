"""Test members whose heartbeats only have changes."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from tests.captures.kafka.context.exchanges import ORDERS, exchange, line, metadata

FIELDS = ("id", "epoch", "subscribed", "pattern", "assigned")
APIS = {"ConsumerGroupHeartbeat": (0, 1), "ShareGroupHeartbeat": (0, 1)}


def heartbeat(
    epoch: int,
    *,
    subscribed: list[str] | None = None,
    assigned: list[int] | None = None,
    name: str = "ConsumerGroupHeartbeat",
    version: int = 1,
    error: int = 0,
    **more: Any,
) -> Exchange:
    where, who = None, {"group_id": "g", "member_id": "m"}
    if assigned is not None:
        where = {"topic_partitions": [{"topic_id": ORDERS, "partitions": assigned}]}
    return exchange(
        name,
        version,
        {**who, "member_epoch": epoch, "subscribed_topic_names": subscribed, **more},
        {"member_id": "m", "member_epoch": max(epoch, 1), "error_code": error, "assignment": where},
    )


def known(context: Context, found: Exchange | None = None) -> dict[str, Any]:
    """Return the facts of the member; empty if it is unknown."""
    member = context.members.of(found or heartbeat(1))
    return {} if member is None else {name: getattr(member, name) for name in FIELDS}


@pytest.mark.parametrize(
    ("name", "version"), [(name, version) for name, all_ in APIS.items() for version in all_]
)
def test_a_heartbeat_that_says_nothing_is_completed(name: str, version: int) -> None:
    context = Context()
    context.learn(metadata(orders=ORDERS))
    joined = heartbeat(0, subscribed=["orders"], assigned=[0, 1], name=name, version=version)
    assert line(context, joined) == "g joins, epoch 1 member m → orders[0,1]"
    later = heartbeat(1, name=name, version=version)
    assert line(context, later) == "g epoch 1 member m has orders[0,1]"
    seen = {"subscribed": ("orders",), "assigned": {ORDERS: (0, 1)}}
    assert known(context, later).items() >= seen.items()
    context.learn(heartbeat(1, assigned=[], name=name, version=version))
    assert line(context, later) == "g epoch 1 member m has orders[]"


def test_a_member_that_joined_before_is_known_as_far_as_it_says() -> None:
    context = Context()
    assert line(context, heartbeat(7)) == "g epoch 7 member m, assignment not seen"
    nothing = {"id": "m", "epoch": 7, "subscribed": None, "pattern": None, "assigned": None}
    assert known(context) == nothing
    context.learn(heartbeat(8, subscribed=["clicks"]))
    context.learn(heartbeat(9, assigned=[3]))
    seen = {"epoch": 9, "subscribed": ("clicks",), "assigned": {ORDERS: (3,)}}
    assert known(context) == nothing | seen


def test_a_pattern_is_kept() -> None:
    context = Context()
    context.learn(heartbeat(0, subscribed_topic_regex="ord.*"))
    context.learn(heartbeat(1))
    assert known(context).items() >= {"pattern": "ord.*", "subscribed": ()}.items()


@pytest.mark.parametrize(
    "end", [heartbeat(-1), heartbeat(-2), heartbeat(1, error=25), heartbeat(1, error=110)]
)
def test_a_member_that_left_or_was_thrown_out_begins_anew(end: Exchange) -> None:
    context = Context()
    context.learn(heartbeat(0, subscribed=["orders"], assigned=[0]))
    context.learn(end)
    assert known(context) == {}
    assert line(context, heartbeat(5)) == "g epoch 5 member m, assignment not seen"


def test_a_member_that_joins_again_has_nothing_yet() -> None:
    context = Context()
    context.learn(heartbeat(0, subscribed=["orders"], assigned=[0]))
    assert (
        line(context, heartbeat(0, subscribed=["clicks"]))
        == "g joins, epoch 1 member m has nothing"
    )


@pytest.mark.parametrize("error", [15, 16, 14])
def test_other_errors_change_nothing(error: int) -> None:
    context = Context()
    context.learn(heartbeat(0, subscribed=["orders"], assigned=[0]))
    context.learn(heartbeat(1, subscribed=["clicks"], error=error))
    assert known(context)["subscribed"] == ("orders",)


def test_streams_members_have_tasks() -> None:
    def streams(epoch: int, tasks: list[dict[str, Any]] | None) -> Exchange:
        asked = {"group_id": "g", "member_id": "m", "member_epoch": epoch}
        answer = {"member_id": "m", "member_epoch": 3, "active_tasks": tasks}
        return exchange("StreamsGroupHeartbeat", 0, asked, answer)

    context = Context()
    said = line(context, streams(0, [{"subtopology_id": "0", "partitions": [0, 1]}]))
    assert said == "g joins, epoch 3 member m → 0[0,1]"
    assert line(context, streams(3, None)) == "g epoch 3 member m has 0[0,1]"
