"""Test for group members that are silent for too long."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import S, by_end, descriptions, evidence_packets, findings_of
from tests.captures.checks.groups import (
    GROUP_HEARTBEATS,
    commit,
    group_heartbeat,
    heartbeat,
    join,
    leave,
    sync,
)

UNKNOWN_MEMBER_ID = 25
MEMBER = "group g: member m (app)"
SESSION = "its session timeout is 9 s"
INTERVAL = "the broker asked for a heartbeat every 5 s"


def at(seconds: float, **more: Any) -> Exchange:
    """Make a Heartbeat of a classic member with a session timeout of 9 s."""
    return heartbeat(seconds * S, **more)


def beats(*seconds: float, **more: Any) -> list[Exchange]:
    """Heartbeats of a member with an epoch, whose interval is 5 s; the first one joins."""
    return [group_heartbeat(one * S, n and 1, 1, **more) for n, one in enumerate(seconds)]


def still(seconds: float, **more: Any) -> Exchange:
    """Make a later heartbeat of such a member."""
    return group_heartbeat(seconds * S, 1, 1, **more)


def commits(*seconds: float, **more: Any) -> list[Exchange]:
    return [commit(second * S, **more) for second in seconds]


JOIN = join(0)
JOINED = group_heartbeat(0, 0, 1)
LEFT = group_heartbeat(1 * S, -1, -1)
# in v0 of KIP-848 a member may begin without an id
GIVEN_ID = group_heartbeat(0, 0, 1, asked="")
SILENT = [JOINED, *commits(12, 16), still(22)]
HEARD = still(27)
REMOVED = still(60, error=UNKNOWN_MEMBER_ID)

QUIET = {
    "every third of the session": [JOIN, *(at(3 * n) for n in range(1, 9))],
    "commits are signs of life": [JOIN, at(3), *commits(6), at(9)],
    "waits for a rebalance": [join(0, took=20 * S), sync(20 * S + 1, took=20 * S), at(43)],
    "waits for another rebalance": [JOIN, at(3, error=27), join(30 * S), at(33)],
    "waits for the answer to a heartbeat": [JOIN, at(3, took=4 * S), at(10)],
    **{
        f"thrown out or without a coordinator: {error}": [JOIN, at(3, error=error), at(30)]
        for error in (UNKNOWN_MEMBER_ID, 22, 82, 16, None)
    },
    "left": [JOIN, leave(1 * S), at(30)],
    "joined before the capture": [at(3), at(30)],
    "not later than two intervals and a grace": [JOINED, group_heartbeat(10_501, 1, 1)],
    "a gap": [JOIN, at(20, losses=1), at(23, losses=1)],
    **{f"interval of {name}": beats(0, 5, 10.4, 16, name=name) for name in GROUP_HEARTBEATS},
    "an epoch of 0 joins": [JOINED, *(group_heartbeat(n * S, n // 64, 1) for n in (60, 64))],
    "left and came again": [JOINED, LEFT, *beats(60, 65)],
    # only heartbeats keep members with an interval in the group (KIP-848), however seldom they commit
    "commits have no session to keep": by_end(JOINED, *commits(3, 8), still(5), still(10)),
    "a commit just before": [JOINED, *commits(9.9), still(10)],
    # a heartbeat may be under way there
    "a commit elsewhere": [JOINED, *commits(12, connection=2)],
    # only heartbeats and commits are judged
    "a SyncGroup after long": [JOIN, sync(12 * S)],
    "a LeaveGroup after long": [JOIN, leave(12 * S)],
    "a JoinGroup that is refused": [join(0, error=27), at(30)],
    "a commit elsewhere in a session": [JOIN, *commits(12, connection=2)],
}  # fmt: skip


@pytest.mark.parametrize("exchanges", QUIET.values(), ids=QUIET)
def test_nothing_is_found(exchanges: list[Exchange]) -> None:
    assert findings_of("heartbeats", *exchanges) == []


LATE = [at(n) for n in (3, 7, 11.5, 15.5, 20, 24, 28)]
IN_A_ROW = f"too long 6 times in a row, at most for 4.5 s; {SESSION}"
TOO_LONG = {
    "later than a third and a grace": ([JOIN, at(3), at(7)], [f"4 s; {SESSION}"]),
    "the whole session": ([JOIN, at(3), at(12)], [f"9 s; {SESSION}"]),
    "later than the session": ([JOIN, at(3), at(13)], [f"error: 10 s; {SESSION}"]),
    "late behind an answer": ([JOIN, at(3, took=4 * S), at(17)], [f"error: 10 s; {SESSION}"]),
    **{f"late for {name}": (beats(0, 5, 16, name=name), [f"11 s; {INTERVAL}"]) for name in GROUP_HEARTBEATS},
    "later than two intervals and a grace": (
        [JOINED, group_heartbeat(10_502, 1, 1)], [f"10.5 s; {INTERVAL}"]
    ),
    "late behind a grace": (beats(0, 10.9), [f"10.9 s; {INTERVAL}"]),
    "was given its id": ([GIVEN_ID, still(20)], [f"20 s; {INTERVAL}"]),
    "removed": ([JOINED, REMOVED], [f"error: 60 s; {INTERVAL} and now answers UNKNOWN_MEMBER_ID"]),
    "commits do not hide it": (
        [JOINED, *commits(4, 8, 12, 16, 20)], [f"commits, but has sent no heartbeat for 20 s; {INTERVAL}"]
    ),
    # STALE_MEMBER_EPOCH
    "commits that are refused do not hide it": (
        [JOINED, *commits(9, error=113), *commits(12)],
        [f"commits, but has sent no heartbeat for 12 s; {INTERVAL}"],
    ),
    "a commit is late for a session": ([JOIN, *commits(12)], [f"error: 12 s; {SESSION}"]),
    # it was alive when it sent it
    "a commit that is answered late": ([JOIN, commit(3 * S, took=3 * S), at(7)], [f"4 s; {SESSION}"]),
    "once": ([*SILENT, HEARD], [f"commits, but has sent no heartbeat for 22 s; {INTERVAL}"]),
    "a new silence": (
        [*SILENT, HEARD, *commits(40), still(42)],
        [f"commits, but has sent no heartbeat for {n} s; {INTERVAL}" for n in (22, 15)],
    ),
    "two silences": ([*SILENT, still(40)], [f"too long 2 times in a row, at most for 22 s; {INTERVAL}"]),
    "the capture ends": ([JOIN, *LATE], [IN_A_ROW]),
    "a heartbeat in time": ([JOIN, *LATE, at(30)], [IN_A_ROW]),
    "it leaves": ([JOIN, *LATE, leave(30 * S)], [IN_A_ROW]),
    "it is thrown out": ([JOIN, *LATE, at(30, error=25)], [IN_A_ROW]),
    "a gap": ([JOIN, *LATE, at(30, losses=1)], [IN_A_ROW]),
    "it joins again": ([JOIN, *LATE, join(28 * S), at(29)], [IN_A_ROW]),
    "other members": (
        [JOIN, *by_end(*(at(n) for n in (4, 8, 12)), *(at(n + 0.001, member="n") for n in (3, 6, 9, 12)))],
        [f"too long 3 times in a row, at most for 4 s; {SESSION}"],
    ),
    "a heartbeat in time ends a row": (
        [JOIN, *(at(n) for n in (4, 8, 10, 14))],
        [f"too long 2 times in a row, at most for 4 s; {SESSION}", f"4 s; {SESSION}"],
    ),
    "a commit in time does not": (
        [JOIN, at(4), *commits(6), at(10)], [f"too long 2 times in a row, at most for 4 s; {SESSION}"],
    ),
    "a gap ends a row": (
        [JOIN, at(4), *commits(5, losses=1), at(9, losses=1)], [f"4 s; {SESSION}", f"4 s; {SESSION}"]
    ),
    "an absence ends a row": (
        [JOIN, at(4), at(8, error=25), join(9 * S), at(13)],
        [f"too long 2 times in a row, at most for 4 s; {SESSION}", f"4 s; {SESSION}"],
    ),
    "a session that is over behind what led to it": (
        [JOIN, at(4), at(8), at(18)],
        [f"too long 2 times in a row, at most for 4 s; {SESSION}", f"error: 10 s; {SESSION}"],
    ),
    # though the silence was told
    "removed for a silence": (
        [JOINED, *commits(12), REMOVED],
        [
            f"commits, but has sent no heartbeat for 12 s; {INTERVAL}",
            f"error: 60 s; {INTERVAL} and now answers UNKNOWN_MEMBER_ID",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("exchanges", "texts"), TOO_LONG.values(), ids=TOO_LONG)
def test_what_is_found(exchanges: list[Exchange], texts: list[str]) -> None:
    findings = []
    for text in texts:
        severity = "error" if text.startswith("error: ") else "warning"
        text = text.removeprefix("error: ")
        if not text.startswith("commits"):
            text = f"was silent for {text}"
        findings.append((severity, f"{MEMBER} {text}"))
    assert descriptions(findings_of("heartbeats", *exchanges)) == findings


PACKETS = {
    "a silence": ([JOIN, at(3), at(7)], [(30001, 30002), (70001, 70002)]),
    "commits": ([JOINED, *commits(4, 8, 12, 16, 20)], [(1, 2), (200001, 200002)]),
    "the longest of two": ([*SILENT, still(40)], [(1, 2), (220001, 220002)]),
    "the longest of six": ([JOIN, *LATE], [(70001, 70002), (115001, 115002)]),
}


@pytest.mark.parametrize(("exchanges", "packets"), PACKETS.values(), ids=PACKETS)
def test_the_evidence(exchanges: list[Exchange], packets: list[tuple[int, int]]) -> None:
    assert evidence_packets(findings_of("heartbeats", *exchanges)) == [packets]


SETTINGS: dict[str, tuple[int, list[Exchange], dict[str, float]]] = {
    "share": (0, [JOIN, at(3), at(7)], {"share": 0.5}),
    "grace": (0, [JOIN, at(3), at(7)], {"grace_ms": 1000.0}),
    "less grace": (1, [JOIN, at(3), at(7)], {"grace_ms": 900.0}),
    "intervals": (0, beats(0, 5, 16), {"intervals": 3.0}),
    "grace on top of the intervals": (0, beats(0, 10.9), {"grace_ms": 1000.0}),
}


@pytest.mark.parametrize(("findings", "exchanges", "settings"), SETTINGS.values(), ids=SETTINGS)
def test_thresholds_can_be_set(
    findings: int, exchanges: list[Exchange], settings: dict[str, float]
) -> None:
    assert len(findings_of("heartbeats", *exchanges, **settings)) == findings


def test_a_member_has_the_client_id_of_its_last_heartbeat() -> None:
    (finding,) = findings_of("heartbeats", JOIN, at(3), at(7, client="renamed"))
    assert finding.what.startswith("group g: member m (renamed)")
