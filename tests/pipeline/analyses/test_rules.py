"""Effect of rules."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from barnabas.captures.kafka.notes import CUT_OFF
from barnabas.pipeline.analyses.rules import rules
from tests.pipeline.analyses.made import commit, metadata
from tests.pipeline.analyses.tables import rows, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_what_a_rule_touched_against_what_none_did(spark: SparkSession) -> None:
    slow = [dataclasses.replace(metadata(n, took=50), rules=("slow",)) for n in (1, 2)]
    cut = dataclasses.replace(metadata(3, error=None), rules=("slow", "cut"), note=CUT_OFF)
    fails = dataclasses.replace(metadata(4, error=5, took=1), rules=("refuse",))
    alone = dataclasses.replace(commit(9, 7, took=3), rules=("alone",))
    plain = [metadata(5, took=2), metadata(6, took=4), metadata(7, error=3, took=6)]
    elsewhere = rows([metadata(8, took=99)], "other")
    found = rules(table(spark, [*rows([*slow, cut, fails, alone, *plain]), *elsewhere])).collect()
    names = (
        "fired",
        "p50_with_ms",
        "p50_without_ms",
        "errors_with",
        "errors_without",
        "without",
        "unanswered",
        "closed",
    )
    assert {row["rule"]: tuple(row[name] for name in names) for row in found} == {
        "slow": (3, 50.0, 4.0, 0, 1, 3, 1, 1),
        "cut": (1, None, 4.0, 0, 1, 3, 1, 1),
        "refuse": (1, 1.0, 4.0, 1, 1, 3, 0, 0),
        "alone": (1, 3.0, None, 0, 0, 0, 0, 0),
    }
