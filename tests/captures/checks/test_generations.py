"""Test generations of classic groups: causes, and members that delay them."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from barnabas.captures.checks.generations import Generations, kafkas
from barnabas.captures.checks.group_messages import GroupMessage
from barnabas.captures.checks.rebalance import Generation
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import JOIN_GROUP
from tests.captures.checks import groups
from tests.captures.checks.given import S, by_end, exchange, unread
from tests.captures.checks.groups import heartbeat, leave, sync

ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, REBALANCE_IN_PROGRESS, MEMBER_ID_REQUIRED = 22, 25, 27, 79
EXPIRED = "consumer poll timeout has expired."


def join(at: float, member: str, generation: int, *, new: bool = False, **more: Any) -> Exchange:
    """Make a JoinGroup v9 of a client whose client id is its member id."""
    given = {"asked": "" if new else member, "leader": "a", "client": member, "rebalance": 6000}
    return groups.join(at, member, generation, **{"version": 9, **given, **more})


def leaves(
    at: float, *members: str, reason: str | None = None, error: int = 0, answered: int = 9
) -> Exchange:
    """Make a LeaveGroup v5; answered: members with a response, at most."""
    asked = [
        {"member_id": member, "group_instance_id": None, "reason": reason} for member in members
    ]
    answers = [{"member_id": one, "group_instance_id": None} for one in members[:answered]]
    answer = {"error_code": 0, "members": [answer | {"error_code": error} for answer in answers]}
    return exchange("LeaveGroup", 5, {"group_id": "g", "members": asked}, answer, at=at)


def told(at: float, *members: str, generation: int = 1) -> tuple[Exchange, ...]:
    """Heartbeats whose answers say that the group rebalances."""
    return tuple(
        heartbeat(at, member, generation, error=REBALANCE_IN_PROGRESS) for member in members
    )


def learnt(*exchanges: Exchange) -> list[Generation]:
    """Return the generations that are over, in the order in which exchanges end."""
    generations = Generations()
    found: list[Generation] = []
    for one in by_end(*exchanges):
        for shown in generations.learn(unread(one)):
            if isinstance(shown, Generation) and shown.over:
                found.append(shown)
    return [*found, *generations.finish()]


PAIR = (
    join(0, "a", 1, members=("a", "b"), new=True, took=10),
    join(2, "b", 1, new=True, took=10, connection=2),
    sync(20, "a", 1),
    sync(20, "b", 1, connection=2),
)
"""Two newcomers."""

TRIO = (
    *(join(n, one, 1, members=("a", "b", "c"), new=True, took=10) for n, one in enumerate("abc")),
    *(sync(20, one, 1) for one in "abc"),
)
"""As librdkafka's mock cluster has them: who does not rejoin stays a member, of an old generation."""

MISSED = (
    join(1 * S, "c", 2, took=5 * S),
    *told(1.4 * S, "a"),
    *told(1.5 * S, "b"),
    join(4 * S, "a", 2, members=("a", "b", "c"), took=2 * S),
    sync(6.1 * S, "a", 2),
)
"""b hears of generation 2 while it works, and polls when that has come together without it."""

FENCED = (
    heartbeat(7 * S, "b", 1, error=ILLEGAL_GENERATION),
    join(7.1 * S, "b", 3, took=5 * S),
    *told(7.2 * S, *"ac", generation=2),
    join(7.3 * S, "a", 3, members=("a", "b", "c"), took=4.8 * S),
    join(9.3 * S, "c", 3, took=2.8 * S),
    sync(12.2 * S, "a", 3),
)
"""So it is the first to join the next one."""


def test_a_generation_that_members_begin_by_joining() -> None:
    (one,) = learnt(*PAIR)
    assert one.row() == {
        "group": "g",
        "generation": 1,
        "type": "classic",
        "protocol": "range",
        "ts": "1970-01-01T00:00:00.000000Z",
        "members": 2,
        "why": "a joined; b joined",
        "join_ms": 12.0,
        "waited_for": "",
        "leader": "a",
        "assignment_ms": 9.0,
    }
    assert one.standstill == 21_000_000
    assert one.causes[0].in_full == "a joined"
    (unassigned,) = learnt(*PAIR[:2])
    assert unassigned.standstill is None
    assert learnt(*TRIO, *MISSED)[1].standstill == 5_101_000_000


ALONE = join(100, "a", 2, members=("a",), took=6 * S)
LATER = join(3 * S, "a", 2, members=("a",))
STATIC = {"a": "A", "b": "B", "b-2": "B"}
HAS_ID = "need to re-join with the given member-id: c"
ENFORCED = "enforced by user"
FIRST = [["a joined", "b joined"]]

WHYS = {
    "a member that leaves says why": ([leaves(1 * S, "b", reason=EXPIRED), LATER], [f"b left: {EXPIRED}"]),
    "a member that leaves": ([leave(1 * S, "b"), LATER], ["b left"]),
    # KIP-394: a newcomer is given an id by a first request, whose reason counts
    "a newcomer by two requests": (
        [
            join(100, "c", -1, new=True, error=MEMBER_ID_REQUIRED, reason=ENFORCED),
            join(110, "c", 2, reason=HAS_ID),
        ],
        [f"c joined: {ENFORCED}"],
    ),
    "a newcomer whose second request has no reason": (
        [join(100, "c", -1, new=True, error=MEMBER_ID_REQUIRED, reason=ENFORCED), join(110, "c", 2)],
        [f"c joined: {ENFORCED}"],
    ),
    "a newcomer of which the first request was not captured": (
        [join(110, "c", 2, reason=HAS_ID)], ["c joined"]
    ),
    "a member that joins again of itself": (
        [
            join(100, "a", 2, members=("a", "b"), reason="cached metadata has changed"),
            *told(110, "b"),
            join(120, "b", 2, reason="group is already rebalancing"),
        ],
        ["a rejoined: cached metadata has changed"],
    ),
    "told and does not come": ([ALONE, *told(200, "b")], ["a rejoined", "b did not rejoin in time"]),
    "dead": ([ALONE], ["a rejoined", "b was removed"]),
    "says later why it did not come": (
        [ALONE, *told(200, "b"), leaves(7 * S, "b", reason=EXPIRED, error=UNKNOWN_MEMBER_ID)],
        ["a rejoined", f"b did not rejoin in time: {EXPIRED}"],
    ),
    "a member that is told that it is none": (
        [heartbeat(60 * S, "b", 1, error=UNKNOWN_MEMBER_ID)], ["b was removed"]
    ),
    "a member that is told when it joins that it is none": (
        [join(60 * S, "b", -1, error=UNKNOWN_MEMBER_ID)], ["b was removed"]
    ),
    "two leave and the answer names one": ([leaves(1 * S, "a", "b", answered=1)], ["a left"]),
    # KIP-345: nobody else hears of it
    "another process has a static member's place": (
        [
            join(5 * S, "a", 2, members=("a", "b"), instances=STATIC),
            join(5 * S, "b", 2, instances=STATIC),
            join(9 * S, "a", 3, members=("a", "b-2"), instances=STATIC),
        ],
        ["a rejoined"],
        ["a rejoined"],
    ),
    "what a gap hides is no cause": ([join(9 * S, "a", 2, members=("a",), losses=1)], []),
    "an answer that can't be read": (
        [dataclasses.replace(join(9 * S, "a", 2), response_body=b"")],
    ),
    "a heartbeat of a stranger": (told(9 * S, "x"),),
    # KIP-345: nobody else hears of it
    "a static member has its place back": (
        [join(5 * S, "b-2", 1, new=True, instances=STATIC, client="b")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WHYS.values(), ids=WHYS)
def test_why_generations_begin(case: tuple[Any, ...]) -> None:
    exchanges, *causes = case
    found = [[*map(str, one.causes)] for one in learnt(*PAIR, *exchanges)]
    assert found == [*FIRST, *causes]


def test_members_with_one_client_id_are_told_apart() -> None:
    names = ("x-11111111-2222", "y-33333333-4444")
    (one,) = learnt(*(join(n, name, 1, new=True, client="app") for n, name in enumerate(names)))
    assert [*map(str, one.causes)] == ["app joined", "app (y-333333) joined"]


def test_of_a_group_that_nobody_has_joined_nothing_is_known() -> None:
    assert learnt(*told(9, "x")) == []


def test_where_no_member_leads_the_members_are_told_with_an_assignment() -> None:
    """Dialects have such groups."""

    def read(exchange: Exchange) -> list[GroupMessage]:
        (message,) = kafkas(exchange)
        members = {"members": [{"member_id": "a"}]}
        return [message if message.key == JOIN_GROUP else message._replace(response=members)]

    generations = Generations(read=read)
    members = [join(n, one, 1, new=True) for n, one in enumerate("ab")]
    shown = [one for each in (*members, sync(9, "a")) for one in generations.learn(each)]
    (generation,) = [one for one in shown if isinstance(one, Generation)]
    assert (generation.members, generation.missed) == (1, {"b": "b"})


NEWCOMER = join(100, "c", 2, new=True, took=9 * S)
EARLY = (*told(1 * S, "a"), join(1010, "a", 2, took=8 * S))
NEXT = (join(7.1 * S, "c", 3, took=5 * S), join(7.1 * S, "a", 3, took=5 * S))

WAITED = {
    # a wait of 100 ms is one
    "which did not rejoin": (
        [*PAIR, join(100, "a", 2, members=("a",), took=100), *told(150, "b")], ["", "b, which did not rejoin"]
    ),
    "late since it was told": (
        [*PAIR, NEWCOMER, *told(1 * S, "b"), *EARLY, join(9 * S, "b", 2, took=100)], ["", "b, 8 s"]
    ),
    "late since it was told first": (
        [*PAIR, NEWCOMER, *told(1 * S, "b"), *told(3 * S, "b"), *EARLY, join(9 * S, "b", 2, took=100)],
        ["", "b, 8 s"],
    ),
    "told when the last one before had its answer, and again": (
        [*(*PAIR, *told(11, "b"), NEWCOMER, *told(1 * S, "b"), *EARLY), join(9 * S, "b", 2, took=100)],
        ["", "b, 8 s"],
    ),
    "neither told late nor late for half of the time": (
        [*PAIR, NEWCOMER, *told(4.55 * S, "b"), *EARLY, join(9 * S, "b", 2, took=100)], ["", ""]
    ),
    "who misses it is waited for, but not in the next one": (
        [*TRIO, *MISSED, *FENCED], ["", "b, which did not rejoin", ""]
    ),
    "not before the first one has come": (
        [
            *(*TRIO, leaves(1 * S, "c"), *told(1.1 * S, *"ab")),
            *(join(5 * S, "b", 2, took=3.1 * S), join(8 * S, "a", 2, members=("a", "b"), took=100)),
        ],
        ["", "a, 3 s"],
    ),
    # it was what ended the wait: the other one had been given up before
    "who comes last is late also if another one never came": (
        [
            *(*TRIO, *told(1.1 * S, *"ac"), join(1 * S, "b", 2, took=5 * S)),
            join(5.95 * S, "a", 2, members=("a", "b"), took=50),
        ],
        ["", "a, 4.85 s"],
    ),
    # only the leader's list, or its own answers, say that a member did not
    "who was not seen to join may have joined unseen": ([*TRIO, *MISSED], ["", "a, 2.6 s"]),
    "told of one that it missed, and again of the next": (
        [
            *(*TRIO, *MISSED, *told(7.2 * S, "b"), *NEXT),
            *(join(12 * S, "b", 3, took=100), sync(12.2 * S, "a", 3)),
        ],
        ["", "a, 2.6 s", "b, 4.8 s"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("exchanges", "names"), WAITED.values(), ids=WAITED)
def test_for_whom_a_generation_waits(exchanges: list[Exchange], names: list[str]) -> None:
    found = ["" if one.delay is None else str(one.delay) for one in learnt(*exchanges)]
    assert found == names


def test_what_nobody_answered_with_another_generation_is_the_last_row() -> None:
    *_, last = learnt(*PAIR, leaves(1 * S, "a", "b"))
    assert (last.number, [*map(str, last.causes)]) == (2, ["a left", "b left"])
    assert (last.row()["members"], last.row()["join_ms"]) == (0, 0)


def test_a_member_that_rejoins_has_not_come_back_for_another_of_its_client() -> None:
    app: dict[str, Any] = {"client": "app", "connection": 1}
    names = ("a", "b")
    both = [join(n, one, 1, members=names, new=True, took=10, **app) for n, one in enumerate(names)]
    alone = [join(n * S, "a", n, members=("a",), **app) for n in (2, 3)]
    *_, last = learnt(*both, leaves(1 * S, "b"), *alone)
    assert [*map(str, last.causes)] == ["app rejoined"]


def test_a_generation_begins_with_the_first_request_however_late_its_answer_is() -> None:
    newcomer = join(1 * S, "c", 2, new=True, took=5 * S)
    others = (join(3 * S, one, 2, members=("a", "b", "c"), took=2 * S) for one in "ab")
    _, one = learnt(*PAIR, newcomer, *others)
    assert one.began == 1 * S * 1e6
