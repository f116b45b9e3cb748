"""Exchanges of a folder that is followed are in the topic, as they are in the table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow.parquet as pq
import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from deltalake import DeltaTable

from barnabas.peers.apache import ApacheCluster
from barnabas.pipeline.streaming import kafka_topic
from barnabas.pipeline.streaming.arrivals import Arrivals
from barnabas.pipeline.streaming.batches import Batches
from barnabas.pipeline.streaming.job import Job
from barnabas.pipeline.streaming.kafka_topic import ENDLESS, records
from barnabas.pipeline.tables.tables import read
from tests.captures.writing.test_rotation import SAMPLES, rotated
from tests.pipeline.spark_processes import LITTLE
from tests.places import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOPIC = "barnabas-exchanges"


class Sent(NamedTuple):
    """A record as a reader has it."""

    partition: int
    key: str
    value: dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("run") / "captures"
    rotated(SAMPLES / "faults.pcapng", made, {20, 45, 70, 95, 120})
    return made


@pytest.mark.needs_apache("4.3.1")
def test_a_topic_has_the_rows_of_the_table_also_of_a_batch_that_could_not_be_sent(
    spark: SparkSession, kafka: ApacheCluster, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"

    def fail(*_: object) -> None:
        raise OSError("nobody is there")

    arrivals = Arrivals(folder, out)
    arrivals.look()
    with pytest.raises(OSError, match="nobody is there"):
        Job(spark, folder, Batches(out), sinks=[fail]).run(arrivals)
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    admin.create_topics([NewTopic(TOPIC, 3)])[TOPIC].result(30)
    done = analyzed(folder, out, kafka.bootstrap)
    assert done.returncode in (0, 1), done.stderr
    found = list(everything(kafka.bootstrap))
    rows = {
        (row["capture"], row["connection"], row["ordinal"]): row
        for row in pq.read_table(out / "exchanges").to_pylist()
    }
    assert {one.value["id"] for one in found} == {"/".join(map(str, place)) for place in rows}
    assert len(found) == len(rows)
    assert len({one.partition for one in found}) > 1
    assert DeltaTable(out / "delta" / "exchanges").to_pyarrow_dataset().count_rows() == len(rows)
    latest: dict[str, tuple[int, int]] = {}
    for one in found:
        place = one.value["capture"], one.value["connection"], one.value["ordinal"]
        row = rows[place]
        assert one.key == f"{place[0]}/{place[1]}"
        before = latest.get(one.key, (one.partition, -1))
        assert before < (one.partition, place[2]), "a connection is in one partition, in its order"
        assert before[0] == one.partition
        latest[one.key] = one.partition, place[2]
        for name in ("api", "ts_ns", "correlation_id", "client_id", "latency_ms", "topics"):
            assert one.value.get(name) == row[name]
        offsets = [each["offset"] for each in row["partitions"] or ()]
        assert [each.get("offset") for each in one.value.get("partitions", ())] == offsets
        assert json.loads(one.value["body_json"]) == json.loads(row["body_json"])
        assert "cut" not in one.value


def analyzed(folder: Path, out: Path, servers: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "barnabas", "analyze", "--follow", str(folder), "--once"]
    sent = ["--format", "delta", "--to-kafka", servers, "--topic", TOPIC]
    return subprocess.run(
        [*command, "--out", str(out), "--master", "local[2]", *sent],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **LITTLE, "PYTHONPATH": str(ROOT)},
    )


def everything(servers: str) -> Iterator[Sent]:
    """All that is in the topic, a partition after the other."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "reader"})
    try:
        partitions = consumer.list_topics(TOPIC, 30).topics[TOPIC].partitions
        for number in partitions:
            first, end = consumer.get_watermark_offsets(TopicPartition(TOPIC, number), 30)
            consumer.assign([TopicPartition(TOPIC, number, first)])
            for _ in range(first, end):
                message = consumer.poll(30)
                assert message is not None
                assert not message.error()
                yield Sent(number, message.key().decode(), json.loads(message.value()))
    finally:
        consumer.close()


def test_a_value_that_brokers_refuse_is_cut_and_says_so(
    spark: SparkSession, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrivals = Arrivals(folder, tmp_path)
    arrivals.look()
    Job(spark, folder, Batches(tmp_path)).run(arrivals)
    table = read(spark, tmp_path, "exchanges")
    whole = [json.loads(row["value"]) for row in records(table).collect()]
    sizes = sorted(len(json.dumps(one, separators=(",", ":"))) for one in whole)
    assert sizes[0] < sizes[-1]
    monkeypatch.setattr(kafka_topic, "MOST", sizes[len(sizes) // 2])
    some = [json.loads(row["value"]) for row in records(table).collect()]
    by_id = {one["id"]: one for one in whole}
    cut = [one for one in some if "cut" in one]
    assert 0 < len(cut) < len(some) == len(whole)
    for one in cut:
        short = {name: of for name, of in by_id[one["id"]].items() if name not in ENDLESS}
        assert one == {**short, "cut": True}
    assert all(one == by_id[one["id"]] for one in some if "cut" not in one)
