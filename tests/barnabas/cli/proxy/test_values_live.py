"""Values in the live log, and rules about them, while a registry is away: traffic waits for nothing."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from barnabas.peers.embedded import EmbeddedCluster
from barnabas.specs.records import Record, build
from tests.barnabas.cli.proxy.test_draining import connect, frame
from tests.barnabas.cli.proxy.test_log_process import proxy
from tests.barnabas.cli.schemas.test_registry import serving
from tests.barnabas.cli.test_app import started
from tests.captures.values import golden_values as golden
from tests.proxy.frames import request

pytestmark = pytest.mark.slow("a proxy in a process of its own")

RULE = """
version: 1
rules:
- {name: order 17, match: {api: Produce, direction: request}, record: value.order_id == 17, do: {delay: 1ms}}
"""


def produce(number: int) -> bytes:
    sets = build([Record(0, 1, b"k", golden.VALUES["avro"].data)])
    topics = [{"name": "orders", "partition_data": [{"index": 0, "records": sets}]}]
    return request("Produce", number, version=7, acks=1, timeout_ms=1000, topic_data=topics)


def next_row(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_value_is_bytes_until_the_registry_has_told_its_schema(
    tmp_path: Path, workers: str
) -> None:
    (tmp_path / "rule.yaml").write_text(RULE)
    options = ("--scenario", str(tmp_path / "rule.yaml"), "--workers", workers)
    with serving() as registry, EmbeddedCluster(1) as cluster:
        registry.answer.clear()
        command = proxy(cluster.bootstrap, "--schemas", registry.url, *options)
        with started(*command) as (process, ready), connect(ready["listen"]) as client:
            rows: list[dict[str, Any]] = []
            until = time.monotonic() + 60
            while not (rows and rows[-1]["rules"] and "why" not in one(rows[-1])):
                assert time.monotonic() < until
                client.sendall(produce(len(rows)))
                frame(client)
                rows.append(next_row(process))
                registry.answer.set()
    assert one(rows[0])["why"] == {"value": "schema 2: not fetched yet"}
    assert rows[0]["rules"] == []
    assert rows[0]["latency_ms"] < 2000
    assert one(rows[-1])["value"] == golden.AVRO


def one(row: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = row["records"]["request"]["topic_data[0].partition_data[0].records"]
    (record,) = found["records"]
    return dict(record)
