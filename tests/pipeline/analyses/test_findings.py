"""The checks at scale find what they find in one pass over a capture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.finding import client_key
from barnabas.captures.checks.runner import run
from barnabas.captures.kafka.exchange import Exchange
from barnabas.pipeline.analyses.expressions import CLIENT, CLIENT_KEY
from barnabas.pipeline.analyses.findings import SCOPES, findings, in_one_pass
from tests.captures.checks.given import exchange, produce
from tests.captures.checks.groups import group_heartbeat, heartbeat, join, sync
from tests.captures.checks.test_commits import committed
from tests.captures.checks.test_corrupt_records import BROKEN, SOUND, fetch
from tests.captures.checks.test_corrupt_records import produce as produced
from tests.captures.checks.test_fetch_loops import asks, share
from tests.pipeline.analyses.made import metadata, numbered
from tests.pipeline.analyses.tables import captured, found_in, rows, table
from tests.samples.recipes import SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def begun(at: float, producer: int, **more: Any) -> Exchange:
    asked = {"transactional_id": None, "transaction_timeout_ms": 1}
    given = {"throttle_time_ms": 0, "error_code": 0, "producer_id": producer, "producer_epoch": 0}
    return exchange("InitProducerId", 0, asked, given, at=at, **more)


MADE: dict[str, list[Exchange]] = {
    "nothing answered": [metadata(0, error=None), metadata(10)],
    "producers": [
        begun(0, 7, connection=1),
        begun(1, 8, connection=2),
        produce(10, ["a"], sequence=0, producer=7, epoch=0, connection=1),
        # of another one on the same connection, which began on another
        produce(20, ["b"], sequence=0, producer=8, epoch=0, connection=2),
        produce(30, ["c"], sequence=1, producer=8, epoch=0, connection=1),
        produce(40, ["d"], sequence=3, producer=8, epoch=0, connection=2),
        produce(50, ["e"], sequence=1, producer=7, epoch=0, connection=2),
        produce(60, ["e"], sequence=1, producer=7, epoch=0, connection=2),
    ],
    "order": [
        produce(0, ["a"], error=7, took=5),
        produce(1, ["b"], offset=0, took=5),
        produce(10, ["a"], offset=1),
    ],
    # of a client without an id, which sends again on another connection
    "no client id": [
        produce(0, ["a"], error=7, took=5, client=None, host="h", connection=1),
        produce(1, ["b"], offset=0, took=5, client=None, host="h", connection=1),
        produce(10, ["a"], offset=1, client=None, host="h", connection=2),
    ],
    "sent again elsewhere": [
        begun(0, 7),
        produce(10, ["a"], sequence=0, producer=7, epoch=0),
        produce(20, ["a"], sequence=0, producer=7, epoch=0, connection=2),
        metadata(30),
    ],
    "order by numbers": [
        produce(0, ["a"], sequence=0, producer=7, epoch=0, error=7, took=5),
        produce(1, ["b"], sequence=1, producer=7, epoch=0, offset=0, took=5),
        produce(10, ["a"], sequence=0, producer=7, epoch=0, offset=1),
    ],
    "silent": [join(0), sync(10), heartbeat(9500), heartbeat(30_000)],
    "late": [join(0), sync(10), *(heartbeat(at) for at in (4000, 8000, 12_000))],
    "waited": [
        join(0, "a", 2, took=9000, leader="b"),
        join(8990, "b", 2, took=10, leader="b", members=("a", "b")),
        sync(9010, "a", 2),
    ],
    "wrong generation": [join(0), sync(10, generation=3)],
    "epochs": [group_heartbeat(0, 0, 3), group_heartbeat(5000, 2, 3)],
    "corrupt": [fetch(BROKEN), produced(BROKEN, error=2), produced(SOUND, error=87)],
    "stuck": [asks(1 + 2 * n, 105 if n == 0 else None) for n in range(20)],
    "acquired": [share(1 + 2 * n, 1, n + 1) for n in range(5)],
    "back": committed(100, 90, 100, 90, 100, 90),
}


def test_each_check_has_one_scope() -> None:
    scopes = [scope.by for scope in SCOPES]
    assert len({*scopes}) == len(scopes)
    assert {check.scope for check in CHECKS} == {*scopes}


def test_they_equal_what_one_pass_finds(spark: SparkSession) -> None:
    expected, found = [], []
    for name, exchanges in MADE.items():
        ended = numbered(*exchanges)
        # what has no answer is over when the capture is
        ended.sort(key=lambda one: one.latency_ms is None)
        found += rows(ended, name)
        expected += [(name, *gist) for gist in map(_gist, run(ended, CHECKS))]
    for name, _ in SAMPLES:
        found += captured(name)
        expected += [(name, *gist) for gist in map(_gist, run(found_in(name), CHECKS))]
    assert {check for _, check, *_ in expected} == {check.name for check in CHECKS}
    names = ("capture", "check", "severity", "text", "advice", "connection", "client", "api")
    without_bodies = table(spark, found).drop("body")
    for way in (findings, in_one_pass):
        told = way(without_bodies).selectExpr("*", "unix_micros(ts) us").collect()
        assert sorted(
            (*(row[name] for name in names), row["us"], row["packets"]) for row in told
        ) == sorted(expected)


def _gist(one: tuple[Any, Any]) -> tuple[Any, ...]:
    check, finding = one
    last = finding.evidence[-1]
    packets = sorted(packet for each in finding.evidence for packet in each.packets)
    whose = (last.connection, last.client, last.api)
    gist = (check.name, finding.severity, finding.what, finding.advice)
    return (*gist, *whose, finding.ts // 1000, packets)


def test_a_client_is_the_same_one_here_and_there(spark: SparkSession) -> None:
    """Whatever id it has, if any, and however its address is written."""
    told = [
        metadata(0, client=client, host=host, connection=connection)
        for connection in (1, 2)
        for client in (None, "", "None", "a/b", "a:1", "app")
        for host in ("10.0.0.1", "[::1]", "host")
    ]
    columns = f"{CLIENT} as client", f"{CLIENT_KEY} as one"
    found = table(spark, rows(told)).selectExpr(*columns).collect()
    assert [tuple(row) for row in found] == [(one.client, client_key(one)) for one in told]
    assert len(set(map(client_key, told))) < len(told)
