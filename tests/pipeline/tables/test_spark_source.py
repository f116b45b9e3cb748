"""The data source: packets, errors and notes of captures, and a folder as a stream."""

from __future__ import annotations

import json
import pickle
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.types import StructType

from barnabas.captures.reader import CaptureReader
from barnabas.pipeline.rows.frames import frame_rows
from barnabas.pipeline.tables import spark_source
from barnabas.pipeline.tables.spark_source import KafkaCapture
from barnabas.specs.jsonform import BLOBS
from tests.captures.produced import produced
from tests.pipeline.generated import generated
from tests.pipeline.stages import sequential
from tests.places import ROOT, SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# schemas are parsed by Spark, also where no test asks it for anything else
pytestmark = pytest.mark.usefixtures("spark")


def fields(ddl: str) -> StructType:
    result = StructType.fromDDL(ddl)
    assert isinstance(result, StructType)
    return result


def rows(options: dict[str, str], names: str, schema: str) -> list[dict[str, Any]]:
    """What a reader gives, as Spark would ask for it: pickled in between."""
    source = pickle.loads(pickle.dumps(KafkaCapture(options)))
    reader = source.reader(fields(schema))
    parts = pickle.loads(pickle.dumps(reader.partitions()))
    reader = pickle.loads(pickle.dumps(reader))
    results = [row for part in parts for batch in reader.read(part) for row in batch.to_pylist()]
    assert all(list(row) == names.split() for row in results)
    return results


def test_packets_are_those_of_the_file_whatever_the_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_source, "_SIZE", 700)
    path = generated(tmp_path / "f.pcap", "ethernet", 4)
    options = {"path": f"file:{path}", "table": "packets"}
    result = rows(options, "number offset data", "number bigint, offset bigint, data binary")
    right = [
        {"number": number, "offset": packet.file_offset, "data": packet.data}
        for number, _, packet in CaptureReader(path).numbered_packets()
    ]
    assert result == right


def test_headers_of_tcp(tmp_path: Path) -> None:
    path = SAMPLES / "old-formats.pcap"
    schema = "source string, target string, seq bigint, payload bigint, flags int"
    result = rows(
        {"path": str(path), "table": "packets"}, "source target seq payload flags", schema
    )
    assert sum(row["payload"] or 0 for row in result) > 1000
    assert {row["source"].rpartition(":")[0] for row in result if row["source"]} == {"127.0.0.1"}
    assert all((row["seq"] is None) == (row["source"] is None) for row in result)


def test_frames_are_those_of_the_pure_reader_also_of_a_file_that_was_cut_off(
    tmp_path: Path,
) -> None:
    path = SAMPLES / "transactions.pcapng"
    schema = "connection bigint, direction string, place bigint, packet bigint, paired boolean"
    names = "connection direction place packet paired"
    right = [
        {name: row.get(name) for name in names.split()}
        for row in frame_rows(CaptureReader(path), path.name)
    ]
    assert rows({"path": str(path), "table": "frames"}, names, schema) == right
    damaged = tmp_path / path.name
    damaged.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    result = rows({"path": str(damaged), "table": "frames"}, names, schema)
    assert len(right) > len(result) > 5


def test_exchanges_are_those_of_the_pure_reader() -> None:
    path = SAMPLES / "transactions.pcapng"
    names = ("connection", "ordinal", "api", "latency_ms", "transactional_id", "software", "end_ns")
    kinds = "bigint", "bigint", "string", "double", "string", "string", "bigint"
    schema = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
    result = rows({"path": str(path)}, " ".join(names), schema)
    assert sorted(result, key=repr) == sorted(sequential([path], names), key=repr)


@pytest.mark.parametrize("word", BLOBS)
def test_large_bytes_are_elided_or_whole(tmp_path: Path, word: str) -> None:
    records = bytes(range(256)) * 32
    options = {"path": str(produced(tmp_path / "f.pcapng", records)), "bodies": word}
    (found,) = rows(options, "body_json", "body_json string")
    (topic,) = json.loads(found["body_json"])["request"]["topic_data"]
    assert topic["partition_data"][0]["records"] == BLOBS[word](records)


def test_what_is_damaged_is_a_row(tmp_path: Path) -> None:
    path = generated(tmp_path / "f.pcapng", "pcapng<", 4)
    path.write_bytes(path.read_bytes()[:-2])
    schema = "file string, kind string, offset bigint"
    (found,) = rows({"path": str(path), "table": "errors"}, "file kind offset", schema)
    assert (found["file"], found["kind"]) == (str(path), "truncated")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"path": "x", "table": "no"}, "no table 'no'"),
        ({}, "path of a capture"),
        ({"path": "x", "tabel": "errors"}, "no option 'tabel': one of bodies, path, "),
        ({"path": "x", "bodies": "some"}, "bodies 'some': one of elided, full"),
    ],
)
def test_options_that_mean_nothing(options: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        KafkaCapture(options).reader(fields("number bigint"))


def test_a_stream_goes_on_where_it_ended(spark: SparkSession, tmp_path: Path) -> None:
    """Each closed file comes once, also if the query is stopped in between."""
    folder, kept, seen = tmp_path / "in", tmp_path / "kept", []
    folder.mkdir()
    spark.dataSource.register(KafkaCapture)

    def run() -> None:
        stream = spark.readStream.format("barnabas").option("table", "files").load(str(folder))
        query = (
            stream.writeStream.foreachBatch(
                lambda batch, number: seen.append(
                    (number, sorted(Path(row["file"]).name for row in batch.collect()))
                )
            )
            .option("checkpointLocation", str(kept))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(120)

    shutil.copy(SAMPLES / "midway.pcap", folder / "1.pcap")
    (folder / "2.pcap.part").write_bytes(b"")
    run()
    shutil.copy(SAMPLES / "wrong.pcap", folder / "2.pcap")
    run()
    run()
    assert seen == [(0, ["1.pcap"]), (1, ["2.pcap"])]


def test_the_documents_examples_run(spark: SparkSession, tmp_path: Path) -> None:
    """Of exchanges, as a batch and as a stream that counts what two files bring."""
    text = (ROOT / "docs" / "howto" / "spark.md").read_text("utf-8")
    text = text.replace("/data/", f"{tmp_path}/")
    (batch,) = re.findall(r"```py\n(from barnabas.pipeline[^`]*)```", text)
    (stream,) = re.findall(r"```py\n(stream = [^`]*)```", text)
    (tmp_path / "captures").mkdir()
    path = SAMPLES / "transactions.pcapng"
    for name in ("run.pcapng", "captures/1.pcapng", "captures/2.pcapng"):
        shutil.copy(path, tmp_path / name)
    there: dict[str, Any] = {"spark": spark}
    exec(batch, there)
    right = len(sequential([path], ("api",)))
    assert there["exchanges"].count() == right
    exec(stream, there)
    assert there["query"].awaitTermination(120)
    result = spark.read.parquet(str(tmp_path / "exchanges"))
    assert result.count() == 2 * right
