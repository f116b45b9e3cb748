"""Record sets of Kafka's own classes in Produce requests: tshark shows each record as they read it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from barnabas.specs.records import Record, build
from tests import places
from tests.captures.traffic import Said, request
from tests.specs.wireshark.dissected import Shown, alike, capture_of, dissected, tshark

pytestmark = pytest.mark.needs_tshark

with gzip.open(places.GOLDEN / "records-a.jsonl.gz", "rt") as lines:
    SETS: list[dict[str, Any]] = [json.loads(line) for line in lines]

OF_RECORDS = ("record.timestamp", "record.offset", "record.key", "record.value", "null")
OF_HEADERS = ("record.header", "record.header.value")


def readable(golden: dict[str, Any]) -> bool:
    """Wireshark's Lua has no zstd, and of gzip it reads one member."""
    codecs = {batch["compression"] for batch in golden["json"]["batches"]}
    return "zstd" not in codecs and "two-members" not in golden["case"]


def produce(number: int, records: bytes) -> bytes:
    partitions = [{"index": 0, "records": records}]
    return request(number, 0, 7, topic_data=[{"name": "t", "partition_data": partitions}])


def expected_of(golden: dict[str, Any]) -> Iterator[Shown]:
    for batch in golden["json"]["batches"]:
        for record in batch["records"]:
            if batch["magic"] > 0:
                yield "record.timestamp", str(record["timestamp"])
            yield "record.offset", str(record["offset"])
            yield from blob("key", record["key"])
            yield from blob("value", record["value"])
            for key, value in record.get("headers", ()):
                yield "record.header", key.encode().hex()
                yield from blob("header.value", value)


def blob(name: str, value: str | None) -> Iterator[Shown]:
    if value is None:
        yield "null", name.rpartition(".")[2]
    else:
        yield f"record.{name}", value


def test_tshark_shows_every_record(tmp_path: Path) -> None:
    sets = [one for one in SETS if readable(one)]
    said: list[Said] = [
        ("request", produce(n, bytes.fromhex(one["hex"]))) for n, one in enumerate(sets)
    ]
    wrong = []
    for golden, found in zip(sets, dissected(capture_of(tmp_path / "a.pcap", said)), strict=True):
        shown = [one for one in found.inside if one[0] in (*OF_RECORDS, *OF_HEADERS)]
        differences = alike(shown, expected_of(golden)) + found.inside_problems
        wrong += [f"{golden['case']}: {each}" for each in differences[:3]]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("case", "problems"), [("magic2-zstd", 0), ("magic2-gzip-two-members", 1)])
def test_what_it_can_not_decompress_is_shown_as_bytes(
    tmp_path: Path, case: str, problems: int
) -> None:
    golden = next(one for one in SETS if one["case"].startswith(case))
    path = capture_of(tmp_path / "a.pcap", [("request", produce(1, bytes.fromhex(golden["hex"])))])
    (found,) = dissected(path)
    assert "batch.compressed" in [name for name, _ in found.inside]
    assert len(found.inside_problems) == problems
    assert f"({case.split('-')[1]})" in tshark(path, "-V").stdout


@pytest.mark.parametrize(("mib", "problems"), [(15, 0), (17, 1)])
def test_gzip_that_comes_to_too_many_bytes_is_not_read(
    tmp_path: Path, mib: int, problems: int
) -> None:
    records = build([Record(0, 1, None, bytes(mib << 20))], compression="gzip")
    path = capture_of(tmp_path / "a.pcap", [("request", produce(1, records))])
    shown = tshark(path, "-Y", "bkafka.malformed").stdout
    assert len(shown.splitlines()) == problems
