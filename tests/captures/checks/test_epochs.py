"""Group epochs of members with heartbeats of their own."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.checks.epochs import Epochs
from barnabas.captures.checks.rebalance import Generation
from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import exchange

S = 1000.0


def beat(
    at: float,
    member: str,
    epoch: int,
    given: int,
    *,
    error: int = 0,
    name: str = "ConsumerGroupHeartbeat",
    **more: Any,
) -> Exchange:
    asked = {"group_id": "g", "member_id": member, "member_epoch": epoch}
    answer = {
        "member_id": member,
        "member_epoch": given,
        "error_code": error,
        "heartbeat_interval_ms": 5000,
    }
    return exchange(name, 0, asked, answer, at=at, **{"client": member, **more})


def learnt(*exchanges: Exchange) -> list[Generation]:
    epochs = Epochs()
    found: list[Generation] = []
    for one in exchanges:
        found += [shown for shown in epochs.learn(one) if isinstance(shown, Generation)]
    assert all(one.over for one in found)
    return [*found, *epochs.finish()]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ConsumerGroupHeartbeat", "consumer"),
        ("ShareGroupHeartbeat", "share"),
        ("StreamsGroupHeartbeat", "streams"),
    ],
)
def test_an_epoch_lasts_until_the_last_member_has_it(name: str, kind: str) -> None:
    first, second = learnt(
        beat(0, "a", 0, 1, name=name),
        beat(5 * S, "b", 0, 2, name=name),
        beat(6 * S, "a", 1, 1, name=name),  # it gives up its partitions first
        beat(8 * S, "a", 1, 2, name=name),
        beat(9 * S, "a", 2, 2, name=name),
    )
    assert (first.number, first.type, [*map(str, first.causes)]) == (1, kind, ["a joined"])
    row = second.row()
    assert (row["generation"], row["why"], row["members"]) == (2, "b joined", 2)
    assert (row["join_ms"], row["waited_for"]) == (3000.0, "a, 3 s")


@pytest.mark.parametrize(
    ("gone", "why"),
    [
        (beat(9 * S, "b", -1, -1), "b left"),
        (beat(9 * S, "b", -2, -2), "b left"),
        (beat(9 * S, "b", 2, 0, error=25), "b was removed"),
        (beat(9 * S, "b", 2, 0, error=110), "b was removed"),
    ],
)
def test_a_member_that_goes_and_comes_back(gone: Exchange, why: str) -> None:
    causes = [
        [*map(str, one.causes)]
        for one in learnt(
            beat(0, "a", 0, 1),
            beat(5 * S, "b", 0, 2),
            gone,
            beat(10 * S, "a", 2, 3),
            beat(20 * S, "b", 0, 4),
        )
    ]
    assert causes == [["a joined"], ["b joined"], [why], ["b came back"]]


def test_what_began_before_the_capture_has_no_cause() -> None:
    assert [one.causes for one in learnt(beat(0, "a", 7, 7), beat(5 * S, "a", 7, 8))] == [[], []]


def test_behind_a_gap_all_is_new() -> None:
    rows = [one.row() for one in learnt(beat(0, "a", 0, 1), beat(5 * S, "a", 1, 4, losses=1))]
    assert [(row["generation"], row["why"]) for row in rows] == [(1, "a joined"), (4, "")]
