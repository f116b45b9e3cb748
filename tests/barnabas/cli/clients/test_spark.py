"""Rows of the table on Spark, before librdkafka's mock: the same cells, with their evidence."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from barnabas.broker_kinds import LIBRDKAFKA
from barnabas.cli.clients.spark import Shard, cells, run_on_spark
from barnabas.cli.console.options import SparkOptions
from barnabas.experiments.clients.folder import Folder
from barnabas.peers.clients.python import program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REFUSED = """
version: 1
rules: [{name: refused, match: {api: Produce, direction: request}, do: {respond: {error: MESSAGE_TOO_LARGE}}}]
"""
HERE = f"here={shlex.join(program(Path(sys.executable), 'confluent').line)}"


def shard(client: str, workload: str, *, own: bool) -> Shard:
    return Shard(client, own, workload, (("refused", REFUSED),), LIBRDKAFKA, 1, 0, 2, plain=True)


@pytest.mark.timeout(180)
def test_a_row_comes_back_whole_with_its_evidence_and_is_not_run_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = Folder(tmp_path)
    rows = [shard(HERE, "produce", own=True), shard("kafka-go@0.0.0", "produce", own=False)]
    found = {cell.name: cell for cell in cells(spark, rows, folder)}
    words = {name: cell.verdict.word for name, cell in found.items()}
    assert words == {
        "here/produce/none": "fine",
        "here/produce/refused": "fails",
        "kafka-go@0.0.0/produce/refused": "not run",
    }
    assert folder.cells == found
    for name in "history.jsonl", "output.txt", "run.pcapng":
        assert (
            tmp_path / "cells" / "here" / "produce" / "refused" / "0" / name
        ).stat().st_size >= 0
    assert list(run_on_spark(SparkOptions(spark=True), rows[:1], folder)) == [
        found["here/produce/none"],
        found["here/produce/refused"],
    ]
    folder.close()
