"""The tables that Spark writes hold what the pure reader finds, once, whoever else is in them."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import CancelledError
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pyarrow as pa
import pytest

from barnabas.captures.reader import CaptureReader
from barnabas.pipeline.reading.packet_rows import WRITTEN, packet_rows
from barnabas.pipeline.reading.paths import sorted_paths
from barnabas.pipeline.rows.columns import EXCHANGES
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.rows.frames import FRAMES, frame_rows
from barnabas.pipeline.tables import decoded_bodies
from barnabas.pipeline.tables.folders import ON_REQUEST
from barnabas.pipeline.tables.tables import TableOptions, read, write
from tests.pipeline.stages import sequential
from tests.places import SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = tuple(column.name for column in EXCHANGES)


def rows(spark: SparkSession, out: Path, capture: str) -> list[dict[str, Any]]:
    result = read(spark, out, "exchanges").where(f"capture = '{capture}'").select(*NAMES)
    plain = [row.asDict(recursive=True) for row in result.collect()]
    return sorted(plain, key=_order)


def _order(row: dict[str, Any]) -> Any:
    return row["connection"], row["ordinal"], row["correlation_id"]


def right(paths: list[Path], capture: str) -> list[dict[str, Any]]:
    result = sequential(paths, NAMES, capture)
    for row in result:
        row["ts"] = row["ts"].replace(tzinfo=None)
    return sorted(result, key=_order)


@pytest.fixture(scope="module")
def out(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of two captures, one of them written twice and of three files, the other without bodies."""
    folder = tmp_path_factory.mktemp("tables")
    steps: list[tuple[int, int, str]] = []
    written = write(spark, files(), folder, progress=lambda *step: steps.append(step))
    assert [step[:2] for step in steps] == [(0, 3), (1, 3), (2, 3)]
    assert written.exchanges == len(right(files(), ""))
    assert written.packets == len(list(CaptureReader(*sorted_paths(files())).numbered_packets()))
    write(spark, [SAMPLES / "faults.pcapng"], folder, TableOptions(bodies=None))
    write(spark, files()[::-1], folder, TableOptions(also=ON_REQUEST))
    return folder


def files() -> list[Path]:
    return [SAMPLES / name for name in ("rebalance.pcap.gz", "midway.pcap", "wrong.pcap")]


def test_the_tables_hold_the_pure_readers_exchanges_once(spark: SparkSession, out: Path) -> None:
    for paths in (files(), [SAMPLES / "faults.pcapng"]):
        capture = sorted_paths(paths)[0].name
        assert rows(spark, out, capture) == right(paths, capture)
    written = read(spark, out, "exchanges")
    assert not written.where("capture = 'faults.pcapng' AND body IS NOT NULL").count()


def test_frames_are_written_on_request_and_are_the_pure_readers(
    spark: SparkSession, out: Path
) -> None:
    capture = sorted_paths(files())[0].name
    result = read(spark, out, "frames").select(*(column.name for column in FRAMES))
    right = batch(frame_rows(CaptureReader(*sorted_paths(files())), capture), FRAMES)
    assert content(result.toArrow()) == content(right)


def test_who_ends_it_is_asked_for_each_exchange_and_what_is_made_of_them(tmp_path: Path) -> None:
    path = SAMPLES / "rebalance.pcap.gz"
    steps: list[str] = []
    requested: Counter[str] = Counter()
    whole, told = tmp_path / "whole", lambda *step: steps.append(step[2])

    def count_step() -> None:
        requested.update(steps[-1:])

    many = write(None, [path], whole, progress=told, go_on=count_step).exchanges
    assert requested["reading connections"] > many
    assert requested["writing tables"] >= len(("exchanges", "inside", "connections"))
    count = requested.total()
    for most in (0, many // 2, count - 1):
        go_on = Mock(side_effect=[*[None] * most, CancelledError])
        with pytest.raises(CancelledError):
            write(None, [path], tmp_path / "out", go_on=go_on)
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["_runs"]
        assert not list((tmp_path / "out" / "_runs").iterdir())


def test_so_are_packets(spark: SparkSession, out: Path) -> None:
    names = tuple(column.name for column in WRITTEN)
    result = read(spark, out, "packets").select(*names)
    right = pa.Table.from_batches(packet_rows(sorted_paths(files()), names[1:])).add_column(
        0, "capture", [[sorted_paths(files())[0].name] * result.count()]
    )
    assert content(result.toArrow()) == content(right)


def content(table: pa.Table | pa.RecordBatch) -> list[str]:
    return sorted(map(str, table.to_pylist()))


def test_what_is_not_asked_for_again_goes(spark: SparkSession, tmp_path: Path) -> None:
    """Else it would be of another run than the tables beside it."""
    path = SAMPLES / "midway.pcap"
    write(spark, [path], tmp_path, TableOptions(also=ON_REQUEST))
    assert all(read(spark, tmp_path, table).count() > 0 for table in ON_REQUEST)
    write(spark, [path], tmp_path, TableOptions(also=("packets",)))
    assert read(spark, tmp_path, "packets").count() > 0
    assert read(spark, tmp_path, "frames").count() == 0


def test_batches_with_large_bodies_are_cut() -> None:
    sizes = [(10, 5), (decoded_bodies.PART, None), (3, decoded_bodies.PART * 9), (1, 1), (2, 2)]
    whole = pa.record_batch(
        {
            "request_size": [request for request, _ in sizes],
            "response_size": pa.array([response for _, response in sizes], pa.int64()),
        }
    )
    parts = list(decoded_bodies.portions(whole))
    assert [len(part) for part in parts] == [2, 1, 2]
    assert pa.Table.from_batches(parts).to_pylist() == whole.to_pylist()
