"""Commits against fetches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from barnabas.pipeline.analyses.commits import commits
from tests.captures.checks.groups import transact
from tests.pipeline.analyses.made import commit, fetch, numbered
from tests.pipeline.analyses.tables import rows, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_what_is_read_twice_and_what_is_passed_over(spark: SparkSession) -> None:
    first: dict[str, Any] = {"client": "one", "connection": 1}
    second: dict[str, Any] = {"client": "two", "connection": 2}
    exchanges = numbered(
        fetch(1, 0, 9, **first),
        commit(2, 5, **first),
        fetch(3, 10, 14, **first),
        commit(4, 12, error=27, **first),
        # another takes over where the first one had committed
        fetch(10, 5, 14, **second),
        commit(11, 15, **second),
        commit(12, 13, **second),
        fetch(13, 20, 21, **second),
        fetch(14, 22, None, **second),
        commit(3, 99, error=27, client="refused", connection=4),
        # of no group that is known
        fetch(20, 0, 9, client="three", connection=3),
    )
    found = commits(table(spark, rows(exchanges))).collect()
    names = (
        "committed",
        "fetched_to",
        "lag",
        "duplicates",
        "gaps",
        "commits",
        "refused",
        "rewinds",
    )
    told = {row["client_id"]: tuple(row[name] for name in names) for row in found}
    assert told.pop("refused") == (None, None, None, 0, 0, 0, 1, 0)
    assert told == {"one": (5, 15, 10, 0, 0, 1, 1, 0), "two": (13, 22, 9, 10, 5, 2, 0, 1)}
    assert {(row["group"], row["topic"], row["partition"]) for row in found} == {("g", "orders", 0)}


def test_offsets_of_a_fenced_transaction_are_no_commits_that_were_refused(
    spark: SparkSession,
) -> None:
    exchanges = numbered(
        transact(1, error=22),
        transact(2, error=25),
        transact(3, error=27),  # the group rebalances: nobody is fenced
        commit(4, 9, error=22),
    )
    (found,) = commits(table(spark, rows(exchanges))).collect()
    assert (found["fenced"], found["refused"]) == (2, 2)
