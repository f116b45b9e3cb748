"""What the report takes of tables: the columns that its sections are tested with, and not too much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from barnabas.pipeline.analyses.registry import ANALYSES
from barnabas.pipeline.report import collecting, digests
from barnabas.pipeline.report.collecting import collect, overview
from barnabas.pipeline.report.digests import DIGESTS, Digest
from barnabas.pipeline.rows.columns import ddl
from barnabas.pipeline.tables.tables import TABLES
from tests.pipeline.report.made import at, results

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


COLUMNS = {**TABLES, **{f"analyses/{one.name}": one.columns for one in ANALYSES}}
BY_NAME = {digest.name: digest for digest in DIGESTS}


def table(spark: SparkSession, name: str, *rows: dict[str, Any]) -> DataFrame:
    schema = ddl(COLUMNS[name]) + (", `body` variant" if name == "exchanges" else "")
    whole = [{column.name: None for column in COLUMNS[name]} | row for row in rows]
    return spark.createDataFrame(whole, schema)


def test_sections_are_tested_with_what_digests_have() -> None:
    assert set(results()) == set(BY_NAME)


@pytest.mark.parametrize("digest", DIGESTS, ids=lambda one: one.name)
def test_a_digest_has_the_columns_of_the_rows_that_were_made_by_hand(
    spark: SparkSession, digest: Digest
) -> None:
    made = digest.make(table(spark, digest.of))
    assert set(made.columns) == set(results()[digest.name].rows[0])


def test_what_is_too_much_is_counted_and_what_matters_most_is_kept(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting, "MOST", 2)
    severities = ("note", "error", "note", "warning")
    found = table(
        spark,
        "analyses/findings",
        *({"severity": severity, "ts": at(n)} for n, severity in enumerate(severities)),
    )
    result = collect(found, BY_NAME["findings"])
    assert [row["severity"] for row in result.rows] == ["error", "warning"]
    assert (result.total, result.left_out) == (4, 2)


def test_of_a_check_the_first_findings_are_listed_and_all_are_counted(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "LISTED", 2)
    checks = (("a", "error"), ("a", "error"), ("b", "note"), ("a", "error"), ("a", "warning"))
    found = table(
        spark,
        "analyses/findings",
        *(
            {"check": check, "severity": severity, "ts": at(9 - n), "text": str(n)}
            for n, (check, severity) in enumerate(checks)
        ),
    )
    listed = collect(found, BY_NAME["findings"])
    assert [(row["check"], row["text"]) for row in listed.rows] == [
        ("a", "3"),
        ("a", "4"),
        ("b", "2"),
    ]
    assert listed.total == len(checks)
    counts = collect(found, BY_NAME["findings_by_check"]).rows
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
    found = collect(table(spark, "analyses/latency_heatmap", *rows), BY_NAME["latency_heatmap"])
    assert {row["api"]: row["count"] for row in found.rows} == {
        **{f"api {n}": 100 - n for n in range(5)},
        "others": 95 + 94 + 93 + 92,
    }


def test_errors_of_a_client_are_summed_over_all_time(spark: SparkSession) -> None:
    rows = [
        {
            "bucket": at(second),
            "client_id": None,
            "api": "Fetch",
            "error": "X",
            "count": 2,
            "first_ts": at(second),
            "last_ts": at(second + 1),
        }
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
    found = collect(table(spark, "analyses/in_flight", *rows), BY_NAME["in_flight"]).rows
    assert {row["client_id"] for row in found} == {f"c{n:02}" for n in range(4, 14)}


def test_clients_with_an_empty_id_are_told_apart_by_their_addresses(spark: SparkSession) -> None:
    clients = (("", "10.0.0.1:1"), (None, "10.0.0.2:1"), ("", "10.0.0.3:1"), ("a", "10.0.0.1:2"))
    rows = [{"key": 3, "client_id": one, "client_address": address} for one, address in clients]
    assert overview(["run"], table(spark, "exchanges", *rows)).clients == 4
