"""Test for steps that the classic group protocol does not allow."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import evidence_packets, findings_of
from tests.captures.checks.groups import commit, heartbeat, join, leave, sync

UNKNOWN_MEMBER_ID = 25
ILLEGAL_GENERATION = 22
REBALANCE_IN_PROGRESS = 27
NOT_COORDINATOR = 16

IN = (join(1), sync(3))
OUT = {
    error: (*IN, heartbeat(5, error=error)) for error in (UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION, 82)
}
THROWN_OUT = OUT[UNKNOWN_MEMBER_ID]
# it sends its heartbeat again on another connection, where it is told
TOLD_ELSEWHERE = (*THROWN_OUT, heartbeat(3005, error=UNKNOWN_MEMBER_ID, connection=2))
LEFT = (*IN, leave(5))
SECOND = (*IN, join(5, generation=2), sync(7, generation=2))

QUIET = {
    "a life": [
        *(*IN, heartbeat(5), commit(6)),
        *(heartbeat(7, error=REBALANCE_IN_PROGRESS), commit(8), join(9, generation=2)),
        *(sync(11, generation=2, error=REBALANCE_IN_PROGRESS), join(13, generation=3)),
        *(sync(15, generation=3), heartbeat(17, generation=3), leave(19)),
        *(join(21, generation=4), sync(23, generation=4)),
    ],
    **{
        f"joins anew behind {error}": [*life, join(9, generation=2), sync(11, generation=2)]
        for error, life in OUT.items()
    },
    "gave up waiting": TOLD_ELSEWHERE,
    "gave up waiting and joins anew": [
        *TOLD_ELSEWHERE,
        *(join(3010, generation=2, connection=2), sync(3020, generation=2, connection=2)),
    ],
    "under way when it was thrown out": [
        *(*IN, heartbeat(5, error=UNKNOWN_MEMBER_ID, took=9)),
        heartbeat(6, error=UNKNOWN_MEMBER_ID, took=9),
    ],
    "a coordinator that is elsewhere": [*IN, heartbeat(5, error=NOT_COORDINATOR), heartbeat(9)],
    "another generation is refused": [*SECOND, heartbeat(9, error=ILLEGAL_GENERATION)],
    "a leader hands out assignments": [join(1), sync(3, assigns=("m",))],
    "a leader of the next generation": [
        *(join(1, leader="other"), sync(3)),
        *(join(5, generation=2), sync(7, assigns=("m",), generation=2)),
    ],
    "a commit that is refused": [*LEFT, commit(9, error=UNKNOWN_MEMBER_ID)],
    "joined before the capture": [heartbeat(1), sync(3), leave(5), heartbeat(9)],
    "behind a gap": [*LEFT, heartbeat(9, losses=1)],
}


@pytest.mark.parametrize("again", [heartbeat, sync])
def test_a_member_that_lost_its_generation_joins_before_all_else(
    again: Callable[..., Exchange],
) -> None:
    life = OUT[ILLEGAL_GENERATION]
    without = again(9, generation=-1, error=ILLEGAL_GENERATION)
    (found,) = findings_of("group_states", *life, without)
    assert found.severity == "error"
    assert "without a generation" in found.what
    assert found.group == "g"


@pytest.mark.parametrize("exchanges", QUIET.values(), ids=QUIET)
def test_nothing_is_found(exchanges: list[Exchange]) -> None:
    assert findings_of("group_states", *exchanges) == []


UNJOINED = "in state UNJOINED (it has no generation, or was removed from the group)"
FOUND = {
    "left": (
        [*LEFT, heartbeat(9)], f"error: Heartbeat of member m {UNJOINED} was accepted", [(51, 52), (91, 92)]
    ),
    **{
        f"goes on behind {error}": (
            [*life, heartbeat(9, error=error)], "warning: ", [(51, 52), (91, 92)]
        )
        for error, life in OUT.items()
    },
    "goes on though it was told elsewhere": (
        [*TOLD_ELSEWHERE, heartbeat(3010, error=UNKNOWN_MEMBER_ID, connection=2)],
        "warning: ",
        [(30051, 30052), (30101, 30102)],
    ),
    # whatever the client knows, the coordinator does
    "taken elsewhere": ([*THROWN_OUT, heartbeat(3005, connection=2)], "error: ", [(51, 52), (30051, 30052)]),
    "another generation is taken": (
        [*SECOND, heartbeat(9)],
        "error: the broker accepted Heartbeat of generation 1 from member m, which is in generation 2",
        [(71, 72), (91, 92)],
    ),
    "a SyncGroup of another generation": (
        [*SECOND[:3], sync(7)], "error: the broker accepted SyncGroup of generation 1", [(51, 52), (71, 72)]
    ),
    "a SyncGroup of who was told to join again": (
        [*IN, heartbeat(5, error=REBALANCE_IN_PROGRESS), sync(9)],
        "error: SyncGroup of member m in state PREPARING_REBALANCE",
        [(51, 52), (91, 92)],
    ),
    "a follower hands out assignments": (
        [join(1, leader="other"), sync(3, assigns=("m",))],
        "error: member m sent assignments, but is not the leader of generation 1",
        [(11, 12), (31, 32)],
    ),
    "the leader of another generation hands out assignments": (
        [
            *(join(1), sync(3, assigns=("m",))),
            *(join(5, leader="other", generation=2), sync(7, assigns=("m",), generation=2)),
        ],
        "error: member m sent assignments, but is not the leader of generation 2",
        [(51, 52), (71, 72)],
    ),
    "a commit is taken": ([*LEFT, commit(9)], "error: OffsetCommit of member m", [(51, 52), (91, 92)]),
}  # fmt: skip


@pytest.mark.parametrize(("exchanges", "what", "packets"), FOUND.values(), ids=FOUND)
def test_what_is_found(
    exchanges: list[Exchange], what: str, packets: list[tuple[int, int]]
) -> None:
    (finding,) = findings_of("group_states", *exchanges)
    severity, _, text = what.partition(": ")
    assert finding.severity == severity
    assert finding.what.startswith(f"group g: {text}")
    assert evidence_packets([finding]) == [packets]
