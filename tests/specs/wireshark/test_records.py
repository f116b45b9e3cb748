"""Record sets of Kafka's own classes in Produce requests: tshark shows each record as they read it."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from barnabas.specs.records import Record, build
from tests.captures.traffic import Said, request
from tests.golden.frames import golden_lines
from tests.specs.wireshark.dissected import Dissected, Shown, alike, capture_of, dissected, tshark

pytestmark = pytest.mark.needs_tshark

SETS = golden_lines("records-a")

OF_RECORDS = ("record.timestamp", "record.offset", "record.key", "record.value", "null")
OF_HEADERS = ("record.header", "record.header.value")


def readable(golden: dict[str, Any]) -> bool:
    """Wireshark's Lua has no zstd, and of gzip it reads one member."""
    codecs = {batch["compression"] for batch in golden["json"]["batches"]}
    return "zstd" not in codecs and "two-members" not in golden["case"]


def produce(number: int, records: bytes) -> bytes:
    partitions = [{"index": 0, "records": records}]
    return request(number, 0, 7, topic_data=[{"name": "t", "partition_data": partitions}])


def shown_of(folder: Path, records: bytes) -> Dissected:
    """What tshark makes of a record set in a Produce request."""
    (found,) = dissected(capture_of(folder / "a.pcap", [("request", produce(1, records))]))
    return found


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
    lines: list[Said] = [
        ("request", produce(n, bytes.fromhex(one["hex"]))) for n, one in enumerate(sets)
    ]
    wrong = []
    for golden, found in zip(sets, dissected(capture_of(tmp_path / "a.pcap", lines)), strict=True):
        shown = [one for one in found.inside if one[0] in (*OF_RECORDS, *OF_HEADERS)]
        differences = alike(shown, expected_of(golden)) + found.inside_problems
        wrong += [f"{golden['case']}: {each}" for each in differences[:3]]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("case", "problems"), [("magic2-zstd", 0), ("magic2-gzip-two-members", 1)])
def test_what_it_can_not_decompress_is_shown_as_bytes(
    tmp_path: Path, case: str, problems: int
) -> None:
    golden = next(one for one in SETS if one["case"].startswith(case))
    result = shown_of(tmp_path, bytes.fromhex(golden["hex"]))
    assert "batch.compressed" in [name for name, _ in result.inside]
    assert len(result.inside_problems) == problems
    assert f"({case.split('-')[1]})" in tshark(tmp_path / "a.pcap", "-V").stdout


def snappy(piece: bytes) -> bytes:
    """A batch of two records in xerial's framing: a header of 16 bytes, and what stands behind it."""
    data = build([Record(0, 1, None, b"v"), Record(1, 1, None, b"w")], compression="snappy")
    data = data[:61] + b"\x82SNAPPY\0" + bytes(8) + piece
    return data[:8] + (len(data) - 12).to_bytes(4) + data[12:]


def batch_of(codec: str, data: bytes) -> bytes:
    """A batch of one record whose compressed bytes are these."""
    head = build([Record(0, 1, None, b"v")], compression=codec)[:61]
    return head[:8] + (len(head + data) - 12).to_bytes(4) + head[12:] + data


LZ4 = bytes.fromhex("04224d18 6040 82")
GZIP = gzip.compress(b"records", mtime=0)


@pytest.mark.parametrize(
    ("records", "words"),
    [
        (snappy(b"\0\0\0\x63ab"), "a chunk of 99 bytes announced, 2 remain"),
        (snappy(b"\xff\xff\xff\xffab"), "a chunk of -1 bytes announced, 2 remain"),
        (snappy(b"\0\0\0\1\x80"), "the bytes end too early"),
        (batch_of("snappy", b"\x05\x10ab"), "5 bytes announced, 2 remain"),
        (batch_of("snappy", b"\x05\xf0"), "the bytes end too early"),
        (batch_of("snappy", b"\x05\x05\x01"), "a copy from 1 bytes before, where 0 are"),
        (batch_of("lz4", LZ4[:4]), "the bytes end too early"),
        (batch_of("lz4", LZ4 + b"\x09\0\0\0ab"), "a block of 9 bytes announced, 2 remain"),
        (batch_of("lz4", LZ4 + b"\x01\0\0\0\xf0"), "the bytes end too early"),
        (batch_of("gzip", GZIP[:10] + b"\xff" * 8 + bytes(4)), "Wireshark makes nothing of it"),
        (batch_of("gzip", b"\x1f" + b"\xff" * 4), "its end announces more than 16777216 bytes"),
    ],
    ids=lambda one: one if isinstance(one, str) else len(one),
)
def test_what_is_wrong_with_compressed_bytes_is_said_of_them(
    tmp_path: Path, records: bytes, words: str
) -> None:
    result = shown_of(tmp_path, records)
    assert result.inside_problems == [f"what was compressed can't be read: {words}"]


def test_a_wrapper_inside_a_wrapper_is_refused_as_by_kafka(tmp_path: Path) -> None:
    records = build([Record(0, 1, None, b"v")], magic=1)
    for _ in range(2):
        value = gzip.compress(records)
        body = b"\1\1" + bytes(8) + b"\xff\xff\xff\xff" + len(value).to_bytes(4) + value
        records = bytes(8) + (len(body) + 4).to_bytes(4) + zlib.crc32(body).to_bytes(4) + body
    (problem,) = shown_of(tmp_path, records).inside_problems
    assert problem.endswith("a wrapper inside a wrapper")


def test_compressed_records_that_are_cut_or_changed_do_no_harm(tmp_path: Path) -> None:
    chance = random.Random(9)
    small = [bytes.fromhex(one["hex"]) for one in SETS if 200 < len(one["hex"]) < 4000]
    lines: list[Said] = []
    for number in range(600):
        data = bytearray(chance.choice(small))
        if chance.random() < 0.5:
            del data[chance.randrange(62, len(data)) :]
            data[8:12] = (len(data) - 12).to_bytes(4)
        else:
            data[chance.randrange(61, len(data))] = chance.choice((0, 127, 255))
        lines.append(("request", produce(number, bytes(data))))
    result = dissected(capture_of(tmp_path / "a.pcap", lines))
    assert sum(bool(one.inside_problems) for one in result) > 200


@pytest.mark.parametrize(("mib", "problems"), [(15, 0), (17, 1)])
def test_gzip_that_comes_to_too_many_bytes_is_not_read(
    tmp_path: Path, mib: int, problems: int
) -> None:
    records = build([Record(0, 1, None, bytes(mib << 20))], compression="gzip")
    path = capture_of(tmp_path / "a.pcap", [("request", produce(1, records))])
    shown = tshark(path, "-Y", "bkafka.malformed").stdout
    assert len(shown.splitlines()) == problems
