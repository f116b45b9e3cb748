"""What the report takes of tables: the columns that its sections are tested with, and not too much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812

from barnabas.captures.checks.finding import LISTED
from barnabas.captures.kafka.notes import INFERRED, NOT_CAPTURED, UNANSWERED
from barnabas.pipeline.analyses.latency import latency
from barnabas.pipeline.analyses.registry import ANALYSES
from barnabas.pipeline.report import digests
from barnabas.pipeline.report.digests import DIGESTS, Digest, collect, overview
from barnabas.pipeline.rows.columns import ddl
from barnabas.pipeline.tables.schemas import TABLES
from tests.pipeline.analyses.made import metadata
from tests.pipeline.analyses.tables import rows
from tests.pipeline.analyses.tables import table as given
from tests.pipeline.report.made import at, results

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


COLUMNS = {**TABLES, **{f"analyses/{one.name}": one.columns for one in ANALYSES}}
BY_NAME = {digest.name: digest for digest in DIGESTS}


def table(spark: SparkSession, name: str, *rows: dict[str, Any]) -> DataFrame:
    schema = ddl(COLUMNS[name]) + (", `body` variant" if name == "exchanges" else "")
    whole = [{column.name: None for column in COLUMNS[name]} | row for row in rows]
    return spark.createDataFrame(whole, schema)


@pytest.mark.parametrize("digest", DIGESTS, ids=lambda one: one.name)
def test_a_digest_has_the_columns_of_the_rows_that_were_made_by_hand(
    spark: SparkSession, digest: Digest
) -> None:
    made = spark.sql(digest.sql, of=table(spark, digest.of))
    assert set(made.columns) == set(results()[digest.name].rows[0])


def test_what_is_too_much_is_counted_and_what_matters_most_is_kept(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "MOST", 2)
    severities = ("note", "error", "note", "warning")
    found = table(
        spark,
        "analyses/findings",
        *({"severity": severity, "ts": at(n)} for n, severity in enumerate(severities)),
    )
    result = collect(found, BY_NAME["findings"])
    assert [row["severity"] for row in result.rows] == ["error", "warning"]
    assert (result.total, result.left_out) == (4, 2)


def test_gaps_are_one_row_a_capture_and_segments_that_are_not_there_are_in_front(
    spark: SparkSession,
) -> None:
    result = table(
        spark,
        "errors",
        *(
            {"capture": "a", "kind": "gap", "reason": f"{size} bytes are missing", "bytes": size}
            for size in (171, 531, 171)
        ),
        {"capture": "a", "kind": "missing", "reason": "segments before this one are missing: 6"},
        {"capture": "b", "kind": "gap", "reason": "7 bytes are missing", "bytes": 7},
        {
            "capture": "b",
            "kind": "gap",
            "reason": "the beginning of the connection was not captured",
        },
        *(
            {"capture": "c", "kind": "undecoded", "reason": f"{frames} of unknown APIs"}
            for frames in ("1 frame", "12 frames")
        ),
    )
    reported = collect(result, BY_NAME["unread"]).rows
    assert [(row["capture"], row["kind"], row["count"], row["bytes"]) for row in reported] == [
        ("a", "missing", 1, None),
        ("c", "undecoded", 13, None),
        ("a", "gap", 3, 873),
        *(("b", "gap", 1, size) for size in (7, None)),
    ]


def test_of_a_check_the_first_are_listed_and_all_are_counted(spark: SparkSession) -> None:
    listing = BY_NAME["findings"]
    listing = listing._replace(sql=listing.sql.replace(str(LISTED), "2"))
    checks = (("a", "error"), ("a", "error"), ("b", "note"), ("a", "error"), ("a", "warning"))
    result = table(
        spark,
        "analyses/findings",
        *(
            {"check": check, "severity": severity, "ts": at(9 - n), "text": str(n)}
            for n, (check, severity) in enumerate(checks)
        ),
    )
    listed = collect(result, listing)
    reported = [(row["check"], row["text"]) for row in listed.rows]
    assert reported == [("a", "3"), ("a", "4"), ("b", "2")]
    assert listed.total == len(checks)
    counts = collect(result, BY_NAME["findings_by_check"]).rows
    names = ("severity", "check", "count", "first")
    assert [tuple(row[name] for name in names) for row in counts] == [
        ("error", "a", 3, "3"),
        ("warning", "a", 1, "4"),
        ("note", "b", 1, "2"),
    ]


def test_apis_beyond_the_most_frequent_are_one(spark: SparkSession) -> None:
    rows = [
        {"bucket": at(0), "api": f"api {n}", "latency_ms": 1.0, "count": 100 - n} for n in range(9)
    ]
    result = collect(table(spark, "analyses/latency_heatmap", *rows), BY_NAME["latency_heatmap"])
    assert {row["api"]: row["count"] for row in result.rows} == {
        **{f"api {n}": 100 - n for n in range(5)},
        "others": 95 + 94 + 93 + 92,
    }


def test_errors_of_a_client_are_summed_over_all_time(spark: SparkSession) -> None:
    same = {"client_id": None, "api": "Fetch", "error": "X", "count": 2}
    rows = [
        same | {"bucket": at(second), "first_ts": at(second), "last_ts": at(second + 1)}
        for second in (0, 10)
    ]
    (row,) = collect(table(spark, "analyses/errors", *rows), BY_NAME["errors"]).rows
    assert (row["count"], row["first_ts"], row["last_ts"]) == (4, at(0), at(11))
    assert row["client_id"] is None


def test_only_the_deepest_clients_have_a_line(spark: SparkSession) -> None:
    rows = [
        {"bucket": at(0), "client_id": f"c{n:02}", "depth_max": n, "depth_mean": 1.0}
        for n in range(14)
    ]
    result = collect(table(spark, "analyses/in_flight", *rows), BY_NAME["in_flight"]).rows
    assert {row["client_id"] for row in result} == {f"c{n:02}" for n in range(4, 14)}


def test_clients_with_an_empty_id_are_told_apart_by_their_addresses(spark: SparkSession) -> None:
    clients = (("", "10.0.0.1:1"), (None, "10.0.0.2:1"), ("", "10.0.0.3:1"), ("a", "10.0.0.1:2"))
    rows = [{"key": 3, "client_id": one, "client_address": address} for one, address in clients]
    assert overview({"run": 1}, table(spark, "exchanges", *rows)).clients == 4


def test_latency_by_other_keys_is_the_analysis_of_exchanges_without_the_others(
    spark: SparkSession,
) -> None:
    exchanges = [metadata(n * 7, took=n % 9 + 1, client="one", broker=n % 2) for n in range(300)]
    exchanges.append(metadata(5, error=None, client="one", broker=1))
    result = given(spark, rows(exchanges))
    nobody = {"client_id": F.lit(None).cast("string"), "broker": F.lit(None).cast("int")}
    analysed = latency(result.withColumns(nobody)).orderBy("bucket", "api").collect()
    digested = collect(result, BY_NAME["latency"]).rows
    assert len(digested) > 100
    for row, told in zip(digested, analysed, strict=True):
        assert row == {name: told[name] for name in row} | {"bucket": row["bucket"]}
        assert row["bucket"] == told["bucket"].astimezone(UTC)


def test_latency_of_a_client_and_broker_is_that_of_their_exchanges(spark: SparkSession) -> None:
    exchanges = [
        metadata(
            n * 7, took=n % 9 + 1 + 10 * (n % 3), client="one" if n % 2 else None, broker=n % 3
        )
        for n in range(300)
    ]
    result = given(spark, rows(exchanges))
    digested = collect(result, BY_NAME["latency_clients"])
    assert digested.left_out == 0
    assert {row["series"] for row in digested.rows} == {6}
    times = {row["bucket"] for row in digested.rows}
    assert len(times) <= digests.COARSE
    for client in ("one", None):
        for broker in range(3):
            mine = F.col("client_id").eqNullSafe(F.lit(client)) & (F.col("broker") == broker)
            whose = (client, broker)
            some = [row for row in digested.rows if (row["client_id"], row["broker"]) == whose]
            assert sum(row["count"] for row in some) == result.where(mine).count() == 50
            longest = result.where(mine).agg(F.max("latency_ms")).first()
            assert longest is not None
            assert max(row["p99_ms"] for row in some) == longest[0]


def test_what_rose_is_kept_of_many_series(spark: SparkSession) -> None:
    assert f"place <= {digests.SERIES}" in BY_NAME["latency_clients"].sql
    few = BY_NAME["latency_clients"]
    few = few._replace(sql=few.sql.replace(f"place <= {digests.SERIES}", "place <= 1"))
    steady = [metadata(n, took=2, client="steady") for n in range(0, 4800, 10)]
    rose = [
        metadata(n, took=90 if 2000 < n < 2400 else 2, client="rose") for n in range(0, 4800, 20)
    ]
    result = collect(given(spark, rows([*steady, *rose])), few)
    assert {row["client_id"] for row in result.rows} == {"rose"}
    assert {row["series"] for row in result.rows} == {2}


def test_the_sql_that_is_shown_asks_the_tables_of_the_script(spark: SparkSession) -> None:
    """`tables.sql` names them; here views have these names for a moment."""
    names = {folder: folder.replace("analyses/", "analysis_") for folder in COLUMNS}
    for folder, name in names.items():
        table(spark, folder).createOrReplaceTempView(name)
    try:
        for digest in DIGESTS:
            made = spark.sql(digest.sql, of=table(spark, digest.of))
            assert spark.sql(digest.shown).schema == made.schema
    finally:
        for name in names.values():
            spark.catalog.dropTempView(name)


@pytest.mark.parametrize(
    ("notes", "only"),
    [
        ((NOT_CAPTURED, UNANSWERED), "request"),
        ((INFERRED,), "response"),
        ((NOT_CAPTURED, INFERRED), None),
        ((UNANSWERED,), None),
        (("",), None),
    ],
)
def test_the_overview_has_the_only_captured_direction(
    spark: SparkSession, notes: Sequence[str], only: str | None
) -> None:
    exchanges = [
        replace(metadata(at, error=None), note=note, response_size=9 if note == INFERRED else None)
        for at, note in enumerate(notes)
    ]
    assert overview({"a": 1}, given(spark, rows(exchanges))).only == only
