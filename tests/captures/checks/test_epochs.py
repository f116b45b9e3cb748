"""Test group epochs of members with group heartbeats."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.checks.epochs import Epochs
from barnabas.captures.checks.rebalance import Generation, Member, Members
from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import S, unread
from tests.captures.checks.groups import GROUP_HEARTBEATS, group_heartbeat


def beats(at: float, member: str, epoch: int, given: int, **more: Any) -> Exchange:
    """Make a heartbeat of a member whose client id is its member id."""
    return group_heartbeat(at, epoch, given, **{"member": member, "client": member, **more})


def learnt(*exchanges: Exchange) -> list[Generation]:
    """Return the generations in the order in which they are over."""
    epochs = Epochs()
    found: list[Generation] = []
    for one in exchanges:
        found += [shown for shown in epochs.learn(unread(one)) if isinstance(shown, Generation)]
    assert all(one.over for one in found)
    return [*found, *epochs.finish()]


def whys(*exchanges: Exchange) -> list[list[str]]:
    return [[*map(str, one.causes)] for one in learnt(*exchanges)]


@pytest.mark.parametrize("name", GROUP_HEARTBEATS)
def test_an_epoch_lasts_until_the_last_member_has_it(name: str) -> None:
    first, second = learnt(
        beats(0, "a", 0, 1, name=name),
        beats(5 * S, "b", 0, 2, name=name),
        beats(6 * S, "a", 1, 1, name=name),  # it gives up its partitions first
        beats(8 * S, "a", 1, 2, name=name),
        beats(9 * S, "a", 2, 2, name=name),
    )
    kind = name.removesuffix("GroupHeartbeat").lower()
    assert (first.number, first.type, [*map(str, first.causes)]) == (1, kind, ["a joined"])
    row = second.row()
    assert (row["generation"], row["why"], row["members"]) == (2, "b joined", 2)
    assert (row["join_ms"], row["waited_for"]) == (3000.0, "a, 3 s")


GONE = {
    "leaves": (beats(9 * S, "b", -1, -1), "b left"),
    "leaves as a static member": (beats(9 * S, "b", -2, -2), "b left"),
    "unknown": (beats(9 * S, "b", 2, 0, error=25), "b was removed"),
    "fenced": (beats(9 * S, "b", 2, 0, error=110), "b was removed"),
    "fenced when it joins": (beats(9 * S, "b", 0, 0, error=110), "b was removed"),
}


@pytest.mark.parametrize(("gone", "why"), GONE.values(), ids=GONE)
def test_a_member_that_goes_and_comes_back(gone: Exchange, why: str) -> None:
    before = (beats(0, "a", 0, 1), beats(5 * S, "b", 0, 2))
    behind = (beats(10 * S, "a", 2, 3), beats(20 * S, "b", 0, 4))
    assert whys(*before, gone, *behind) == [["a joined"], ["b joined"], [why], ["b came back"]]


def test_what_began_before_the_capture_has_no_cause() -> None:
    assert whys(beats(0, "a", 7, 7), beats(5 * S, "a", 7, 8)) == [[], []]


def test_behind_a_gap_all_is_new() -> None:
    rows = [one.row() for one in learnt(beats(0, "a", 0, 1), beats(5 * S, "a", 1, 4, losses=1))]
    assert [(row["generation"], row["why"]) for row in rows] == [(1, "a joined"), (4, "")]


def member(id: str, client: str = "app", instance: str | None = None) -> Member:
    return Member(id, client, f"host/{client}", instance, 1, 0)


def test_members_with_something_in_common_are_counted() -> None:
    members = Members()
    for one in (member("a"), member("b"), member("c", "other", "static")):
        members[one.id] = one
    assert [members.others(member("a"), name) for name in ("app", "host/app", "other")] == [1, 1, 1]
    assert (members.static("static"), members.static("no"), members.static(None)) == ("c", "", "")
    members["b"] = member("b", "other")
    assert (members.others(members["a"], "app"), members["a"].named(members)) == (0, "app")
    members.discard("c")
    members.discard("never")
    assert (members.static("static"), members.others(members["b"], "other")) == ("", 0)
    for member_id in "ab":
        members.discard(member_id)
    assert vars(members) == vars(Members()), "nothing is left of those who have gone"
