"""Phases of members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.bands import Bands
from barnabas.pipeline.analyses.rebalances import rebalances
from tests.captures.checks import test_generations as reasons
from tests.captures.checks.groups import group_heartbeat, heartbeat, join, leave, sync
from tests.pipeline.analyses.made import numbered
from tests.pipeline.analyses.tables import captured, found_in, rows, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def phases(spark: SparkSession, exchanges: list[Exchange], *names: str) -> list[tuple[Any, ...]]:
    """(member, generation, phase, start, end in ms, and the columns named), by start."""
    result = rebalances(table(spark, rows(exchanges))).selectExpr(
        "*", "unix_micros(start) / 1000 at", "unix_micros(`end`) / 1000 until"
    )
    expected = ("member", "generation", "phase", "at", "until", *names)
    reported = [tuple(row[name] for name in expected) for row in result.collect()]
    return sorted(reported, key=lambda row: (row[3], row[0], row[4]))


def test_a_classic_group_waits_for_the_one_that_comes_last(spark: SparkSession) -> None:
    exchanges = [
        join(0, "a", 1, took=10),
        sync(20, "a", 1, took=10),
        heartbeat(100, "a", 1, took=2),
        join(200, "b", 2, took=810),
        heartbeat(300, "a", 1, error=27, took=2),
        join(1000, "a", 2, took=10),  # late: busy with its records
        sync(1020, "a", 2, took=10),
        sync(1020, "b", 2, took=30),
        heartbeat(1500, "a", 2, took=2),
        leave(2000, "b", took=5),
    ]
    columns = ("join_ms", "sync_ms", "late", "standstill_ms", "group_standstill_ms", "reason")
    first = (10.0, 10.0, False, 30.0, 30.0, "new member")
    b = (810.0, 30.0, False, 850.0, 850.0, "new member")
    again = (10.0, 10.0, True, 30.0, 850.0, "new member")  # `join` asks without an id each time
    assert phases(spark, exchanges, *columns) == [
        ("a", 1, "join", 0.0, 10.0, *first),
        ("a", 1, "sync", 20.0, 30.0, *first),
        ("a", 1, "consuming", 30.0, 1000.0, *first),
        ("b", 2, "join", 200.0, 1010.0, *b),
        ("a", 2, "join", 1000.0, 1010.0, *again),
        ("a", 2, "sync", 1020.0, 1030.0, *again),
        ("b", 2, "sync", 1020.0, 1050.0, *b),
        ("a", 2, "consuming", 1030.0, 1502.0, *again),
        ("b", 2, "consuming", 1050.0, 2000.0, *b),
        ("b", 2, "stopped", 2000.0, 2005.0, *b[:-1], "left"),
    ]


def test_who_hears_of_a_rebalance_late_is_not_late_itself(spark: SparkSession) -> None:
    exchanges = [
        *reasons.PAIR,
        reasons.leaves(1000, "b", reason="consumer poll timeout has expired."),
        reasons.join(2000, "a", 2, members=("a",), reason="group is already rebalancing"),
        reasons.join(5990, "b-2", -1, new=True, error=79),
        reasons.join(
            6000, "b-2", 3, reason="need to re-join with the given member-id: b-2", took=3000
        ),
        heartbeat(8900, "a", 2, error=27),
        reasons.join(8990, "a", 3, members=("a", "b-2"), took=10),
        # and one that was told at once, and came late
        reasons.join(20_000, "c", 4, new=True, took=5000),
        heartbeat(20_010, "a", 3, error=27),
        heartbeat(21_010, "a", 3, error=27),
        reasons.join(24_990, "a", 4, members=("a", "c"), took=10),
    ]
    reported = phases(spark, exchanges, "late", "reason")
    joined = {(row[0], row[1]): row[5:] for row in reported if row[2] == "join"}
    assert joined == {
        ("a", 1): (False, "new member"),
        ("b", 1): (False, "new member"),
        ("a", 2): (False, "group is already rebalancing"),
        ("b-2", 3): (False, "new member"),
        ("a", 3): (False, "rejoins"),
        ("c", 4): (False, "new member"),
        ("a", 4): (True, "rejoins"),
    }
    (stopped,) = [row for row in reported if row[2] == "stopped"]
    assert stopped[6] == "consumer poll timeout has expired."


def test_a_member_that_is_thrown_out_stands_still_until_it_joins_again(spark: SparkSession) -> None:
    exchanges = [
        join(0, took=10),
        sync(20, took=10),
        heartbeat(100, error=25, took=2),
        join(500, generation=2, took=10),
    ]
    assert phases(spark, exchanges, "reason")[2:] == [
        ("m", 1, "consuming", 30.0, 100.0, "new member"),
        ("m", 1, "stopped", 100.0, 500.0, "UNKNOWN_MEMBER_ID"),
        ("m", 2, "join", 500.0, 510.0, "new member"),
    ]


def test_members_of_kip_848_change_by_themselves(spark: SparkSession) -> None:
    exchanges = [
        group_heartbeat(0, 0, 1, assigned=True, took=10),
        group_heartbeat(50, 1, 1, owns=True),
        group_heartbeat(200, 0, 2, member="n", took=5),
        group_heartbeat(1000, 1, 2, assigned=True, took=10),
        group_heartbeat(1200, 2, 2),  # it has not given up yet what it lost
        group_heartbeat(1500, 2, 2, owns=True),
        group_heartbeat(1600, 2, 2, member="n", assigned=True, took=10),
        group_heartbeat(1700, 2, 2, member="n", owns=True),
        group_heartbeat(2000, 2, 2, took=10),
        group_heartbeat(3000, -1, -1, member="n", took=10),
    ]
    columns = ("join_ms", "sync_ms", "standstill_ms", "reason")
    newcomer, moved = (10.0, 40.0, 50.0, "new member"), (None, 490.0, 490.0, "new assignment")
    given = (None, 90.0, 90.0, "new assignment")
    assert phases(spark, exchanges, *columns) == [
        ("m", 1, "join", 0.0, 10.0, *newcomer),
        ("m", 1, "sync", 10.0, 50.0, *newcomer),
        ("m", 1, "consuming", 50.0, 1010.0, *newcomer),
        ("n", 2, "join", 200.0, 205.0, 5.0, None, None, "new member"),
        ("m", 2, "sync", 1010.0, 1500.0, *moved),
        ("m", 2, "consuming", 1500.0, 2010.0, *moved),
        ("n", 2, "sync", 1610.0, 1700.0, *given),
        ("n", 2, "consuming", 1700.0, 3000.0, *given),
        ("n", -1, "stopped", 3000.0, 3010.0, None, None, None, "left"),
    ]


def test_one_stop_is_one_however_often_the_member_is_told(spark: SparkSession) -> None:
    again = heartbeat(7001, "b", 1, error=22)
    exchanges = numbered(*reasons.TRIO, *reasons.MISSED, again, *reasons.FENCED)
    reported = phases(spark, exchanges, "reason")
    assert [row[:3] + row[5:] for row in reported if row[2] == "stopped"] == [
        ("b", 1, "stopped", "ILLEGAL_GENERATION")
    ]


def test_who_misses_a_generation_is_not_late_in_the_next_one(spark: SparkSession) -> None:
    exchanges = numbered(*reasons.TRIO, *reasons.MISSED, *reasons.FENCED)
    reported = phases(spark, exchanges, "late", "missed", "members")
    assert {(row[1], row[5], *row[6], row[7]) for row in reported if row[2] == "join"} == {
        (1, False, 3),
        (2, False, "b", 3),
        (3, False, 3),
    }


@pytest.mark.parametrize("name", ["flapping.pcapng", "rebalance.pcap.gz", "kip-848.pcapng"])
def test_a_generation_is_as_summary_says(spark: SparkSession, name: str) -> None:
    bands = Bands(Context())
    for one in found_in(name):
        bands.add(one)
    result = rebalances(table(spark, captured(name))).where("phase <> 'stopped'")
    reported: dict[int, set[Any]] = {}
    late: dict[int, set[str]] = {}
    for row in result.selectExpr("*", "unix_micros(began_ts) began").collect():
        reported.setdefault(row["generation"], set()).add(
            (row["began"], row["members"], *row["missed"])
        )
        late.setdefault(row["generation"], set()).update([row["member"]] if row["late"] else [])
    rows = [row for row in bands.rows() if row["generation"] in reported]
    assert len(rows) > 1
    waited = {
        row["generation"]: {row["late"]["kind"]: row["late"]["members"]} if row["late"] else {}
        for row in rows
    }
    assert reported == {
        row["generation"]: {
            (int(row["from"]) // 1000, row["members"], *waited[row["generation"]].get("absent", ()))
        }
        for row in rows
    }
    assert late == {number: set(of.get("late", ())) for number, of in waited.items()}
    if name != "kip-848.pcapng":  # whose members change one by one: no group stands still
        syncs = result.where("phase = 'sync'").collect()
        stood = {row["generation"]: row["group_standstill_ms"] for row in syncs}
        assert stood == {
            row["generation"]: pytest.approx(row["standstill_ms"])
            for row in rows
            if row["standstill_ms"] is not None
        }
